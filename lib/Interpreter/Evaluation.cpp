// The table of evaluators and shape arithmetic.
#include "lib/Interpreter/Evaluation.h"

namespace sprig::interp {

const EvaluatorTable &EvaluatorTable::get() {
  static const EvaluatorTable table = [] {
    EvaluatorTable rows;
    for (AddEvaluators *add :
         {addElementwise, addActivations, addShapeOps, addGathers, addReductions, addPools, addContractions,
          addConvolutions, addWinograd, addNorms, addRecurrent, addRandom, addQuantized})
      add(rows);
    return rows;
  }();
  return table;
}

int64_t product(llvm::ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes) result *= size;
  return result;
}

Strides rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  Strides strides(shape.size());
  int64_t stride = 1;
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

Strides broadcastStrides(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
  Strides strides(to.size(), 0), own = rowMajorStrides(from);
  for (size_t d = 0; d < from.size(); ++d)
    if (from[d] != 1) strides[to.size() - from.size() + d] = own[d];
  return strides;
}

} // namespace sprig::interp
