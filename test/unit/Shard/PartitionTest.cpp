// Whole functions against the programs of their ranks: networks and their parts, split by samples, rows, columns and
// both, also where sizes do not divide and where ranks have nothing.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/unit/Shard/Ranks.h"
#include <gtest/gtest.h>

namespace sprig::shard {
namespace {

namespace dist = ir::dist;

class PartitionTest : public testing::Test {
protected:
  PartitionTest() { context.loadDialect<ir::NNDialect, dist::DistDialect, mlir::func::FuncDialect>(); }

  static std::string mesh(const std::string &sizes) { return "dist.mesh @mesh [\"a\", \"b\"] [" + sizes + "]\n"; }
  /// Runs `function`, in which `$N` stands for the sharding number N of `shardings`; an empty one states nothing.
  Outcome compare(const std::string &sizes, std::string function, std::vector<std::string> shardings) {
    for (size_t i = 0; i < shardings.size(); ++i) {
      std::string stated = shardings[i].empty() ? "" : " {dist.sharding = #dist.sharding<@mesh, " + shardings[i] + ">}";
      std::string name = "$" + std::to_string(i);
      for (size_t at; (at = function.find(name)) != std::string::npos;) function.replace(at, name.size(), stated);
    }
    Outcome outcome = compareRanks(context, mesh(sizes) + function);
    EXPECT_EQ(outcome.error, "") << sizes << "\n" << function;
    return outcome;
  }
  void compareAll(const std::string &function, const std::vector<std::vector<std::string>> &choices) {
    for (const char *sizes : {"2, 2", "3, 2", "1, 4"})
      for (const std::vector<std::string> &shardings : choices) compare(sizes, function, shardings);
  }

  mlir::MLIRContext context;
};

// Rows, columns, what is reduced, or nothing; and sizes 5, 7, 6 that two, three and four do not all divide.
TEST_F(PartitionTest, Products) {
  compareAll(R"mlir(func.func @f(%x: tensor<5x7xf64>$0, %w: tensor<7x6xf64>$1) -> (tensor<5x6xf64>$2) {
    %0 = nn.matmul %x, %w : tensor<5x7xf64>, tensor<7x6xf64>
    return %0 : tensor<5x6xf64>
  })mlir",
             {{"[[\"a\"], []]", "", ""},
              {"", "[[], [\"b\"]]", ""},
              {"[[], [\"a\"]]", "[[\"a\"], []]", ""},
              {"[[\"b\"], [\"a\"]]", "", "[[], [\"a\"]]"},
              {"[[\"a\", \"b\"], []]", "", ""},
              {"[[], [\"b\", \"a\"]]", "", "[[\"b\"], [\"a\"]]"},
              {"[[\"a\"], [\"b\"]]", "[[\"b\"], [\"a\"]]", "[[], []]"},
              {"[[\"a\"], []]", "[[\"a\"], []]", "[[], [\"b\"]]"},
              {"[[], []], partial sum [\"a\"]", "[[], [\"b\"]]", ""},
              {"[[], [\"b\"]]", "[[\"b\"], []]", "[[], []], partial sum [\"b\"]"}});
}

const char *kMlp = R"mlir(
  func.func @f(%x: tensor<5x6xf64>$0, %w1: tensor<8x6xf64>$1, %b1: tensor<8xf64>, %w2: tensor<3x8xf64>, %b2: tensor<3xf64>,
               %t: tensor<5xi64>) -> (tensor<f64>, tensor<5x3xf64>$2) {
    %0 = nn.linear %x, %w1, %b1 : tensor<5x6xf64>, tensor<8x6xf64>, tensor<8xf64>
    %1 = nn.gelu %0 : tensor<5x8xf64>
    %2 = nn.linear %1, %w2, %b2 : tensor<5x8xf64>, tensor<3x8xf64>, tensor<3xf64>
    %3 = nn.cross_entropy mean %2, %t {label_smoothing = 0.1 : f64} : tensor<5x3xf64>, tensor<5xi64>
    %4 = nn.softmax %2 axis = 1 : tensor<5x3xf64>
    return %3, %4 : tensor<f64>, tensor<5x3xf64>
  })mlir";
TEST_F(PartitionTest, Mlp) {
  compareAll(kMlp, {{"[[\"a\"], []]", "", ""},
                    {"", "[[\"b\"], []]", ""},
                    {"[[\"a\"], []]", "[[\"b\"], []]", ""},
                    {"[[\"a\"], [\"b\"]]", "", ""},
                    {"", "", "[[], [\"b\"]]"},
                    {"[[\"b\", \"a\"], []]", "", "[[], []]"}});
}

TEST_F(PartitionTest, Convolutions) {
  const char *network = R"mlir(
    func.func @f(%x: tensor<3x4x6x6xf64>$0, %w: tensor<6x2x3x3xf64>$1, %v: tensor<5x6x1x1xf64>$2, %c: tensor<6xf64>)
        -> (tensor<3x5xf64>, tensor<6xf64>, tensor<6x2x3x3xf64>) {
      %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 2 : i64} : tensor<3x4x6x6xf64>, tensor<6x2x3x3xf64>
      %1, %mean, %variance = nn.batch_norm_train %0, %c, %c {epsilon = 1.0e-5 : f64} : tensor<3x6x6x6xf64>, tensor<6xf64>, tensor<6xf64>
      %2 = nn.relu %1 : tensor<3x6x6x6xf64>
      %3 = nn.pool max %2 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<3x6x6x6xf64>
      %4 = nn.conv %3, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<3x6x3x3xf64>, tensor<5x6x1x1xf64>
      %5 = nn.reduce_mean %4 axes = [2, 3] : tensor<3x5x3x3xf64>
      %g = nn.conv_filter_grad %x, %0 {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 2 : i64} : tensor<3x4x6x6xf64>, tensor<3x6x6x6xf64>
      return %5, %variance, %g : tensor<3x5xf64>, tensor<6xf64>, tensor<6x2x3x3xf64>
    })mlir";
  compareAll(network, {{"[[\"a\"], [], [], []]", "", ""},
                       {"[[\"a\"], [\"b\"], [], []]", "", ""},
                       {"", "[[\"b\"], [], [], []]", ""},
                       {"", "[[], [\"a\"], [], []]", "[[\"b\"], [], [], []]"},
                       {"[[], [], [\"a\"], []]", "", "[[], [\"b\"], [], []]"}});
}

// Heads are a factor of the columns: split where they divide, gathered where not.
TEST_F(PartitionTest, Attention) {
  const char *block = R"mlir(
    func.func @f(%x: tensor<3x5x8xf64>$0, %wq: tensor<8x8xf64>$1, %wk: tensor<8x8xf64>$1, %wv: tensor<8x8xf64>$1, %wo: tensor<8x8xf64>,
                 %c: tensor<8xf64>) -> (tensor<3x5x8xf64>$2) {
      %n = nn.layer_norm %x, %c, %c axis = 2 {epsilon = 1.0e-5 : f64} : tensor<3x5x8xf64>, tensor<8xf64>, tensor<8xf64>
      %q0 = nn.linear %n, %wq : tensor<3x5x8xf64>, tensor<8x8xf64>
      %k0 = nn.linear %n, %wk : tensor<3x5x8xf64>, tensor<8x8xf64>
      %v0 = nn.linear %n, %wv : tensor<3x5x8xf64>, tensor<8x8xf64>
      %q1 = nn.reshape %q0 : tensor<3x5x8xf64> to tensor<3x5x4x2xf64>
      %k1 = nn.reshape %k0 : tensor<3x5x8xf64> to tensor<3x5x4x2xf64>
      %v1 = nn.reshape %v0 : tensor<3x5x8xf64> to tensor<3x5x4x2xf64>
      %q = nn.transpose %q1 [0, 2, 1, 3] : tensor<3x5x4x2xf64>
      %k = nn.transpose %k1 [0, 2, 3, 1] : tensor<3x5x4x2xf64>
      %v = nn.transpose %v1 [0, 2, 1, 3] : tensor<3x5x4x2xf64>
      %s = nn.matmul %q, %k : tensor<3x4x5x2xf64>, tensor<3x4x2x5xf64>
      %p = nn.softmax %s axis = 3 : tensor<3x4x5x5xf64>
      %o = nn.matmul %p, %v : tensor<3x4x5x5xf64>, tensor<3x4x5x2xf64>
      %t = nn.transpose %o [0, 2, 1, 3] : tensor<3x4x5x2xf64>
      %m = nn.reshape %t : tensor<3x5x4x2xf64> to tensor<3x5x8xf64>
      %y = nn.linear %m, %wo : tensor<3x5x8xf64>, tensor<8x8xf64>
      %r = nn.add %x, %y : tensor<3x5x8xf64>, tensor<3x5x8xf64>
      return %r : tensor<3x5x8xf64>
    })mlir";
  compareAll(block, {{"[[\"a\"], [], []]", "", ""},
                     {"", "[[\"b\"], []]", ""},
                     {"[[\"a\"], [], []]", "[[\"b\"], []]", ""},
                     {"[[], [\"a\"], []]", "", ""},
                     {"[[], [], [\"b\"]]", "", "[[\"a\"], [], []]"},
                     {"[[], [\"a\"], []]", "[[\"b\"], []]", "[[], [\"a\", \"b\"], []]"}});
}

// Megatron's block of two products: columns, then rows, and one sum for both.
TEST_F(PartitionTest, ColumnsThenRowsTakeOneSum) {
  std::string block = R"mlir(
    func.func @f(%x: tensor<6x4xf64>, %w1: tensor<4x8xf64>$0, %w2: tensor<8x4xf64>$1) -> (tensor<6x4xf64>$2) {
      %0 = nn.matmul %x, %w1 : tensor<6x4xf64>, tensor<4x8xf64>
      %1 = nn.relu %0 : tensor<6x8xf64>
      %2 = nn.matmul %1, %w2 : tensor<6x8xf64>, tensor<8x4xf64>
      return %2 : tensor<6x4xf64>
    })mlir";
  Outcome whole = compare("1, 2", block, {"[[], [\"b\"]]", "[[\"b\"], []]", ""});
  EXPECT_EQ(whole.counts.size(), 1u);
  EXPECT_EQ(whole.counts["all_reduce"], 1);
  Outcome split = compare("1, 2", block, {"[[], [\"b\"]]", "[[\"b\"], []]", "[[\"b\"], []]"});
  EXPECT_EQ(split.counts.size(), 1u);
  EXPECT_EQ(split.counts["reduce_scatter"], 1);
}

// Two partial sums are added before they become whole; a value that something else reads becomes whole at once.
TEST_F(PartitionTest, SumsAreDeferred) {
  Outcome both = compare("2, 1", R"mlir(
    func.func @f(%x: tensor<6x4xf64>$0, %y: tensor<6x3xf64>$0, %v: tensor<4x5xf64>$1, %w: tensor<3x5xf64>$1) -> tensor<6x5xf64> {
      %0 = nn.matmul %x, %v : tensor<6x4xf64>, tensor<4x5xf64>
      %1 = nn.matmul %y, %w : tensor<6x3xf64>, tensor<3x5xf64>
      %2 = nn.add %0, %1 : tensor<6x5xf64>, tensor<6x5xf64>
      %3 = nn.transpose %2 [1, 0] : tensor<6x5xf64>
      %4 = nn.transpose %3 [1, 0] : tensor<5x6xf64>
      return %4 : tensor<6x5xf64>
    })mlir",
                         {"[[], [\"a\"]]", "[[\"a\"], []]"});
  EXPECT_EQ(both.counts["all_reduce"], 1);
  Outcome read = compare("2, 1", R"mlir(
    func.func @f(%x: tensor<6x4xf64>$0, %w: tensor<4x5xf64>$1) -> tensor<6x5xf64> {
      %0 = nn.matmul %x, %w : tensor<6x4xf64>, tensor<4x5xf64>
      %1 = nn.exp %0 : tensor<6x5xf64>
      %2 = nn.neg %0 : tensor<6x5xf64>
      %3 = nn.mul %1, %2 : tensor<6x5xf64>, tensor<6x5xf64>
      return %3 : tensor<6x5xf64>
    })mlir",
                         {"[[], [\"a\"]]", "[[\"a\"], []]"});
  EXPECT_EQ(read.counts["all_reduce"], 1);
}

// A product of two partial sums is none, be they the same value.
TEST_F(PartitionTest, ProductsOfPartialSumsAreNone) {
  for (const char *product : {"%0, %0", "%0, %1"}) {
    Outcome outcome = compare("2, 1", std::string(R"mlir(
    func.func @f(%x: tensor<6x4xf64>$0, %w: tensor<4x5xf64>$1, %v: tensor<4x5xf64>$1) -> tensor<6x5xf64> {
      %0 = nn.matmul %x, %w : tensor<6x4xf64>, tensor<4x5xf64>
      %1 = nn.matmul %x, %v : tensor<6x4xf64>, tensor<4x5xf64>
      %2 = nn.mul )mlir") + product + R"mlir( : tensor<6x5xf64>, tensor<6x5xf64>
      return %2 : tensor<6x5xf64>
    })mlir",
                              {"[[], [\"a\"]]", "[[\"a\"], []]"});
    EXPECT_EQ(outcome.counts["all_reduce"], product[5] == '0' ? 1 : 2);
  }
}

// An axis that goes to another dimension is an all_to_all where all is even.
TEST_F(PartitionTest, AxesChangeDimensions) {
  std::string text = R"mlir(
    func.func @f(%x: tensor<4x8x6xf64>$0) -> (tensor<4x8x6xf64>$1) {
      %0 = nn.exp %x : tensor<4x8x6xf64>
      return %0 : tensor<4x8x6xf64>
    })mlir";
  EXPECT_EQ(compare("2, 2", text, {"[[\"a\"], [], []]", "[[], [], [\"a\"]]"}).counts["all_to_all"], 1);
  EXPECT_EQ(compare("2, 2", text, {"[[], [\"a\", \"b\"], []]", "[[\"b\"], [\"a\"], []]"}).counts["all_to_all"], 1);
  EXPECT_EQ(compare("4, 2", text, {"[[\"a\"], [], []]", "[[], [], [\"a\"]]"}).counts["all_gather"], 1);
  compare("2, 2", text, {"[[\"a\"], [\"b\"], []]", "[[\"b\"], [], [\"a\"]]"});
  compare("3, 2", text, {"[[\"a\", \"b\"], [], []]", "[[\"b\", \"a\"], [], []]"});
  compare("3, 2", text, {"[[], [\"b\"], [\"a\"]]", "[[\"a\"], [], [\"b\"]]"});
}

TEST_F(PartitionTest, NormsAndLosses) {
  const char *text = R"mlir(
    func.func @f(%x: tensor<4x6x5xf64>$0, %y: tensor<4x6x5xf64>, %s: tensor<5xf64>, %c: tensor<6xf64>, %t: tensor<4x6xi64>)
        -> (tensor<4x6x5xf64>, tensor<4x6x5xf64>, tensor<4x6x5xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<4x6xf64>) {
      %0 = nn.layer_norm %x, %s, %s axis = 2 {epsilon = 1.0e-5 : f64} : tensor<4x6x5xf64>, tensor<5xf64>, tensor<5xf64>
      %1 = nn.rms_norm %x, %s axis = 2 {epsilon = 1.0e-5 : f64} : tensor<4x6x5xf64>, tensor<5xf64>
      %2 = nn.group_norm %x, %c, %c {groups = 3 : i64, epsilon = 1.0e-5 : f64} : tensor<4x6x5xf64>, tensor<6xf64>, tensor<6xf64>
      %3 = nn.mse_loss mean %0, %y : tensor<4x6x5xf64>, tensor<4x6x5xf64>
      %4 = nn.huber_loss sum %1, %y : tensor<4x6x5xf64>, tensor<4x6x5xf64>
      %5 = nn.cross_entropy mean %x, %t weights %s {ignore_index = 1 : i64} : tensor<4x6x5xf64>, tensor<4x6xi64>, tensor<5xf64>
      %6 = nn.cross_entropy none %x, %t : tensor<4x6x5xf64>, tensor<4x6xi64>
      return %0, %1, %2, %3, %4, %5, %6 : tensor<4x6x5xf64>, tensor<4x6x5xf64>, tensor<4x6x5xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<4x6xf64>
    })mlir";
  compareAll(text, {{"[[\"a\"], [], []]"},
                    {"[[], [\"b\"], []]"},
                    {"[[], [], [\"a\"]]"},
                    {"[[\"a\"], [], [\"b\"]]"},
                    {"[[\"a\"], [\"b\"], []]"}});
}

// Each kind of movement, and what works along an axis.
TEST_F(PartitionTest, Movements) {
  const char *text = R"mlir(
    func.func @f(%x: tensor<6x4xf64>$0, %e: tensor<3x4xf64>$1, %i: tensor<5xi64>$2, %v: tensor<f64>)
        -> (tensor<6x8xf64>, tensor<8x4xf64>, tensor<3x4xf64>, tensor<5x4xf64>, tensor<24xf64>, tensor<2x3x4xf64>, tensor<6x4xf64>, tensor<6x2xf64>, tensor<5x6x4xf64>, tensor<6xi64>) {
      %0 = nn.concat %x, %x axis = 1 : tensor<6x4xf64>, tensor<6x4xf64>
      %1 = nn.pad constant %x, %v low = [1, 0] high = [1, 0] : tensor<6x4xf64>, tensor<f64>
      %2 = nn.slice %x starts = [1, 0] sizes = [3, 4] steps = [2, 1] : tensor<6x4xf64>
      %3 = nn.gather %e, %i axis = 0 : tensor<3x4xf64>, tensor<5xi64>
      %4 = nn.reshape %x : tensor<6x4xf64> to tensor<24xf64>
      %5 = nn.reshape %x : tensor<6x4xf64> to tensor<2x3x4xf64>
      %6 = nn.cumulative sum %x axis = 0 : tensor<6x4xf64>
      %7, %n = nn.top_k %x {k = 2 : i64, axis = 1 : i64} : tensor<6x4xf64>
      %8 = nn.broadcast %x : tensor<6x4xf64> to tensor<5x6x4xf64>
      %9 = nn.arg_reduce max %x axis = 1 : tensor<6x4xf64>
      return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<6x8xf64>, tensor<8x4xf64>, tensor<3x4xf64>, tensor<5x4xf64>, tensor<24xf64>, tensor<2x3x4xf64>, tensor<6x4xf64>, tensor<6x2xf64>, tensor<5x6x4xf64>, tensor<6xi64>
    })mlir";
  compareAll(text, {{"[[\"a\"], []]", "[[], [\"b\"]]", "[[\"a\"]]"},
                    {"[[], [\"b\"]]", "[[\"a\"], []]", "[[\"b\"]]"},
                    {"[[\"b\"], [\"a\"]]", "[[\"b\", \"a\"], []]", "[[\"a\", \"b\"]]"}});
}

// What indices name may lie on any rank; rows that they do not name are each rank's own.
TEST_F(PartitionTest, Indices) {
  compareAll(R"mlir(
    func.func @f(%x: tensor<3x4xf64>$0, %i: tensor<3x4xi64>$1, %u: tensor<3x4xf64>, %p: tensor<5x1xi64>$2, %s: tensor<5x4xf64>)
        -> (tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>, tensor<5x4xf64>) {
      %0 = nn.gather_elements %x, %i axis = 0 : tensor<3x4xf64>, tensor<3x4xi64>
      %1 = nn.scatter_elements add %x, %i, %u axis = 1 : tensor<3x4xf64>, tensor<3x4xi64>, tensor<3x4xf64>
      %2 = nn.scatter_nd add %x, %p, %s : tensor<3x4xf64>, tensor<5x1xi64>, tensor<5x4xf64>
      %3 = nn.gather_nd %x, %p : tensor<3x4xf64>, tensor<5x1xi64>
      return %0, %1, %2, %3 : tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>, tensor<5x4xf64>
    })mlir",
             {{"[[\"a\"], []]", "", ""},
              {"[[], [\"b\"]]", "", "[[\"a\"], []]"},
              {"", "[[\"b\"], [\"a\"]]", "[[\"b\"], []]"},
              {"[[\"a\"], [\"b\"]]", "[[\"a\"], [\"b\"]]", ""}});
}

// Random bits are a function of an element's place in the whole.
TEST_F(PartitionTest, DropoutIsThatOfTheWhole) {
  compareAll(R"mlir(func.func @f(%x: tensor<5x7xf64>$0, %k: tensor<i64>) -> tensor<5x7xf64> {
    %0 = nn.dropout %x, %k, %k {ratio = 0.5 : f64, stream = 3 : i64} : tensor<5x7xf64>, tensor<i64>, tensor<i64>
    return %0 : tensor<5x7xf64>
  })mlir",
             {{"[[\"a\"], []]"}, {"[[], [\"b\"]]"}, {"[[\"b\"], [\"a\"]]"}});
}

TEST_F(PartitionTest, ControlFlow) {
  compareAll(R"mlir(
    func.func @f(%x: tensor<4x5x6xf64>$0, %h: tensor<5x6xf64>, %w: tensor<6x6xf64>, %p: tensor<i1>) -> (tensor<5x6xf64>, tensor<4x5x6xf64>, tensor<5x6xf64>, tensor<5x6xf64>) {
      %last, %y = nn.scan steps = 4 over (%xt = %x : tensor<4x5x6xf64>) carry (%s = %h : tensor<5x6xf64>) with (%r = %w : tensor<6x6xf64>) -> (tensor<5x6xf64>, tensor<4x5x6xf64>) {
        %0 = nn.matmul %s, %r : tensor<5x6xf64>, tensor<6x6xf64>
        %1 = nn.add %xt, %0 : tensor<5x6xf64>, tensor<5x6xf64>
        %2 = nn.slice %1 starts = [0, 0] sizes = [5, 6] steps = [1, 1] : tensor<5x6xf64>
        %half = nn.constant dense<0.5> : tensor<5x6xf64>
        %3 = nn.mul %2, %half : tensor<5x6xf64>, tensor<5x6xf64>
        %4 = nn.tanh %3 : tensor<5x6xf64>
        nn.yield %4, %4 : tensor<5x6xf64>, tensor<5x6xf64>
      }
      %c = nn.cond %p with (%a = %last : tensor<5x6xf64>) -> tensor<5x6xf64> {
        %0 = nn.exp %a : tensor<5x6xf64>
        nn.yield %0 : tensor<5x6xf64>
      } else {
        %0 = nn.neg %a : tensor<5x6xf64>
        nn.yield %0 : tensor<5x6xf64>
      }
      %l = nn.while max_steps = 3 carry (%s = %last : tensor<5x6xf64>) with (%f = %p : tensor<i1>) {
        nn.yield %f : tensor<i1>
      } do {
        %0 = nn.add %s, %s : tensor<5x6xf64>, tensor<5x6xf64>
        nn.yield %0 : tensor<5x6xf64>
      }
      return %last, %y, %c, %l : tensor<5x6xf64>, tensor<4x5x6xf64>, tensor<5x6xf64>, tensor<5x6xf64>
    })mlir",
             {{"[[], [\"a\"], []]"}, {"[[\"a\"], [], [\"b\"]]"}, {"[[], [\"b\"], [\"a\"]]"}});
}

// One collective a loss, and rows that are not even, or none: means count by their number.
TEST_F(PartitionTest, Losses) {
  for (const char *reduction : {"none", "sum", "mean"}) {
    std::string rows = std::string(reduction) == "none" ? "5x" : "", all = rows.empty() ? "" : "5x3x";
    std::string text = "func.func @f(%x: tensor<5x3xf64>$0, %y: tensor<5x3xf64>, %t: tensor<5xi64>, %w: tensor<3xf64>)"
                       " -> (tensor<" +
                       rows + "f64>, tensor<" + rows + "f64>",
                names = "%0, %1", types = "tensor<" + rows + "f64>, tensor<" + rows + "f64>", body;
    body += std::string("%0 = nn.cross_entropy ") + reduction +
            " %x, %t {label_smoothing = 0.1 : f64} : tensor<5x3xf64>, tensor<5xi64>\n%1 = nn.nll_loss " + reduction +
            " %x, %t : tensor<5x3xf64>, tensor<5xi64>\n%p = nn.sigmoid %x : tensor<5x3xf64>\n%q = nn.sigmoid %y : "
            "tensor<5x3xf64>\n";
    int number = 2;
    for (const char *loss : {"mse", "l1", "huber", "bce", "bce_with_logits", "kl_div"}) {
      std::string name = "%" + std::to_string(number++);
      body += name + " = nn." + loss + "_loss " + reduction + " %p, %q : tensor<5x3xf64>, tensor<5x3xf64>\n";
      names += ", " + name, types += ", tensor<" + all + "f64>", text += ", tensor<" + all + "f64>";
    }
    text += ") {\n" + body + "return " + names + " : " + types + "\n}";
    for (const char *sizes : {"2, 1", "3, 1", "4, 1", "7, 1", "2, 2"}) {
      Outcome outcome = compare(sizes, text, {"[[\"a\"], []]"});
      EXPECT_EQ(outcome.counts["all_reduce"], rows.empty() ? 8 : 0) << reduction;
      EXPECT_EQ(outcome.counts["all_gather"], 0) << reduction;
      compare(sizes, text, {"[[], [\"a\"]]"});
    }
    compare("2, 2", text, {"[[\"a\"], [\"b\"]]"});
  }
}

// The losses of all ranks over what counts on all ranks; sums of them are sums.
TEST_F(PartitionTest, WeightsAndIgnoredRows) {
  for (const char *sizes : {"2, 1", "3, 1", "7, 1"}) {
    Outcome outcome = compare(sizes, R"mlir(
      func.func @f(%x: tensor<5x3xf64>$0, %t: tensor<5xi64>, %w: tensor<3xf64>) -> (tensor<f64>, tensor<f64>, tensor<f64>) {
        %0 = nn.cross_entropy mean %x, %t weights %w {label_smoothing = 0.1 : f64, ignore_index = 1 : i64} : tensor<5x3xf64>, tensor<5xi64>, tensor<3xf64>
        %1 = nn.nll_loss mean %x, %t {ignore_index = 2 : i64} : tensor<5x3xf64>, tensor<5xi64>
        %2 = nn.cross_entropy sum %x, %t weights %w {ignore_index = 1 : i64} : tensor<5x3xf64>, tensor<5xi64>, tensor<3xf64>
        return %0, %1, %2 : tensor<f64>, tensor<f64>, tensor<f64>
      })mlir",
                              {"[[\"a\"], []]"});
    EXPECT_EQ(outcome.counts["all_reduce"], 5); // two counts, three losses
    EXPECT_EQ(outcome.counts["all_gather"], 0);
  }
}

// A mean that a constant scales, and one that is of no rows for some ranks.
TEST_F(PartitionTest, ScaledMeans) {
  for (const char *sizes : {"2, 1", "7, 1"})
    compare(sizes, R"mlir(
      func.func @f(%x: tensor<3x4xf64>$0, %t: tensor<3x4xf64>) -> (tensor<f64>, tensor<f64>) {
        %c = nn.constant dense<0.3> : tensor<f64>
        %0 = nn.mse_loss mean %x, %t : tensor<3x4xf64>, tensor<3x4xf64>
        %1 = nn.mul %c, %0 : tensor<f64>, tensor<f64>
        %2 = nn.l1_loss mean %x, %t : tensor<3x4xf64>, tensor<3x4xf64>
        %3 = nn.mul %2, %2 : tensor<f64>, tensor<f64>
        return %1, %3 : tensor<f64>, tensor<f64>
      })mlir",
            {"[[\"a\"], []]"});
}

/// The function of batch norms in groups, and what it means: each shard of five samples by itself, also where there are
/// more shards than samples.
std::string normsOfGroups(uint32_t shards) {
  const std::string types =
      "tensor<5x4x3xf64>, tensor<4xf64>, tensor<4xf64>, tensor<5x4x3xf64>, tensor<4xf64>, tensor<4xf64>";
  auto calls = [](const std::string &suffix, const std::string &rows, const std::string &groups) {
    std::string x = "tensor<" + rows + "x4x3xf64>";
    return "%y" + suffix + ":3 = nn.batch_norm_train %x" + suffix + ", %s, %t {epsilon = 0.1 : f64, unbiased" + groups +
           "} : " + x + ", tensor<4xf64>, tensor<4xf64>\n%d" + suffix + ":3 = nn.batch_norm_train_grad %x" + suffix +
           ", %s, %g" + suffix + " {epsilon = 0.1 : f64" + groups + "} : " + x + ", tensor<4xf64>, " + x + "\n";
  };
  auto head = [&](const std::string &name, const std::string &first) {
    return "func.func @" + name + "(%x: tensor<5x4x3xf64>" + first +
           ", %g: tensor<5x4x3xf64>, %s: tensor<4xf64>, %t: tensor<4xf64>) -> (" + types + ") {\n";
  };
  std::string text = head("f", "$0") + calls("", "5", ", groups = [\"a\"]") +
                     "return %y#0, %y#1, %y#2, %d#0, %d#1, %d#2 : " + types + "\n}\n" + head("whole", "");
  const std::string channels = "tensor<4xf64>";
  text += "%z = nn.constant dense<0.0> : tensor<4xf64>\n";
  std::string rows[2], rowTypes, sums[4] = {"%z", "%z", "%z", "%z"};
  for (uint32_t i = 0; i < std::min(shards, 5u); ++i) {
    auto range = rt::collective::pieceOf(5, shards, i);
    std::string n = std::to_string(i), size = std::to_string(range.size()), whole = "tensor<5x4x3xf64>";
    for (const char *name : {"x", "g"})
      text += std::string("%") + name + n + " = nn.slice %" + name + " starts = [" + std::to_string(range.begin) +
              ", 0, 0] sizes = [" + size + ", 4, 3] steps = [1, 1, 1] : " + whole + "\n";
    text += calls(n, size, "") + "%c" + n + " = nn.constant dense<" + std::to_string(double(range.size()) / 5) +
            "> : tensor<f64>\n";
    rows[0] += (i ? ", %y" : "%y") + n + "#0", rows[1] += (i ? ", %d" : "%d") + n + "#0";
    rowTypes += (i ? ", tensor<" : "tensor<") + size + "x4x3xf64>";
    const std::string terms[] = {"%y" + n + "#1", "%y" + n + "#2", "%d" + n + "#1", "%d" + n + "#2"};
    for (size_t k = 0; k < 4; ++k) {
      std::string term = terms[k], name = std::to_string(k) + "_" + n;
      if (k < 2) {
        text += "%m" + name + " = nn.mul " + term + ", %c" + n + " : tensor<4xf64>, tensor<f64>\n";
        term = "%m" + name;
      }
      text += "%a" + name + " = nn.add " + sums[k] + ", " + term + " : " + channels + ", " + channels + "\n";
      sums[k] = "%a" + name;
    }
  }
  for (size_t k = 0; k < 2; ++k)
    text += "%r" + std::to_string(k) + " = nn.concat " + rows[k] + " axis = 0 : " + rowTypes + "\n";
  return text + "return %r0, " + sums[0] + ", " + sums[1] + ", %r1, " + sums[2] + ", " + sums[3] + " : " + types +
         "\n}\n";
}

// Wherever the samples lie, groups are the shards along the axis that they name.
TEST_F(PartitionTest, NormsOfGroups) {
  for (uint32_t ranks : {2u, 3u, 4u, 7u}) {
    std::string text = normsOfGroups(ranks), sizes = std::to_string(ranks);
    Outcome outcome = compare(sizes + ", 1", text, {"[[\"a\"], [], []]"});
    EXPECT_EQ(outcome.counts["all_reduce"], 4); // two statistics, two gradients
    EXPECT_EQ(outcome.counts["all_gather"], 0);
    if (ranks == 7) continue;
    for (const char *stated :
         {"[[], [], []]", "[[\"a\", \"b\"], [], []]", "[[\"a\"], [\"b\"], []]", "[[], [\"a\"], [\"b\"]]"})
      compare(sizes + ", 2", text, {stated});
  }
}

// What a loop adds up over samples is summed once, after it; what it starts with counts once.
TEST_F(PartitionTest, SumsOfLoops) {
  for (const char *initial : {"%z", "%i", "%p"})
    for (const char *sizes : {"2, 1", "3, 1", "4, 1", "7, 1", "2, 2"}) {
      Outcome outcome = compare(sizes,
                                std::string(R"mlir(
      func.func @f(%x: tensor<4x5x2xf64>$0, %d: tensor<4x5x3xf64>, %i: tensor<2x3xf64>$1, %p: tensor<2x3xf64>$2, %n0: tensor<f64>, %k: tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<f64>, tensor<4x2x3xf64>, tensor<4x5xf64>) {
        %z = nn.constant dense<0.0> : tensor<2x3xf64>
        %g, %n, %all, %r = nn.scan steps = 4 over (%xt = %x : tensor<4x5x2xf64>, %dt = %d : tensor<4x5x3xf64>)
            carry (%s = )mlir") + initial +
                                    R"mlir( : tensor<2x3xf64>, %c = %n0 : tensor<f64>) with (%kk = %k : tensor<2x3xf64>)
            -> (tensor<2x3xf64>, tensor<f64>, tensor<4x2x3xf64>, tensor<4x5xf64>) {
          %0 = nn.matmul %xt, %dt {transpose_lhs} : tensor<5x2xf64>, tensor<5x3xf64>
          %1 = nn.mul %0, %kk : tensor<2x3xf64>, tensor<2x3xf64>
          %2 = nn.sub %s, %1 : tensor<2x3xf64>, tensor<2x3xf64>
          %3 = nn.add %c, %c : tensor<f64>, tensor<f64>
          %4 = nn.reduce sum %xt axes = [1] : tensor<5x2xf64>
          nn.yield %2, %3, %2, %4 : tensor<2x3xf64>, tensor<f64>, tensor<2x3xf64>, tensor<5xf64>
        }
        return %g, %n, %all, %r : tensor<2x3xf64>, tensor<f64>, tensor<4x2x3xf64>, tensor<4x5xf64>
      })mlir",
                                {"[[], [\"a\"], []]", "[[], []]", "[[], []], partial sum [\"b\"]"});
      EXPECT_EQ(outcome.counts["all_gather"], 0);
      EXPECT_EQ(outcome.counts["all_reduce"], initial[1] == 'p' ? 3 : 2);
    }
}

TEST_F(PartitionTest, Recurrent) {
  compareAll(R"mlir(
    func.func @f(%x: tensor<4x5x3xf64>$0, %w: tensor<8x3xf64>, %r: tensor<8x2xf64>, %h: tensor<5x2xf64>) -> (tensor<4x5x2xf64>, tensor<5x2xf64>) {
      %y, %last, %cell = nn.lstm %x, %w, %r from %h, %h : tensor<4x5x3xf64>, tensor<8x3xf64>, tensor<8x2xf64>, tensor<5x2xf64>, tensor<5x2xf64>
      return %y, %cell : tensor<4x5x2xf64>, tensor<5x2xf64>
    })mlir",
             {{"[[], [\"a\"], []]"}, {"[[], [\"a\", \"b\"], []]"}, {"[[\"a\"], [], [\"b\"]]"}});
}

// More ranks than rows: some have none.
TEST_F(PartitionTest, RanksWithNothing) {
  compare("4, 2", kMlp, {"[[\"a\", \"b\"], []]", "", ""});
  compare("7, 1", R"mlir(
    func.func @f(%x: tensor<3x4xf64>$0, %w: tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<f64>, tensor<3xf64>) {
      %0 = nn.matmul %x, %x {transpose_lhs} : tensor<3x4xf64>, tensor<3x4xf64>
      %1 = nn.reduce_mean %x axes = [0, 1] : tensor<3x4xf64>
      %2 = nn.reduce max %x axes = [1] : tensor<3x4xf64>
      return %0, %1, %2 : tensor<4x4xf64>, tensor<f64>, tensor<3xf64>
    })mlir",
          {"[[\"a\"], []]"});
}

// Statements on the way, and parameters in parts.
TEST_F(PartitionTest, StatedValuesAndParameters) {
  compare("2, 3", R"mlir(
    nn.param @w {dist.sharding = #dist.sharding<@mesh, [["b"], ["a"]]>} = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.5], [0.5, 1.5, 2.5]]> : tensor<4x3xf64>
    nn.param @s = dense<2.0> : tensor<3xf64>
    func.func @f(%x: tensor<5x4xf64>$0) -> tensor<5x3xf64> {
      %w = nn.get_param @w : tensor<4x3xf64>
      %s = nn.get_param @s : tensor<3xf64>
      %0 = nn.matmul %x, %w : tensor<5x4xf64>, tensor<4x3xf64>
      %1 = dist.shard %0 : tensor<5x3xf64> to #dist.sharding<@mesh, [["b"], ["a"]]>
      %2 = nn.mul %1, %s : tensor<5x3xf64>, tensor<3xf64>
      return %2 : tensor<5x3xf64>
    })mlir",
          {"[[\"a\"], []]"});
}

// Rows in proportion to weights; some rank has none of few.
TEST_F(PartitionTest, Weights) {
  compare("2, 1", kMlp, {"[[\"a\" by 3,1], []]", "", ""});
  compare("2, 1", kMlp, {"[[\"a\" by 1,1000], []]", "", "[[], []]"});
  compare("3, 2", kMlp, {"[[\"a\" by 1,2,2], []]", "[[\"b\"], []]", "[[\"a\"], [\"b\"]]"});
  compare("2, 2", kMlp, {"[[\"a\" by 3,1, \"b\"], []]", "", "[[\"b\" by 2,5], []]"});
}

// Samples that a dimension has with time, in front of it or behind it, stay where they are.
TEST_F(PartitionTest, FactorsOfADimension) {
  const char *network = R"mlir(
    func.func @f(%x: tensor<4x5x3x2xf64>$0, %w: tensor<2x6xf64>) -> (tensor<4x5x3x6xf64>$0) {
      %0 = nn.reshape %x : tensor<4x5x3x2xf64> to tensor<60x2xf64>
      %1 = nn.matmul %0, %w : tensor<60x2xf64>, tensor<2x6xf64>
      %2 = nn.relu %1 : tensor<60x6xf64>
      %3 = nn.reshape %2 : tensor<60x6xf64> to tensor<20x3x6xf64>
      %4 = nn.exp %3 : tensor<20x3x6xf64>
      %5 = nn.reshape %4 : tensor<20x3x6xf64> to tensor<4x5x3x6xf64>
      return %5 : tensor<4x5x3x6xf64>
    })mlir";
  for (const char *sizes : {"2, 1", "3, 1", "7, 1"})
    for (const char *sharding : {"[[\"a\"], [], [], []]", "[[], [\"a\"], [], []]", "[[], [], [\"a\"], []]"})
      EXPECT_TRUE(compare(sizes, network, {sharding}).counts.empty()) << sharding;
  EXPECT_TRUE(compare("3, 1", network, {"[[], [\"a\" by 1,5,2], [], []]"}).counts.empty());
}

// The passes of a step: of each its rows, and one sum over ranks in the end.
TEST_F(PartitionTest, Blocks) {
  const char *step = R"mlir(
    func.func @f(%x: tensor<10x3xf64>$0, %w: tensor<3x2xf64>) -> tensor<2x2xf64> {
      %0 = nn.slice %x starts = [0, 0] sizes = [4, 3] steps = [1, 1] : tensor<10x3xf64>
      %1 = nn.slice %x starts = [4, 0] sizes = [4, 3] steps = [1, 1] : tensor<10x3xf64>
      %2 = nn.slice %x starts = [8, 0] sizes = [2, 3] steps = [1, 1] : tensor<10x3xf64>
      %a = nn.matmul %0, %w : tensor<4x3xf64>, tensor<3x2xf64>
      %b = nn.matmul %1, %w : tensor<4x3xf64>, tensor<3x2xf64>
      %c = nn.matmul %2, %w : tensor<2x3xf64>, tensor<3x2xf64>
      %p = nn.matmul %a, %a {transpose_lhs} : tensor<4x2xf64>, tensor<4x2xf64>
      %q = nn.matmul %b, %b {transpose_lhs} : tensor<4x2xf64>, tensor<4x2xf64>
      %r = nn.matmul %c, %c {transpose_lhs} : tensor<2x2xf64>, tensor<2x2xf64>
      %s = nn.add %p, %q : tensor<2x2xf64>, tensor<2x2xf64>
      %t = nn.add %s, %r : tensor<2x2xf64>, tensor<2x2xf64>
      return %t : tensor<2x2xf64>
    })mlir";
  for (const char *sharding : {"[[\"a\" in 4,4,2], []]", "[[\"a\" by 1,2,2 in 4,4,2], []]"}) {
    Outcome outcome = compare("3, 1", step, {sharding});
    EXPECT_EQ(outcome.counts.lookup("all_reduce"), 1);
    EXPECT_EQ(outcome.counts.size(), 1u);
  }
  // What is no block is of all ranks' rows.
  EXPECT_EQ(compare("3, 1", step, {"[[\"a\" in 5,5], []]"}).counts.lookup("all_gather"), 1);
}

// Each rank moves its piece of a parameter by its piece of the gradient, whatever the shape is.
TEST_F(PartitionTest, FlatState) {
  Outcome outcome = compare("4, 1", R"mlir(
    nn.param @m {dist.sharding = #dist.sharding<@mesh, flat ["a"]>} = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]> : tensor<2x3xf64>
    func.func @f(%x: tensor<5x2xf64>$0, %y: tensor<5x3xf64>$0, %w: tensor<2x3xf64>, %rate: tensor<1x1xf64>) -> (tensor<2x3xf64>, tensor<f64>) {
      %m = nn.get_param @m : tensor<2x3xf64>
      %0 = nn.matmul %x, %y {transpose_lhs} : tensor<5x2xf64>, tensor<5x3xf64>
      %g = dist.shard %0 : tensor<2x3xf64> to #dist.sharding<@mesh, flat ["a"]>
      %1 = nn.add %m, %g : tensor<2x3xf64>, tensor<2x3xf64>
      %2 = nn.mul %1, %rate : tensor<2x3xf64>, tensor<1x1xf64>
      %3 = nn.sub %w, %2 : tensor<2x3xf64>, tensor<2x3xf64>
      %square = nn.mul %g, %g : tensor<2x3xf64>, tensor<2x3xf64>
      %norm = nn.reduce sum %square axes = [0, 1] : tensor<2x3xf64>
      %new = dist.shard %3 : tensor<2x3xf64> to #dist.sharding<@mesh, [[], []]>
      return %new, %norm : tensor<2x3xf64>, tensor<f64>
    })mlir",
                            {"[[\"a\"], []]"});
  EXPECT_EQ(outcome.counts.lookup("reduce_scatter"), 1);
  EXPECT_EQ(outcome.counts.lookup("all_gather"), 1);
  EXPECT_EQ(outcome.counts.lookup("all_reduce"), 1);
}

// Partial terms between whole ones take one sum over ranks together.
TEST_F(PartitionTest, ChainsOfSums) {
  Outcome outcome = compare("3, 1", R"mlir(
    func.func @f(%x: tensor<5x2xf64>$0, %y: tensor<5x2xf64>$0, %w: tensor<2xf64>, %v: tensor<2xf64>) -> tensor<2xf64> {
      %a = nn.reduce sum %x axes = [0] : tensor<5x2xf64>
      %b = nn.reduce sum %y axes = [0] : tensor<5x2xf64>
      %0 = nn.add %w, %a : tensor<2xf64>, tensor<2xf64>
      %1 = nn.add %0, %v : tensor<2xf64>, tensor<2xf64>
      %2 = nn.add %1, %b : tensor<2xf64>, tensor<2xf64>
      return %2 : tensor<2xf64>
    })mlir",
                            {"[[\"a\"], []]"});
  EXPECT_EQ(outcome.counts.lookup("all_reduce"), 1);
}

// A long chain in which each sum is added to itself is followed once.
TEST_F(PartitionTest, SumsOfOneValueTwice) {
  std::string function = "func.func @f(%x: tensor<5x2xf64>$0) -> tensor<2xf64> {\n"
                         "  %s0 = nn.reduce sum %x axes = [0] : tensor<5x2xf64>\n";
  constexpr int kSums = 60;
  for (int i = 0; i < kSums; ++i) {
    std::string from = "%s" + std::to_string(i), to = "%s" + std::to_string(i + 1);
    function += "  " + to + " = nn.add " + from + ", " + from + " : tensor<2xf64>, tensor<2xf64>\n";
  }
  function += "  %sum = dist.shard %s" + std::to_string(kSums) +
              " : tensor<2xf64> to #dist.sharding<@mesh, [[]]>\n  return %sum : tensor<2xf64>\n}";
  EXPECT_EQ(compare("3, 1", function, {"[[\"a\"], []]"}).counts.lookup("all_reduce"), 1);
}

} // namespace
} // namespace sprig::shard
