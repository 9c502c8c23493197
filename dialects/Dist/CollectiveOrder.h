// Which operations of a block wait for which collectives of ranks.
// For passes that join collectives or give them a lane of their own. All ranks come to their collectives in one order;
// what else is in their programs may differ.
#pragma once
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace sprig::ir::dist {

/// The collectives of a block, in their order.
llvm::SmallVector<mlir::Operation *> collectivesOf(mlir::Block &block);

/// Calls the function with each operation that this one, or what is in its regions, reads a result of.
void visitRead(mlir::Operation *op, llvm::function_ref<void(mlir::Operation *)> visit);

/// The collectives that another one needs a result of, at whatever distance: the other ones may come back late.
llvm::DenseSet<mlir::Operation *> neededCollectives(mlir::Block &block);

/// Puts what needs the result of a collective that no other one needs behind all that does not, in the order of the
/// collectives: a rank waits for others when nothing is left to do without them. Collectives keep their order. Returns
/// what was put there.
llvm::DenseSet<mlir::Operation *> waitLate(mlir::Block &block);

} // namespace sprig::ir::dist
