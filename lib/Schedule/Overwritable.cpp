#include "lib/Schedule/Overwritable.h"
#include "dialects/Kernel/KernelDispatch.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

SmallVector<OverwriteAttr> sprig::overwritableOperands(KernelOp kernel, const Target &target) {
  SmallVector<OverwriteAttr> pairs;
  Block &body = kernel.getBody().front();
  for (auto [r, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    auto producer = value.getDefiningOp<kernel::DispatchOp>();
    if (!producer) continue;
    unsigned result = cast<OpResult>(value).getResultNumber();
    for (BlockArgument argument : body.getArguments())
      for (auto [o, operand] : llvm::enumerate(producer->getOperands()))
        if (operand == argument && target.mayOverwrite(producer, o, result) &&
            llvm::all_of(argument.getUsers(), [&](Operation *user) {
              return user == producer || (isa<kernel::DispatchOp>(user) && user->isBeforeInBlock(producer));
            }))
          pairs.push_back(OverwriteAttr::get(kernel.getContext(), argument.getArgNumber(), body.getNumArguments() + r));
  }
  return pairs;
}
