// What an operation's evaluator sees, the table of evaluators, and loops over strided shapes.
// For the interpreter's own files: one function an operation, a file per family. Evaluators trust the verifier about
// types and shapes; they report what only values show (an index out of range, a division by zero).
#pragma once
#include "dialects/NN/NNDialect.h"
#include "lib/Interpreter/Tensor.h"
#include "llvm/ADT/DenseMap.h"
#include <array>
#include <functional>
#include <string>

namespace sprig::interp {

struct Evaluation {
  mlir::Operation *op;
  llvm::ArrayRef<Tensor> operands;
  llvm::SmallVector<Tensor, 1> results;
  std::string error;

  mlir::RankedTensorType resultType(unsigned i = 0) const {
    return llvm::cast<mlir::RankedTensorType>(op->getResult(i).getType());
  }
  mlir::LogicalResult give(Tensor result) {
    results.push_back(std::move(result));
    return mlir::success();
  }
  mlir::LogicalResult fail(const llvm::Twine &message) {
    error = message.str();
    return mlir::failure();
  }
};

/// Evaluators by operation.
class EvaluatorTable {
public:
  using Evaluator = std::function<mlir::LogicalResult(Evaluation &)>;
  template <typename... OpTs> void add(mlir::LogicalResult (*...evaluators)(OpTs, Evaluation &)) {
    ((rows[mlir::TypeID::get<OpTs>()] = [=](Evaluation &e) { return evaluators(llvm::cast<OpTs>(e.op), e); }), ...);
  }
  const Evaluator *find(mlir::OperationName name) const {
    auto info = name.getRegisteredInfo();
    auto it = info ? rows.find(info->getTypeID()) : rows.end();
    return it == rows.end() ? nullptr : &it->second;
  }
  static const EvaluatorTable &get();

private:
  llvm::DenseMap<mlir::TypeID, Evaluator> rows;
};

/// Add the evaluators of one file.
using AddEvaluators = void(EvaluatorTable &table);
AddEvaluators addElementwise, addActivations, addShapeOps, addGathers, addReductions, addPools, addContractions,
    addConvolutions, addWinograd, addNorms, addRecurrent, addRandom, addQuantized;

/// Calls `body` with a value of the tensor's class (double or int64_t), for generic lambdas: [&](auto zero) { ... }.
template <typename Body> auto byClass(const Tensor &tensor, Body body) {
  return tensor.isFloat() ? body(double()) : body(int64_t());
}

/// Gives a result of the tensor's class: `fill` writes its elements, which are zeros, or sets the evaluation's error.
template <typename Fill> mlir::LogicalResult giveLike(const Tensor &tensor, Evaluation &e, Fill fill) {
  return byClass(tensor, [&](auto zero) {
    std::vector<decltype(zero)> result(e.resultType().getNumElements());
    fill(result);
    return e.error.empty() ? e.give(Tensor::of(e.resultType(), std::move(result))) : mlir::failure();
  });
}

using Strides = llvm::SmallVector<int64_t>;

Strides rowMajorStrides(llvm::ArrayRef<int64_t> shape);
/// Strides that read a row-major tensor of shape `from` as if broadcast to `to`.
Strides broadcastStrides(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);
int64_t product(llvm::ArrayRef<int64_t> sizes);
/// Whether so many elements of a tensor are better read one by one than as all of its elements.
inline bool isSmallPart(const Tensor &whole, int64_t elements) { return elements < whole.count() / 4; }
/// `axis` counted from the front.
inline int64_t fromFront(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

/// Calls body(linear, offsets) for every position of `shape` in row-major order, with an offset for each stride set.
template <size_t N, typename Body>
void walk(llvm::ArrayRef<int64_t> shape, const std::array<Strides, N> &strides, Body body,
          std::array<int64_t, N> offsets = {}) {
  int64_t total = product(shape), rank = shape.size();
  if (total == 0) return;
  if (rank == 0) return body(0, offsets);
  llvm::SmallVector<int64_t> index(rank, 0);
  for (int64_t linear = 0; linear < total;) {
    std::array<int64_t, N> inner = offsets;
    for (int64_t i = 0; i < shape[rank - 1]; ++i, ++linear) {
      body(linear, inner);
      for (size_t n = 0; n < N; ++n) inner[n] += strides[n][rank - 1];
    }
    for (int64_t d = rank - 2; d >= 0; --d) {
      for (size_t n = 0; n < N; ++n) offsets[n] += strides[n][d];
      if (++index[d] < shape[d]) break;
      for (size_t n = 0; n < N; ++n) offsets[n] -= strides[n][d] * shape[d];
      index[d] = 0;
    }
  }
}

} // namespace sprig::interp
