//===- DistOps.td - Programs of many ranks ------------------------------------------------------------------------------===//
//
// Meshes, collectives, and what a collective is made of: what one rank sends, receives and adds.
//
//===------------------------------------------------------------------------------------------------------------------===//

#ifndef SPRIG_DIST_DISTOPS_TD
#define SPRIG_DIST_DISTOPS_TD

include "dialects/Interfaces/OpInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::sprig::ir::dist";
  let summary = "Programs of many ranks: meshes, collectives, and the steps that they are made of";
  let description = [{
    A function with collectives is the program that every rank of a mesh runs, on values of its own. A collective takes
    this rank's value and waits for those of its group: the ranks whose places on the mesh differ in the named axes
    alone. Where a first axis is divided among them, sizes differ by one at most and larger ones come first, so types may
    differ from rank to rank: `dist.rank` on a function says whose it is. A pass spells a
    collective out for one rank as `dist.steps`: what that rank sends, receives and adds, by element, so that
    messages and bytes can be counted and played.

    A function of whole tensors becomes such a program by shardings: which parts of each tensor lie on which rank. They
    stand in attributes that passes read and write: `dist.sharding` of an argument or a result of a function, or of a
    parameter, and `dist.shardings` of an operation, one for each of its results.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, traits>;

def Dist_Tensor : StaticShapeTensorOf<[F64, F32, F16, BF16, AnyInteger]>;

def Dist_Reduction : I32EnumAttr<"Reduction", "what elements are combined by", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>, I32EnumAttrCase<"product", 2>, I32EnumAttrCase<"min", 3>,
    I32EnumAttrCase<"max", 4>]> {
  let cppNamespace = "::sprig::ir::dist";
}

def Dist_MeshOp : Dist_Op<"mesh", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "named axes of ranks";
  let description = [{
    Ranks are numbered in row-major order of the axes.

    ```mlir
    dist.mesh @mesh ["data", "model"] [4, 2]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$axes, DenseI64ArrayAttr:$sizes);
  let assemblyFormat = "$sym_name $axes $sizes attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t numRanks();
    /// The group of a rank over some axes, this rank among them, in the order of their numbers.
    ::llvm::SmallVector<int64_t> groupOf(int64_t rank, ::mlir::ArrayAttr axes);
  }];
}

def Dist_CutAttr : AttrDef<Dist_Dialect, "Cut"> {
  let mnemonic = "cut";
  let summary = "how a dimension is dealt along an axis, where its pieces are not even ones";
  let description = [{
    Written in a sharding: `"data" by 3,1 in 16,16,8 of 4`. Ranks along the axis have positions in proportion to the weights
    behind `by` (runtime/collective/Shares.h), evenly without them. Each of the blocks behind `in` is dealt by itself, one
    after the other: of a step in several passes each rank has rows of every pass. A block counts units, which stay
    together, of as many positions as `of` says: a dimension of 16 x 4 positions whose major part is dealt has units of 4.
    Without blocks all units are one; blocks and units stand alone in their dimension.
  }];
  let parameters = (ins "::mlir::StringAttr":$axis, ArrayRefParameter<"int64_t">:$weights,
                        ArrayRefParameter<"int64_t">:$blocks, "int64_t":$unit);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dist_ShardingAttr : AttrDef<Dist_Dialect, "Sharding"> {
  let mnemonic = "sharding";
  let summary = "which part of a tensor each rank of a mesh has";
  let description = [{
    For each dimension the axes of the mesh that it is split by, major to minor: each cuts the pieces of the one before
    into as many as it has ranks. Sizes of pieces differ by one at most and larger ones come first, so a rank may have no
    row at all. An axis may say how else a dimension is dealt (CutAttr). Along `partial` axes each rank has a value of the
    whole shape, and what is meant is their sum (or product, min, max). Along axes that are not named all ranks have the
    same.

    A `flat` sharding is of the row-major vector of all elements: zeros behind its end make it a multiple of the ranks,
    and each has a piece of one size. So an optimizer's state is divided, whatever its shape is (ZeRO, arXiv:1910.02054).

    ```mlir
    dist.mesh @mesh ["data", "model"] [4, 2]
    func.func @example(%x: tensor<8x6xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>},
                       %y: tensor<8x6xf32> {dist.sharding = #dist.sharding<@mesh, [[], ["data"]], partial sum ["model"]>},
                       %z: tensor<8x6xf32> {dist.sharding = #dist.sharding<@mesh, [["data" by 3,1,1,1], []]>},
                       %w: tensor<8x6xf32> {dist.sharding = #dist.sharding<@mesh, flat ["data"]>}) {
      return
    }
    ```
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh, ArrayRefParameter<"::mlir::ArrayAttr">:$dims,
                        "::mlir::ArrayAttr":$flat, "::mlir::ArrayAttr":$partial,
                        "::sprig::ir::dist::Reduction":$reduction);
  // Of dimensions alone.
  let builders = [AttrBuilder<(ins "::mlir::FlatSymbolRefAttr":$mesh, "::llvm::ArrayRef<::mlir::ArrayAttr>":$dims), [{
    auto none = ::mlir::ArrayAttr::get($_ctxt, {});
    return $_get($_ctxt, mesh, dims, none, none, Reduction::sum);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dist_ShardOp : Dist_Op<"shard", [Pure, AllTypesMatch<["x", "result"]>,
                                     DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                     DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "the same value, which is to be sharded so";
  let description = [{
    Says what the propagation of shardings has to keep to; the values are those of the operand. The cotangent of the
    operand is sharded as the result is.

    ```mlir
    dist.mesh @mesh ["data", "model"] [4, 2]
    func.func @example(%x: tensor<8x6xf32>) {
      %y = dist.shard %x : tensor<8x6xf32> to #dist.sharding<@mesh, [["data"], ["model"]]>
      return
    }
    ```
  }];
  let arguments = (ins Dist_Tensor:$x, Dist_ShardingAttr:$sharding);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$x `:` type($x) `to` qualified($sharding) attr-dict";
}

def Dist_Vjp : DeclareOpInterfaceMethods<DifferentiableOpInterface>;

// Operations that a group does together.
defvar Dist_group = (ins FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes, OptionalAttr<StrAttr>:$algorithm);
class Dist_Collective<string mnemonic, list<Trait> traits = []>
    : Dist_Op<mnemonic, traits # [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verifySymbolUses(::mlir::SymbolTableCollection &symbols) {
      return verifyCollective(*this, symbols);
    }
  }];
}

class Dist_OfTensor<string mnemonic, list<Trait> traits = []> : Dist_Collective<mnemonic, traits> {
  let results = (outs Dist_Tensor:$result);
}
class Dist_Moving<string mnemonic, list<Trait> traits = []> : Dist_OfTensor<mnemonic, traits> {
  let arguments = !con((ins Dist_Tensor:$x), Dist_group);
  let assemblyFormat = [{ $x `on` $mesh $axes (`by` $algorithm^)? attr-dict `:` type($x) `->` type($result) }];
}
class Dist_Rooted<string mnemonic, list<Trait> traits = []> : Dist_OfTensor<mnemonic, traits> {
  let arguments = !con((ins Dist_Tensor:$x, I64Attr:$root), Dist_group);
  let assemblyFormat = [{
    $x `root` $root `on` $mesh $axes (`by` $algorithm^)? attr-dict `:` type($x) `->` type($result)
  }];
}
// Values that go together.
class Dist_OfTensors<string mnemonic, list<Trait> traits> : Dist_Collective<mnemonic, traits> {
  let results = (outs Variadic<Dist_Tensor>:$results);
  let hasVerifier = 1;
}

def Dist_AllReduceOp : Dist_OfTensors<"all_reduce", [InferTypeOpAdaptor, Dist_Vjp]> {
  let summary = "the sums of the group's values, or what else combines them, on every rank";
  let description = [{
    Values of one element type go together; each is cut into pieces by itself, so which are together changes no bit.
    Gradients are those of the sum of all ranks' outputs: the cotangent of a sum's operand is the sum of the results'
    cotangents over the group, that of a mean's their mean. Other reductions have none.

    ```mlir
    dist.mesh @mesh ["data"] [4]
    func.func @example(%x: tensor<32xf32>, %y: tensor<f32>) {
      %sums:2 = dist.all_reduce sum %x, %y on @mesh ["data"] by "ring" : tensor<32xf32>, tensor<f32>
      return
    }
    ```
  }];
  let arguments = !con((ins Variadic<Dist_Tensor>:$operands, Dist_Reduction:$reduction), Dist_group);
  let assemblyFormat = [{
    $reduction $operands `on` $mesh $axes (`by` $algorithm^)? attr-dict `:` type($operands)
  }];
}
def Dist_ReduceScatterOp : Dist_OfTensors<"reduce_scatter", [Dist_Vjp]> {
  let summary = "this rank's part of the sum: the first axis is divided by the group";
  let description = [{
    Several values of one element type go together, as those of an all-reduce. The cotangents of the parts are gathered
    from all ranks for that of a sum's operand, and divided by their number for a mean's. Other reductions have no
    gradient.

    ```mlir
    dist.mesh @mesh ["data"] [4]
    func.func @example(%x: tensor<8x3xf32>) {
      %part = dist.reduce_scatter sum %x on @mesh ["data"] : tensor<8x3xf32> -> tensor<2x3xf32>
      return
    }
    ```
  }];
  let arguments = !con((ins Variadic<Dist_Tensor>:$operands, Dist_Reduction:$reduction), Dist_group);
  let assemblyFormat = [{
    $reduction $operands `on` $mesh $axes (`by` $algorithm^)? attr-dict `:` type($operands) `->` type($results)
  }];
}
def Dist_AllGatherOp : Dist_OfTensors<"all_gather", [Dist_Vjp]> {
  let summary = "the values of the group one after the other along the first axis, on every rank";
  let description = [{
    Several values of one element type go together, as those of an all-reduce. The cotangent of an operand is this rank's
    part of the sum of the ranks' cotangents.

    ```mlir
    dist.mesh @mesh ["data"] [4]
    func.func @example(%x: tensor<2x3xf32>) {
      %all = dist.all_gather %x on @mesh ["data"] : tensor<2x3xf32> -> tensor<8x3xf32>
      return
    }
    ```
  }];
  let arguments = !con((ins Variadic<Dist_Tensor>:$operands), Dist_group);
  let assemblyFormat = [{
    $operands `on` $mesh $axes (`by` $algorithm^)? attr-dict `:` type($operands) `->` type($results)
  }];
}
def Dist_PartOp : Dist_Moving<"part", [Pure]> {
  let summary = "this rank's part of a value that it has: no message";
  let description = [{
    What a rank does with a value that all have, where each goes on with a part of its own: the first axis is divided by
    the group.

    ```mlir
    dist.mesh @mesh ["data"] [4]
    func.func @example(%x: tensor<8x3xf32>) {
      %part = dist.part %x on @mesh ["data"] : tensor<8x3xf32> -> tensor<2x3xf32>
      return
    }
    ```
  }];
}
def Dist_AllToAllOp : Dist_Moving<"all_to_all", [Dist_Vjp]> {
  let summary = "part i of the first axis goes to the i-th rank of the group, and comes from it";
  let description = [{
    Each rank gets from every other the part that has its own number in the group, one after the other: of rows that the
    group divides as many as it has, of others more on the ranks whose parts are larger. The way back, on which parts of
    one size go to where they were cut from, is the same operation: of the two types it is the one whose rows the
    group does not divide that is cut. The cotangent of the operand goes that way.

    ```mlir
    dist.mesh @mesh ["model"] [4]
    func.func @example(%x: tensor<8x3xf32>) {
      %y = dist.all_to_all %x on @mesh ["model"] : tensor<8x3xf32> -> tensor<8x3xf32>
      return
    }
    func.func @last(%x: tensor<9x3xf32>) attributes {dist.rank = 3 : i64} {
      %y = dist.all_to_all %x on @mesh ["model"] : tensor<9x3xf32> -> tensor<8x3xf32>
      %back = dist.all_to_all %y on @mesh ["model"] : tensor<8x3xf32> -> tensor<9x3xf32>
      return
    }
    ```
  }];
}
def Dist_BroadcastOp : Dist_Rooted<"broadcast", [SameOperandsAndResultType, Dist_Vjp]> {
  let summary = "the value of the group's rank `root`, on every rank";
  let description = [{
    The cotangent of the root's operand is the sum of the ranks' cotangents; those of others are zeros.

    ```mlir
    dist.mesh @mesh ["data"] [4]
    func.func @example(%x: tensor<8xf32>) {
      %y = dist.broadcast %x root 0 on @mesh ["data"] : tensor<8xf32>
      return
    }
    ```
  }];
  let assemblyFormat = [{ $x `root` $root `on` $mesh $axes (`by` $algorithm^)? attr-dict `:` type($x) }];
}
def Dist_ReduceOp : Dist_OfTensor<"reduce", [SameOperandsAndResultType, Dist_Vjp]> {
  let summary = "the sum of the group's values, on its rank `root`; elsewhere elements are zeros";
  let description = [{
    The cotangent of the root's sum is broadcast to all ranks, and divided by their number for a mean. Other reductions
    have no gradient.

    ```mlir
    dist.mesh @mesh ["data"] [4]
    func.func @example(%x: tensor<8xf32>) {
      %y = dist.reduce sum %x root 0 on @mesh ["data"] : tensor<8xf32>
      return
    }
    ```
  }];
  let arguments = !con((ins Dist_Tensor:$x, Dist_Reduction:$reduction, I64Attr:$root), Dist_group);
  let assemblyFormat = [{ $reduction $x `root` $root `on` $mesh $axes (`by` $algorithm^)? attr-dict `:` type($x) }];
}
def Dist_GatherOp : Dist_Rooted<"gather", [Dist_Vjp]> {
  let summary = "the values of the group one after the other, on its rank `root`; elsewhere elements are zeros";
  let description = [{
    The root's cotangent is scattered.

    ```mlir
    dist.mesh @mesh ["data"] [4]
    func.func @example(%x: tensor<2x3xf32>) {
      %all = dist.gather %x root 0 on @mesh ["data"] : tensor<2x3xf32> -> tensor<8x3xf32>
      return
    }
    ```
  }];
}
def Dist_ScatterOp : Dist_Rooted<"scatter", [Dist_Vjp]> {
  let summary = "this rank's part of the value of the group's rank `root`";
  let description = [{
    The cotangents of the parts are gathered for that of the root's operand; those of others are zeros.

    ```mlir
    dist.mesh @mesh ["data"] [4]
    func.func @example(%x: tensor<8x3xf32>) {
      %part = dist.scatter %x root 0 on @mesh ["data"] : tensor<8x3xf32> -> tensor<2x3xf32>
      return
    }
    ```
  }];
}
def Dist_BarrierOp : Dist_Collective<"barrier"> {
  let summary = "nobody of the group goes on before all have come";
  let description = [{
    ```mlir
    dist.mesh @mesh ["data"] [4]
    func.func @example() {
      dist.barrier on @mesh ["data"]
      return
    }
    ```
  }];
  let arguments = Dist_group;
  let assemblyFormat = "`on` $mesh $axes (`by` $algorithm^)? attr-dict";
}

def Dist_StepsOp : Dist_Op<"steps", [SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "a collective as one rank does it";
  let description = [{
    The steps work on a buffer of as many elements as the larger of the operand and the result has, in row-major order.
    A smaller operand lies at element `at` of it, and a smaller result is taken from there. With `apart` what is sent is
    of the operand, and what is received of a buffer for the result, which may differ in size. Steps of a lane follow one another, lanes go side
    by side; messages from one rank to another arrive in the order in which they are sent.

    ```mlir
    func.func @example(%x: tensor<4xf32>) {
      %sum = dist.steps sum rank 0 (%x) : tensor<4xf32> -> tensor<4xf32> {
        dist.send [0, 2) to 1
        dist.combine [2, 4) from 1
        dist.finish [2, 4)
        dist.send [2, 4) to 1
        dist.receive [0, 2) from 1
      }
      return
    }
    ```
  }];
  let arguments = (ins Variadic<Dist_Tensor>:$operands, Dist_Reduction:$reduction, I64Attr:$rank,
                       DefaultValuedAttr<I64Attr, "0">:$at, UnitAttr:$apart);
  let results = (outs Variadic<Dist_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $reduction `rank` $rank (`at` $at^)? (`apart` $apart^)? ` ` `(` $operands `)`
    (`:` type($operands)^ `->` type($results))? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

class Dist_Step<string mnemonic> : Dist_Op<mnemonic, [HasParent<"StepsOp">]> {
  let hasVerifier = 1;
}
class Dist_PeerStep<string mnemonic, string direction> : Dist_Step<mnemonic> {
  let arguments = (ins I64Attr:$first, I64Attr:$end, I64Attr:$peer, DefaultValuedAttr<I64Attr, "0">:$lane);
  let assemblyFormat = "` ` `[` $first `,` $end `)` `" # direction # "` $peer (`lane` $lane^)? attr-dict";
}
class Dist_OwnStep<string mnemonic> : Dist_Step<mnemonic> {
  let arguments = (ins I64Attr:$first, I64Attr:$end, DefaultValuedAttr<I64Attr, "0">:$lane);
  let assemblyFormat = "` ` `[` $first `,` $end `)` (`lane` $lane^)? attr-dict";
}
def Dist_SendOp : Dist_PeerStep<"send", "to"> { let summary = "elements, as they are now, to a rank; goes on at once"; }
def Dist_ReceiveOp : Dist_PeerStep<"receive", "from"> { let summary = "elements become a rank's"; }
def Dist_CombineOp : Dist_PeerStep<"combine", "from"> {
  let summary = "elements become what comes from a rank, combined with what they are";
}
def Dist_FinishOp : Dist_OwnStep<"finish"> { let summary = "elements are of all ranks now; a mean divides"; }
def Dist_KeepOp : Dist_Step<"keep"> {
  let summary = "elements of the result become the operand's, from element `from` of it on or those of the same place";
  let arguments = (ins I64Attr:$first, I64Attr:$end, OptionalAttr<I64Attr>:$from,
                       DefaultValuedAttr<I64Attr, "0">:$lane);
  let assemblyFormat = "` ` `[` $first `,` $end `)` (`from` $from^)? (`lane` $lane^)? attr-dict";
}

#endif // SPRIG_DIST_DISTOPS_TD
