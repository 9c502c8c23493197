#include "lib/Interpreter/NonFinite.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "mlir/IR/Diagnostics.h"

namespace sprig::interp {

using nonfinite::Counts;
using nonfinite::Kind;
using nonfinite::Origin;
using nonfinite::Origins;

Counts countNonFinite(const Tensor &tensor) {
  Counts counts;
  if (!tensor.isFloat()) return counts;
  auto values = tensor.floats();
  for (int64_t i = 0, n = tensor.isSplat() ? 1 : tensor.count(); i < n; ++i) counts.add(values[i]);
  return counts;
}

namespace {

std::vector<Counts> countAll(llvm::ArrayRef<Tensor> tensors) {
  return {llvm::map_iterator(tensors.begin(), countNonFinite), llvm::map_iterator(tensors.end(), countNonFinite)};
}

/// The tensor with ones for elements of a kind.
Tensor without(const Tensor &tensor, Kind kind) {
  std::vector<double> values(tensor.isSplat() ? 1 : tensor.count());
  auto old = tensor.floats();
  for (size_t i = 0; i < values.size(); ++i) values[i] = nonfinite::isOf(kind, old[int64_t(i)]) ? 1 : old[int64_t(i)];
  return Tensor::ofFloats(tensor.type(), std::move(values));
}

/// Where an operation gives what the program holds.
std::optional<std::pair<Origin::Source, std::string>> givenBy(mlir::Operation *op) {
  if (llvm::isa<ir::ConstantOp>(op)) return std::pair(Origin::Source::given, std::string("a constant"));
  if (auto get = llvm::dyn_cast<ir::GetParamOp>(op))
    return std::pair(Origin::Source::state, "'" + get.getParam().str() + "'");
  return std::nullopt;
}

} // namespace

void NonFiniteWatcher::onResults(mlir::Operation *op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<Tensor> results) {
  for (mlir::Value result : op->getResults()) known.erase(result);
  std::vector<Counts> counts = countAll(results);
  if (llvm::none_of(counts, [](const Counts &each) { return each.any(); })) return;
  auto type = [&](size_t result) { return ir::describe(op->getResult(result).getType()); };
  if (auto source = givenBy(op)) {
    known[op->getResult(0)].complete(counts[0], source->first, source->second, type(0));
    return;
  }
  std::vector<Origins> held;
  for (mlir::Value operand : op->getOperands()) held.push_back(known.lookup(operand));
  std::vector<nonfinite::Event::Operand> given;
  for (auto [i, origins] : llvm::enumerate(held)) {
    Counts counts = countNonFinite(operands[i]);
    origins.complete(counts, Origin::Source::given, "an input", ir::describe(operands[i].type()));
    given.push_back({counts, &origins});
  }
  auto evaluateWithout = [&](std::span<const nonfinite::Event::Held> some) -> std::optional<std::vector<Counts>> {
    Results changed(operands);
    for (auto [operand, kind] : some) changed[operand] = without(changed[operand], kind);
    std::string error; // what an operand of ones may be wrong for
    mlir::ScopedDiagnosticHandler quiet(op->getContext(), [](mlir::Diagnostic &) { return mlir::success(); });
    mlir::FailureOr<Results> other = tryEvaluate(op, changed, precision, error);
    if (mlir::failed(other)) return std::nullopt;
    return countAll(*other);
  };
  std::vector<Origins> made =
      nonfinite::originsOf({given, counts, evaluateWithout, [&] { return describe(op); }, type});
  for (auto [result, origins] : llvm::zip_equal(op->getResults(), made))
    if (origins.first()) known[result] = origins;
}

void NonFiniteWatcher::setGiven(mlir::Value value, const Tensor &tensor, const std::string &what) {
  known[value].complete(countNonFinite(tensor), Origin::Source::given, what, ir::describe(tensor.type()));
}

void NonFiniteWatcher::onRegions(mlir::Operation *op) {
  for (mlir::Value result : op->getResults()) known.erase(result);
}

void NonFiniteWatcher::onPass(mlir::ValueRange from, mlir::ValueRange to, llvm::ArrayRef<Tensor> tensors) {
  std::vector<Origins> passed; // read before any is written: loops exchange values
  for (auto [value, tensor] : llvm::zip_equal(from, tensors)) passed.push_back(of(value).of(countNonFinite(tensor)));
  for (auto [value, origins] : llvm::zip_equal(to, passed)) {
    // A loop's output has elements of all steps.
    if (llvm::isa<mlir::OpResult>(value)) {
      Origins before = of(value);
      for (Kind kind : nonfinite::kKinds)
        if (before[kind]) origins[kind] = before[kind];
    }
    known[value] = origins;
  }
}

} // namespace sprig::interp
