#include "test/unit/Gradients/Harness.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/NNGradient.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Transforms/Passes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <cmath>
#include <gtest/gtest.h>

namespace sprig::gradients {
namespace {

using interp::Tensor;
using Doubles = std::vector<double>;
using Values = llvm::SmallVector<Tensor>;

mlir::MLIRContext &sharedContext() {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::NNDialect, mlir::func::FuncDialect>();
  return context;
}

mlir::OwningOpRef<mlir::ModuleOp> parseBody(const Row &row) {
  std::string text = "func.func @f(";
  for (size_t a = 0; a < row.arguments.size(); ++a)
    text += (a ? ", %a" : "%a") + std::to_string(a) + ": tensor<" + row.arguments[a] + ">";
  return mlir::parseSourceString<mlir::ModuleOp>(text + ") {\n" + row.body + "\nreturn\n}\n", &sharedContext());
}

enum class Kind { Forward, Gradient, SecondOrder, Tangent };

// The row as a function of its arguments and one direction for each output (Gradient, SecondOrder) or for each float
// argument (Tangent).
mlir::OwningOpRef<mlir::ModuleOp> build(const Row &row, Kind kind) {
  auto module = parseBody(row);
  if (!module) return nullptr;
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  mlir::Block &block = function.getBody().front();
  mlir::Operation *end = block.getTerminator();
  mlir::OpBuilder b(end);
  mlir::Location loc = function.getLoc();
  llvm::SmallVector<mlir::Value> outputs, targets, directions;
  for (mlir::Value value : end->getPrevNode()->getResults())
    if (isReal(value)) outputs.push_back(value);
  for (mlir::Value value : block.getArguments())
    if (isReal(value)) targets.push_back(value);
  auto addDirections = [&](llvm::ArrayRef<mlir::Value> values) {
    for (mlir::Value value : values) directions.push_back(block.addArgument(value.getType(), loc));
  };
  auto gradient = [&](mlir::ValueRange of, mlir::ValueRange seeds) {
    return ir::GradientOp::create(b, loc, mlir::ValueRange(targets).getTypes(), of, seeds, targets);
  };
  llvm::SmallVector<mlir::Value> results(outputs);
  if (kind == Kind::Tangent) {
    addDirections(targets);
    results =
        ir::JvpOp::create(b, loc, mlir::ValueRange(outputs).getTypes(), outputs, targets, directions).getResults();
  } else if (kind != Kind::Forward) {
    addDirections(outputs);
    results = gradient(outputs, directions).getResults();
  }
  if (kind == Kind::SecondOrder) results = gradient(results, results).getResults(); // of half the sum of squares
  end->setOperands(results);
  function.setFunctionType(b.getFunctionType(block.getArgumentTypes(), mlir::TypeRange(mlir::ValueRange(results))));
  if (mlir::failed(mlir::verify(*module))) return nullptr;
  mlir::PassManager passes(&sharedContext());
  passes.addNestedPass<mlir::func::FuncOp>(createDifferentiate());
  return mlir::failed(passes.run(*module)) ? nullptr : std::move(module);
}

Doubles doublesOf(const Tensor &tensor) {
  auto elements = tensor.doubles();
  Doubles values(tensor.count());
  for (int64_t i = 0; i < tensor.count(); ++i) values[i] = elements[i];
  return values;
}

double dot(const Values &a, const Values &b) {
  double sum = 0;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    Doubles p = doublesOf(x), q = doublesOf(y);
    for (auto [u, v] : llvm::zip_equal(p, q)) sum += u * v;
  }
  return sum;
}

class RowCheck {
public:
  explicit RowCheck(const Row &row) : row(row) {}
  void run();

private:
  mlir::FailureOr<Values> evaluate(mlir::ModuleOp module, const Values &directions);
  // d value / d element, by central differences at the arguments.
  template <typename F> Doubles differences(size_t argument, F value);
  void compare(const std::string &what, const Doubles &got, const Doubles &want);
  void checkGradient(const Values &directions, bool secondOrder);
  void checkTangent();
  Values plain(llvm::ArrayRef<mlir::Type> types, uint64_t seed) {
    Values values;
    for (mlir::Type type : types)
      values.push_back(optable::makeInput(llvm::cast<mlir::RankedTensorType>(type), {Fill::Unit}, seed++));
    return values;
  }

  const Row &row;
  Values arguments;
  std::vector<size_t> floats; // arguments that are differentiated by
  mlir::OwningOpRef<mlir::ModuleOp> forward, gradient;
};

mlir::FailureOr<Values> RowCheck::evaluate(mlir::ModuleOp module, const Values &directions) {
  Values inputs(arguments);
  llvm::append_range(inputs, directions);
  return interp::run(*module.getOps<mlir::func::FuncOp>().begin(), inputs);
}

template <typename F> Doubles RowCheck::differences(size_t argument, F value) {
  const double step = 1e-5;
  Tensor at = arguments[argument];
  Doubles values = doublesOf(at), result;
  for (double &element : values) {
    double kept = element, sides[2];
    for (int side : {0, 1}) {
      element = kept + (side ? step : -step);
      arguments[argument] = Tensor::ofFloats(at.type(), values);
      sides[side] = value();
    }
    element = kept;
    result.push_back((sides[1] - sides[0]) / (2 * step));
  }
  arguments[argument] = at;
  return result;
}

void RowCheck::compare(const std::string &what, const Doubles &got, const Doubles &want) {
  ASSERT_EQ(got.size(), want.size()) << row.name << ": " << what;
  double scale = 1; // errors of differences are relative to the largest
  for (double v : want) scale = std::max(scale, std::fabs(v));
  for (size_t i = 0; i < got.size(); ++i)
    if (!(std::fabs(got[i] - want[i]) <= 2e-7 * scale)) {
      ADD_FAILURE() << row.name << ": " << what << ", element " << i << ": got " << got[i] << ", want " << want[i];
      return;
    }
}

void RowCheck::checkGradient(const Values &directions, bool secondOrder) {
  mlir::OwningOpRef<mlir::ModuleOp> second;
  if (secondOrder && !(second = build(row, Kind::SecondOrder))) {
    ADD_FAILURE() << row.name << ": has no second gradient";
    return;
  }
  auto got = evaluate(secondOrder ? *second : *gradient, directions);
  if (mlir::failed(got)) {
    ADD_FAILURE() << row.name << ": the interpreter fails on the gradient";
    return;
  }
  for (auto [i, argument] : llvm::enumerate(floats)) {
    Doubles want = differences(argument, [&] {
      if (!secondOrder) return dot(*evaluate(*forward, {}), directions);
      Values first = *evaluate(*gradient, directions);
      return dot(first, first) / 2;
    });
    compare((secondOrder ? "second gradient by argument " : "gradient by argument ") + std::to_string(argument),
            doublesOf((*got)[i]), want);
  }
}

void RowCheck::checkTangent() {
  auto module = build(row, Kind::Tangent);
  if (!module) {
    ADD_FAILURE() << row.name << ": has no Jacobian-vector product";
    return;
  }
  llvm::SmallVector<mlir::Type> types;
  for (size_t argument : floats) types.push_back(arguments[argument].type());
  Values along = plain(types, 77);
  auto got = evaluate(*module, along);
  ASSERT_TRUE(mlir::succeeded(got)) << row.name;
  const double step = 1e-5;
  Values at = arguments, sides[2];
  for (int side : {0, 1}) {
    for (auto [direction, argument] : llvm::zip_equal(along, floats)) {
      Doubles values = doublesOf(at[argument]), d = doublesOf(direction);
      for (size_t i = 0; i < d.size(); ++i) values[i] += (side ? step : -step) * d[i];
      arguments[argument] = Tensor::ofFloats(at[argument].type(), values);
    }
    sides[side] = *evaluate(*forward, {});
  }
  arguments = at;
  for (auto [i, derivative] : llvm::enumerate(*got)) {
    Doubles low = doublesOf(sides[0][i]), want = doublesOf(sides[1][i]);
    for (size_t k = 0; k < want.size(); ++k) want[k] = (want[k] - low[k]) / (2 * step);
    compare("Jacobian-vector product, result " + std::to_string(i), doublesOf(derivative), want);
  }
}

void RowCheck::run() {
  forward = build(row, Kind::Forward);
  if (!forward) {
    ADD_FAILURE() << row.name << ": is not valid";
    return;
  }
  if (!row.isForwardOnly) gradient = build(row, Kind::Gradient);
  if (!gradient && !row.isForwardOnly) {
    ADD_FAILURE() << row.name << ": has no gradient";
    return;
  }
  auto function = *forward->getOps<mlir::func::FuncOp>().begin();
  for (auto [a, type] : llvm::enumerate(function.getArgumentTypes())) {
    Pattern pattern = a < row.patterns.size() ? row.patterns[a] : Pattern();
    arguments.push_back(optable::makeInput(llvm::cast<mlir::RankedTensorType>(type), pattern, 10 + a));
    if (arguments.back().isFloat()) floats.push_back(a);
  }
  if (mlir::failed(evaluate(*forward, {}))) {
    ADD_FAILURE() << row.name << ": the interpreter fails";
    return;
  }
  if (row.isForwardOnly) return checkTangent();
  Values directions = plain(llvm::to_vector(function.getResultTypes()), 55);
  checkGradient(directions, false);
  if (!row.isLinearised) return;
  checkGradient(directions, true);
  checkTangent();
}

} // namespace

Row row(std::string operation, std::vector<std::string> arguments, std::vector<Pattern> patterns) {
  std::string types;
  for (const std::string &argument : arguments) types += (types.empty() ? "tensor<" : ", tensor<") + argument + ">";
  std::string name = operation + " : " + types;
  return {name, std::move(arguments), "%r = " + name, std::move(patterns)};
}

void check(const std::vector<Row> &rows) {
  for (const Row &row : rows) RowCheck(row).run();
}

std::vector<std::string> operationsIn(const std::vector<Row> &rows) {
  std::vector<std::string> names;
  for (const Row &row : rows)
    if (auto module = parseBody(row))
      module->walk([&](mlir::Operation *op) { names.push_back(op->getName().getStringRef().str()); });
  return names;
}

} // namespace sprig::gradients
