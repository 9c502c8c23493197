// What is expected of several steps in one call, by what operations and collectives take.
#include "lib/Shard/StepsInACall.h"
#include "dialects/Dist/Dist.h"
#include "dialects/NN/NNDialect.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace sprig {
namespace {

using rt::collective::Kind;

constexpr int64_t kStepGradient = 128 << 10;

class StepsInACallTest : public testing::Test {
protected:
  StepsInACallTest() { context.loadDialect<mlir::func::FuncDialect, ir::NNDialect, ir::dist::DistDialect>(); }

  // A step of operations of a millisecond each, which scales its input by `sum` and reads its parameter then; the
  // gradient takes 3 ms, other sums 1 ms.
  StepsExpectation expect(const std::string &sum, int64_t times) {
    std::string text = R"(
dist.mesh @mesh ["data"] [2]
nn.param @a = dense<0.0> : tensor<32768xf32>
func.func @step(%x: tensor<32768xf32>, %z: tensor<1xf32>) {
  )" + sum + R"(
  %t = nn.mul %x, %p : tensor<32768xf32>, tensor<1xf32>
  %a = nn.get_param @a : tensor<32768xf32>
  %y = nn.mul %t, %a : tensor<32768xf32>, tensor<32768xf32>
  %g = nn.sin %y : tensor<32768xf32>
  %s = dist.all_reduce sum %g on @mesh ["data"] {dist.late} : tensor<32768xf32>
  %u = nn.sub %a, %s : tensor<32768xf32>, tensor<32768xf32>
  nn.set_param @a, %u : tensor<32768xf32>
  return
}
)";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    auto collective = [](Kind, int64_t bytes) { return bytes == kStepGradient ? 3e-3 : 1e-3; };
    auto operation = [](double flops, double) { return flops / 32768 * 1e-3; };
    return expectSteps(*module->getOps<mlir::func::FuncOp>().begin(), 1, times, collective, operation);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

// The gradient is made at 3 of 4 ms and back at 6; the next step waits for it from 5 to 6, and its own gradient is back
// at 11.
TEST_F(StepsInACallTest, AStepWaitsForWhatItReads) {
  EXPECT_NEAR(expect("%p = nn.sin %z : tensor<1xf32>", 2).step.exposed, 11e-3 / 2 - 4e-3, 1e-6);
}

// A sum that is waited for at once, as a batch norm's, is in front of the parameter: the gradient, made at 4 of 5 ms,
// is back at 7, when the next step reads it.
TEST_F(StepsInACallTest, SumsThatAreWaitedForAreTimeOfTheStep) {
  std::string sum = R"(%p = dist.all_reduce sum %z on @mesh ["data"] : tensor<1xf32>)";
  EXPECT_NEAR(expect(sum, 2).step.exposed, 12e-3 / 2 - 5e-3, 1e-6);
}

} // namespace
} // namespace sprig
