// Which operations of a block wait for which collectives of ranks.
// For passes that join collectives or give them a lane of their own. All ranks come to their collectives in one order;
// what else is in their programs may differ. Taking a part of a value that a rank has is no collective here.
#pragma once
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace sprig::ir::dist {

/// Whether the operation waits for other ranks.
bool meetsRanks(mlir::Operation *op);

/// The collectives of a block, in their order.
llvm::SmallVector<mlir::Operation *> collectivesOf(mlir::Block &block);

/// Calls the function with each operation that this one, or what is in its regions, reads a result of.
void visitRead(mlir::Operation *op, llvm::function_ref<void(mlir::Operation *)> visit);

/// Whether collectives of its kind may go together, and later than they stand: sums, and gathers on all ranks.
bool mayBeLate(mlir::Operation *op);

/// The collectives that may come back late. Of a block in which some are said to be late (dist.late) those, without
/// what any other collective needs a result of, at whatever distance; else those that no collective needs. They may
/// need one another, where nothing behind them has to stay there (a barrier). `isOfOneRank`: the block is one rank's
/// program alone, so what is late has to be said.
llvm::DenseSet<mlir::Operation *> lateCollectives(mlir::Block &block, bool isOfOneRank);

/// Puts what needs the result of a collective that nothing but such late ones needs as stand at the end, behind all
/// that does not, in the order of the collectives: a rank waits for others when nothing is left to do without them.
/// Collectives keep their order. Returns what was put there.
llvm::DenseSet<mlir::Operation *> waitLate(mlir::Block &block);

/// The order of a step's `count` collectives where another step comes behind: as they come, but that of those that may
/// turn all behind the first `turn` come last and in the reverse order, as what is made last is read first.
llvm::SmallVector<unsigned> turnedOrder(unsigned count, llvm::function_ref<bool(unsigned)> mayTurn, uint64_t turn);

} // namespace sprig::ir::dist
