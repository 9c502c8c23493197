//===- Passes.td - Passes on the nn dialect ---------------------------------------------------------------------------===//
//
// One entry, one .cpp and one test per pass, of one stem: `freeze`, Freeze.cpp, test/Transforms/freeze.mlir.
//
//===------------------------------------------------------------------------------------------------------------------===//

#ifndef SPRIG_TRANSFORMS_PASSES_TD
#define SPRIG_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def Fuse : Pass<"sprig-fuse", "::mlir::func::FuncOp"> {
  let summary = "Forms dispatches: groups of operations that become one kernel each";
  let description = [{
    Contractions, convolutions, pools and gathers take the elementwise operations behind them, a contraction also with
    several results and with what only those operations use (an optimizer's update after a gradient), but for what a
    loop elsewhere computes with less memory traffic. Elementwise operations and reductions over the same axes of one
    shape share loops (softmax, normalisations); slices, broadcasts and transposes that keep the innermost dimension are
    read in place. Attention (a product, elementwise operations and reductions along its rows, a second product) is one
    dispatch whose scores stay near where the target takes it; it reads its operands and writes its result through slices,
    transposes and reshapes. What remains is a dispatch of its own. Operations that are placed on different devices (`kernel.device`)
    stay apart, and a dispatch has the device of its operations. A group runs when the last of its operands is there:
    where groups that wait for operands of a later part of the program make it need 5% more memory, as sums of the
    gradients of a step's passes, they are formed without such waits, and dispatches are in program order. Fusion never changes a bit. Remarks of the category `fuse` say
    what was put together and what was kept apart.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect", "::sprig::kernel::KernelDialect"];
  let options = [
    Option<"fuse", "fuse", "bool", "true", "off: every operation is a dispatch of its own">,
    Option<"target", "target", "std::string", "\"cpu\"", "kind of device that the kernels are for">,
    Option<"tf32", "tf32", "bool", "false", "factors of products may be rounded afterwards (sprig-allow-tf32)">,
  ];
}

def AllowTf32 : Pass<"sprig-allow-tf32", "::mlir::func::FuncOp"> {
  let summary = "Lets dispatches with a product of f32 round its factors to tf32";
  let description = [{
    Sets `tf32` of every dispatch that holds a product of matrices or a convolution, of those in branches and loops too. The precision policy
    tf32 (`--precision`), as the last of the phase `fuse`.
  }];
  let dependentDialects = ["::sprig::kernel::KernelDialect"];
}

def BandMasks : Pass<"sprig-band-masks", "::mlir::func::FuncOp"> {
  let summary = "Computes constant masks that are bands along a diagonal from indices";
  let description = [{
    A constant of two values, of which one fills a band `-lower <= column - row <= upper` of its last two dimensions (a
    causal mask, a sliding window, the triangle of ONNX's Trilu; booleans or what is added to scores), becomes a
    comparison of indices where nothing but elementwise operations reads it: kernels count where they would read
    megabytes, packages are smaller, and `sprig-skip-masked` sees what it masks. Small constants stay, of which
    `sprig-fold-constants` folds the indices. No bit changes.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect"];
  let options = [
    Option<"small", "small", "int64_t", "64", "rows, or columns, up to which a constant is small">,
  ];
}

def SkipMasked : Pass<"sprig-skip-masked", "::mlir::func::FuncOp"> {
  let summary = "Lets attention leave out keys that its own mask excludes";
  let description = [{
    Sets `skip_masked` of dispatches whose mask is a band of indices that leaves a key to every row (dialects/NN/AttentionBand.h).
    Results are those of before as far as scores and values are finite: an infinite or NaN value times a weight of 0 is left out. For
    graphs frozen for inference, but under `--math strict`; of targets whose kernels do so (CPUs).
  }];
  let dependentDialects = ["::sprig::kernel::KernelDialect"];
}

def ReshapeTransposes : Pass<"sprig-reshape-transposes", "::mlir::func::FuncOp"> {
  let summary = "Makes reshapes of transposes that leave dimensions of a size other than 1 in their order";
  let description = [{
    Such a transpose moves no element, as those around a recurrent layer of one sample. A reshape is no kernel. Comes after
    sprig-independent-samples, which follows dimensions through transposes.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect"];
}

def ShareKernels : Pass<"sprig-share-kernels", "::mlir::func::FuncOp"> {
  let summary = "Lets dispatches that differ in single numbers share a kernel";
  let description = [{
    Layers of one form become one kernel where nothing but numbers in elementwise operations tells them apart, as the
    scales and zero points of quantised models do: numbers that differ become operands of one element, read from a
    constant. Those that are the same everywhere stay in the kernel, and so do exponents and divisors that are cheaper
    where they are known. Where the target would plan a kernel otherwise that does not know its numbers, dispatches stay
    as they are. The same operations are done with the same values, so that no bit changes.
    Behind the phase `fuse`, for less to compile and smaller packages. Remarks of the category `fuse` say what shares.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect", "::sprig::kernel::KernelDialect"];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "kind of device that the kernels are for">,
  ];
}

def ReportEmitters : Pass<"sprig-report-emitters", "::mlir::func::FuncOp"> {
  let summary = "Says in remarks which emitter takes each dispatch";
  let description = [{
    Changes nothing. Emitters are the target's own, in the order of preference of its `Kernels/Registry.cpp`. The pass
    ends the phase `fuse`, and its remarks have that category.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "kind of device that the kernels are for">,
  ];
}

def SplitSums : Pass<"sprig-split-sums", "::mlir::func::FuncOp"> {
  let summary = "Makes of a long sum over samples and positions one for each sample, and the sum of these";
  let description = [{
    A long sum over the first dimension and others (the gradient of a bias, the statistics of a batch norm) is a chain of
    all its elements, one tile of work whatever the number of threads or multiprocessors, whose rounding error grows with
    its length. It becomes a sum over the other dimensions, which has a tile for each index of the first, and that of the
    results over the first. Which sums these are follows from their shapes alone (`SumOfSamples.h`, docs/numerics.md), and
    imperative calls take them in the same way. Sums of half types, which round their results, stay whole. Comes before
    layouts move dimensions.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect"];
}

def UnrollScans : Pass<"sprig-unroll-scans", "::mlir::func::FuncOp"> {
  let summary = "Spells out loops over time that the target has no kernel for";
  let description = [{
    Every scan (`nn.scan`) inside of another, and every one that the target does not take as one kernel, becomes its steps
    one after the other. Both forms give the same bits. A remark of the category `fuse` says why a scan was unrolled.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect"];
  let options = [
    Option<"all", "all", "bool", "false", "unroll every scan">,
    Option<"target", "target", "std::string", "\"cpu\"", "kind of device that the kernels are for">,
  ];
}

def SelectEarly : Pass<"sprig-select-early", "::mlir::func::FuncOp"> {
  let summary = "Computes of what is read at one element along an axis that element alone";
  let description = [{
    A slice of one element along an axis moves before the operation whose result it reads, if nothing else reads that
    result. The dimension rule of the operation says which operands need one element only: those with the factor of that
    dimension, which must pass and be alone wherever it occurs. A concatenation along the axis becomes the operand that has
    the element. In a transformer of which one step is read, the last layer computes keys and values of all steps, and
    everything else of that step.

    Bits stay. Convolutions, whose algorithm depends on all sizes, and sums that are grouped by the number of results are
    therefore computed whole. So are sliding windows, because a slice before them would part a convolution from its
    epilogue, and what is checked at run time. The pass comes after differentiation because gradients of weights would be
    sums over other rows.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect"];
}

def Decompose : Pass<"sprig-decompose", "::mlir::func::FuncOp"> {
  let summary = "Replaces composites by the expressions of primitives that they stand for";
  let description = [{
    Every operation with `DecomposableOpInterface`, until none is left. Numerics are those of the decomposition: half
    types are normalised in f32, softmax takes the maximum off first.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect"];
}

def Differentiate : Pass<"sprig-differentiate", "::mlir::func::FuncOp"> {
  let summary = "Replaces requests for gradients by the expressions that compute them";
  let description = [{
    `nn.gradient` becomes the vector-Jacobian product of what lies between its targets and its outputs, in reverse order;
    contributions to a value are added in that order. `nn.jvp` is the derivative of such a product by its cotangent. A
    composite has a gradient of its own or is decomposed. `nn.checkpoint` is computed again in the backward pass, after
    the cotangent that asks for it (`nn.after`); `nn.custom_gradient` gives its own; nothing flows through
    `nn.stop_gradient`. All of these are gone afterwards, and with them every expression that nothing needs. An operation
    without a gradient that is asked for one is an error that names it.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect"];
}

def Remat : Pass<"sprig-remat", "::mlir::func::FuncOp"> {
  let summary = "Computes values again in the backward pass that would take too much memory to keep";
  let description = [{
    After differentiation. Kept are the values that lie in front of an operation with the attribute `nn.differentiated`,
    which `sprig-differentiate` puts on what it differentiates, and are used after it. While they take more than `bytes`,
    one of them is computed again from others that are kept, right before its first use after that operation: the one
    that costs the fewest operations a byte. The copies read what they need through `nn.after`, so that nothing merges
    them with what they stand for. They are the same operations on the same values: no bit changes. Parameters,
    constants and inputs count nothing. A remark of the category `memory` says what was done; a limit that cannot be
    reached is a warning, and what brings nothing is not computed again. `bytes` 0 is no limit.
    Results of operations whose locations have the mark `nn.recompute` are computed again in any case, where that is
    possible, but for those that are much smaller than what they are made of.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect"];
  let options = [
    Option<"bytes", "bytes", "int64_t", "0", "most bytes to keep from the forward to the backward pass">,
  ];
}

def Prepare : Pass<"sprig-prepare", "::mlir::ModuleOp"> {
  let summary = "Computes what depends on unchanging parameters alone in a function of its own";
  let description = [{
    Of parameters that no function sets: packed matrices and filters, transposes, factors of normalisations. They move
    to a function `prepare`, which keeps them in parameters `prepared`, `prepared_0`, ... that the others read. It has to
    run before them, and again when a parameter has another value. Reshapes and broadcasts stay where they are, and so
    does what checks its values when it runs. No bit changes. Nothing is added where there is nothing to prepare.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect", "::mlir::func::FuncDialect"];
}

def Freeze : Pass<"sprig-freeze", "::mlir::ModuleOp"> {
  let summary = "Turns parameters into constants, for packages that only infer";
  let description = [{
    `nn.get_param` becomes `nn.constant`, and parameters that nothing reads any more are dropped. A parameter that some
    function sets (`nn.set_param`) stays state. A batch norm of
    constant statistics merges into the convolution or matrix product in front of it, whose weights are scaled, and a
    division by constants of f32 or f64 is a product with their reciprocals, where these are exact or nothing but
    functions without steps (`nn.erf`, a softmax) will see it: rewrites that change arithmetic, so `strict` leaves them
    out.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect"];
  let options = [
    Option<"strict", "strict", "bool", "false", "leave batch norms and divisions as they are, so that no bit changes">,
  ];
}

def FoldConstants : Pass<"sprig-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "Evaluates operations on constants";
  let description = [{
    Replaces each operation whose operands are constants by its value, computed by the reference interpreter and rounded
    to the element type. Parameters are no constants (`freeze` makes them so). Operations on splats give splats without
    expanding them; a result that would make the program larger than `max-bytes` stays an operation, as does one that
    fails (an index out of range), so that run time reports it. With `exact` only what a kernel computes with the same
    bits is folded: functions that kernels approximate, and sums, whose order matters, stay operations. So do shifts that
    take several numbers out of each byte: they are there to keep weights small. With `keep-quantized` dequantised
    constants stay what they are. With `keep-narrow` those do that take several numbers out of each byte and that only
    matrix products of f32 read, as their right side and through moves at most: the numbers become constants of bytes.
    Bytes that are dequantised for loops over time alone fold whatever their size. With `empty`, values
    without elements are constants: sums over the samples of a rank that has none are zeros, and only what ranks do
    together is left of them. That depends on less than on other ranks, so collectives are joined before.
  }];
  let options = [
    Option<"keepQuantized", "keep-quantized", "bool", "false", "leave nn.dequantize, for sprig-integer-products">,
    Option<"keepNarrow", "keep-narrow", "bool", "false", "leave nn.dequantize of weights that were unpacked">,
    Option<"exact", "exact", "bool", "false", "fold only what never changes a bit">,
    Option<"empty", "empty", "bool", "false", "take values without elements for constants">,
    Option<"maxBytes", "max-bytes", "int64_t", "1048576",
           "largest result, in bytes, unless the operands are at least as large or it is a splat">,
  ];
  let dependentDialects = ["::sprig::ir::NNDialect"];
}

def IntegerProducts : Pass<"sprig-integer-products", "::mlir::func::FuncOp"> {
  let summary = "Computes with quantised tensors as integers";
  let description = [{
    What stands between `nn.dequantize` and `nn.quantize` as floats is computed on the integers themselves where they
    say the same. A convolution or product of a dequantised activation (a scale and a zero point for the whole tensor)
    and a dequantised constant (or one for each output) becomes `nn.conv_integer` or `nn.matmul_integer`, times the
    product of the scales; a bias that is quantised with that product is added as an integer. A constant scale of
    `nn.quantize` goes back through additions, activations and factors, into constants: no division is left. A mean of a
    dequantised activation, but of windows in the padding, becomes a sum of integers times one factor. Pools of maxima,
    and operations that only move elements, between equal scales and zero points work on the integers; a quantisation of
    what was quantised alike is dropped.

    The integers are exact where floats round, and a factor is rounded where a quotient was: results may differ by one
    step of a quantiser (docs/numerics.md). A remark of the category `fuse` says what keeps a product of quantised
    tensors in floats.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect"];
}

def WidenProducts : Pass<"sprig-widen-products", "::mlir::func::FuncOp"> {
  let summary = "Gives products operands of their accumulator's type where the target has no kernel for them";
  let description = [{
    `nn.matmul` and `nn.conv` with an `accumulator` of their own, but those of ui8 and a constant of i8, and of bf16 and a
    constant, for a target that takes them, outside of loops and branches. No bit of an integer changes; sums of bf16
    are those of f32 then, in another order and with denormals.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect"];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "kind of device that the kernels are for">,
  ];
}

def IndependentSamples : Pass<"sprig-independent-samples", "::mlir::ModuleOp"> {
  let summary = "Finds entries whose samples do not depend on each other";
  let description = [{
    Follows the first axis of the inputs by the operations' dimension rules. Where everything that goes in and out has the same number of
    samples there, and sample i of each result is computed from sample i of the inputs alone, the function gets
    `nn.independent_samples`, and the runtime may split or pad a batch to the entry's. What no rule tells counts as
    dependent. Functions of one `nn.entry` are marked together or not at all.
  }];
}

def SplitSamples : Pass<"sprig-split-samples", "::mlir::ModuleOp"> {
  let summary = "Makes programs of few samples of those whose samples do not depend on each other";
  let description = [{
    A call of many samples that goes through a network operation by operation reads and writes arrays that no near cache
    holds. Of a function with `nn.independent_samples`, this pass makes one for a piece of the samples, as the partition
    makes one rank's, and says by `kernel.pieces` in how many pieces a call has them: `sprig-repeat-pieces` makes a program for
    all of them again of what becomes of it. How large a piece is, if any, is chosen for the least expected time by the
    machine model: arrays of a piece come from the cache that holds them, constants are read again for each, and pieces are
    to be shared out over the threads. Decides how fast a program is, never what it computes: what would choose otherwise
    for fewer samples asks for all. Functions with loops, branches or state stay as they are, and so do modules that
    state shardings.
    Remarks of the category `fuse` say what was expected.
  }];
  let dependentDialects = ["::sprig::ir::NNDialect", "::sprig::ir::dist::DistDialect", "::sprig::kernel::KernelDialect"];
  let options = [
    Option<"samples", "samples", "int64_t", "0", "samples of a piece, where they divide those of the function; 0: by cost">,
    Option<"threads", "threads", "int64_t", "0", "threads that the package is for; 0: any number">,
    Option<"target", "target", "std::string", "\"cpu\"", "kind of device that the kernels are for">,
    ListOption<"architectures", "architectures", "std::string", "what the code is for; none: this machine">,
  ];
}

#endif // SPRIG_TRANSFORMS_PASSES_TD
