//===- Passes.td - How networks lie in the CPU's memory -----------------------------------------------------------------===//
//
// From nn to nn and kernel, before dispatches are formed. One entry, one .cpp and one test per pass, of one stem: `layout`,
// Layout.cpp, test/Target/CPU/Layout/layout.mlir.
//
//===------------------------------------------------------------------------------------------------------------------===//

#ifndef SPRIG_TARGET_CPU_LAYOUT_PASSES_TD
#define SPRIG_TARGET_CPU_LAYOUT_PASSES_TD

include "mlir/Pass/PassBase.td"

def Scans : Pass<"sprig-scans", "::mlir::func::FuncOp"> {
  let summary = "Packs the matrices of scans that become one kernel, whose steps take products of inputs";
  let description = [{
    A scan (`nn.scan`) whose step consists of matrix products with the scan's invariants, elementwise operations and moves
    within rows becomes one kernel for all steps: its matrices are packed here, constants at once, others by a `kernel.pack`
    in front of the loop. Every other scan is left as it is (`sprig-unroll-scans`).

    Of several rows at once the products of inputs that a scan reads, in f32 and f64, are computed in its steps, at the same
    bits: no array of all of them is written, which tiles of other threads would read.
  }];
  let options = [
    Option<"products", "products", "bool", "true", "compute products of inputs in the steps that read them">,
  ];
  let dependentDialects = ["::sprig::ir::NNDialect", "::sprig::kernel::KernelDialect"];
}

def Layout : Pass<"sprig-layout", "::mlir::func::FuncOp"> {
  let summary = "Make convolutions, pools and their gradients channels-last and move transposes out of the way";
  let description = [{
    Each convolution and pool, and each gradient of one, is rewritten to its channels-last form between two transposes. Transposes then move down
    through elementwise operations, concatenations, pads, slices and reductions, cancel where they meet their inverse,
    become reshapes where only dimensions of size 1 move, and vanish into a constant weight after a flatten. A product of
    a transposed matrix and a constant becomes the transpose of the product with the constant on the left where that
    transpose meets its inverse (a mixer's tokens). A
    transposed convolution becomes a plain one, or with strides one for each phase of them. A pad of zeros becomes the padding of the convolution after it.
    A product of flattened features whose constant weight takes the transpose adds them up in another order: `strict`
    keeps it as it is.
  }];
  let options = [
    Option<"strict", "strict", "bool", "false", "leave out what changes the order of a sum">,
  ];
  let dependentDialects = ["::sprig::ir::NNDialect"];
}

def Winograd : Pass<"sprig-winograd", "::mlir::func::FuncOp"> {
  let summary = "Rewrite convolutions of stride 1 by Winograd's short convolutions";
  let description = [{
    A channels-last 2-d convolution of f32 with a constant filter, strides and dilations of 1 and one group becomes
    `kernel.conv_winograd` where that is estimated to be faster by `min-gain`: products saved against the cost of the
    transforms, the tiles that stick out of the result, and the reading of a filter that is larger in frequencies. The
    filter is transformed here, in double precision. Changes bits, so `--math strict` leaves it out. Remarks of the
    category `fuse` say which form was taken and why not.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect", "::sprig::kernel::KernelDialect"];
  let options = [
    Option<"minGain", "min-gain", "double", "1.1", "least estimated speedup; 0 rewrites all that can be">,
  ];
}

def WidenHalves : Pass<"sprig-widen-halves", "::mlir::func::FuncOp"> {
  let summary = "Convolutions of f16 and bf16 by constants on f32";
  let description = [{
    An `nn.conv` of f16 or bf16 by a constant filter, outside of loops and branches, takes both sides as f32 and is
    rounded once: what it sums up in is f32 anyway, so no bit changes, but register tiles need not widen a factor for
    each product that it is in, and Winograd's convolutions may be chosen. The filter takes twice the bytes.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect"];
}

def RoundFactors : Pass<"sprig-round-factors", "::mlir::func::FuncOp"> {
  let summary = "Rounds the factors of products with constants to bf16";
  let description = [{
    The precision policy `bf16`: an `nn.matmul` or a channels-last `nn.conv` of f32 whose right side is a constant takes
    both sides as bf16, rounded to nearest even, and accumulates in f32. The constant is rounded here, the other side by
    an `nn.cast`, once for all its users. Products in loops and branches, of two computed sides, convolutions with an odd
    number of channels (of each group) and those of Winograd stay in f32; remarks of the category `fuse` say so.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect"];
}

def PackNarrow : Pass<"sprig-pack-narrow", "::mlir::func::FuncOp"> {
  let summary = "Lay weights of a few bits out in panels";
  let description = [{
    A matrix product of f32 whose right side is a dequantised constant of bytes (`nn.dequantize`), also through reshapes,
    transposes and slices, becomes `kernel.matmul_narrow`: codes in four bits where 16 neighbouring ones are all that
    there are, else in eight, and a scale and a zero point for each group of rows. No bit of the result changes. Groups
    whose rows would share a word with others stay dequantised; remarks of the category `fuse` say so.

    Where the left side is dequantised bytes with a scale for each of the same groups of a row and zero points of 0, and
    codes have four bits, it becomes `kernel.matmul_narrow_dot`, which sums a group's products in integers: bits change,
    and `strict` keeps the product of floats.
  }];
  let options = [
    Option<"strict", "strict", "bool", "false", "leave out what changes the order of a sum">,
  ];
  let dependentDialects = ["::sprig::ir::NNDialect", "::sprig::kernel::KernelDialect"];
}

def Pack : Pass<"sprig-pack", "::mlir::func::FuncOp"> {
  let summary = "Lay right sides of contractions out in panels";
  let description = [{
    A matrix product whose right side is a matrix of constants or parameters becomes `kernel.matmul_packed` on `kernel.pack`;
    a channels-last convolution with such a filter becomes `kernel.conv_packed`, or `kernel.conv_depthwise` when each channel
    has one filter of its own; of bytes that is `kernel.conv_depthwise_dot`, and a pad in front of it of a number that is
    known becomes its own padding. The packing of a constant is evaluated; that of a parameter that stays state, or of a
    filter that is computed, is part of every run, where `matrices` leaves matrix products out; `ahead` takes those in
    whose right side comes from parameters that the function does not set, for `sprig-prepare`. The padding of an input
    of one or two channels is written out for the gradient of its filter.
  }];
  let options = [
    Option<"matrices", "matrices", "bool", "true", "off: only convolutions are packed">,
    Option<"ahead", "ahead", "bool", "false", "with matrices=false: matrices that can be prepared are packed">,
  ];
  let dependentDialects = ["::sprig::ir::NNDialect", "::sprig::kernel::KernelDialect"];
}

def SplitFilterGradients : Pass<"sprig-split-filter-gradients", "::mlir::func::FuncOp"> {
  let summary = "Cut gradients of filters that would be one tile at the pieces of their positions";
  let description = [{
    The gradient of a channels-last convolution's filter whose kernel would have no more than `most-tiles` tiles becomes
    `kernel.conv_filter_grad_parts`, which has one for each piece of 512 positions, and the sum of the parts in the
    order in which the one kernel takes it: no bit changes. Only where the sum is cut there anyway, in a type that it is
    taken in, where there is work for several tiles and where the parts are no more than `most-bytes`.
  }];
  let options = [
    Option<"mostTiles", "most-tiles", "int64_t", "1", "tiles above which a gradient stays whole">,
    Option<"mostBytes", "most-bytes", "int64_t", "262144", "bytes of parts above which a gradient stays whole">,
    Option<"leastFlops", "least-flops", "int64_t", "8000000", "operations below which a gradient stays whole">,
  ];
  let dependentDialects = ["::sprig::ir::NNDialect", "::sprig::kernel::KernelDialect"];
}

#endif // SPRIG_TARGET_CPU_LAYOUT_PASSES_TD
