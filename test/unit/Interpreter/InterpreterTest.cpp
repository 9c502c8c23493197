// The interpreter against values worked out by hand: each case is a function that returns pairs of a computed value and
// the value that it must have.
#include "lib/Interpreter/Compare.h"
#include "test/unit/Interpreter/ModuleFixture.h"

namespace sprig::interp {
namespace {

class InterpreterTest : public ModuleFixture {
protected:
  // `body` defines %got and %want (and more such pairs: %got1, %want1 ...) of the types given.
  void expectPairs(llvm::StringRef body, llvm::ArrayRef<llvm::StringRef> types) {
    std::string results, values;
    for (auto [i, type] : llvm::enumerate(types)) {
      std::string n = i ? std::to_string(i) : "", comma = i ? ", " : "";
      results += comma + type.str() + ", " + type.str();
      values += comma + "%got" + n + ", %want" + n;
    }
    auto module = parse(
        ("func.func @f() -> (" + results + ") {\n" + body + "\nreturn " + values + " : " + results + "\n}").str());
    ASSERT_TRUE(module) << body.str();
    auto outputs = run(onlyFunction(*module), {});
    ASSERT_TRUE(mlir::succeeded(outputs)) << body.str();
    for (size_t i = 0; i < types.size(); ++i) {
      Difference difference = compare((*outputs)[2 * i], (*outputs)[2 * i + 1], {1e-6, 1e-6});
      EXPECT_FALSE(difference) << body.str() << "\npair " << i << ", element " << difference.index << ": got "
                               << difference.got << ", want " << difference.want;
    }
  }
};

TEST_F(InterpreterTest, EveryOperationIsInterpretedOrStructural) {
  // State and parts are the run's; requests for gradients are gone before anything runs.
  const llvm::StringRef structural[] = {"nn.param",      "nn.get_param",       "nn.set_param", "nn.yield",
                                        "nn.checkpoint", "nn.custom_gradient", "nn.gradient",  "nn.jvp",
                                        "kernel.yield",  "kernel.dispatch"};
  int64_t interpreted = 0;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations()) {
    const llvm::StringRef dialects[] = {"nn", "kernel"};
    if (!llvm::is_contained(dialects, name.getDialectNamespace()) ||
        llvm::is_contained(structural, name.getStringRef()))
      continue;
    EXPECT_TRUE(isInterpreted(name)) << name.getStringRef().str() << " has no evaluator";
    ++interpreted;
  }
  EXPECT_GT(interpreted, 80);
}

TEST_F(InterpreterTest, BroadcastsAndWraps) {
  expectPairs(R"mlir(
    %a = nn.constant dense<[[1], [2]]> : tensor<2x1xi8>
    %b = nn.constant dense<[100, 127, -128]> : tensor<3xi8>
    %got = nn.add %a, %b : tensor<2x1xi8>, tensor<3xi8>
    %want = nn.constant dense<[[101, -128, -127], [102, -127, -126]]> : tensor<2x3xi8>)mlir",
              {"tensor<2x3xi8>"});
}

TEST_F(InterpreterTest, DivisionsAndRemainders) {
  expectPairs(R"mlir(
    %a = nn.constant dense<[7, -7, 7, -7, -128]> : tensor<5xi8>
    %b = nn.constant dense<[3, 3, -3, -3, -1]> : tensor<5xi8>
    %got = nn.div %a, %b : tensor<5xi8>, tensor<5xi8>
    %want = nn.constant dense<[2, -2, -2, 2, -128]> : tensor<5xi8>
    %got1 = nn.rem %a, %b : tensor<5xi8>, tensor<5xi8>
    %want1 = nn.constant dense<[1, -1, 1, -1, 0]> : tensor<5xi8>
    %got2 = nn.mod %a, %b : tensor<5xi8>, tensor<5xi8>
    %want2 = nn.constant dense<[1, 2, -2, -1, 0]> : tensor<5xi8>
    %x = nn.constant dense<[7.5, -7.5, 7.5]> : tensor<3xf32>
    %y = nn.constant dense<[2.0, 2.0, -2.0]> : tensor<3xf32>
    %got3 = nn.mod %x, %y : tensor<3xf32>, tensor<3xf32>
    %want3 = nn.constant dense<[1.5, 0.5, -0.5]> : tensor<3xf32>)mlir",
              {"tensor<5xi8>", "tensor<5xi8>", "tensor<5xi8>", "tensor<3xf32>"});
}

TEST_F(InterpreterTest, CastsSaturateAndRound) {
  expectPairs(R"mlir(
    %x = nn.constant dense<[300.5, -1.5, 2.9, 0x7FC00000]> : tensor<4xf32>
    %got = nn.cast %x : tensor<4xf32> to tensor<4xui8>
    %want = nn.constant dense<[255, 0, 2, 0]> : tensor<4xui8>
    %i = nn.constant dense<[257, -1]> : tensor<2xi32>
    %got1 = nn.cast %i : tensor<2xi32> to tensor<2xui8>
    %want1 = nn.constant dense<[1, 255]> : tensor<2xui8>
    %got2 = nn.cast %i : tensor<2xi32> to tensor<2xbf16>
    %want2 = nn.constant dense<[256.0, -1.0]> : tensor<2xbf16>)mlir",
              {"tensor<4xui8>", "tensor<2xui8>", "tensor<2xbf16>"});
}

TEST_F(InterpreterTest, MovesElements) {
  expectPairs(R"mlir(
    %x = nn.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %got = nn.slice %x starts = [1, 2] sizes = [2, 2] steps = [-1, -2] : tensor<2x3xi32>
    %want = nn.constant dense<[[6, 4], [3, 1]]> : tensor<2x2xi32>
    %row = nn.constant dense<[1, 2, 3]> : tensor<3xi32>
    %fill = nn.constant dense<9> : tensor<i32>
    %got1 = nn.pad reflect %row, %fill low = [2] high = [2] : tensor<3xi32>, tensor<i32>
    %want1 = nn.constant dense<[3, 2, 1, 2, 3, 2, 1]> : tensor<7xi32>
    %got2 = nn.pad constant %row, %fill low = [1] high = [0] : tensor<3xi32>, tensor<i32>
    %want2 = nn.constant dense<[9, 1, 2, 3]> : tensor<4xi32>
    %index = nn.constant dense<[[2, -3]]> : tensor<1x2xi64>
    %got3 = nn.gather %x, %index axis = 1 : tensor<2x3xi32>, tensor<1x2xi64>
    %want3 = nn.constant dense<[[[3, 1]], [[6, 4]]]> : tensor<2x1x2xi32>
    %got4 = nn.concat %x, %x axis = 1 : tensor<2x3xi32>, tensor<2x3xi32>
    %want4 = nn.constant dense<[[1, 2, 3, 1, 2, 3], [4, 5, 6, 4, 5, 6]]> : tensor<2x6xi32>)mlir",
              {"tensor<2x2xi32>", "tensor<7xi32>", "tensor<4xi32>", "tensor<2x1x2xi32>", "tensor<2x6xi32>"});
}

TEST_F(InterpreterTest, Scatters) {
  expectPairs(R"mlir(
    %x = nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %index = nn.constant dense<[[1, 1]]> : tensor<1x2xi64>
    %update = nn.constant dense<[[10.0, 20.0]]> : tensor<1x2xf32>
    %got = nn.scatter_elements add %x, %index, %update axis = 0 : tensor<2x2xf32>, tensor<1x2xi64>, tensor<1x2xf32>
    %want = nn.constant dense<[[1.0, 2.0], [13.0, 24.0]]> : tensor<2x2xf32>
    %tuple = nn.constant dense<[[1], [1]]> : tensor<2x1xi64>
    %rows = nn.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
    %got1 = nn.scatter_nd none %x, %tuple, %rows : tensor<2x2xf32>, tensor<2x1xi64>, tensor<2x2xf32>
    %want1 = nn.constant dense<[[1.0, 2.0], [7.0, 8.0]]> : tensor<2x2xf32>)mlir",
              {"tensor<2x2xf32>", "tensor<2x2xf32>"});
}

TEST_F(InterpreterTest, ReducesAndRanks) {
  expectPairs(R"mlir(
    %x = nn.constant dense<[[1.0, 5.0, 3.0], [4.0, 4.0, -2.0]]> : tensor<2x3xf32>
    %got = nn.reduce max %x axes = [1] : tensor<2x3xf32>
    %want = nn.constant dense<[5.0, 4.0]> : tensor<2xf32>
    %got1 = nn.reduce_mean %x axes = [0] {keep_dims} : tensor<2x3xf32>
    %want1 = nn.constant dense<[[2.5, 4.5, 0.5]]> : tensor<1x3xf32>
    %got2 = nn.arg_reduce max %x axis = 1 : tensor<2x3xf32>
    %want2 = nn.constant dense<[1, 0]> : tensor<2xi64>
    %got3 = nn.cumulative sum %x axis = 1 {exclusive, reverse} : tensor<2x3xf32>
    %want3 = nn.constant dense<[[8.0, 3.0, 0.0], [2.0, -2.0, 0.0]]> : tensor<2x3xf32>)mlir",
              {"tensor<2xf32>", "tensor<1x3xf32>", "tensor<2xi64>", "tensor<2x3xf32>"});
}

TEST_F(InterpreterTest, MultipliesMatrices) {
  expectPairs(R"mlir(
    %a = nn.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %b = nn.constant dense<[[1, 0, 2], [0, 1, 1]]> : tensor<2x3xi32>
    %got = nn.matmul %a, %b {transpose_rhs} : tensor<2x3xi32>, tensor<2x3xi32>
    %want = nn.constant dense<[[7, 5], [16, 11]]> : tensor<2x2xi32>
    %got1 = nn.matmul %a, %b {transpose_lhs} : tensor<2x3xi32>, tensor<2x3xi32>
    %want1 = nn.constant dense<[[1, 4, 6], [2, 5, 9], [3, 6, 12]]> : tensor<3x3xi32>
    %panels = kernel.pack %b {transposed} : tensor<2x3xi32>
    %got2 = kernel.matmul_packed %a, %panels {columns = 2 : i64} : tensor<2x3xi32>, tensor<1x3x32xi32>
    %want2 = nn.constant dense<[[7, 5], [16, 11]]> : tensor<2x2xi32>)mlir",
              {"tensor<2x2xi32>", "tensor<3x3xi32>", "tensor<2x2xi32>"});
}

// A filter that is infinite where the window hangs over the edge must not turn the padding's zeros into NaN.
TEST_F(InterpreterTest, Convolves) {
  expectPairs(R"mlir(
    %x = nn.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
    %w = nn.constant dense<[[[1.0, 10.0, 100.0]]]> : tensor<1x1x3xf32>
    %got = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, padding = array<i64: 1, 1>} : tensor<1x1x3xf32>, tensor<1x1x3xf32>
    %want = nn.constant dense<[[[210.0, 321.0, 32.0]]]> : tensor<1x1x3xf32>
    %v = nn.constant dense<[[[0x7F800000, 1.0]]]> : tensor<1x1x2xf32>
    %got1 = nn.conv %x, %v {strides = array<i64: 3>, dilations = array<i64: 1>, padding = array<i64: 1, 0>} : tensor<1x1x3xf32>, tensor<1x1x2xf32>
    %want1 = nn.constant dense<[[[1.0]]]> : tensor<1x1x1xf32>
    %got2 = nn.conv_transpose %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, padding = array<i64: 0, 0>, output_padding = array<i64: 0>} : tensor<1x1x3xf32>, tensor<1x1x3xf32>
    %want2 = nn.constant dense<[[[1.0, 10.0, 102.0, 20.0, 203.0, 30.0, 300.0]]]> : tensor<1x1x7xf32>)mlir",
              {"tensor<1x1x3xf32>", "tensor<1x1x1xf32>", "tensor<1x1x7xf32>"});
}

TEST_F(InterpreterTest, Pools) {
  expectPairs(R"mlir(
    %x = nn.constant dense<[[[1.0, 4.0, 2.0, 3.0]]]> : tensor<1x1x4xf32>
    %got = nn.pool max %x {window = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, padding = array<i64: 1, 1>} : tensor<1x1x4xf32>
    %want = nn.constant dense<[[[1.0, 4.0, 3.0]]]> : tensor<1x1x3xf32>
    %got1 = nn.avg_pool %x {window = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, padding = array<i64: 1, 1>, counted_padding = array<i64: 0, 0>} : tensor<1x1x4xf32>
    %want1 = nn.constant dense<[[[1.0, 3.0, 3.0]]]> : tensor<1x1x3xf32>
    %got2 = nn.arg_max_pool %x {window = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, padding = array<i64: 0, 0>} : tensor<1x1x4xf32>
    %want2 = nn.constant dense<[[[1, 3]]]> : tensor<1x1x2xi64>)mlir",
              {"tensor<1x1x3xf32>", "tensor<1x1x3xf32>", "tensor<1x1x2xi64>"});
}

TEST_F(InterpreterTest, Normalises) {
  expectPairs(R"mlir(
    %x = nn.constant dense<[[1.0, 3.0], [0.0, 0.0]]> : tensor<2x2xf32>
    %s = nn.constant dense<[2.0, 4.0]> : tensor<2xf32>
    %got = nn.layer_norm %x, %s axis = 1 {epsilon = 0.0 : f64} : tensor<2x2xf32>, tensor<2xf32>
    %want = nn.constant dense<[[-2.0, 4.0], [0x7FC00000, 0x7FC00000]]> : tensor<2x2xf32>
    %got1 = nn.softmax %x axis = 0 : tensor<2x2xf32>
    %want1 = nn.constant dense<[[0.7310585786, 0.9525741268], [0.2689414214, 0.0474258732]]> : tensor<2x2xf32>)mlir",
              {"tensor<2x2xf32>", "tensor<2x2xf32>"});
}

// Composites have formulas of their own here; their decompositions must agree with them.
TEST_F(InterpreterTest, AgreesWithDecompositions) {
  const llvm::StringRef operations[] = {
      "nn.silu %x : tensor<2x4x3xf32>",
      "nn.mish %x : tensor<2x4x3xf32>",
      "nn.softplus %x : tensor<2x4x3xf32>",
      "nn.softsign %x : tensor<2x4x3xf32>",
      "nn.hard_swish %x : tensor<2x4x3xf32>",
      "nn.gelu %x : tensor<2x4x3xf32>",
      "nn.gelu %x {tanh_approximation} : tensor<2x4x3xf32>",
      "nn.elu %x {alpha = 1.5 : f64} : tensor<2x4x3xf32>",
      "nn.celu %x {alpha = 0.5 : f64} : tensor<2x4x3xf32>",
      "nn.selu %x {alpha = 1.6 : f64, gamma = 1.05 : f64} : tensor<2x4x3xf32>",
      "nn.leaky_relu %x : tensor<2x4x3xf32>",
      "nn.hard_sigmoid %x {alpha = 0.2 : f64, beta = 0.5 : f64} : tensor<2x4x3xf32>",
      "nn.softmax %x axis = 1 : tensor<2x4x3xf32>",
      "nn.log_softmax %x axis = 2 : tensor<2x4x3xf32>",
      "nn.layer_norm %x, %row, %row axis = 2 {epsilon = 0.01 : f64} : tensor<2x4x3xf32>, tensor<3xf32>, tensor<3xf32>",
      "nn.rms_norm %x, %row axis = 2 {epsilon = 0.01 : f64} : tensor<2x4x3xf32>, tensor<3xf32>",
      "nn.group_norm %x, %c, %c {groups = 2 : i64, epsilon = 0.01 : f64} : tensor<2x4x3xf32>, tensor<4xf32>, "
      "tensor<4xf32>",
      "nn.batch_norm %x, %c, %c, %c, %v {epsilon = 0.01 : f64} : tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>, "
      "tensor<4xf32>, tensor<4xf32>",
  };
  for (llvm::StringRef operation : operations) {
    auto module =
        parse(("func.func @f(%x: tensor<2x4x3xf32>, %row: tensor<3xf32>, %c: tensor<4xf32>, %v: tensor<4xf32>)"
               " -> tensor<2x4x3xf32> {\n%y = " +
               operation + "\nreturn %y : tensor<2x4x3xf32>\n}")
                  .str());
    ASSERT_TRUE(module) << operation.str();
    mlir::func::FuncOp function = onlyFunction(*module);
    std::vector<Tensor> inputs;
    for (mlir::Type type : function.getArgumentTypes()) {
      auto tensor = llvm::cast<mlir::RankedTensorType>(type);
      std::vector<double> values;
      for (int64_t i = 0; i < tensor.getNumElements(); ++i)
        values.push_back(inputs.size() == 3 ? 0.5 + i : 2.5 * std::sin(double(1 + 3 * i + inputs.size())));
      inputs.push_back(Tensor::ofFloats(tensor, std::move(values)));
    }
    auto direct = run(function, inputs);
    ASSERT_TRUE(mlir::succeeded(direct)) << operation.str();
    auto composite = llvm::cast<DecomposableOpInterface>(function.getBody().front().front());
    mlir::OpBuilder builder(composite);
    auto values = composite.decompose(builder);
    ASSERT_TRUE(mlir::succeeded(values)) << operation.str();
    composite->getResult(0).replaceAllUsesWith((*values)[0]);
    composite->erase();
    auto decomposed = run(function, inputs);
    ASSERT_TRUE(mlir::succeeded(decomposed)) << operation.str();
    Difference difference = compare((*direct)[0], (*decomposed)[0], {1e-6, 1e-7});
    EXPECT_FALSE(difference) << operation.str() << " at " << difference.index << ": " << difference.got << " and "
                             << difference.want;
  }
}

TEST_F(InterpreterTest, ReportsErrors) {
  struct Case {
    llvm::StringRef body, message;
  } cases[] = {
      {"%i = nn.constant dense<[0, 5]> : tensor<2xi64>\n%y = nn.gather %x, %i axis = 0 : tensor<2xi32>, tensor<2xi64>",
       "'nn.gather' op index 5 is out of range for a dimension of size 2"},
      {"%z = nn.constant dense<[1, 0]> : tensor<2xi32>\n%y = nn.rem %x, %z : tensor<2xi32>, tensor<2xi32>",
       "'nn.rem' op divides an integer by zero"},
  };
  for (const Case &c : cases) {
    auto module = parse(
        ("func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> {\n" + c.body + "\nreturn %y : tensor<2xi32>\n}").str());
    ASSERT_TRUE(module);
    std::string message;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) { message = d.str(); });
    auto type = mlir::RankedTensorType::get({2}, mlir::IntegerType::get(&context, 32));
    EXPECT_TRUE(mlir::failed(run(onlyFunction(*module), {Tensor::ofIntegers(type, {1, 2})})));
    EXPECT_EQ(message, c.message.str());
  }
}

TEST_F(InterpreterTest, RunsDispatchesAndParameters) {
  auto module = parse(R"mlir(
    nn.param @w = dense<3.0> : tensor<4xf32>
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %w = nn.get_param @w : tensor<4xf32>
      %y = nn.mul %x, %w : tensor<4xf32>, tensor<4xf32>
      %z = nn.neg %y : tensor<4xf32>
      return %z : tensor<4xf32>
    })mlir");
  ASSERT_TRUE(module);
  auto type = mlir::RankedTensorType::get({4}, mlir::Float32Type::get(&context));
  auto outputs = run(onlyFunction(*module), {Tensor::ofFloats(type, {1, 2, 3, 4})});
  ASSERT_TRUE(mlir::succeeded(outputs));
  EXPECT_EQ((*outputs)[0].floats()[3], -12);
}

// The known answers of the generator's authors (Random123, kat_vectors: philox4x32, 10 rounds).
TEST_F(InterpreterTest, PhiloxGivesTheKnownAnswers) {
  auto wordsOf = [&](uint64_t first, uint64_t stream, uint64_t counter, uint64_t key) {
    auto number = [](uint64_t value) { return std::to_string(int64_t(value)); };
    std::string text = "func.func @f() -> tensor<4xui32> {\n%k = nn.constant dense<" + number(key) +
                       "> : tensor<i64>\n%c = nn.constant dense<" + number(counter) +
                       "> : tensor<i64>\n%i = nn.constant dense<[";
    for (int word = 0; word < 4; ++word) text += (word ? ", " : "") + number(first * 4 + word);
    text += "]> : tensor<4xi64>\n%r = nn.philox %i, %k, %c {stream = " + number(stream) +
            " : i64} : tensor<4xi64>, tensor<i64>, tensor<i64>\nreturn %r : tensor<4xui32>\n}";
    auto module = parse(text);
    auto results = run(onlyFunction(*module), {});
    auto bits = results->front().integers();
    return std::vector<int64_t>{bits[0], bits[1], bits[2], bits[3]};
  };
  EXPECT_EQ(wordsOf(0, 0, 0, 0), (std::vector<int64_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(wordsOf(0xffffffff, 0xffffffff, ~uint64_t(0), ~uint64_t(0)),
            (std::vector<int64_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(wordsOf(0x243f6a88, 0x85a308d3, 0x0370734413198a2e, 0x299f31d0a4093822),
            (std::vector<int64_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

} // namespace
} // namespace sprig::interp
