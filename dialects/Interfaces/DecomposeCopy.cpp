#include "dialects/Interfaces/DecomposeCopy.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sprig {

FailureOr<SmallVector<Value>> decomposeCopy(Operation *composite, Block &block) {
  OpBuilder b(composite->getContext()); // the block may stand nowhere
  b.setInsertionPointToStart(&block);
  Operation *copy = b.clone(*composite);
  for (OpOperand &use : copy->getOpOperands()) use.set(block.addArgument(use.get().getType(), composite->getLoc()));
  b.setInsertionPoint(copy);
  FailureOr<SmallVector<Value>> values = cast<DecomposableOpInterface>(copy).decompose(b);
  if (succeeded(values)) copy->erase();
  return values;
}

} // namespace sprig
