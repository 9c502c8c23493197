// gradientOf and tangentOf: the compiler's differentiation, as a graph that goes on from the forward pass.
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Bridge/Derive.h"
#include "lib/Frontend/Bridge/Import.h"
#include "mlir/IR/Verifier.h"
#include "sprig/error.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::frontend;

namespace {

// The function returns what is asked for, and after it all values of the forward pass: whatever passes put in place of
// one of them, its return operand says what that is.
class Derived {
public:
  Derived(const Graph &forward, std::span<const uint32_t> seeds, bool isDivided = false)
      : forward(forward), lowering(work.context(), isDivided) {
    std::vector<sprig::TensorType> inputs(forward.types.begin(), forward.types.begin() + forward.inputCount);
    for (uint32_t seed : seeds) inputs.push_back(typeOf(seed));
    function = lowering.makeFunction(*work.module, "main", inputs);
    builder = OpBuilder::atBlockEnd(&body());
    if (isDivided) function->setAttr(ir::kPassesAttr, builder.getDenseI64ArrayAttr({}));
    SmallVector<Value> arguments(function.getArguments().begin(), function.getArguments().end());
    // Devices stay in locations alone: equal operations become one wherever they are.
    values = lowering.lowerNodes(builder, forward, ArrayRef(arguments).take_front(forward.inputCount),
                                 [](size_t, Operation *op) { op->removeAttr(ir::kPlaceAttr); });
    seedCount = unsigned(seeds.size());
  }

  SmallVector<Value> pick(std::span<const uint32_t> which) {
    SmallVector<Value> picked;
    for (uint32_t value : which) {
      (void)typeOf(value);
      picked.push_back(values[value]);
    }
    return picked;
  }
  SmallVector<Value> seeds() {
    auto arguments = function.getArguments().drop_front(forward.inputCount);
    return {arguments.begin(), arguments.end()};
  }
  Continuation finish(Operation *request);

  OpBuilder builder{static_cast<MLIRContext *>(nullptr)};

private:
  Block &body() { return function.getBody().front(); }
  const sprig::TensorType &typeOf(uint32_t value) const {
    if (value >= forward.types.size())
      internalError("a gradient of value " + std::to_string(value) + " of a graph of " +
                    std::to_string(forward.types.size()) + " values");
    return forward.types[value];
  }

  const Graph &forward;
  bridge::Workspace work;
  bridge::Lowering lowering;
  func::FuncOp function;
  SmallVector<Value> values;
  unsigned seedCount = 0;
};

Continuation Derived::finish(Operation *request) {
  unsigned count = request->getNumResults();
  SmallVector<Value> results(request->getResults());
  llvm::append_range(results, values);
  bridge::giveResults(builder, function, results);
  bridge::derive(function, bridge::Derivation::differentiate);

  auto last = cast<func::ReturnOp>(body().getTerminator());
  llvm::DenseMap<Value, uint32_t> forwardValues;
  for (auto [index, value] : llvm::enumerate(last.getOperands().drop_front(count)))
    // A constant is as good as another.
    if (!value.getDefiningOp<ir::ConstantOp>()) forwardValues.try_emplace(value, uint32_t(index));
  ValueRange wanted = last.getOperands().take_front(count);
  llvm::DenseSet<Operation *> needed =
      bridge::neededFor(wanted, [&](Value value) { return forwardValues.contains(value); });

  std::map<uint32_t, Value> used; // in the order of the forward pass
  auto use = [&](Value value) {
    if (auto found = forwardValues.find(value); found != forwardValues.end()) used[found->second] = value;
  };
  for (Value value : wanted) use(value);
  for (Operation *op : needed)
    for (Value operand : op->getOperands()) use(operand);
  Continuation result;
  bridge::GraphReader reader;
  for (auto [index, value] : used) {
    result.uses.push_back(index);
    reader.addInputs(value);
  }
  reader.addInputs(seeds());
  reader.addOperations(body(), &needed);
  result.graph = reader.finish(wanted);
  return result;
}

SmallVector<Type> typesOf(ArrayRef<Value> values) {
  return llvm::map_to_vector(values, [](Value value) { return value.getType(); });
}

void requireFloats(const Graph &graph, std::span<const uint32_t> values, const char *what) {
  for (uint32_t value : values)
    if (value < graph.types.size() && !isFloat(graph.types[value].dtype))
      badUse(std::string("a gradient ") + what + " " + describe(graph.types[value]) +
             ", which is not of a floating-point type");
}

} // namespace

Continuation frontend::gradientOf(const Graph &forward, std::span<const uint32_t> outputs,
                                  std::span<const uint32_t> wrt, bool seeded, bool isDivided) {
  requireFloats(forward, outputs, "of");
  requireFloats(forward, wrt, "with respect to");
  if (!seeded &&
      (outputs.size() != 1 || outputs[0] >= forward.types.size() || forward.types[outputs[0]].elements() != 1))
    badUse("a gradient is of one scalar, or of values whose cotangents are given; this is of " +
           (outputs.size() == 1 ? describe(forward.types.at(outputs[0])) : std::to_string(outputs.size()) + " values"));
  Derived derived(forward, seeded ? outputs : std::span<const uint32_t>(), isDivided);
  SmallVector<Value> targets = derived.pick(wrt);
  return derived.finish(ir::GradientOp::create(derived.builder, derived.builder.getUnknownLoc(), typesOf(targets),
                                               derived.pick(outputs), derived.seeds(), targets));
}

Continuation frontend::tangentOf(const Graph &forward, std::span<const uint32_t> outputs,
                                 std::span<const uint32_t> wrt) {
  requireFloats(forward, outputs, "of");
  requireFloats(forward, wrt, "with respect to");
  Derived derived(forward, wrt);
  SmallVector<Value> results = derived.pick(outputs);
  return derived.finish(ir::JvpOp::create(derived.builder, derived.builder.getUnknownLoc(), typesOf(results), results,
                                          derived.pick(wrt), derived.seeds()));
}
