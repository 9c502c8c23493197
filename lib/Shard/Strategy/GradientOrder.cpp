#include "lib/Shard/Strategy/GradientOrder.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNState.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <numeric>

using namespace mlir;

namespace sprig::shard {

std::vector<size_t> gradientOrder(func::FuncOp forward, llvm::ArrayRef<std::string> names) {
  llvm::StringMap<size_t> indices;
  for (auto [index, name] : llvm::enumerate(names)) indices[name] = index;
  // Which of the parameters a value is made of where it is made of parameters and constants alone: layouts and casts of
  // weights stand where the importer likes.
  llvm::DenseMap<Operation *, SmallVector<size_t>> madeOf;
  std::vector<int64_t> firstUse(names.size(), -1);
  for (auto [position, op] : llvm::enumerate(forward.getBody().front())) {
    if (isa<ir::GradientOp>(op)) break; // the forward pass is over
    SmallVector<size_t> read;
    bool isOfParameters = op.getNumRegions() == 0;
    if (auto get = dyn_cast<ir::GetParamOp>(op))
      if (auto found = indices.find(get.getParam()); found != indices.end()) read.push_back(found->second);
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        auto known = madeOf.find(operand.getDefiningOp());
        if (known == madeOf.end())
          isOfParameters = false;
        else
          llvm::append_range(read, known->second);
      }
    });
    if (isOfParameters) {
      madeOf[&op] = std::move(read);
      continue;
    }
    for (size_t index : read)
      if (firstUse[index] < 0) firstUse[index] = int64_t(position);
  }
  std::vector<size_t> order(names.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return firstUse[a] > firstUse[b]; });
  return order;
}

} // namespace sprig::shard
