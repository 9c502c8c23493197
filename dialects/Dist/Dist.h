// The dist dialect: programs of many ranks. For the passes of lib/Shard.
#pragma once
#include "dialects/Interfaces/OpInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "runtime/collective/Collective.h"

#include "dialects/Dist/DistDialect.h.inc"
#include "dialects/Dist/DistEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Dist/DistAttributes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Dist/DistOps.h.inc"

namespace sprig::ir::dist {

/// On functions, of every rank's program: how many samples a call of all ranks has together, and, where it is the
/// program of one rank alone, whose. Integers.
inline constexpr llvm::StringLiteral kSamplesAttr = "dist.samples", kRankAttr = "dist.rank";
/// On all-reduces, reduce-scatters and all-gathers, of all ranks: nothing of the step waits for the result but what may
/// come at its end.
inline constexpr llvm::StringLiteral kLateAttr = "dist.late";
/// The same, an integer: late ones that say so come in the order of these numbers, where others could come in their
/// places; as one rank's backward pass makes what they sum.
inline constexpr llvm::StringLiteral kOrderAttr = "dist.order";
/// On functions of ranks: the collectives that all of them come to, in words and in their order. From the division on
/// until code is about to be made.
inline constexpr llvm::StringLiteral kPlanAttr = "dist.plan";

/// On operations of a rank that has less of some result than another rank: the bytes of each result on the rank that
/// has most. For choices that all ranks have to make alike; from the division on until the last of them.
inline constexpr llvm::StringLiteral kMostBytesAttr = "dist.most_bytes";

/// On functions that are a rank's: the mesh, also where ranks do nothing together in them. On their arguments and
/// results that are pieces: the shape of the whole, then where the piece begins along each dimension. On parameters
/// that are flat pieces: the shape of the whole.
inline constexpr llvm::StringLiteral kMeshAttr = "dist.mesh", kPieceAttr = "dist.piece";

/// The sharding of a function's argument or result or of a parameter, and those of an operation's results.
inline constexpr llvm::StringLiteral kShardingAttr = "dist.sharding", kShardingsAttr = "dist.shardings";

/// The axis of what a sharding says of a dimension: a name or a cut; null for anything else.
mlir::StringAttr axisOf(mlir::Attribute axis);

/// Whether a sharding fits its mesh, which is looked up from `op`, and a type; else an error at `op` about `what`.
mlir::LogicalResult verifySharding(mlir::Operation *op, mlir::SymbolTableCollection &symbols, ShardingAttr sharding,
                                   mlir::Type type, const llvm::Twine &what);

/// What a collective asks of its group: the same for all of them.
struct CollectiveUse {
  mlir::FlatSymbolRefAttr mesh;
  mlir::ArrayAttr axes;
  mlir::StringAttr algorithm; ///< null where none is asked for
  int64_t root = 0;           ///< by its number in the group
  std::optional<Reduction> reduction = {};
};
/// Null for an operation that is no collective.
std::optional<CollectiveUse> collectiveUse(mlir::Operation *op);
/// The type of a tensor, with so many rows: positions along its first axis.
mlir::RankedTensorType withRows(mlir::Value tensor, int64_t rows);
/// Whether a collective fits its group, and its operands and results each other; else an error.
mlir::LogicalResult verifyCollective(mlir::Operation *collective, mlir::SymbolTableCollection &symbols);
/// Whether ranks share the rows of a collective that is verified evenly, where the function is every rank's; else an
/// error.
mlir::LogicalResult verifyEvenParts(mlir::Operation *collective);
/// What the engines call a collective.
rt::collective::Kind kindOf(mlir::Operation *collective);

} // namespace sprig::ir::dist
