// Graphs that come back from the compiler: the same after a round trip, with the same values as what they stand for.
#include "dialects/Interfaces/OpInterfaces.h"
#include "lib/Frontend/Bridge/Import.h"
#include "lib/Frontend/Bridge/Lower.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Training/ReadTrainConfig.h"
#include "lib/Training/Schedule.h"
#include "test/unit/Frontend/Graphs.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace sprig::frontend::test {
namespace {

using Doubles = std::vector<double>;

/// Lowers a graph and reads it again.
Graph roundTrip(const Graph &graph) {
  bridge::Workspace work;
  bridge::Lowering lowering(work.context());
  auto function = lowering.makeFunction(*work.module, "main", llvm::ArrayRef(graph.types).take_front(graph.inputCount));
  mlir::OpBuilder b = mlir::OpBuilder::atBlockEnd(&function.getBody().front());
  llvm::SmallVector<mlir::Value> inputs(function.getArguments().begin(), function.getArguments().end());
  auto values = lowering.lowerNodes(b, graph, inputs);
  bridge::GraphReader reader;
  reader.addInputs(inputs);
  reader.addOperations(function.getBody().front());
  return reader.finish(bridge::outputsOf(graph, values));
}

void expectSame(const Graph &a, const Graph &b) {
  EXPECT_EQ(a.types, b.types);
  EXPECT_EQ(a.inputCount, b.inputCount);
  EXPECT_EQ(a.outputs, b.outputs);
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (size_t i = 0; i < a.nodes.size(); ++i) {
    const GraphNode &x = a.nodes[i], &y = b.nodes[i];
    EXPECT_EQ(x.op, y.op);
    EXPECT_EQ(x.operands, y.operands);
    EXPECT_EQ(x.firstResult, y.firstResult);
    EXPECT_EQ(x.resultCount, y.resultCount);
    EXPECT_EQ(x.layer, y.layer);
    EXPECT_STREQ(x.source.file, y.source.file);
    EXPECT_EQ(x.source.line, y.source.line);
    // What comes back has defaults, too.
    for (const Attr &attr : x.attrs) {
      const Attr *other = find(y.attrs, attr.name);
      ASSERT_TRUE(other) << x.op->text << " " << attr.name;
      EXPECT_TRUE(attr == *other) << x.op->text << " " << attr.name;
    }
    ASSERT_EQ(bool(x.constant), bool(y.constant));
    if (x.constant) EXPECT_EQ(*x.constant, *y.constant);
    ASSERT_EQ(x.regions.size(), y.regions.size());
    for (size_t r = 0; r < x.regions.size(); ++r) expectSame(*x.regions[r], *y.regions[r]);
  }
}

TEST(BridgeImport, GivesBackWhatWasLowered) {
  Builder step;
  uint32_t xt = step.input(f32({2, 4})), s = step.input(f32({2, 4}));
  uint32_t sum = step.op("add", {xt, s}, f32({2, 4}));
  Graph body = step.give({sum, xt});
  Builder b;
  uint32_t x = b.input(f32({3, 2, 4})), h = b.input(f32({2, 4}));
  b.layer = &intern("rnn.0");
  std::vector<uint32_t> scan =
      b.ops("scan", {x, h}, {f32({2, 4}), f32({3, 2, 4})},
            {Attr::of("steps", 3), Attr::unit("reverse"), Attr::of("operandSegmentSizes", Shape{1, 1, 0})}, {body});
  b.layer = nullptr;
  uint32_t c = b.constant<float>(f32({4}), {1, 2, 3, 4}), splat = b.constant<uint8_t>({DType::u8, {3}}, {7});
  uint32_t mask = b.constant<uint8_t>({DType::boolean, {4}}, {1, 0, 1, 1});
  uint32_t smaller = b.op("compare", {scan[0], c}, {DType::boolean, {2, 4}}, {Attr::word("predicate", "predicate lt")});
  uint32_t both = b.op("and", {smaller, mask}, {DType::boolean, {2, 4}});
  uint32_t gelu = b.op("gelu", {scan[1]}, f32({3, 2, 4}), {Attr::unit("tanh_approximation")});
  uint32_t elu = b.op("elu", {gelu}, f32({3, 2, 4}), {Attr::of("alpha", 1.5)});
  uint32_t inf = b.op("is_inf", {elu}, {DType::boolean, {3, 2, 4}}, {Attr::of("detect_negative", false)});
  uint32_t half = b.op("cast", {elu}, {DType::bf16, {3, 2, 4}});
  Graph graph = b.give({both, inf, half, splat, splat, x});
  expectSame(graph, roundTrip(graph));
  Graph again = roundTrip(roundTrip(graph));
  expectSame(again, roundTrip(graph));
}

TEST(BridgeImport, PrintsTheGraphInTheDialect) {
  Builder b;
  uint32_t x = b.input(f32({2, 3}));
  Graph graph =
      b.give({b.op("reduce", {x}, f32({2}), {Attr::word("kind", "reduce_kind max"), Attr::of("axes", Shape{1})})});
  std::string text = printGraph(graph);
  EXPECT_NE(text.find("func.func @main(%arg0: tensor<2x3xf32>) -> tensor<2xf32>"), std::string::npos) << text;
  EXPECT_NE(text.find("max %arg0 axes = [1] : tensor<2x3xf32>"), std::string::npos) << text;
}

/// The node's values and those of its decomposition, in 32-bit floats.
void expectSameBits(const Graph &graph) {
  const GraphNode &node = graph.nodes.back();
  std::vector<TensorType> results(graph.types.begin() + node.firstResult, graph.types.end());
  std::vector<TensorType> operands;
  for (uint32_t operand : node.operands) operands.push_back(graph.types[operand]);
  auto parts = decompose(node, operands, results);
  ASSERT_TRUE(parts) << node.op->text;
  std::vector<TensorType> given;
  for (uint32_t output : parts->outputs) given.push_back(parts->types[output]);
  EXPECT_EQ(given, results);
  std::vector<std::vector<float>> inputs;
  for (uint32_t i = 0; i < graph.inputCount; ++i) {
    std::vector<float> values;
    for (int64_t k = 0; k < graph.types[i].elements(); ++k) values.push_back(float(1.5 + std::sin(double(k + 3 * i))));
    inputs.push_back(values);
  }
  EXPECT_EQ(run<float>(*parts, inputs), run<float>(graph, inputs)) << node.op->text;
  for (const GraphNode &part : parts->nodes) {
    std::vector<TensorType> in, out;
    for (uint32_t operand : part.operands) in.push_back(parts->types[operand]);
    for (uint32_t r = 0; r < part.resultCount; ++r) out.push_back(parts->types[part.firstResult + r]);
    EXPECT_FALSE(decompose(part, in, out)) << part.op->text << " in " << node.op->text;
  }
}

TEST(BridgeImport, DecomposesToPrimitivesOfTheSameBits) {
  Builder gelu, softmax, norm, linear, checkpoint;
  expectSameBits(gelu.give({gelu.op("gelu", {gelu.input(f32({37}))}, f32({37}))}));
  expectSameBits(
      softmax.give({softmax.op("softmax", {softmax.input(f32({5, 37}))}, f32({5, 37}), {Attr::of("axis", 1)})}));
  uint32_t x = linear.input(f32({5, 20})), w = linear.input(f32({7, 20})), c = linear.input(f32({7}));
  expectSameBits(linear.give({linear.op("linear", {x, w, c}, f32({5, 7}))}));
  std::vector<uint32_t> in{norm.input(f32({2, 3, 4, 4}))};
  for (int i = 0; i < 4; ++i) in.push_back(norm.input(f32({3})));
  expectSameBits(norm.give({norm.op("batch_norm", in, f32({2, 3, 4, 4}), {Attr::of("epsilon", 1e-5)})}));
  Builder inner;
  uint32_t a = inner.input(f32({6}));
  Graph part = inner.give({inner.op("exp", {a}, f32({6}))});
  uint32_t y = checkpoint.input(f32({6}));
  expectSameBits(checkpoint.give({checkpoint.op("checkpoint", {y}, f32({6}), {}, {part})}));
}

TEST(BridgeImport, KnowsWhatIsPrimitive) {
  Builder b;
  uint32_t x = b.input(f32({4}));
  b.op("add", {x, x}, f32({4}));
  std::vector<TensorType> operands(2, f32({4})), results(1, f32({4}));
  EXPECT_FALSE(decompose(b.graph.nodes[0], operands, results));
}

TEST(BridgeImport, HasTheInterpretersValues) {
  Builder b;
  uint32_t x = b.input(f64({4, 6})), w = b.input(f64({6, 3}));
  uint32_t y = b.op("log_softmax", {b.op("matmul", {x, w}, f64({4, 3}))}, f64({4, 3}), {Attr::of("axis", 1)});
  Graph graph = b.give({b.op("tanh", {y}, f64({4, 3}))});
  Doubles xs, ws;
  for (int i = 0; i < 24; ++i) xs.push_back(std::sin(i));
  for (int i = 0; i < 18; ++i) ws.push_back(std::cos(i));
  std::vector<Doubles> results = run<double>(graph, {xs, ws});

  bridge::Workspace work;
  bridge::Lowering lowering(work.context());
  auto function = lowering.makeFunction(*work.module, "main", llvm::ArrayRef(graph.types).take_front(2));
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(&function.getBody().front());
  llvm::SmallVector<mlir::Value> inputs(function.getArguments().begin(), function.getArguments().end());
  auto outputs = bridge::outputsOf(graph, lowering.lowerNodes(builder, graph, inputs));
  mlir::func::ReturnOp::create(builder, function.getLoc(), outputs);
  function.setFunctionType(builder.getFunctionType(function.getArgumentTypes(), mlir::ValueRange(outputs).getTypes()));
  auto tensor = [&](const TensorType &type, const Doubles &values) {
    return interp::Tensor::ofFloats(bridge::toType(work.context(), type), values);
  };
  auto want = interp::run(function, {tensor(graph.types[0], xs), tensor(graph.types[1], ws)});
  ASSERT_TRUE(mlir::succeeded(want));
  auto elements = (*want)[0].floats();
  for (int i = 0; i < 12; ++i) EXPECT_NEAR(results[0][size_t(i)], elements[i], 1e-12);
}

TEST(BridgeImport, UpdatesAsTheOptimizersDo) {
  auto optimizer = [](const std::string &json) { return training::parseOptimizer(json, "test"); };
  std::vector<OptimizerSlot> slots{{"old"}};
  Graph sgd = optimizerUpdate(optimizer(R"({"name": "sgd", "lr": 0.1})"), f64({3}), 1, 0, slots);
  EXPECT_TRUE(slots.empty());
  EXPECT_EQ(run<double>(sgd, {{1, 2, 3}, {1, 1, 2}, {0.5}, {0}})[0], (Doubles{0.5, 1.5, 2}));
  Graph decayed = optimizerUpdate(optimizer(R"({"name": "sgd", "lr": 0.1})"), f64({1}), 2, 0.25, slots);
  EXPECT_EQ(run<double>(decayed, {{4}, {1}, {0.5}, {0}})[0], (Doubles{4 - 2 * 0.5 * (1 + 4 * 0.25)}));

  Graph momentum = optimizerUpdate(optimizer(R"({"name": "sgd", "lr": 1, "momentum": 0.5})"), f64({1}), 1, 0, slots);
  EXPECT_EQ(slots, (std::vector<OptimizerSlot>{{"momentum"}}));
  EXPECT_EQ(run<double>(momentum, {{10}, {1}, {0.25}, {3}, {4}}), (std::vector<Doubles>{{10 - 0.25 * 3}, {3}}));

  Graph adam = optimizerUpdate(optimizer(R"({"name": "adam", "lr": 1})"), f64({1}), 1, 0, slots);
  EXPECT_EQ(slots, (std::vector<OptimizerSlot>{{"exp_avg"}, {"exp_avg_sq"}}));
  auto results = run<double>(adam, {{1}, {2}, {0.01}, {4}, {0.5}, {0.25}});
  double m = 0.9 * 0.5 + 0.1 * 2, v = 0.999 * 0.25 + 0.001 * 4;
  double step = 0.01 / (1 - std::pow(0.9, 5)) * m / (std::sqrt(v) / std::sqrt(1 - std::pow(0.999, 5)) + 1e-8);
  EXPECT_NEAR(results[0][0], 1 - step, 1e-14);
  EXPECT_NEAR(results[1][0], m, 1e-15);
  EXPECT_NEAR(results[2][0], v, 1e-15);
  for (const char *name : {"adamw", "nadam", "radam", "rmsprop", "adagrad", "adadelta", "lion"}) {
    Graph graph =
        optimizerUpdate(optimizer(std::string(R"({"name": ")") + name + R"(", "lr": 1})"), f32({2, 3}), 1, 0.1, slots);
    EXPECT_EQ(graph.inputCount, 4 + slots.size()) << name;
    EXPECT_EQ(graph.outputs.size(), 1 + slots.size()) << name;
  }
  optimizerUpdate(optimizer(R"({"name": "nadam", "lr": 1})"), f32({2}), 1, 0, slots);
  EXPECT_EQ(slots, (std::vector<OptimizerSlot>{{"exp_avg"}, {"exp_avg_sq"}, {"mu_product", true, 1}}));
}

TEST(BridgeImport, SchedulesAsTheReferenceDoes) {
  for (const char *json :
       {R"({"name": "step", "step_size": 3, "gamma": 0.5})", R"({"name": "cosine", "total_steps": 10})",
        R"([1, 0.5, 2])", R"({"name": "warmup_cosine", "warmup_steps": 3, "total_steps": 12})", R"("constant")"}) {
    training::ScheduleConfig schedule = training::parseSchedule(json, "test");
    Graph graph = learningRate(schedule);
    auto plan = compilePlan(graph, {}, quick(), "rate");
    for (int64_t step = 0; step < 15; ++step) {
      Memory base(Doubles{0.5}), at(std::vector<int64_t>{step}), rate(8);
      std::vector<void *> in{base.data(), at.data()}, out{rate.data()};
      plan->run(in, out, {});
      EXPECT_NEAR(rate.as<double>()[0], training::lrAt(schedule, 0.5, step), 1e-12) << json << " step " << step;
    }
  }
}

// All elementwise operations of the dialect, and the composites that are, for vmap.
TEST(BridgeElementwise, IsWhatTheDialectSays) {
  using enum DType;
  struct Form {
    std::vector<DType> operands;
    DType result;
    AttrList attrs = {};
  };
  const Form unary{{f32}, f32}, binary{{f32, f32}, f32}, logic{{boolean, boolean}, boolean}, shift{{u8, u8}, u8},
      predicate{{f32}, boolean}, loss{{f32, f32}, f32, {Attr::word("reduction", "loss_reduction none")}};
  const std::map<std::string, Form> others = {
      {"not", {{boolean}, boolean}},
      {"compare", {{f32, f32}, boolean, {Attr::word("predicate", "predicate lt")}}},
      {"select", {{boolean, f32, f32}, f32}},
      {"cast", {{i8}, f32}},
      {"bitcast", {{i32}, f32}},
      {"class_index", {{i64}, i64, {Attr::of("classes", 3)}}},
      {"in_range", {{f32}, f32, {Attr::of("low", 0.), Attr::of("high", 1.)}}},
      {"philox", {{i64, i64, i64}, u32}},
      {"quantize", {{f32, f32, i8}, i8}},
      {"dequantize", {{i8, f32, i8}, f32}},
      {"fake_quantize", {{f32, f32, i8}, f32}},
      {"selu", {{f32}, f32, {Attr::of("alpha", 1.6), Attr::of("gamma", 1.)}}},
      {"hard_sigmoid", {{f32}, f32, {Attr::of("alpha", 0.2), Attr::of("beta", 0.5)}}},
      {"softmax", {{f32}, f32, {Attr::of("axis", 1)}}},
      {"cumulative", {{f32}, f32, {Attr::of("axis", 1), Attr::word("kind", "reduce_kind sum")}}},
  };
  auto isElementwiseOn = [](const std::string &name, const Form &form, Shape shape) {
    Builder builder;
    std::vector<uint32_t> operands;
    for (DType type : form.operands) operands.push_back(builder.input({type, shape}));
    return isElementwise(builder.give({builder.op(name, operands, {form.result, shape}, form.attrs)}));
  };
  bridge::Workspace work;
  std::set<std::string> more;
  for (mlir::RegisteredOperationName name : work.context()->getRegisteredOperationsByDialect("nn")) {
    std::string text = name.getStringRef().substr(3).str();
    std::vector<Form> forms = {unary, binary, logic, shift, predicate, loss};
    if (auto found = others.find(text); found != others.end()) forms = {found->second};
    bool isSo = llvm::any_of(forms, [&](const Form &form) { return isElementwiseOn(text, form, {2, 3}); });
    if (name.hasInterface<ElementwiseOpInterface>())
      EXPECT_TRUE(isSo) << text;
    else if (isSo)
      more.insert(text);
  }
  // Composites, and what does nothing between equal shapes.
  EXPECT_EQ(more, (std::set<std::string>{"after",         "bce_loss",   "bce_with_logits_loss",
                                         "broadcast",     "celu",       "elu",
                                         "fake_quantize", "gelu",       "hard_sigmoid",
                                         "hard_swish",    "huber_loss", "kl_div_loss",
                                         "l1_loss",       "leaky_relu", "mish",
                                         "mse_loss",      "reshape",    "selu",
                                         "silu",          "softplus",   "softsign",
                                         "stop_gradient"}));
  // A loss that is a mean is elementwise for no shape that has elements to average.
  EXPECT_FALSE(
      isElementwiseOn("mse_loss", {{f32, f32}, f32, {Attr::word("reduction", "loss_reduction mean")}}, {2, 3}));
}

} // namespace
} // namespace sprig::frontend::test
