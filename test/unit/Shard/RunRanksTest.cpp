// Programs of ranks, compiled and run, against the whole function on one.
#include "test/unit/Shard/CompiledRanks.h"
#include "dialects/NN/NNDialect.h"
#include "lib/Shard/Passes.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
#include <gtest/gtest.h>

namespace sprig::shard {
namespace {

namespace dist = ir::dist;
using mlir::RankedTensorType;

Floats rampOf(RankedTensorType type, int seed) {
  Floats values(size_t(type.getNumElements()));
  float step = type.getElementType().isF32() ? 0.05f : 1;
  for (size_t i = 0; i < values.size(); ++i) values[i] = float((int(i) * 37 + seed * 11) % 41 - 20) * step;
  return values;
}

class RunRanksTest : public testing::Test {
protected:
  RunRanksTest() { context.loadDialect<ir::NNDialect, dist::DistDialect, mlir::func::FuncDialect>(); }

  /// The function without what it states.
  mlir::OwningOpRef<mlir::ModuleOp> unsharded(const std::string &text) {
    auto module =
        mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context, /*verifyAfterParse=*/false));
    mlir::func::FuncOp function = functionOf(*module);
    for (unsigned i = 0; i < function.getNumArguments(); ++i) function.removeArgAttr(i, dist::kShardingAttr);
    function.walk([](dist::ShardOp op) {
      op.replaceAllUsesWith(op.getX());
      op.erase();
    });
    return module;
  }

  /// With `reference`, where that is not what the function gives undivided.
  void compare(const std::string &mesh, const std::string &text, const std::string &reference = "") {
    auto stated = mlir::parseSourceString<mlir::ModuleOp>("dist.mesh @mesh " + mesh + "\n" + text, &context);
    ASSERT_TRUE(stated);
    ASSERT_TRUE(runPass(*stated, createPropagateShardings()));
    mlir::func::FuncOp function = functionOf(*stated);
    std::vector<Floats> inputs;
    for (mlir::Type type : function.getArgumentTypes())
      inputs.push_back(rampOf(llvm::cast<RankedTensorType>(type), int(inputs.size())));
    std::vector<Floats> wanted =
        runWhole(print(*unsharded(reference.empty() ? text : reference)), function.getArgumentTypes(), {inputs})
            .front();
    RankResults got = runRanks(*stated, {inputs});
    ASSERT_EQ(got.error, "");
    Mesh axes(*stated->getOps<dist::MeshOp>().begin());
    for (auto [rank, calls] : llvm::enumerate(got.results))
      for (auto [i, result] : llvm::enumerate(wanted)) {
        auto type = llvm::cast<RankedTensorType>(function.getResultTypes()[i]);
        auto said = llvm::cast<dist::ShardingAttr>(function.getResultAttr(unsigned(i), dist::kShardingAttr));
        Floats part = partOfRank(result, type, axes, axes.read(said, type), int64_t(rank));
        ASSERT_EQ(calls[0][i].size(), part.size());
        bool isExact = type.getElementType().isInteger();
        for (size_t k = 0; k < part.size(); ++k)
          EXPECT_NEAR(calls[0][i][k], part[k], isExact ? 0 : 1e-6 * (1 + std::abs(part[k])))
              << "rank " << rank << ", result " << i;
      }
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

// Columns, then rows, one sum; also over three ranks, which eight columns do not divide by.
TEST_F(RunRanksTest, Columns) {
  for (const char *mesh : {"[\"model\"] [2]", "[\"model\"] [3]"})
    compare(mesh, R"mlir(
      func.func @main(%x: tensor<5x6xf32>, %w: tensor<8x6xf32> {dist.sharding = #dist.sharding<@mesh, [["model"], []]>}, %b: tensor<8xf32>,
                      %v: tensor<4x8xf32>, %c: tensor<4xf32>) -> tensor<5x4xf32> {
        %0 = nn.linear %x, %w, %b : tensor<5x6xf32>, tensor<8x6xf32>, tensor<8xf32>
        %1 = nn.gelu %0 : tensor<5x8xf32>
        %2 = nn.linear %1, %v, %c : tensor<5x8xf32>, tensor<4x8xf32>, tensor<4xf32>
        return %2 : tensor<5x4xf32>
      })mlir");
}

// Samples: statistics of a batch and a loss are those of all; more ranks than samples have some with none.
TEST_F(RunRanksTest, Samples) {
  for (const char *mesh : {"[\"data\"] [2]", "[\"data\"] [4]"})
    compare(mesh, R"mlir(
      func.func @main(%x: tensor<3x2x5x5xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], [], [], []]>}, %w: tensor<4x2x3x3xf32>,
                      %s: tensor<4xf32>, %t: tensor<3x4xf32>) -> (tensor<f32>, tensor<3x4xf32>) {
        %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<3x2x5x5xf32>, tensor<4x2x3x3xf32>
        %1, %m, %v = nn.batch_norm_train %0, %s, %s {epsilon = 1.0e-3 : f64} : tensor<3x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>
        %2 = nn.relu %1 : tensor<3x4x3x3xf32>
        %3 = nn.reduce_mean %2 axes = [2, 3] : tensor<3x4x3x3xf32>
        %4 = nn.mse_loss mean %3, %t : tensor<3x4xf32>, tensor<3x4xf32>
        return %4, %3 : tensor<f32>, tensor<3x4xf32>
      })mlir");
}

// Losses on a rank's rows, and a sum that a loop carries.
TEST_F(RunRanksTest, LossesAndLoops) {
  for (const char *mesh : {"[\"data\"] [2]", "[\"data\"] [4]"})
    compare(mesh, R"mlir(
      func.func @main(%x: tensor<3x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}, %y: tensor<3x4xf32>,
                      %s: tensor<5x3x4xf32> {dist.sharding = #dist.sharding<@mesh, [[], ["data"], []]>}, %g: tensor<4x4xf32>)
          -> (tensor<f32>, tensor<f32>, tensor<4x4xf32>) {
        %c = nn.constant dense<0.75> : tensor<f32>
        %0 = nn.huber_loss mean %x, %y : tensor<3x4xf32>, tensor<3x4xf32>
        %1 = nn.mul %0, %c : tensor<f32>, tensor<f32>
        %2 = nn.l1_loss sum %x, %y : tensor<3x4xf32>, tensor<3x4xf32>
        %3 = nn.scan steps = 5 over (%t = %s : tensor<5x3x4xf32>) carry (%a = %g : tensor<4x4xf32>) -> tensor<4x4xf32> {
          %4 = nn.matmul %t, %t {transpose_lhs} : tensor<3x4xf32>, tensor<3x4xf32>
          %5 = nn.add %a, %4 : tensor<4x4xf32>, tensor<4x4xf32>
          nn.yield %5 : tensor<4x4xf32>
        }
        return %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<4x4xf32>
      })mlir");
}

// A batch norm by the statistics of each rank's samples, with its gradients; a rank without samples adds nothing.
TEST_F(RunRanksTest, NormsOfGroups) {
  const std::string head = "func.func @main(%x: tensor<2x4x3xf32>STATED, %g: tensor<2x4x3xf32>, %s: tensor<4xf32>) -> "
                           "(tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4x3xf32>, tensor<4xf32>) {\n";
  auto norm = [](const std::string &suffix, const std::string &type, const std::string &groups) {
    return "%y" + suffix + ":3 = nn.batch_norm_train %x" + suffix + ", %s, %s {epsilon = 0.1 : f64, unbiased" + groups +
           "} : " + type + ", tensor<4xf32>, tensor<4xf32>\n%d" + suffix + ":3 = nn.batch_norm_train_grad %x" + suffix +
           ", %s, %g" + suffix + " {epsilon = 0.1 : f64" + groups + "} : " + type + ", tensor<4xf32>, " + type + "\n";
  };
  std::string text = head + norm("", "tensor<2x4x3xf32>", ", groups = [\"data\"]") +
                     "return %y#0, %y#1, %y#2, %d#0, %d#1 : tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>, "
                     "tensor<2x4x3xf32>, tensor<4xf32>\n}";
  std::string reference = head + R"mlir(
    %x0 = nn.slice %x starts = [0, 0, 0] sizes = [1, 4, 3] steps = [1, 1, 1] : tensor<2x4x3xf32>
    %x1 = nn.slice %x starts = [1, 0, 0] sizes = [1, 4, 3] steps = [1, 1, 1] : tensor<2x4x3xf32>
    %g0 = nn.slice %g starts = [0, 0, 0] sizes = [1, 4, 3] steps = [1, 1, 1] : tensor<2x4x3xf32>
    %g1 = nn.slice %g starts = [1, 0, 0] sizes = [1, 4, 3] steps = [1, 1, 1] : tensor<2x4x3xf32>
    %h = nn.constant dense<0.5> : tensor<f32>
    )mlir" + norm("0", "tensor<1x4x3xf32>", "") +
                          norm("1", "tensor<1x4x3xf32>", "") + R"mlir(
    %y = nn.concat %y0#0, %y1#0 axis = 0 : tensor<1x4x3xf32>, tensor<1x4x3xf32>
    %d = nn.concat %d0#0, %d1#0 axis = 0 : tensor<1x4x3xf32>, tensor<1x4x3xf32>
    %0 = nn.add %y0#1, %y1#1 : tensor<4xf32>, tensor<4xf32>
    %m = nn.mul %0, %h : tensor<4xf32>, tensor<f32>
    %1 = nn.add %y0#2, %y1#2 : tensor<4xf32>, tensor<4xf32>
    %v = nn.mul %1, %h : tensor<4xf32>, tensor<f32>
    %2 = nn.add %d0#1, %d1#1 : tensor<4xf32>, tensor<4xf32>
    return %y, %m, %v, %d, %2 : tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4x3xf32>, tensor<4xf32>
  })mlir";
  auto stated = [](std::string text, const std::string &sharding) {
    return text.replace(text.find("STATED"), 6, sharding);
  };
  for (const char *mesh : {"[\"data\"] [2]", "[\"data\"] [3]"})
    compare(mesh, stated(text, " {dist.sharding = #dist.sharding<@mesh, [[\"data\"], [], []]>}"),
            stated(reference, ""));
}

// Samples along one axis, layers along the other: sums over columns of the mesh and rows of it in one program.
TEST_F(RunRanksTest, PerceptronOnTwoAxes) {
  for (const char *mesh :
       {"[\"data\", \"model\"] [2, 2]", "[\"model\", \"data\"] [3, 2]", "[\"data\", \"model\"] [2, 1]"})
    compare(mesh, R"mlir(
      func.func @main(%x: tensor<5x6xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}, %t: tensor<5x4xf32>,
                      %w: tensor<8x6xf32> {dist.sharding = #dist.sharding<@mesh, [["model"], []]>}, %b: tensor<8xf32>,
                      %v: tensor<4x8xf32>, %c: tensor<4xf32>) -> (tensor<5x4xf32>, tensor<f32>, tensor<8x6xf32>) {
        %0 = nn.linear %x, %w, %b : tensor<5x6xf32>, tensor<8x6xf32>, tensor<8xf32>
        %1 = nn.gelu %0 : tensor<5x8xf32>
        %2 = nn.linear %1, %v, %c : tensor<5x8xf32>, tensor<4x8xf32>, tensor<4xf32>
        %3 = nn.softmax %2 axis = 1 : tensor<5x4xf32>
        %4 = nn.mse_loss mean %3, %t : tensor<5x4xf32>, tensor<5x4xf32>
        %5 = nn.transpose %1 [1, 0] : tensor<5x8xf32>
        %6 = nn.matmul %5, %x : tensor<8x5xf32>, tensor<5x6xf32>
        return %3, %4, %6 : tensor<5x4xf32>, tensor<f32>, tensor<8x6xf32>
      })mlir");
}

// Channels along one axis: a convolution gives channels, the next one sums over them; statistics of all samples.
TEST_F(RunRanksTest, ConvolutionsOnTwoAxes) {
  compare("[\"data\", \"model\"] [2, 2]", R"mlir(
    func.func @main(%x: tensor<3x2x6x6xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], [], [], []]>},
                    %w: tensor<4x2x3x3xf32> {dist.sharding = #dist.sharding<@mesh, [["model"], [], [], []]>}, %s: tensor<4xf32>,
                    %v: tensor<5x4x3x3xf32>) -> tensor<3x5xf32> {
      %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<3x2x6x6xf32>, tensor<4x2x3x3xf32>
      %1, %m, %q = nn.batch_norm_train %0, %s, %s {epsilon = 1.0e-3 : f64} : tensor<3x4x4x4xf32>, tensor<4xf32>, tensor<4xf32>
      %2 = nn.relu %1 : tensor<3x4x4x4xf32>
      %3 = nn.conv %2, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<3x4x4x4xf32>, tensor<5x4x3x3xf32>
      %4 = nn.reduce_mean %3 axes = [2, 3] : tensor<3x5x2x2xf32>
      return %4 : tensor<3x5xf32>
    })mlir");
}

// Heads along one axis, samples along the other, and what is in between gathered where it is needed whole.
TEST_F(RunRanksTest, AttentionOnTwoAxes) {
  compare("[\"data\", \"model\"] [2, 2]", R"mlir(
    func.func @main(%x: tensor<3x5x8xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], [], []]>},
                    %q: tensor<8x8xf32> {dist.sharding = #dist.sharding<@mesh, [[], ["model"]]>}, %k: tensor<8x8xf32>,
                    %v: tensor<8x8xf32>, %o: tensor<8x8xf32>) -> tensor<3x5x8xf32> {
      %0 = nn.matmul %x, %q : tensor<3x5x8xf32>, tensor<8x8xf32>
      %1 = nn.matmul %x, %k : tensor<3x5x8xf32>, tensor<8x8xf32>
      %2 = nn.matmul %x, %v : tensor<3x5x8xf32>, tensor<8x8xf32>
      %3 = nn.reshape %0 : tensor<3x5x8xf32> to tensor<3x5x2x4xf32>
      %4 = nn.reshape %1 : tensor<3x5x8xf32> to tensor<3x5x2x4xf32>
      %5 = nn.reshape %2 : tensor<3x5x8xf32> to tensor<3x5x2x4xf32>
      %6 = nn.transpose %3 [0, 2, 1, 3] : tensor<3x5x2x4xf32>
      %7 = nn.transpose %4 [0, 2, 3, 1] : tensor<3x5x2x4xf32>
      %8 = nn.transpose %5 [0, 2, 1, 3] : tensor<3x5x2x4xf32>
      %9 = nn.matmul %6, %7 : tensor<3x2x5x4xf32>, tensor<3x2x4x5xf32>
      %10 = nn.softmax %9 axis = 3 : tensor<3x2x5x5xf32>
      %11 = nn.matmul %10, %8 : tensor<3x2x5x5xf32>, tensor<3x2x5x4xf32>
      %12 = nn.transpose %11 [0, 2, 1, 3] : tensor<3x2x5x4xf32>
      %13 = nn.reshape %12 : tensor<3x5x2x4xf32> to tensor<3x5x8xf32>
      %14 = nn.matmul %13, %o : tensor<3x5x8xf32>, tensor<8x8xf32>
      %15 = nn.add %x, %14 : tensor<3x5x8xf32>, tensor<3x5x8xf32>
      return %15 : tensor<3x5x8xf32>
    })mlir");
}

// Numbers without rounding are the same numbers, by whatever groups they are summed, and where axes change places.
TEST_F(RunRanksTest, IntegersOnTwoAxes) {
  compare("[\"data\", \"model\"] [2, 2]", R"mlir(
    func.func @main(%x: tensor<7x6xi32> {dist.sharding = #dist.sharding<@mesh, [["data"], ["model"]]>},
                    %y: tensor<4x8xi32> {dist.sharding = #dist.sharding<@mesh, [["data"], ["model"]]>})
        -> (tensor<7xi32>, tensor<6xi32>, tensor<i32>, tensor<4x8xi32>) {
      %0 = nn.reduce sum %x axes = [1] : tensor<7x6xi32>
      %1 = nn.reduce sum %x axes = [0] : tensor<7x6xi32>
      %2 = nn.reduce max %x axes = [0, 1] : tensor<7x6xi32>
      %3 = dist.shard %y : tensor<4x8xi32> to #dist.sharding<@mesh, [["model"], ["data"]]>
      %4 = nn.add %3, %3 : tensor<4x8xi32>, tensor<4x8xi32>
      return %0, %1, %2, %4 : tensor<7xi32>, tensor<6xi32>, tensor<i32>, tensor<4x8xi32>
    })mlir");
}

} // namespace
} // namespace sprig::shard
