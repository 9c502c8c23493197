#include "dialects/NN/UnusedResults.h"

using namespace mlir;

namespace sprig::ir {

void dropResults(PatternRewriter &rewriter, Operation *op, const llvm::BitVector &unused) {
  SmallVector<Type> types;
  for (OpResult result : op->getResults())
    if (!unused.test(result.getResultNumber())) types.push_back(result.getType());
  Operation *smaller = rewriter.insert(Operation::create(op->getLoc(), op->getName(), types, op->getOperands(),
                                                         op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
                                                         op->getSuccessors(), op->getNumRegions()));
  for (auto [to, from] : llvm::zip_equal(smaller->getRegions(), op->getRegions())) {
    to.takeBody(from);
    Operation *yield = to.front().getTerminator();
    rewriter.modifyOpInPlace(yield, [&] { yield->eraseOperands(unused); });
  }
  unsigned next = 0;
  for (OpResult result : op->getResults())
    if (!unused.test(result.getResultNumber())) rewriter.replaceAllUsesWith(result, smaller->getResult(next++));
  rewriter.eraseOp(op);
}

} // namespace sprig::ir
