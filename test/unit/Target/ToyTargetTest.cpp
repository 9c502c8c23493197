// The seam of targets: a device that neither compiler nor runtime has ever heard of, from a network to its results.
#include "dialects/Exec/Exec.h"
#include "lib/Pipeline/Emit.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Pipeline/ReadText.h"
#include "lib/Target/Registry.h"
#include "test/fuzz/PackageParts.h"
#include "test/unit/Target/ToyTarget.h"
#include <cstdlib>
#include <cstring>
#include <functional>
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

// Rows of ones, but for the first element.
std::string weights(int rows, int columns, int first) {
  std::string text;
  for (int row = 0; row < rows; ++row) {
    text += row ? ", [" : "[";
    for (int column = 0; column < columns; ++column)
      text += (column ? ", " : "") + std::to_string(row + column ? 1 : first) + ".0";
    text += "]";
  }
  std::string type = "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "xf32>";
  return "nn.constant dense<[" + text + "]> : " + type + "\n";
}

// The same network with weights of its own.
std::string mlpWithWeights() {
  std::string text = kMlp;
  text.replace(text.find("(%x"), text.find("%0 =") - text.find("(%x"),
               "(%x: tensor<4x24xf32>, %b0: tensor<40xf32>, %b1: tensor<7xf32>) -> tensor<4x7xf32> {\n  %w0 = " +
                   weights(24, 40, 100) + "  %w1 = " + weights(40, 7, 50) + "  ");
  return text;
}

class ToyTargetTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    addTarget(createToyTarget());
    rt::core::addHostCodeKind(createToyCodeKind());
  }

  ToyTargetTest() {
    registerSprigDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    options.target = "toy";
    options.architectures = {"toy-1", "toy-2"};
  }

  std::vector<uint8_t> packageOf(std::vector<std::string> architectures) {
    options.architectures = std::move(architectures);
    auto module = readText(context, mlpWithWeights(), "mlp.mlir", "");
    return compileModule(*module, options).package;
  }

  static rt::Package load(const std::vector<uint8_t> &bytes, const char *devices) {
    rt::LoadOptions wanted;
    wanted.device = devices;
    return rt::Package::fromMemory(std::span<const uint8_t>(bytes), "toy", wanted);
  }

  // What loading says of a package that was changed.
  std::string damaged(const std::function<void(fuzz::PackageParts &)> &change, const char *devices = "null:0") {
    fuzz::PackageParts parts;
    EXPECT_TRUE(fuzz::readParts(packageOf({"toy-1"}), parts));
    change(parts);
    return rt::test::errorOf([&] { load(fuzz::encode(parts), devices); });
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

TEST_F(ToyTargetTest, RunsOnTheNullDevice) {
  auto module = readText(context, mlpWithWeights(), "mlp.mlir", "");
  CompileResult result = compileModule(*module, options);
  int64_t tiles = 0, flops = 0;
  for (auto kernel : module->getOps<exec::KernelOp>()) {
    tiles += kernel.getTiles();
    flops += kernel.getFlops();
  }
  rt::test::Words x(4 * 24), b0(40), b1(7), y(4 * 7);
  auto floats = [](rt::test::Words &words) { return reinterpret_cast<float *>(words.data()); };
  auto view = [&](rt::test::Words &words, std::vector<int64_t> shape) {
    return rt::TensorView(floats(words), std::move(shape));
  };
  floats(x)[0] = 3;
  for (const char *seed : {"0", "1", "7"}) {
    setenv("SPRIG_NULL_SEED", seed, 1);
    rt::Package package = load(result.package, "null:0");
    EXPECT_EQ(package.isa(), "toy-2");
    rt::Context run(package);
    for (float first : {20.0f, 300.0f}) {
      ToyCounts &counts = toyCounts();
      counts.tiles = counts.flops = counts.operations = 0;
      floats(b0)[0] = first;
      run.invoke({view(x, {4, 24}), view(b0, {40}), view(b1, {7})}, {view(y, {4, 7})});
      EXPECT_EQ(counts.tiles, tiles);
      EXPECT_EQ(counts.flops, flops);
      EXPECT_EQ(counts.operations, 5);
      // The largest of all that led to it, by five operations: of its input, constants in the package among them.
      for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(floats(y)[i], std::max(100.0f, first) + 5) << i;
      EXPECT_GT(run.lastRun().simulated_seconds, 0);
    }
  }
  unsetenv("SPRIG_NULL_SEED");
  EXPECT_EQ(load(packageOf({"toy-1"}), "null:3").isa(), "toy-1");
}

TEST_F(ToyTargetTest, IsRefusedWhereItCannotRun) {
  auto error = [&](const char *devices) {
    return rt::test::errorOf([&] { load(packageOf({"toy-1", "toy-2"}), devices); });
  };
  EXPECT_EQ(error(""), "toy: device toy:0 is not there");
  EXPECT_EQ(error("cpu"), "toy: device cpu:0 runs code for cpu, expected one of kind 'toy', for which the program was "
                          "compiled");
  auto none = [](fuzz::PackageParts &) {};
  EXPECT_EQ(damaged(none), "");
  EXPECT_EQ(damaged([](auto &parts) { parts.program.images[0].isa = "toy-9"; }),
            "toy: the package has code for toy-9; this is a toy-2");
  EXPECT_EQ(damaged([](auto &parts) { parts.program.images[0].symbolSizes[1] = 8; }),
            "toy: image 0 for toy-1: kernel 'relu': expected 40 bytes of counts, found 8");
  EXPECT_EQ(damaged([](auto &parts) { parts.program.images[0].symbols[2] += 8; }),
            "toy: image 0 for toy-1: kernel 'matmul_add_1': code: 40 bytes at offset 88 leave its 120 bytes");
  auto wrongInputs = [](auto &parts) { parts.image[24] ^= 1; };
  std::string expected = "toy: image 0 for toy-1: kernel 'matmul_add': its counts are none of a kernel of 4 buffers";
  EXPECT_EQ(damaged(wrongInputs), expected);
  EXPECT_EQ(damaged(wrongInputs, "null"), expected); // checked where nothing computes, too
  EXPECT_EQ(damaged([](auto &parts) { parts.program.images[0].imports = {{"tanh", 120}}; }),
            "toy: image 0 for toy-1: a toy calls nothing, found a call of 'tanh'");
  EXPECT_EQ(damaged([](auto &parts) { parts.program.images[0].kind = "cpu"; }),
            "toy: image 0 for toy-1: is for devices of kind 'cpu', of which the program has none");
  EXPECT_EQ(damaged([](auto &parts) { parts.program.devices[0].kind = "abacus"; }),
            "toy: device 0: expected one of cpu, toy, cuda, null, found 'abacus'");
}

TEST_F(ToyTargetTest, RefusesByName) {
  CompileOptions unknown = options;
  unknown.target = "abacus";
  EXPECT_EQ(errorOf(unknown), "there is no target 'abacus'; the targets are cpu, cuda, cpu+cuda, toy");
  CompileOptions older = options;
  older.architectures = {"toy-0"};
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
