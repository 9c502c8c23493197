// The seam of targets: a device that the compiler has never heard of, from a network to a package.
#include "dialects/Exec/Exec.h"
#include "lib/Pipeline/Emit.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Pipeline/ReadText.h"
#include "lib/Target/Registry.h"
#include "test/unit/Target/ToyTarget.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace sprig;

namespace {

// x W0 + b0, relu, W1 + b1: on the toy two kernels of a product and its bias, and one of the relu.
const char *const kMlp = R"(
func.func @main(%x: tensor<4x24xf32>, %w0: tensor<24x40xf32>, %b0: tensor<40xf32>, %w1: tensor<40x7xf32>,
                %b1: tensor<7xf32>) -> tensor<4x7xf32> {
  %0 = nn.matmul %x, %w0 : tensor<4x24xf32>, tensor<24x40xf32>
  %1 = nn.add %0, %b0 : tensor<4x40xf32>, tensor<40xf32>
  %2 = nn.relu %1 : tensor<4x40xf32>
  %3 = nn.matmul %2, %w1 : tensor<4x40xf32>, tensor<40x7xf32>
  %4 = nn.add %3, %b1 : tensor<4x7xf32>, tensor<7xf32>
  return %4 : tensor<4x7xf32>
}
)";

class ToyTargetTest : public testing::Test {
protected:
  static void SetUpTestSuite() { addTarget(createToyTarget()); }

  ToyTargetTest() {
    registerSprigDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    options.target = "toy";
    options.cpus = {"toy-1", "toy-2"};
    options.merge = false;
  }

  std::string errorOf(const CompileOptions &wanted, const char *text = kMlp) {
    try {
      auto module = readText(context, text, "mlp.mlir", "");
      compileModule(*module, wanted);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }

  DialectRegistry registry;
  MLIRContext context{MLIRContext::Threading::DISABLED};
  CompileOptions options;
};

TEST_F(ToyTargetTest, FusesWhatTheTargetAllows) {
  auto module = readText(context, kMlp, "mlp.mlir", "");
  runPhases(*module, options, "plan");
  std::vector<std::string> labels;
  for (auto kernel : module->getOps<exec::KernelOp>()) {
    labels.push_back(kernel.getLabel()->str());
    EXPECT_EQ(kernel.getTiles(), 4);
    EXPECT_EQ(kernel.getScratch(), 64);
  }
  EXPECT_EQ(labels, (std::vector<std::string>{"matmul_add", "relu", "matmul_add"}));
  for (auto device : module->getOps<exec::DeviceOp>()) EXPECT_EQ(device.getKind(), "toy");
}

TEST_F(ToyTargetTest, CompilesToImagesOfItsOwn) {
  auto module = readText(context, kMlp, "mlp.mlir", "");
  CompileResult result = compileModule(*module, options);
  EXPECT_EQ(result.kernels.kernels, 6u); // three for each architecture
  EXPECT_GT(result.package.size(), 0u);
  EXPECT_EQ(result.sizes.code, 2 * 3 * sizeof(ToyCode));
}

TEST_F(ToyTargetTest, EmitsItsForms) {
  auto module = readText(context, kMlp, "mlp.mlir", "");
  EXPECT_EQ(emitText(*module, options, "asm"), "matmul_add: count 2 operations, 7840 flops in 4 tiles\n"
                                               "relu: count 1 operations, 160 flops in 4 tiles\n"
                                               "matmul_add_0: count 2 operations, 2268 flops in 4 tiles\n");
  auto other = readText(context, kMlp, "mlp.mlir", "");
  EXPECT_THROW(emitText(*other, options, "header"), Error);
}

TEST_F(ToyTargetTest, RefusesByName) {
  CompileOptions unknown = options;
  unknown.target = "abacus";
  EXPECT_EQ(errorOf(unknown), "there is no target 'abacus'; the targets are cpu, toy");
  CompileOptions older = options;
  older.cpus = {"toy-0"};
  EXPECT_EQ(errorOf(older), "unknown toy 'toy-0'; known are toy-1 and toy-2");
  EXPECT_NE(errorOf(options, R"(
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.cond %c with (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = nn.relu %a : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  } else {
    nn.yield %a : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
)")
                .find("has no kernel for the toy: it holds 'nn.cond'"),
            std::string::npos);
}

} // namespace
