// What steps are expected to take before they are compiled: more threads take less of what is large, and what ranks say
// to each other comes on top.
#include "lib/Pipeline/ExpectedStep.h"
#include "dialects/Exec/Exec.h"
#include "lib/Pipeline/Phases.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Pipeline/RankBuckets.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace sprig {
namespace {

class ExpectedStepTest : public testing::Test {
protected:
  ExpectedStepTest() {
    mlir::DialectRegistry registry;
    registerSprigDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Of a product of `rows` rows, summed over two ranks where a link is given.
  double seconds(int64_t rows, int threads, const machine::ExpectedLink *link = nullptr) {
    std::string type = "tensor<" + std::to_string(rows) + "x256xf32>", weights = "tensor<256x256xf32>";
    std::string text = "dist.mesh @mesh [\"data\"] [2]\n"
                       "func.func @main(%x: " +
                       type + ", %w: " + weights + ") -> " + type +
                       " attributes {nn.entry = \"main\"} {\n"
                       "  %0 = nn.matmul %x, %w : " +
                       type + ", " + weights + "\n";
    if (link) text += "  %1 = dist.all_reduce sum %0 on @mesh [\"data\"] : " + type + "\n";
    text += std::string("  return %") + (link ? "1" : "0") + " : " + type + "\n}\n";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    if (!module) return 0;
    CompileOptions options;
    if (link) options.link = linkOf(*link);
    options.threads = threads;
    return expectedStepSeconds(*module, options);
  }

  mlir::MLIRContext context;
};

TEST_F(ExpectedStepTest, LargeStepsTakeLongerAndLessOnMoreThreads) {
  double small = seconds(8, 1), large = seconds(1024, 1), shared = seconds(1024, 4);
  EXPECT_GT(small, 0);
  EXPECT_GT(large, 16 * small);
  EXPECT_LT(shared, 0.5 * large);
  EXPECT_GT(shared, 0.2 * large);
  EXPECT_LE(seconds(8, 4), small);
}

TEST_F(ExpectedStepTest, CollectivesTakeWhatTheirLinkSays) {
  machine::ExpectedLink link{1e-3, 1e9, false, "given"};
  double bytes = 64 * 256 * 4;
  EXPECT_NEAR(seconds(64, 1, &link) - seconds(64, 1), 1e-3 + bytes / 1e9, 2e-5);
}

// Of two sums the first can travel while what the second is of is computed, where a core is left for it.
TEST_F(ExpectedStepTest, CollectivesHaveALaneOfTheirOwnWhereTheLinkIsApart) {
  using Beside = CompileOptions::Link::Beside;
  auto lanes = [&](Beside beside) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
dist.mesh @mesh ["data"] [2]
func.func @main(%x: tensor<1024x256xf32>, %w: tensor<256x256xf32>) -> (tensor<1024x256xf32>, tensor<1024x256xf32>)
    attributes {nn.entry = "main"} {
  %a = nn.matmul %x, %w : tensor<1024x256xf32>, tensor<256x256xf32>
  %0 = dist.all_reduce sum %a on @mesh ["data"] : tensor<1024x256xf32>
  %b = nn.matmul %a, %w : tensor<1024x256xf32>, tensor<256x256xf32>
  %1 = dist.all_reduce sum %b on @mesh ["data"] : tensor<1024x256xf32>
  return %0, %1 : tensor<1024x256xf32>, tensor<1024x256xf32>
}
)",
                                                          &context);
    CompileOptions options;
    options.threads = 1;
    options.bucketBytes = 1;
    options.link = {1e-5, 1e9, beside};
    runPhases(*module, options, "plan");
    int64_t count = 0;
    module->walk([&](sprig::exec::LaneOp) { ++count; });
    return count;
  };
  EXPECT_EQ(lanes(Beside::wherePays), 2);
  EXPECT_EQ(lanes(Beside::never), 1);
}

TEST_F(ExpectedStepTest, WhatIsGivenIsNotChosen) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
dist.mesh @mesh ["data"] [2]
func.func @step(%x: tensor<65536xf32>) -> (tensor<65536xf32>, tensor<65536xf32>) {
  %a = nn.exp %x : tensor<65536xf32>
  %0 = dist.all_reduce sum %a on @mesh ["data"] : tensor<65536xf32>
  %b = nn.exp %a : tensor<65536xf32>
  %1 = dist.all_reduce sum %b on @mesh ["data"] : tensor<65536xf32>
  return %0, %1 : tensor<65536xf32>, tensor<65536xf32>
}
)",
                                                        &context);
  auto step = *module->getOps<mlir::func::FuncOp>().begin();
  BucketRequest request{2, {1, 1e12, true, "given"}};
  BucketChoice chosen = chooseRankBuckets(step, request, {});
  EXPECT_TRUE(chosen.isChosen);
  EXPECT_EQ(chosen.expected.step.sums, 1) << "each message costs a second";
  request.bytes = 1;
  BucketChoice given = chooseRankBuckets(step, request, {});
  EXPECT_FALSE(given.isChosen);
  EXPECT_EQ(given.bytes, 1);
  EXPECT_EQ(given.expected.step.sums, 2);
  // Where nothing hides them it is a megabyte, and what others have agreed on goes before what is found here.
  request.bytes = 0;
  request.link.isApart = false;
  EXPECT_EQ(chooseRankBuckets(step, request, {}).bytes, kPlainBucket);
  request.link.isApart = true;
  request.agreeOnBucket = [](int64_t) { return int64_t(1); };
  BucketChoice agreed = chooseRankBuckets(step, request, {});
  EXPECT_EQ(agreed.bytes, 1);
  EXPECT_EQ(agreed.expected.step.sums, 2);
  request.stepsPerCall = 3;
  request.agreeOnTurn = [](int64_t) { return int64_t(1); };
  EXPECT_EQ(chooseRankBuckets(step, request, {}).turn, 1);
}

} // namespace
} // namespace sprig
