// How many bytes of gradients go together, by what operations and all-reduces take.
#include "lib/Shard/BucketSize.h"
#include "dialects/Dist/Dist.h"
#include "dialects/NN/NNDialect.h"
#include "lib/Shard/Buckets.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace sprig {
namespace {

// Gradients of 128 KiB after 2, 4 and 6 operations of a millisecond each; a sum that others need is no gradient, and an
// update waits for one.
const char *kStep = R"(
dist.mesh @mesh ["data"] [2]
func.func @step(%x: tensor<32768xf32>) -> tensor<32768xf32> {
  %n = dist.all_reduce sum %x on @mesh ["data"] : tensor<32768xf32>
  %a = nn.exp %n : tensor<32768xf32>
  %g1 = nn.sin %a : tensor<32768xf32>
  %s1 = dist.all_reduce sum %g1 on @mesh ["data"] : tensor<32768xf32>
  %b = nn.exp %a : tensor<32768xf32>
  %g2 = nn.sin %b : tensor<32768xf32>
  %s2 = dist.all_reduce sum %g2 on @mesh ["data"] : tensor<32768xf32>
  %c = nn.exp %b : tensor<32768xf32>
  %g3 = nn.sin %c : tensor<32768xf32>
  %s3 = dist.all_reduce sum %g3 on @mesh ["data"] : tensor<32768xf32>
  %u = nn.exp %s1 : tensor<32768xf32>
  return %u : tensor<32768xf32>
}
)";

using rt::collective::Kind;

constexpr int64_t kGradient = 128 << 10;

class BucketSizeTest : public testing::Test {
protected:
  BucketSizeTest() {
    context.loadDialect<mlir::func::FuncDialect, ir::NNDialect, ir::dist::DistDialect>();
    parse(kStep);
  }
  void parse(const char *text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    step = *module->getOps<mlir::func::FuncOp>().begin();
  }
  static double seconds(double flops, double) { return flops / 32768 * 1e-3; }
  // 0.1 ms, and 1 ms for each gradient.
  struct Rate {
    double latency, bytesPerSecond;
    double operator()(Kind kind, int64_t bytes) const {
      return latency + double(bytes) / bytesPerSecond / (kind == Kind::allReduce ? 1 : 2);
    }
  };
  Rate rate{1e-4, kGradient * 1e3};
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp step;
};

TEST_F(BucketSizeTest, WhatIsExpectedOfASize) {
  BucketExpectation alone = expectBuckets(step, 1, rate, seconds);
  EXPECT_EQ(alone.sums, 3);
  EXPECT_EQ(alone.summed, 3 * kGradient);
  EXPECT_NEAR(alone.collective, 3.3e-3, 1e-9);
  EXPECT_NEAR(alone.exposed, 1.1e-3, 1e-9) << "the last one, which is made at the end";
  BucketExpectation two = expectBuckets(step, 2 * kGradient, rate, seconds);
  EXPECT_EQ(two.sums, 2);
  EXPECT_NEAR(two.exposed, 1.2e-3, 1e-9) << "the first two until 6.1 ms, then the last";
  BucketExpectation one = expectBuckets(step, INT64_MAX, rate, seconds);
  EXPECT_EQ(one.sums, 1);
  EXPECT_NEAR(one.exposed, 3.1e-3, 1e-9);
}

TEST_F(BucketSizeTest, SmallOnesHideAndLargeOnesWaitSeldom) {
  EXPECT_EQ(chooseBuckets(step, rate, seconds).bytes, kGradient);
  Rate slow{5e-3, rate.bytesPerSecond};
  BucketExpectation best = chooseBuckets(step, slow, seconds);
  EXPECT_EQ(best.sums, 1);
  EXPECT_EQ(best.bytes, 3 * kGradient);
  Rate quick{1e-9, 1e15};
  EXPECT_EQ(chooseBuckets(step, quick, seconds).sums, 1) << "nothing to hide";
}

// What somebody says is late counts, where he does.
TEST_F(BucketSizeTest, MarkedOnesAreGradients) {
  auto reduces = llvm::to_vector(step.getOps<ir::dist::AllReduceOp>());
  mlir::Builder b(&context);
  for (int index : {1, 3}) reduces[size_t(index)]->setAttr(ir::dist::kLateAttr, b.getUnitAttr());
  BucketExpectation found = expectBuckets(step, 1, rate, seconds);
  EXPECT_EQ(found.sums, 2);
  EXPECT_EQ(found.summed, 2 * kGradient);
}

// One that a collective needs which is not late does not come late, whatever is said of it; nor does any of a rank's
// own program of which nothing is said. What is expected is of the buckets that the pass makes.
TEST_F(BucketSizeTest, WhatOthersNeedIsInNoBucket) {
  auto reduces = llvm::to_vector(step.getOps<ir::dist::AllReduceOp>());
  mlir::Builder b(&context);
  for (int index : {0, 2, 3}) reduces[size_t(index)]->setAttr(ir::dist::kLateAttr, b.getUnitAttr());
  for (int64_t bytes : {int64_t(1), 2 * kGradient, INT64_MAX}) {
    auto made = planBuckets(step.getBody().front(), bytes, false).late;
    BucketExpectation found = expectBuckets(step, bytes, rate, seconds);
    EXPECT_EQ(found.sums, int64_t(made.size()));
    EXPECT_EQ(found.summed, 2 * kGradient);
  }
  for (auto reduce : reduces) reduce->removeAttr(ir::dist::kLateAttr);
  step->setAttr(ir::dist::kRankAttr, b.getI64IntegerAttr(0));
  EXPECT_EQ(expectBuckets(step, INT64_MAX, rate, seconds).sums, 0);
}

// Parts of gradients leave as they are made, wholes of what is updated come in the end: the last part until 4.6 ms,
// behind it both gathers, of which the first could go at 4 ms.
TEST_F(BucketSizeTest, GathersGoBehindTheBackwardPass) {
  parse(R"(
dist.mesh @mesh ["data"] [2]
func.func @step(%x: tensor<32768xf32>) -> (tensor<32768xf32>, tensor<32768xf32>) {
  %a = nn.exp %x : tensor<32768xf32>
  %g1 = nn.sin %a : tensor<32768xf32>
  %p1 = dist.reduce_scatter sum %g1 on @mesh ["data"] {dist.late} : tensor<32768xf32> -> tensor<16384xf32>
  %b = nn.exp %a : tensor<32768xf32>
  %g2 = nn.sin %b : tensor<32768xf32>
  %p2 = dist.reduce_scatter sum %g2 on @mesh ["data"] {dist.late} : tensor<32768xf32> -> tensor<16384xf32>
  %u1 = nn.exp %p1 : tensor<16384xf32>
  %u2 = nn.exp %p2 : tensor<16384xf32>
  %w1 = dist.all_gather %u1 on @mesh ["data"] {dist.late} : tensor<16384xf32> -> tensor<32768xf32>
  %w2 = dist.all_gather %u2 on @mesh ["data"] {dist.late} : tensor<16384xf32> -> tensor<32768xf32>
  return %w1, %w2 : tensor<32768xf32>, tensor<32768xf32>
}
)");
  BucketExpectation alone = expectBuckets(step, 1, rate, seconds);
  EXPECT_EQ(alone.sums, 2);
  EXPECT_EQ(alone.gathers, 2);
  EXPECT_EQ(alone.summed, 2 * kGradient);
  EXPECT_EQ(alone.gathered, 2 * kGradient);
  EXPECT_TRUE(alone.isInHalves);
  EXPECT_NEAR(alone.collective, 4 * 0.6e-3, 1e-9);
  EXPECT_NEAR(alone.exposed, 3 * 0.6e-3, 1e-9);
  BucketExpectation together = expectBuckets(step, INT64_MAX, rate, seconds);
  EXPECT_EQ(together.sums, 1);
  EXPECT_EQ(together.gathers, 1);
  EXPECT_NEAR(together.exposed, 2 * 1.1e-3, 1e-9);
}

// A sum that somebody waits for, behind which more gradients are made, passes what has been made before it; one behind
// that waits until this is back.
TEST_F(BucketSizeTest, WhatSomebodyWaitsForGoesFirst) {
  parse(R"(
dist.mesh @mesh ["data"] [2]
func.func @step(%x: tensor<32768xf32>) -> (tensor<32768xf32>, tensor<32768xf32>, tensor<32768xf32>) {
  %g1 = nn.sin %x : tensor<32768xf32>
  %s1 = dist.all_reduce sum %g1 on @mesh ["data"] {dist.late} : tensor<32768xf32>
  %n = dist.all_reduce max %g1 on @mesh ["data"] : tensor<32768xf32>
  %g2 = nn.sin %n : tensor<32768xf32>
  %s2 = dist.all_reduce sum %g2 on @mesh ["data"] {dist.late} : tensor<32768xf32>
  %m = dist.all_reduce max %g2 on @mesh ["data"] : tensor<32768xf32>
  %e = nn.exp %m : tensor<32768xf32>
  return %s1, %s2, %e : tensor<32768xf32>, tensor<32768xf32>, tensor<32768xf32>
}
)");
  BucketPlan plan = planBuckets(step.getBody().front(), 1, false);
  ASSERT_EQ(plan.late.size(), 2u);
  EXPECT_TRUE(plan.late[0].isFirst && !plan.late[1].isFirst);
  EXPECT_EQ(plan.late[0].place, 1u);
  EXPECT_EQ(plan.late[1].place, 1u);
  // The first from 1 to 2.1 ms, the second until 3.2 ms, for which %m waits from 2 ms on.
  EXPECT_NEAR(expectBuckets(step, 1, rate, seconds).exposed, 1.2e-3, 1e-9);
}

} // namespace
} // namespace sprig
