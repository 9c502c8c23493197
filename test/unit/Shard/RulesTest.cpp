// Every operation of nn has a dimension rule or is one of a few that have none; rules that follow from decompositions.
#include "dialects/Interfaces/DimensionRule.h"
#include "test/unit/Interpreter/ModuleFixture.h"
#include <gtest/gtest.h>

namespace sprig {
namespace {

using RulesTest = interp::ModuleFixture;

TEST_F(RulesTest, EveryOperationHasARuleOrIsNamedHere) {
  // State, what ends regions, and parts that differentiation takes apart: all of it must be whole.
  const std::set<std::string> without = {"nn.param", "nn.get_param", "nn.set_param",       "nn.yield",
                                         "nn.jvp",   "nn.gradient",  "nn.custom_gradient", "nn.checkpoint"};
  std::set<std::string> found;
  int count = 0;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperationsByDialect("nn")) {
    ++count;
    if (!hasDimensionRule(name)) found.insert(name.getStringRef().str());
  }
  EXPECT_EQ(found, without);
  EXPECT_GE(count, 110);
}

// "02,0 1" reads: the first dimension of operand 0 consists of factors 0 and 2, the other of factor 0. A capital W is a
// factor that must be whole, + - of a sum.
std::string text(const DimensionRule &rule) {
  std::string text;
  auto add = [&](const DimensionRule::Map &map) {
    for (const auto &[i, dim] : llvm::enumerate(map)) {
      if (i) text += ",";
      if (dim.empty()) text += "-";
      for (unsigned factor : dim)
        text += rule.factors[factor].kind == FactorKind::whole ? "W"
                : rule.factors[factor].isReduced()             ? "+" + std::to_string(factor)
                                                               : std::to_string(factor);
    }
    text += " ";
  };
  for (const DimensionRule::Map &map : rule.operands) add(map);
  text += "-> ";
  for (const DimensionRule::Map &map : rule.results) add(map);
  text.pop_back();
  return text;
}

struct Row {
  const char *arguments, *operation, *rule;
};

TEST_F(RulesTest, RulesAreThese) {
  const Row rows[] = {
      {"%x: tensor<4x1x6xf32>, %y: tensor<5x6xf32>", "nn.sub %x, %y : tensor<4x1x6xf32>, tensor<5x6xf32>",
       "0,-,2 1,2 -> 0,1,2"},
      {"%x: tensor<2x4x5xf32>, %y: tensor<6x5xf32>",
       "nn.matmul %x, %y {transpose_rhs} : tensor<2x4x5xf32>, tensor<6x5xf32>", "0,1,+3 2,+3 -> 0,1,2"},
      {"%x: tensor<2x6x5x5xf32>, %w: tensor<4x3x3x3xf32>",
       "nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, "
       "groups = 2 : i64} : tensor<2x6x5x5xf32>, tensor<4x3x3x3xf32>",
       "0,1+2,W,W 13,+2,W,W -> 0,13,W,W"},
      {"%x: tensor<4x5x6xf32>", "nn.reduce max %x axes = [1] : tensor<4x5x6xf32>", "0,+1,2 -> 0,2"},
      {"%x: tensor<4x6xf32>", "nn.reshape %x : tensor<4x6xf32> to tensor<4x2x1x3xf32>", "0,12 -> 0,1,-,2"},
      {"%x: tensor<4x6xf32>", "nn.reshape %x : tensor<4x6xf32> to tensor<6x4xf32>", "-,- -> -,-"},
      {"%x: tensor<4x6xf32>", "nn.reshape %x : tensor<4x6xf32> to tensor<2x12xf32>", "01,2 -> 0,12"},
      {"%x: tensor<4x6xf32>", "nn.slice %x starts = [0, 1] sizes = [4, 3] steps = [1, 2] : tensor<4x6xf32>",
       "0,W -> 0,W"},
      {"%x: tensor<7x6xf32>, %i: tensor<4x3xi64>", "nn.gather %x, %i axis = 0 : tensor<7x6xf32>, tensor<4x3xi64>",
       "W,1 2,3 -> 2,3,1"},
      // Of decompositions.
      {"%x: tensor<4x6xf32>", "nn.gelu %x : tensor<4x6xf32>", "0,1 -> 0,1"},
      {"%x: tensor<4x6xf32>", "nn.softmax %x axis = 1 : tensor<4x6xf32>", "0,W -> 0,W"},
      {"%x: tensor<4x6xf32>, %w: tensor<5x6xf32>, %b: tensor<5xf32>",
       "nn.linear %x, %w, %b : tensor<4x6xf32>, tensor<5x6xf32>, tensor<5xf32>", "0,W 2,W 2 -> 0,2"},
      {"%x: tensor<4x6xf32>, %t: tensor<4xi64>", "nn.cross_entropy none %x, %t : tensor<4x6xf32>, tensor<4xi64>",
       "0,W 0 -> 0"},
      {"%x: tensor<4x6xf32>, %t: tensor<4xi64>", "nn.cross_entropy mean %x, %t : tensor<4x6xf32>, tensor<4xi64>",
       "+0,W +0 -> "},
      {"%x: tensor<4x6xf32>, %t: tensor<4xi64>, %w: tensor<6xf32>",
       "nn.nll_loss sum %x, %t weights %w : tensor<4x6xf32>, tensor<4xi64>, tensor<6xf32>", "+0,W +0 W -> "},
      {"%x: tensor<4x6xf32>, %t: tensor<4x6xf32>", "nn.mse_loss mean %x, %t : tensor<4x6xf32>, tensor<4x6xf32>",
       "+0,+1 +0,+1 -> "},
      // Divided by what counts of all rows; rounded after the sum.
      {"%x: tensor<4x6xf32>, %t: tensor<4xi64>",
       "nn.cross_entropy mean %x, %t {ignore_index = 1 : i64} : tensor<4x6xf32>, tensor<4xi64>", "W,W W -> "},
      {"%x: tensor<4x6xf16>, %t: tensor<4x6xf16>", "nn.mse_loss mean %x, %t : tensor<4x6xf16>, tensor<4x6xf16>",
       "W,W W,W -> "},
      {"%x: tensor<4x6x5xf32>, %c: tensor<6xf32>",
       "%r:3 = nn.batch_norm_train %x, %c, %c {epsilon = 0.1 : f64} : tensor<4x6x5xf32>, tensor<6xf32>, tensor<6xf32>",
       "W,1,W 1 1 -> W,1,W 1 1"},
      {"%x: tensor<4x6x5xf32>, %c: tensor<6xf32>",
       "%r:3 = nn.batch_norm_train %x, %c, %c {epsilon = 0.1 : f64, groups = [\"data\"]} : tensor<4x6x5xf32>, "
       "tensor<6xf32>, "
       "tensor<6xf32>",
       "+0,1,W 1 1 -> +0,1,W 1 1"},
      {"%x: tensor<4x6xf32>, %k: tensor<i64>",
       "nn.dropout %x, %k, %k {ratio = 0.5 : f64} : tensor<4x6xf32>, tensor<i64>, tensor<i64>", "W,W   -> W,W"},
  };
  for (const Row &row : rows) {
    std::string bind = row.operation[0] == '%' ? "" : "%r = ";
    auto module = parse(std::string("func.func @f(") + row.arguments + ") {\n" + bind + row.operation + "\nreturn\n}");
    ASSERT_TRUE(module) << row.operation;
    mlir::Operation &op = onlyFunction(*module).getBody().front().front();
    EXPECT_EQ(text(dimensionRuleOf(&op)), row.rule) << row.operation;
  }
}

TEST_F(RulesTest, LoopsKeepApartWhatTheirStepsDo) {
  auto module = parse(R"mlir(
    func.func @f(%x: tensor<5x2x4xf32>, %h0: tensor<2x4xf32>, %w: tensor<4x4xf32>) {
      %h, %y = nn.scan steps = 5 over (%xt = %x : tensor<5x2x4xf32>) carry (%s = %h0 : tensor<2x4xf32>) with (%r = %w : tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<5x2x4xf32>) {
        %p = nn.matmul %s, %r {transpose_rhs} : tensor<2x4xf32>, tensor<4x4xf32>
        %0 = nn.add %xt, %p : tensor<2x4xf32>, tensor<2x4xf32>
        nn.yield %0, %0 : tensor<2x4xf32>, tensor<2x4xf32>
      }
      return
    })mlir");
  ASSERT_TRUE(module);
  mlir::Operation &op = onlyFunction(*module).getBody().front().front();
  EXPECT_EQ(text(dimensionRuleOf(&op)), "-,0,W 0,W W,W -> 0,W -,0,W");
}

// What a loop adds up over rows starts with a term of the sum; what it makes of the sum needs all of it.
TEST_F(RulesTest, LoopsAddUp) {
  auto rule = [&](const std::string &last) {
    auto module = parse(R"mlir(
    func.func @f(%x: tensor<5x2x4xf32>, %d: tensor<5x2x3xf32>, %g0: tensor<4x3xf32>, %n0: tensor<f32>) {
      %g, %n = nn.scan steps = 5 over (%xt = %x : tensor<5x2x4xf32>, %dt = %d : tensor<5x2x3xf32>)
          carry (%s = %g0 : tensor<4x3xf32>, %c = %n0 : tensor<f32>) -> (tensor<4x3xf32>, tensor<f32>) {
        %p = nn.matmul %xt, %dt {transpose_lhs} : tensor<2x4xf32>, tensor<2x3xf32>
        %0 = nn.add %s, %p : tensor<4x3xf32>, tensor<4x3xf32>
        %1 = nn.add %c, %c : tensor<f32>, tensor<f32>
        )mlir" + last + R"mlir(
      }
      return
    })mlir");
    return dimensionRuleOf(&onlyFunction(*module).getBody().front().front());
  };
  DimensionRule sums = rule("nn.yield %0, %1 : tensor<4x3xf32>, tensor<f32>");
  EXPECT_EQ(text(sums), "-,+0,1 -,+0,2 1,2  -> 1,2 ");
  EXPECT_EQ(sums.factors[0].addends, llvm::ArrayRef<unsigned>({2}));
  EXPECT_TRUE(sums.isPartial(0, 0));
  EXPECT_FALSE(sums.isPartial(1, 0));
  for (const char *last : {"%2 = nn.tanh %0 : tensor<4x3xf32>\n nn.yield %2, %1 : tensor<4x3xf32>, tensor<f32>",
                           "%2 = nn.add %0, %c : tensor<4x3xf32>, tensor<f32>\n nn.yield %2, %1 : tensor<4x3xf32>, "
                           "tensor<f32>",
                           "nn.yield %p, %1 : tensor<4x3xf32>, tensor<f32>\n"})
    EXPECT_EQ(text(rule(last)).substr(0, 13),
              std::string(last).starts_with("nn.yield") ? "-,+0,1 -,+0,2" : "-,W,1 -,W,3 1")
        << last;
}

} // namespace
} // namespace sprig
