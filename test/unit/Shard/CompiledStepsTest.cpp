// Whole training steps, divided over ranks and compiled, against one rank's and the interpreter in double precision:
// the loss and every state after two steps. Batches are uneven, and smaller than the ranks.
#include "dialects/NN/NNDialect.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Shard/Passes.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/Passes.h"
#include "test/unit/Shard/CompiledRanks.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <gtest/gtest.h>

namespace sprig::shard {
namespace {

namespace dist = ir::dist;
using interp::Tensor;
using mlir::RankedTensorType;

/// In types and in the forward pass `N` stands for the batch.
struct Network {
  struct Input {
    const char *name, *type;
    int samples = 0; // the dimension that is the batch
    int classes = 0; // of integers: below this
  };
  struct State {
    const char *name, *type;
    bool isTrained = true; // else the forward pass gives %new_NAME
  };
  std::vector<Input> inputs;
  std::vector<State> states;
  const char *forward; // gives %loss
  bool isAdam = false;
};

struct Division {
  int64_t ranks, batch;
};

std::string tensorOf(const std::string &type) { return "tensor<" + type + ">"; }

std::string withBatch(std::string text, int64_t batch) {
  for (size_t at = 0; (at = text.find("$N", at)) != std::string::npos;) text.replace(at, 2, std::to_string(batch));
  return text;
}

// The bytes of numbers around 0.05, without a pattern that a sum would cancel.
std::string initial(const std::string &type, size_t seed) {
  if (!llvm::StringRef(type).ends_with("f32")) return "dense<0>";
  size_t count = 1;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(type).split(parts, 'x');
  for (llvm::StringRef part : llvm::ArrayRef(parts).drop_back()) count *= size_t(std::stoul(part.str()));
  Floats values(count);
  for (size_t i = 0; i < count; ++i) values[i] = 0.05f + 0.1f * float(int((i * 37 + seed * 11) % 19) - 9) / 3;
  return "dense<\"0x" + llvm::toHex({reinterpret_cast<const char *>(values.data()), count * sizeof(float)}) + "\">";
}

/// The step of the whole batch: gradients stated whole, then the optimizer; gives the loss and all new states of f32.
std::string stepOf(const Network &network, int64_t batch, int64_t ranks) {
  std::string params, inputs, reads, update, results, resultTypes, wrt, types, gradients;
  auto list = [](std::string &text, const std::string &item) { text += (text.empty() ? "" : ", ") + item; };
  auto param = [&](const std::string &name, const std::string &type, const std::string &value) {
    params += "nn.param @" + name + " = " + value + " : " + tensorOf(type) + "\n";
    reads += "%" + name + " = nn.get_param @" + name + " : " + tensorOf(type) + "\n";
  };
  auto set = [&](const std::string &name, const std::string &value, const std::string &type) {
    update += "nn.set_param @" + name + ", %" + value + " : " + tensorOf(type) + "\n";
    if (!llvm::StringRef(type).ends_with("f32")) return;
    list(results, "%" + value);
    list(resultTypes, tensorOf(type));
  };
  for (const Network::Input &input : network.inputs) {
    std::string dims;
    int rank = int(llvm::StringRef(input.type).count('x'));
    for (int dim = 0; dim < rank; ++dim) list(dims, dim == input.samples ? "[\"data\"]" : "[]");
    list(inputs, std::string("%") + input.name + ": " + tensorOf(input.type) +
                     (ranks ? " {dist.sharding = #dist.sharding<@mesh, [" + dims + "]>}" : ""));
  }
  list(results, "%loss"), list(resultTypes, "tensor<f32>");
  for (auto [i, state] : llvm::enumerate(network.states)) {
    std::string name = state.name, type = state.type, of = " : " + tensorOf(type) + ", ";
    param(name, type, initial(type, i));
    if (!state.isTrained) {
      set(name, "new_" + name, type);
      continue;
    }
    list(wrt, "%" + name), list(types, tensorOf(type)), list(gradients, "%g_" + name);
    auto let = [&](const std::string &what, const std::string &value) {
      update += "%" + what + "_" + name + " = " + value + "\n";
    };
    std::string dims, number = of + "tensor<f32>", both = of + tensorOf(type), g = "%g_" + name;
    for (int64_t dim = llvm::StringRef(type).count('x'); dim > 0; --dim) list(dims, "[]");
    if (ranks) {
      let("s", "dist.shard " + g + " : " + tensorOf(type) + " to #dist.sharding<@mesh, [" + dims + "]>");
      g = "%s_" + name;
    }
    if (network.isAdam) {
      param("m_" + name, type, "dense<0.0>"), param("v_" + name, type, "dense<0.0>");
      let("m0", "nn.mul %m_" + name + ", %beta" + number), let("m1", "nn.mul " + g + ", %rest" + number);
      let("new_m", "nn.add %m0_" + name + ", %m1_" + name + both);
      let("square", "nn.mul " + g + ", " + g + both);
      let("v0", "nn.mul %v_" + name + ", %beta" + number), let("v1", "nn.mul %square_" + name + ", %rest" + number);
      let("new_v", "nn.add %v0_" + name + ", %v1_" + name + both);
      let("root", "nn.sqrt %new_v_" + name + " : " + tensorOf(type));
      let("safe", "nn.add %root_" + name + ", %rest" + number);
      let("ratio", "nn.div %new_m_" + name + ", %safe_" + name + both);
      set("m_" + name, "new_m_" + name, type), set("v_" + name, "new_v_" + name, type);
      g = "%ratio_" + name;
    }
    let("step", "nn.mul " + g + ", %rate" + number);
    let("new", "nn.sub %" + name + ", %step_" + name + both);
    set(name, "new_" + name, type);
  }
  std::string text = (ranks ? "dist.mesh @mesh [\"data\"] [" + std::to_string(ranks) + "]\n" : "") + params +
                     "func.func @main(" + inputs + ") -> (" + resultTypes + ") {\n" + reads + network.forward + "\n" +
                     gradients + " = nn.gradient %loss wrt " + wrt + " : (tensor<f32>, " + types + ") -> (" + types +
                     ")\n" +
                     "%rate = nn.constant dense<0.1> : tensor<f32>\n%beta = nn.constant dense<0.75> : tensor<f32>\n"
                     "%rest = nn.constant dense<0.25> : tensor<f32>\n" +
                     update + "return " + results + " : " + resultTypes + "\n}\n";
  return withBatch(text, batch);
}

class CompiledStepsTest : public testing::Test {
protected:
  CompiledStepsTest() { context.loadDialect<ir::NNDialect, dist::DistDialect, mlir::func::FuncDialect>(); }

  mlir::OwningOpRef<mlir::ModuleOp> differentiated(const std::string &text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    mlir::PassManager passes(&context);
    passes.addNestedPass<mlir::func::FuncOp>(createDifferentiate());
    passes.addPass(mlir::createCanonicalizerPass());
    passes.addPass(mlir::createCSEPass());
    if (module && failed(passes.run(*module))) return {};
    return module;
  }

  Floats inputOf(const Network::Input &input, RankedTensorType type, int seed) {
    Floats values(size_t(type.getNumElements()));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = input.classes ? float((int(i) * 7 + seed) % input.classes)
                                : 0.05f * float((int(i) * 37 + seed * 11) % 41 - 20);
    return values;
  }

  std::vector<std::vector<double>> interpret(mlir::func::FuncOp function, llvm::ArrayRef<std::vector<Floats>> calls) {
    llvm::StringMap<Tensor> state;
    interp::RunOptions options;
    options.state = &state;
    std::vector<std::vector<double>> last;
    for (const std::vector<Floats> &inputs : calls) {
      std::vector<Tensor> tensors;
      for (auto [type, input] : llvm::zip_equal(function.getArgumentTypes(), inputs)) {
        auto tensor = llvm::cast<RankedTensorType>(type);
        tensors.push_back(tensor.getElementType().isF32()
                              ? Tensor::ofFloats(tensor, std::vector<double>(input.begin(), input.end()))
                              : Tensor::ofIntegers(tensor, std::vector<int64_t>(input.begin(), input.end())));
      }
      auto results = interp::run(function, tensors, options);
      EXPECT_TRUE(mlir::succeeded(results));
      last.clear();
      if (mlir::succeeded(results))
        for (const Tensor &result : *results) {
          auto &values = last.emplace_back();
          for (int64_t i = 0; i < result.count(); ++i) values.push_back(result.floats()[i]);
        }
    }
    return last;
  }

  /// Of the largest element of a tensor, 2^-23 being f32's: sums of some hundred terms twice, in another order.
  static constexpr double kTolerance = 64 * 0x1p-23;
  static void expectNear(const Floats &got, const std::vector<double> &wanted, const std::string &what) {
    ASSERT_EQ(got.size(), wanted.size()) << what;
    double most = 0.05;
    for (double value : wanted) most = std::max(most, std::abs(value));
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], wanted[i], kTolerance * most) << what << ", element " << i;
  }

  /// Where one rank has no sample, unless said otherwise.
  void compare(const Network &network, std::initializer_list<Division> divisions = {{4, 3}}) {
    for (Division each : divisions) compareOne(network, each);
  }

  void compareOne(const Network &network, Division division) {
    auto [ranks, batch] = division;
    SCOPED_TRACE("batch of " + std::to_string(batch) + " on " + std::to_string(ranks));
    std::string text = stepOf(network, batch, 0);
    auto whole = differentiated(text);
    ASSERT_TRUE(whole) << text;
    mlir::func::FuncOp function = functionOf(*whole);
    std::vector<std::vector<Floats>> calls(2);
    for (auto [step, inputs] : llvm::enumerate(calls))
      for (auto [input, type] : llvm::zip_equal(network.inputs, function.getArgumentTypes()))
        inputs.push_back(inputOf(input, llvm::cast<RankedTensorType>(type), int(step * 5 + inputs.size())));
    auto wanted = interpret(function, calls);
    auto one = runWhole(text, function.getArgumentTypes(), calls).back();
    for (auto [i, values] : llvm::enumerate(one)) expectNear(values, wanted[i], "result " + std::to_string(i));

    auto sharded = differentiated(stepOf(network, batch, ranks));
    ASSERT_TRUE(sharded);
    ASSERT_TRUE(runPass(*sharded, createPropagateShardings()));
    RankResults got = runRanks(*sharded, calls);
    ASSERT_EQ(got.error, "");
    for (auto [rank, results] : llvm::enumerate(got.results))
      for (auto [i, values] : llvm::enumerate(results.back())) {
        std::string what = "rank " + std::to_string(rank) + ", result " + std::to_string(i);
        expectNear(values, wanted[i], what);
        expectNear(values, std::vector<double>(one[i].begin(), one[i].end()), what + " of one rank");
        EXPECT_EQ(values, got.results[0].back()[i]) << what << ": ranks differ"; // of what all have
      }
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

const Network::Input kRows{"x", "$Nx6xf32"}, kClasses{"t", "$Nxi32", 0, 3};
const std::vector<Network::State> kLayers{{"w", "8x6xf32"}, {"b", "8xf32"}, {"v", "3x8xf32"}, {"c", "3xf32"}};

TEST_F(CompiledStepsTest, Perceptron) {
  compare({{kRows, kClasses},
           kLayers,
           R"mlir(
    %0 = nn.linear %x, %w, %b : tensor<$Nx6xf32>, tensor<8x6xf32>, tensor<8xf32>
    %1 = nn.relu %0 : tensor<$Nx8xf32>
    %2 = nn.linear %1, %v, %c : tensor<$Nx8xf32>, tensor<3x8xf32>, tensor<3xf32>
    %loss = nn.cross_entropy mean %2, %t : tensor<$Nx3xf32>, tensor<$Nxi32>)mlir",
           /*isAdam=*/true},
          {{2, 5}, {4, 3}, {7, 1}});
}

TEST_F(CompiledStepsTest, Sum) {
  compare({{kRows, kClasses}, kLayers, R"mlir(
    %0 = nn.linear %x, %w, %b : tensor<$Nx6xf32>, tensor<8x6xf32>, tensor<8xf32>
    %1 = nn.tanh %0 : tensor<$Nx8xf32>
    %2 = nn.linear %1, %v, %c : tensor<$Nx8xf32>, tensor<3x8xf32>, tensor<3xf32>
    %loss = nn.cross_entropy sum %2, %t : tensor<$Nx3xf32>, tensor<$Nxi32>)mlir"});
}

// What counts is the sum of the weights on all ranks, and some rank has nothing that counts.
TEST_F(CompiledStepsTest, WeightsAndIgnored) {
  compare({{kRows, kClasses}, kLayers, R"mlir(
    %0 = nn.linear %x, %w, %b : tensor<$Nx6xf32>, tensor<8x6xf32>, tensor<8xf32>
    %1 = nn.sigmoid %0 : tensor<$Nx8xf32>
    %2 = nn.linear %1, %v, %c : tensor<$Nx8xf32>, tensor<3x8xf32>, tensor<3xf32>
    %weights = nn.constant dense<[0.5, 1.5, 2.0]> : tensor<3xf32>
    %loss = nn.cross_entropy mean %2, %t weights %weights {ignore_index = 1 : i64} : tensor<$Nx3xf32>, tensor<$Nxi32>, tensor<3xf32>)mlir"});
}

TEST_F(CompiledStepsTest, Convolution) {
  compare({{{"x", "$Nx2x6x6xf32"}, kClasses},
           {{"w", "4x2x3x3xf32"},
            {"s", "4xf32"},
            {"h", "4xf32"},
            {"v", "3x16xf32"},
            {"m", "4xf32", false},
            {"q", "4xf32", false}},
           R"mlir(
    %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<$Nx2x6x6xf32>, tensor<4x2x3x3xf32>
    %1, %mean, %variance = nn.batch_norm_train %0, %s, %h {epsilon = 1.0e-3 : f64} : tensor<$Nx4x4x4xf32>, tensor<4xf32>, tensor<4xf32>
    %2 = nn.relu %1 : tensor<$Nx4x4x4xf32>
    %3 = nn.pool max %2 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<$Nx4x4x4xf32>
    %4 = nn.reshape %3 : tensor<$Nx4x2x2xf32> to tensor<$Nx16xf32>
    %5 = nn.linear %4, %v : tensor<$Nx16xf32>, tensor<3x16xf32>
    %new_m = nn.add %m, %mean : tensor<4xf32>, tensor<4xf32>
    %new_q = nn.add %q, %variance : tensor<4xf32>, tensor<4xf32>
    %loss = nn.cross_entropy mean %5, %t : tensor<$Nx3xf32>, tensor<$Nxi32>)mlir"});
}

TEST_F(CompiledStepsTest, Attention) {
  compare({{{"x", "$Nx5x8xf32"}, {"t", "$Nx5x8xf32"}},
           {{"s", "8xf32"}, {"h", "8xf32"}, {"q", "8x8xf32"}, {"k", "8x8xf32"}, {"v", "8x8xf32"}},
           R"mlir(
    %0 = nn.layer_norm %x, %s, %h axis = 2 {epsilon = 1.0e-5 : f64} : tensor<$Nx5x8xf32>, tensor<8xf32>, tensor<8xf32>
    %1 = nn.matmul %0, %q : tensor<$Nx5x8xf32>, tensor<8x8xf32>
    %2 = nn.matmul %0, %k : tensor<$Nx5x8xf32>, tensor<8x8xf32>
    %3 = nn.matmul %0, %v : tensor<$Nx5x8xf32>, tensor<8x8xf32>
    %4 = nn.matmul %1, %2 {transpose_rhs} : tensor<$Nx5x8xf32>, tensor<$Nx5x8xf32>
    %5 = nn.softmax %4 axis = 2 : tensor<$Nx5x5xf32>
    %6 = nn.matmul %5, %3 : tensor<$Nx5x5xf32>, tensor<$Nx5x8xf32>
    %7 = nn.add %x, %6 : tensor<$Nx5x8xf32>, tensor<$Nx5x8xf32>
    %loss = nn.mse_loss mean %7, %t : tensor<$Nx5x8xf32>, tensor<$Nx5x8xf32>)mlir"});
}

TEST_F(CompiledStepsTest, Recurrent) {
  compare({{{"x", "4x$Nx3xf32", 1}, {"t", "$Nx5xf32"}}, {{"w", "3x5xf32"}, {"r", "5x5xf32"}}, R"mlir(
    %zero = nn.constant dense<0.0> : tensor<$Nx5xf32>
    %last = nn.scan steps = 4 over (%each = %x : tensor<4x$Nx3xf32>) carry (%state = %zero : tensor<$Nx5xf32>) with (%a = %w : tensor<3x5xf32>, %u = %r : tensor<5x5xf32>) -> tensor<$Nx5xf32> {
      %0 = nn.matmul %each, %a : tensor<$Nx3xf32>, tensor<3x5xf32>
      %1 = nn.matmul %state, %u : tensor<$Nx5xf32>, tensor<5x5xf32>
      %2 = nn.add %0, %1 : tensor<$Nx5xf32>, tensor<$Nx5xf32>
      %3 = nn.tanh %2 : tensor<$Nx5xf32>
      nn.yield %3 : tensor<$Nx5xf32>
    }
    %loss = nn.mse_loss mean %last, %t : tensor<$Nx5xf32>, tensor<$Nx5xf32>)mlir"});
}

// Each rank drops what one would of its rows: of so many columns that indices are no constants.
TEST_F(CompiledStepsTest, Dropout) {
  compare({{kRows, kClasses},
           {{"w", "40x6xf32"}, {"b", "40xf32"}, {"v", "3x40xf32"}, {"c", "3xf32"}, {"calls", "i64", false}},
           R"mlir(
    %one = nn.constant dense<1> : tensor<i64>
    %new_calls = nn.add %calls, %one : tensor<i64>, tensor<i64>
    %key = nn.constant dense<77> : tensor<i64>
    %0 = nn.linear %x, %w, %b : tensor<$Nx6xf32>, tensor<40x6xf32>, tensor<40xf32>
    %1 = nn.tanh %0 : tensor<$Nx40xf32>
    %2 = nn.dropout %1, %key, %calls {ratio = 0.5 : f64} : tensor<$Nx40xf32>, tensor<i64>, tensor<i64>
    %3 = nn.linear %2, %v, %c : tensor<$Nx40xf32>, tensor<3x40xf32>, tensor<3xf32>
    %loss = nn.cross_entropy mean %3, %t : tensor<$Nx3xf32>, tensor<$Nxi32>)mlir"},
          {{3, 5}, {4, 3}});
}

TEST_F(CompiledStepsTest, Embedding) {
  compare({{{"i", "$Nx4xi32", 0, 10}, kClasses}, {{"e", "10x5xf32"}, {"v", "3x5xf32"}}, R"mlir(
    %0 = nn.gather %e, %i axis = 0 : tensor<10x5xf32>, tensor<$Nx4xi32>
    %1 = nn.reduce_mean %0 axes = [1] : tensor<$Nx4x5xf32>
    %2 = nn.linear %1, %v : tensor<$Nx5xf32>, tensor<3x5xf32>
    %loss = nn.cross_entropy mean %2, %t : tensor<$Nx3xf32>, tensor<$Nxi32>)mlir"});
}

// The largest of all samples, of which some rank has none.
TEST_F(CompiledStepsTest, LargestOfABatch) {
  compare({{kRows, kClasses}, kLayers, R"mlir(
    %0 = nn.linear %x, %w, %b : tensor<$Nx6xf32>, tensor<8x6xf32>, tensor<8xf32>
    %m = nn.reduce max %0 axes = [0] : tensor<$Nx8xf32>
    %1 = nn.sub %0, %m : tensor<$Nx8xf32>, tensor<8xf32>
    %2 = nn.linear %1, %v, %c : tensor<$Nx8xf32>, tensor<3x8xf32>, tensor<3xf32>
    %loss = nn.cross_entropy mean %2, %t {label_smoothing = 0.1 : f64} : tensor<$Nx3xf32>, tensor<$Nxi32>)mlir"});
}

// A variational autoencoder's step: as many draws as there are latent numbers of all samples.
TEST_F(CompiledStepsTest, Draws) {
  compare({{kRows}, {{"w", "50x6xf32"}, {"v", "6x25xf32"}, {"calls", "i64", false}}, R"mlir(
    %one = nn.constant dense<1> : tensor<i64>
    %new_calls = nn.add %calls, %one : tensor<i64>, tensor<i64>
    %key = nn.constant dense<77> : tensor<i64>
    %0 = nn.linear %x, %w : tensor<$Nx6xf32>, tensor<50x6xf32>
    %mu = nn.slice %0 starts = [0, 0] sizes = [$N, 25] steps = [1, 1] : tensor<$Nx50xf32>
    %ls = nn.slice %0 starts = [0, 25] sizes = [$N, 25] steps = [1, 1] : tensor<$Nx50xf32>
    %i = nn.iota axis = 0 : tensor<$Nx25xi64>
    %j = nn.iota axis = 1 : tensor<$Nx25xi64>
    %columns = nn.constant dense<25> : tensor<i64>
    %k = nn.mul %i, %columns : tensor<$Nx25xi64>, tensor<i64>
    %at = nn.add %k, %j : tensor<$Nx25xi64>, tensor<$Nx25xi64>
    %bits = nn.philox %at, %key, %calls : tensor<$Nx25xi64>, tensor<i64>, tensor<i64>
    %eight = nn.constant dense<8> : tensor<ui32>
    %upper = nn.shr %bits, %eight : tensor<$Nx25xui32>, tensor<ui32>
    %u = nn.cast %upper : tensor<$Nx25xui32> to tensor<$Nx25xf32>
    %scale = nn.constant dense<5.9604644775390625e-08> : tensor<f32>
    %noise = nn.mul %u, %scale : tensor<$Nx25xf32>, tensor<f32>
    %sd = nn.exp %ls : tensor<$Nx25xf32>
    %e = nn.mul %noise, %sd : tensor<$Nx25xf32>, tensor<$Nx25xf32>
    %z = nn.add %mu, %e : tensor<$Nx25xf32>, tensor<$Nx25xf32>
    %y = nn.linear %z, %v : tensor<$Nx25xf32>, tensor<6x25xf32>
    %r = nn.mse_loss sum %y, %x : tensor<$Nx6xf32>, tensor<$Nx6xf32>
    %mm = nn.mul %mu, %mu : tensor<$Nx25xf32>, tensor<$Nx25xf32>
    %kl = nn.sub %mm, %ls : tensor<$Nx25xf32>, tensor<$Nx25xf32>
    %kls = nn.reduce sum %kl axes = [0, 1] : tensor<$Nx25xf32>
    %n = nn.constant dense<0.01> : tensor<f32>
    %all = nn.add %r, %kls : tensor<f32>, tensor<f32>
    %loss = nn.mul %all, %n : tensor<f32>, tensor<f32>)mlir"});
}

} // namespace
} // namespace sprig::shard
