//===- ExecOps.td - Programs: what the runtime executes -----------------------------------------------------------------===//
//
// The last level before the package. A module holds devices, constants, kernels and one program per entry.
//
//===------------------------------------------------------------------------------------------------------------------===//

#ifndef SPRIG_EXEC_EXECOPS_TD
#define SPRIG_EXEC_EXECOPS_TD

include "dialects/Exec/ExecInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::sprig::exec";
  let summary = "Programs: devices, lanes, buffers, kernels and the commands that run them";
  let useDefaultAttributePrinterParser = 1;
  let description = [{
    A program is what the runtime runs: lanes of commands over buffers. Buffers are values of static `memref` type that
    stand for bytes, not for shapes: a command fits a kernel when element types and byte sizes agree, so a reshape is
    no command. Kernels take their inputs, then the buffers that they write.
  }];
}

class Exec_Op<string mnemonic, list<Trait> traits = []> : Op<Exec_Dialect, mnemonic, traits>;

def Exec_Buffer : StaticShapeMemRefOf<[F64, F32, F16, BF16, I64, I32, I16, I8, UI64, UI32, UI16, UI8, I1]>;
def Exec_Tensor : StaticShapeTensorOf<[F64, F32, F16, BF16, I64, I32, I16, I8, UI64, UI32, UI16, UI8, I1]>;

def Exec_BufferKind : I32EnumAttr<"BufferKind", "where a buffer's bytes are", [
    I32EnumAttrCase<"arena", 0>, I32EnumAttrCase<"input", 1>, I32EnumAttrCase<"output", 2>,
    I32EnumAttrCase<"constant", 3>, I32EnumAttrCase<"state", 4>]> {
  let cppNamespace = "::sprig::exec";
  let genSpecializedAttr = 0;
}
def Exec_BufferKindAttr : EnumAttr<Exec_Dialect, Exec_BufferKind, "buffer_kind">;

class Exec_Attr<string name, string attributeMnemonic> : AttrDef<Exec_Dialect, name> {
  let mnemonic = attributeMnemonic;
}

def Exec_TileRangeAttr : Exec_Attr<"TileRange", "tile_range"> {
  let summary = "the bytes of an operand that each tile touches";
  let description = [{
    Tile `t` touches at most `size` bytes from `first + t / per * step` on, as far as the operand has them: `per` tiles
    after each other share one range, where tiles are parts of a row. `first` is below zero where a tile reads in front
    of its own rows.
  }];
  let parameters = (ins "int64_t":$operand, "int64_t":$first, "int64_t":$step, "int64_t":$size,
                        DefaultValuedParameter<"int64_t", "1">:$per);
  let builders = [AttrBuilder<(ins "int64_t":$operand, "int64_t":$first, "int64_t":$step, "int64_t":$size),
                              [{ return $_get($_ctxt, operand, first, step, size, /*per=*/1); }]>];
  let assemblyFormat = "`<` $operand `:` $first `+` $step `*` `tile` (`per` $per^)? `,` $size `>`";
  let extraClassDeclaration = [{
    /// The bytes that tiles from `firstTile` up to `endTile` touch of an operand of `bytes`.
    ::sprig::rt::order::ByteRange bytesOf(int64_t firstTile, int64_t endTile, int64_t bytes) const;
  }];
}
def Exec_TileRangesAttr : TypedArrayAttrBase<Exec_TileRangeAttr, "ranges of tiles">;

def Exec_OverwriteAttr : Exec_Attr<"Overwrite", "overwrite"> {
  let summary = "a buffer that may take the bytes of another of the same command";
  let description = [{
    Positions among the command's buffers: an operand, and a result that may be written over it.
  }];
  let parameters = (ins "int64_t":$operand, "int64_t":$result);
  let assemblyFormat = "`<` $operand `by` $result `>`";
}
def Exec_OverwritesAttr : TypedArrayAttrBase<Exec_OverwriteAttr, "operands that results may overwrite">;

def Exec_DeviceOp : Exec_Op<"device", [Symbol, HasParent<"::mlir::ModuleOp">,
                                       DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a device that lanes run on and buffers lie on";
  let description = [{
    `kind` and `ordinal` are what the runtime looks up when it loads the program, no two devices have both in common;
    `arch` is what the code was made for, where that is fixed. Buffers that name no device lie on the module's first.

    ```mlir
    exec.device @cpu0 "cpu"
    exec.device @gpu1 "cuda" arch "sm_90" ordinal 1
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$kind, OptionalAttr<StrAttr>:$architecture,
                       DefaultValuedAttr<I64Attr, "0">:$ordinal);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::llvm::StringRef":$kind),
                            [{ build($_builder, $_state, name, kind, /*architecture=*/{}, /*ordinal=*/0); }]>];
  let assemblyFormat = "$sym_name $kind (`arch` $architecture^)? (`ordinal` $ordinal^)? attr-dict";
  let hasVerifier = 1;
}

def Exec_ConstantOp : Exec_Op<"constant", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "bytes that the package carries";
  let description = [{
    A splat stays one element in the package; the runtime repeats it.

    ```mlir
    exec.constant @bias = dense<[1.0, 2.0]> : tensor<2xf32>
    exec.constant @zeros = dense<0.0> : tensor<4096xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$value);
  let assemblyFormat = "$sym_name attr-dict `=` $value";
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getValue().getType()); }
  }];
  let hasVerifier = 1;
}

def Exec_KernelOp : Exec_Op<"kernel", [Symbol, IsolatedFromAbove, NoTerminator, HasParent<"::mlir::ModuleOp">]> {
  let summary = "code that a command runs over a range of tiles";
  let description = [{
    A leaf kernel computes tensors from tensors: its body is a graph that ends in `exec.yield`, and commands pass the
    buffers of its arguments, then those of its results. One of several dispatches has one tile, and `places` tells where
    in scratch each result lies that it does not yield. A composite kernel takes buffers and runs other kernels by
    `exec.call`: each of its tiles the calls that name it, in order. Calls of different tiles run side by side, so they
    write nothing that another one touches. Where the calls are those of each tile, a tile is a piece of the work: they
    take the tile's part of a buffer (`exec.piece`), memory of the running thread (`exec.scratch`), and what all read.

    `tiles` is the number of independent work units, fixed by shape; `grain` the fewest that are worth a thread;
    `scratch` the bytes that each running thread needs; `flops` and `bytes` feed the cost model; `label` is for people.
    `ranges` tell for operands, in their order, which bytes each tile touches; without one, every tile may touch all of
    an operand. A range leaves out no byte of a result.

    ```mlir
    exec.kernel @relu(%x: tensor<64xf32>) -> tensor<64xf32> attributes {tiles = 2 : i64} {
      %0 = kernel.dispatch "relu" (%a = %x : tensor<64xf32>) -> tensor<64xf32> {
        %1 = nn.relu %a : tensor<64xf32>
        kernel.yield %1 : tensor<64xf32>
      }
      exec.yield %0 : tensor<64xf32>
    }
    exec.kernel @twice(%x: memref<64xf32>, %t: memref<64xf32>, %y: memref<64xf32>) attributes {tiles = 1 : i64} {
      exec.call @relu(%x, %t) : memref<64xf32>, memref<64xf32>
      exec.call @relu(%t, %y) : memref<64xf32>, memref<64xf32>
    }
    exec.kernel @beside(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) attributes {tiles = 3 : i64} {
      exec.call @relu(%x, %y) in tiles 0 to 2 : memref<64xf32>, memref<64xf32>
      exec.call @relu(%x, %z) in tiles 2 to 3 : memref<64xf32>, memref<64xf32>
    }
    exec.kernel @pieces(%x: memref<4x64xf32>, %y: memref<4x64xf32>) attributes {scratch = 256 : i64, tiles = 4 : i64} {
      %0 = exec.piece %x : memref<4x64xf32> to memref<1x64xf32>
      %1 = exec.piece %y : memref<4x64xf32> to memref<1x64xf32>
      %2 = exec.scratch at 0 : memref<64xf32>
      exec.call @relu(%0, %2) each tile : memref<1x64xf32>, memref<64xf32>
      exec.call @relu(%2, %1) each tile : memref<64xf32>, memref<1x64xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, I64Attr:$tiles,
                       DefaultValuedAttr<I64Attr, "1">:$grain, DefaultValuedAttr<I64Attr, "0">:$scratch,
                       DefaultValuedAttr<I64Attr, "0">:$flops, DefaultValuedAttr<I64Attr, "0">:$bytes,
                       OptionalAttr<StrAttr>:$label, OptionalAttr<DenseI64ArrayAttr>:$places,
                       OptionalAttr<Exec_TileRangesAttr>:$ranges);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type, "int64_t":$tiles,
                                 "int64_t":$grain, "int64_t":$scratch, "int64_t":$flops, "int64_t":$bytes,
                                 "::mlir::StringAttr":$label, "::mlir::DenseI64ArrayAttr":$places),
                            [{ build($_builder, $_state, name, type, tiles, grain, scratch, flops, bytes, label, places,
                                     /*ranges=*/{}); }]>];
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Types of what a command passes: the arguments, then the results.
    ::llvm::SmallVector<::mlir::Type> getOperandTypes();
    /// Operands from this index on are written.
    unsigned getNumInputs() { return getFunctionType().getNumInputs(); }
    /// Sets `ranges`; nothing for none.
    void setTileRanges(::llvm::ArrayRef<TileRangeAttr> list);
    ::llvm::SmallVector<TileRangeAttr> tileRanges() {
      ::mlir::ArrayAttr list = getRangesAttr();
      return list ? ::llvm::to_vector(list.getAsRange<TileRangeAttr>()) : ::llvm::SmallVector<TileRangeAttr>();
    }
    /// Whether the body calls other kernels.
    bool isComposite();
    /// What a run of all tiles touches of each operand.
    ::llvm::SmallVector<::sprig::Touched> getTouched(::mlir::SymbolTableCollection &symbols);
    /// What a command does to each buffer that it passes.
    ::llvm::SmallVector<::sprig::exec::AccessMode> getOperandAccess(::mlir::SymbolTableCollection &symbols);
  }];
}

def Exec_YieldOp : Exec_Op<"yield", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "the results of a leaf kernel";
  let description = [{
    ```mlir
    exec.kernel @copy(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
      exec.yield %x : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Exec_Tensor>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

def Exec_PieceOp : Exec_Op<"piece", [Pure, HasParent<"KernelOp">]> {
  let summary = "the part of a buffer that belongs to the tile that runs";
  let description = [{
    Of a composite kernel whose calls are those of each tile: the buffer has as many such parts as the kernel tiles, one
    after the other.

    ```mlir
    exec.kernel @copy(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
      exec.yield %x : tensor<4xf32>
    }
    exec.kernel @all(%x: memref<2x4xf32>, %y: memref<2x4xf32>) attributes {tiles = 2 : i64} {
      %0 = exec.piece %x : memref<2x4xf32> to memref<1x4xf32>
      %1 = exec.piece %y : memref<2x4xf32> to memref<1x4xf32>
      exec.call @copy(%0, %1) each tile : memref<1x4xf32>, memref<1x4xf32>
    }
    ```
  }];
  let arguments = (ins Exec_Buffer:$buffer);
  let results = (outs Exec_Buffer:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `to` type($result)";
  let hasVerifier = 1;
}

def Exec_ScratchOp : Exec_Op<"scratch", [Pure, HasParent<"KernelOp">]> {
  let summary = "memory of the thread that runs a tile";
  let description = [{
    Of a composite kernel whose calls are those of each tile: bytes of the kernel's `scratch` from `offset` on. What
    callees need as scratch memory of their own lies below.

    ```mlir
    exec.kernel @copy(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
      exec.yield %x : tensor<4xf32>
    }
    exec.kernel @all(%x: memref<2x4xf32>, %y: memref<2x4xf32>) attributes {scratch = 16 : i64, tiles = 2 : i64} {
      %0 = exec.piece %x : memref<2x4xf32> to memref<1x4xf32>
      %1 = exec.piece %y : memref<2x4xf32> to memref<1x4xf32>
      %2 = exec.scratch at 0 : memref<1x4xf32>
      exec.call @copy(%0, %2) each tile : memref<1x4xf32>, memref<1x4xf32>
      exec.call @copy(%2, %1) each tile : memref<1x4xf32>, memref<1x4xf32>
    }
    ```
  }];
  let arguments = (ins I64Attr:$offset);
  let results = (outs Exec_Buffer:$result);
  let assemblyFormat = "`at` $offset attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Exec_CallOp : Exec_Op<"call", [HasParent<"KernelOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs all tiles of another kernel";
  let description = [{
    In the first tile of its own kernel, or shared out evenly over several; `each tile`, all of them in every one.

    ```mlir
    exec.kernel @copy(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
      exec.yield %x : tensor<4xf32>
    }
    exec.kernel @all(%x: memref<4xf32>, %y: memref<4xf32>) attributes {tiles = 1 : i64} {
      exec.call @copy(%x, %y) : memref<4xf32>, memref<4xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Exec_Buffer>:$buffers,
                       OptionalAttr<I64Attr>:$first_tile, OptionalAttr<I64Attr>:$end_tile, UnitAttr:$each);
  let builders = [OpBuilder<(ins "::mlir::FlatSymbolRefAttr":$kernel, "::mlir::ValueRange":$buffers,
                                 "int64_t":$first, "int64_t":$end), [{
    bool isFirstAlone = first == 0 && end == 1;
    build($_builder, $_state, kernel, buffers, isFirstAlone ? ::mlir::IntegerAttr() : $_builder.getI64IntegerAttr(first),
          isFirstAlone ? ::mlir::IntegerAttr() : $_builder.getI64IntegerAttr(end), /*each=*/::mlir::UnitAttr());
  }]>,
                  OpBuilder<(ins "::mlir::FlatSymbolRefAttr":$kernel, "::mlir::ValueRange":$buffers), [{
    build($_builder, $_state, kernel, buffers, ::mlir::IntegerAttr(), ::mlir::IntegerAttr(), $_builder.getUnitAttr());
  }]>];
  let assemblyFormat = [{
    $kernel `(` $buffers `)` (`in` `tiles` $first_tile^ `to` $end_tile)? (`each` $each^ `tile`)? attr-dict
    (`:` type($buffers)^)?
  }];
  let extraClassDeclaration = [{
    /// The tiles of its kernel that it runs in.
    int64_t firstTile() { return getFirstTile().value_or(0); }
    int64_t endTile();
    int64_t countTiles() { return endTile() - firstTile(); }
    /// How often it runs all tiles of the other kernel.
    int64_t countRuns() { return getEach() ? countTiles() : 1; }
    /// The number of its kernel's argument that a buffer is or is a piece of; none of memory of the thread.
    static std::optional<unsigned> argumentOf(::mlir::Value buffer);
  }];
}

def Exec_ProgramOp : Exec_Op<"program", [Symbol, IsolatedFromAbove, NoTerminator, NoRegionArguments,
                                         HasParent<"::mlir::ModuleOp">]> {
  let summary = "an entry: buffers and lanes of commands";
  let description = [{
    `arena` is the size of the memory that a run needs, known once the buffers of kind `arena` have offsets: on each of
    the module's devices, in their order.
    `independent_samples` says that samples along the first axis of every input and output do not depend on each other,
    so that the runtime may split or pad a batch. `entry` is the name in the package, which programs for several sizes of
    one model share; without it, the symbol. `ranks` is how many ranks run the program together, without it one; it is
    every rank's but where `rank` names one. `samples_of_ranks` is how many samples a call of all of them has together.
    Where collectives are of parts of the ranks, these are numbered in row-major order of `mesh_axes`, of `mesh_sizes`.
    `input_pieces` and `output_pieces` say of those that are pieces of what all ranks have together the shape of the whole,
    then where the piece begins along each dimension; of others nothing.

    ```mlir
    exec.device @cpu0 "cpu"
    exec.kernel @copy(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
      exec.yield %x : tensor<4xf32>
    }
    exec.program @main inputs("x": tensor<4xf32>) outputs("y": tensor<4xf32>) arena 64 {
      %x = exec.buffer input[0] : memref<4xf32>
      %t = exec.buffer arena at 0 : memref<4xf32>
      %y = exec.buffer output[0] : memref<4xf32>
      exec.lane on @cpu0 {
        exec.dispatch @copy(%x, %t) : memref<4xf32>, memref<4xf32>
        exec.copy %t to %y : memref<4xf32> to memref<4xf32>
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$input_names, TypeArrayAttr:$input_types,
                       StrArrayAttr:$output_names, TypeArrayAttr:$output_types, OptionalAttr<DenseI64ArrayAttr>:$arenas,
                       UnitAttr:$independent_samples, OptionalAttr<StrAttr>:$entry, OptionalAttr<I64Attr>:$ranks,
                       OptionalAttr<I64Attr>:$rank, OptionalAttr<I64Attr>:$samples_of_ranks,
                       OptionalAttr<StrArrayAttr>:$mesh_axes, OptionalAttr<DenseI64ArrayAttr>:$mesh_sizes,
                       OptionalAttr<TypedArrayAttrBase<DenseI64ArrayAttr, "pieces">>:$input_pieces,
                       OptionalAttr<TypedArrayAttrBase<DenseI64ArrayAttr, "pieces">>:$output_pieces);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes of the arenas of all devices; 0 before they are planned.
    int64_t getArenaBytes();
    /// The numbers of axes of its mesh, by their names; nothing where one is none of them.
    std::optional<::llvm::SmallVector<uint32_t>> findAxes(::mlir::ArrayAttr names);
    ::mlir::RankedTensorType getInputType(unsigned i) {
      return ::llvm::cast<::mlir::RankedTensorType>(::llvm::cast<::mlir::TypeAttr>(getInputTypes()[i]).getValue());
    }
    ::mlir::RankedTensorType getOutputType(unsigned i) {
      return ::llvm::cast<::mlir::RankedTensorType>(::llvm::cast<::mlir::TypeAttr>(getOutputTypes()[i]).getValue());
    }
  }];
}

def Exec_BufferOp : Exec_Op<"buffer", [HasParent<"ProgramOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "bytes of the arena, an input, an output, a constant or a state";
  let description = [{
    `index` picks the input or output, `source` the constant or the parameter that is the state; `at` is the offset in
    bytes from its start. An arena buffer has no offset before memory is planned. `on` names the device that the bytes
    are on, the module's first without it: each device has an arena, and copies of the inputs and constants that buffers
    there name; an output and a state lie on one device.

    ```mlir
    exec.constant @c = dense<1.0> : tensor<4xf32>
    exec.program @main inputs("x": tensor<4xf32>) outputs() {
      %x = exec.buffer input[0] : memref<4xf32>
      %c = exec.buffer constant @c : memref<4xf32>
      %t = exec.buffer arena named "hidden" : memref<16xf32>
    }
    ```
  }];
  let arguments = (ins Exec_BufferKindAttr:$kind, OptionalAttr<I64Attr>:$index, OptionalAttr<FlatSymbolRefAttr>:$source,
                       OptionalAttr<I64Attr>:$offset, OptionalAttr<StrAttr>:$label,
                       OptionalAttr<FlatSymbolRefAttr>:$device);
  let results = (outs Exec_Buffer:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::sprig::exec::BufferKind":$kind, "::mlir::IntegerAttr":$index,
                                 "::mlir::FlatSymbolRefAttr":$source, "::mlir::IntegerAttr":$offset,
                                 "::mlir::StringAttr":$label),
                            [{ build($_builder, $_state, type, kind, index, source, offset, label, /*device=*/{}); }]>];
  let extraClassDeclaration = [{
    /// The device that the bytes are on; null in a module without devices.
    ::mlir::FlatSymbolRefAttr getPlace();
  }];
  let assemblyFormat = [{
    $kind (`[` $index^ `]`)? ($source^)? (`on` $device^)? (`at` $offset^)? (`named` $label^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Exec_LaneOp : Exec_Op<"lane", [NoTerminator, NoRegionArguments, HasParent<"ProgramOp">,
                                   DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "commands that run in order on one device";
  let description = [{
    Lanes run side by side; events order commands of different lanes.

    ```mlir
    exec.device @cpu0 "cpu"
    exec.program @main inputs("x": tensor<4xf32>) outputs("y": tensor<4xf32>) {
      %x = exec.buffer input[0] : memref<4xf32>
      %y = exec.buffer output[0] : memref<4xf32>
      exec.lane on @cpu0 {
        exec.copy %x to %y : memref<4xf32> to memref<4xf32>
        exec.record 0
      }
      exec.lane on @cpu0 {
        exec.wait 0
      }
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$device);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`on` $device custom<Commands>($body) attr-dict";
}

def Exec_DispatchOp : Exec_Op<"dispatch", [HasParent<"LaneOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<Exec_CommandOpInterface, ["getAccesses", "countFlops", "countTouched", "getTitle"]>]> {
  let summary = "runs a kernel";
  let description = [{
    The buffers are those of the kernel's arguments, then of its results. `label` names the command in errors, profiles
    and drawings. With `tiles` it runs those of the kernel from the first number up to the second: an event after it
    lets others go on before the rest is done. `overwritable` says which results may take an operand's bytes, any choice
    that names no buffer twice; `plan-memory` does so and removes it.

    ```mlir
    exec.device @cpu0 "cpu"
    exec.kernel @copy(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tiles = 1 : i64} {
      exec.yield %x : tensor<4xf32>
    }
    exec.program @main inputs("x": tensor<2x2xf32>) outputs("y": tensor<4xf32>) {
      %x = exec.buffer input[0] : memref<2x2xf32>
      %y = exec.buffer output[0] : memref<4xf32>
      exec.lane on @cpu0 {
        exec.dispatch @copy(%x, %y) named "first" : memref<2x2xf32>, memref<4xf32>
      }
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Exec_Buffer>:$buffers, OptionalAttr<StrAttr>:$label,
                       OptionalAttr<I64Attr>:$first_tile, OptionalAttr<I64Attr>:$end_tile,
                       OptionalAttr<Exec_OverwritesAttr>:$overwritable);
  let builders = [OpBuilder<(ins "::mlir::FlatSymbolRefAttr":$kernel, "::mlir::ValueRange":$buffers,
                                 "::mlir::StringAttr":$label),
                            [{ build($_builder, $_state, kernel, buffers, label, /*first_tile=*/{}, /*end_tile=*/{},
                                     /*overwritable=*/{}); }]>];
  let assemblyFormat = [{
    $kernel `(` $buffers `)` (`tiles` $first_tile^ `to` $end_tile)? (`named` $label^)?
    (`overwritable` $overwritable^)? attr-dict (`:` type($buffers)^)?
  }];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<OverwriteAttr> overwrites() {
      ::mlir::ArrayAttr list = getOverwritableAttr();
      return list ? ::llvm::to_vector(list.getAsRange<OverwriteAttr>()) : ::llvm::SmallVector<OverwriteAttr>();
    }
    /// Whether it runs some of the kernel's tiles, not all.
    bool isPart() { return getFirstTile().has_value(); }
    /// Sets `overwritable`; nothing for none.
    void setOverwrites(::llvm::ArrayRef<OverwriteAttr> list);
  }];
  let hasVerifier = 1;
}

def Exec_CopyOp : Exec_Op<"copy", [HasParent<"LaneOp">,
    DeclareOpInterfaceMethods<Exec_CommandOpInterface, ["getAccesses", "crossesDevices"]>]> {
  let summary = "copies a buffer's bytes";
  let description = [{
    From one device to another, too: one of the two is that of the lane.

    ```mlir
    exec.device @cpu0 "cpu"
    exec.program @main inputs("x": tensor<4xf32>) outputs("y": tensor<4xf32>) {
      %x = exec.buffer input[0] : memref<4xf32>
      %y = exec.buffer output[0] : memref<4xf32>
      exec.lane on @cpu0 {
        exec.copy %x to %y : memref<4xf32> to memref<4xf32>
      }
    }
    ```
  }];
  let arguments = (ins Exec_Buffer:$source, Exec_Buffer:$target);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source) `to` type($target)";
  let hasVerifier = 1;
}

def Exec_Reduction : I32EnumAttr<"Reduction", "what the elements of ranks are combined by", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>, I32EnumAttrCase<"product", 2>, I32EnumAttrCase<"min", 3>,
    I32EnumAttrCase<"max", 4>]> {
  let cppNamespace = "::sprig::exec";
}

def Exec_CollectiveKind : I32EnumAttr<"CollectiveKind", "what ranks do together", [
    I32EnumAttrCase<"all_reduce", 0>, I32EnumAttrCase<"reduce_scatter", 1>, I32EnumAttrCase<"all_gather", 2>,
    I32EnumAttrCase<"broadcast", 3>, I32EnumAttrCase<"reduce", 4>, I32EnumAttrCase<"gather", 5>,
    I32EnumAttrCase<"scatter", 6>, I32EnumAttrCase<"all_to_all", 7>, I32EnumAttrCase<"barrier", 8>,
    I32EnumAttrCase<"part", 9>]> {
  let cppNamespace = "::sprig::exec";
}

def Exec_CollectiveOp : Exec_Op<"collective", [HasParent<"LaneOp">, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Exec_CommandOpInterface, ["getAccesses", "getTitle"]>]> {
  let summary = "what the ranks that run the program do together";
  let description = [{
    They are as many as the program says, and all come to the same collectives in the same order. Tensors are of one
    element type, and travel together; each is cut into pieces by itself, so which are together changes no bit. Without
    an algorithm each has the one for its own bytes.

    `all_reduce`, `broadcast` and `reduce` work in place. Elsewhere what is read comes first, then, behind `to`, as many
    buffers that are written. A rank's part of a tensor is its piece along the first axis: sizes differ by one row at
    most, larger ones come first. `units` has the elements of a row of each whole, 1 without it; where ranks do not share
    the rows evenly, the program is one rank's. `reduce_scatter` and `scatter` do not leave the whole as it was. What
    `reduce` and `gather` leave on another rank than the root is anything. `part` takes this rank's part of a whole that
    it has, and waits for nobody. With `over` ranks and parts are those of its group: the ranks whose places on the
    program's mesh differ in these axes alone, two at least; `root` is a place among them.

    ```mlir
    exec.device @cpu0 "cpu"
    exec.program @main inputs() outputs("y": tensor<4xf32>, "z": tensor<2xf32>) attributes {ranks = 2 : i64} {
      %y = exec.buffer output[0] : memref<4xf32>
      %z = exec.buffer output[1] : memref<2xf32>
      %t = exec.buffer arena : memref<4xf32>
      exec.lane on @cpu0 {
        exec.collective all_reduce sum (%y) by "ring" : memref<4xf32>
        exec.collective reduce_scatter sum (%y) to (%z) : memref<4xf32> to memref<2xf32>
        exec.collective all_gather (%z) to (%t) : memref<2xf32> to memref<4xf32>
        exec.collective broadcast (%t) root 1 : memref<4xf32>
        exec.collective barrier ()
      }
    }
    exec.program @rows inputs() outputs("y": tensor<4xf32>) attributes {ranks = 4 : i64, mesh_axes = ["data", "model"],
                                                                        mesh_sizes = array<i64: 2, 2>} {
      %y = exec.buffer output[0] : memref<4xf32>
      exec.lane on @cpu0 {
        exec.collective all_reduce sum (%y) over ["model"] : memref<4xf32>
      }
    }
    ```
  }];
  let arguments = (ins Exec_CollectiveKind:$kind, OptionalAttr<Exec_Reduction>:$reduction,
                       Variadic<Exec_Buffer>:$buffers, Variadic<Exec_Buffer>:$targets, OptionalAttr<I64Attr>:$root,
                       OptionalAttr<StrArrayAttr>:$over, OptionalAttr<DenseI64ArrayAttr>:$units, OptionalAttr<StrAttr>:$algorithm,
                       OptionalAttr<StrAttr>:$label);
  let assemblyFormat = [{
    $kind ($reduction^)? `(` $buffers `)` (`to` `(` $targets^ `)`)? (`root` $root^)? (`over` $over^)?
    (`units` $units^)?
    (`by` $algorithm^)? (`named` $label^)? attr-dict (`:` type($buffers)^)? (`to` type($targets)^)?
  }];
  let extraClassDeclaration = [{
    /// How many tensors it is of; the whole of one, and what is beside it, null where it is in place.
    unsigned countTensors() { return getBuffers().size(); }
    ::mlir::Value wholeOf(unsigned tensor);
    ::mlir::Value otherOf(unsigned tensor);
    /// The ranks that it is of: of the program's rank, of rank 0 where it is every rank's.
    ::llvm::SmallVector<int> group();
  }];
  let hasVerifier = 1;
}

def Exec_RecordOp : Exec_Op<"record", [HasParent<"LaneOp">,
    DeclareOpInterfaceMethods<Exec_CommandOpInterface, ["getRecordedEvent"]>]> {
  let summary = "marks that the lane has come here; each event is recorded once";
  let description = [{
    ```mlir
    exec.device @cpu0 "cpu"
    exec.program @main inputs() outputs() {
      exec.lane on @cpu0 {
        exec.record 0
      }
    }
    ```
  }];
  let arguments = (ins I64Attr:$event);
  let assemblyFormat = "$event attr-dict";
}

def Exec_WaitOp : Exec_Op<"wait", [HasParent<"LaneOp">,
    DeclareOpInterfaceMethods<Exec_CommandOpInterface, ["getAwaitedEvent"]>]> {
  let summary = "holds the lane until an event is recorded";
  let description = [{
    ```mlir
    exec.device @cpu0 "cpu"
    exec.program @main inputs() outputs() {
      exec.lane on @cpu0 {
        exec.record 0
      }
      exec.lane on @cpu0 {
        exec.wait 0
      }
    }
    ```
  }];
  let arguments = (ins I64Attr:$event);
  let assemblyFormat = "$event attr-dict";
}

#endif // SPRIG_EXEC_EXECOPS_TD
