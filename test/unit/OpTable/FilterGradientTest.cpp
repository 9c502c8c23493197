// Gradients of filters in parts: the kernels over every kind of tile, and that the sum of the parts has the bits of the
// one kernel, on one thread and on two.
#include "dialects/Kernel/KernelContraction.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "sprig/rt/sprig_rt.hpp"
#include "test/unit/OpTable/Harness.h"
#include "test/unit/OpTable/Rows.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace sprig::optable {
namespace {

// Channels last, over two dimensions.
struct FilterGradient {
  std::vector<int64_t> input, cotangent;
  int64_t window, stride, padding, groups;

  int64_t positions() const { return cotangent[0] * cotangent[1] * cotangent[2]; }
  std::vector<int64_t> filter() const { return {cotangent[3], input[3] / groups, window, window}; }
  std::vector<int64_t> parts() const {
    std::vector<int64_t> shape = filter();
    shape.insert(shape.begin(), (positions() + 511) / 512);
    return shape;
  }
  std::string attributes() const {
    auto repeated = [](int64_t value, int count) {
      std::string text = "array<i64: ";
      for (int i = 0; i < count; ++i) text += (i ? ", " : "") + std::to_string(value);
      return text + ">";
    };
    return "window = " + repeated(window, 2) + ", strides = " + repeated(stride, 2) +
           ", dilations = " + repeated(1, 2) + ", padding = " + repeated(padding, 4) +
           ", groups = " + std::to_string(groups) + " : i64";
  }
};

const FilterGradient kCases[] = {
    {{1, 9, 10, 2}, {1, 9, 10, 3}, 3, 1, 1, 1},      // less than a piece
    {{6, 20, 20, 1}, {6, 16, 16, 6}, 5, 1, 0, 1},    // rows of all taps, three pieces
    {{3, 21, 20, 2}, {3, 19, 18, 40}, 3, 1, 0, 1},   // two panels; a piece ends within a line
    {{7, 15, 13, 3}, {7, 15, 13, 16}, 3, 1, 1, 1},   // padding
    {{4, 33, 33, 3}, {4, 17, 17, 9}, 3, 2, 1, 1},    // strides
    {{5, 16, 16, 20}, {5, 16, 16, 5}, 1, 1, 0, 1},   // pointwise: one line
    {{5, 16, 15, 17}, {5, 16, 15, 17}, 3, 1, 1, 17}, // a filter for each channel
    {{2, 25, 25, 4}, {2, 25, 25, 6}, 3, 1, 1, 2},    // groups
    {{40, 20, 20, 4}, {40, 20, 20, 16}, 3, 1, 1, 1}, // work for two threads
};

std::string typeOf(const std::vector<int64_t> &shape, const std::string &element) {
  std::string text;
  for (int64_t size : shape) text += std::to_string(size) + "x";
  return text + element;
}

TEST(FilterGradientParts, Kernels) {
  std::vector<Row> rows;
  for (const char *element : {"f32", "f64"})
    for (const FilterGradient &c : llvm::ArrayRef(kCases).take_front(std::string(element) == "f32" ? 8 : 2))
      rows.push_back(row("kernel.conv_filter_grad_parts %a0, %a1 {" + c.attributes() + "}",
                         {typeOf(c.input, element), typeOf(c.cotangent, element)},
                         {1, std::string(element) == "f32" ? 512 * 0x1p-24 : 512 * 0x1p-53},
                         {{Fill::Unit}, {Fill::Unit}}));
  check(rows, Given::layouts);
}

// What the pass makes of a gradient, written by hand so that no shape is too small for it.
std::string functions(size_t number, const FilterGradient &c, const std::string &element) {
  std::string x = "tensor<" + typeOf(c.input, element) + ">", g = "tensor<" + typeOf(c.cotangent, element) + ">";
  std::string w = "tensor<" + typeOf(c.filter(), element) + ">", p = "tensor<" + typeOf(c.parts(), element) + ">";
  std::string head = std::to_string(number) + "(%x: " + x + ", %g: " + g + ") -> " + w + " {\n";
  std::string operands = c.attributes() + "} : " + x + ", " + g + "\n", end = "return %r : " + w + "\n}\n";
  return "func.func @whole" + head + "%r = nn.conv_filter_grad %x, %g {channels_last, " + operands + end +
         "func.func @sum" + head + "%p = kernel.conv_filter_grad_parts %x, %g {" + operands +
         "%r = nn.reduce sum %p axes = [0] : " + p + "\n" + end;
}

int64_t elements(const std::vector<int64_t> &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

template <typename T>
void compareBits(llvm::ArrayRef<FilterGradient> cases, const std::string &element, rt::DType type) {
  std::string text;
  for (auto [i, c] : llvm::enumerate(cases)) text += functions(i, c, element);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &sharedContext());
  ASSERT_TRUE(module) << text;
  mlir::PassManager passes(&sharedContext());
  passes.addNestedPass<mlir::func::FuncOp>(createFuse({}));
  ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
  CompileOptions options;
  options.threads = 2;
  options.compileFrom = "schedule";
  std::vector<uint8_t> bytes = compileModule(*module, options).package;
  rt::Package package = rt::Package::fromMemory(std::span<const uint8_t>(bytes), "parts");

  std::mt19937_64 random(11);
  auto fill = [&](const std::vector<int64_t> &shape) {
    std::vector<T> values(elements(shape));
    // Of many sizes, so that the order of a sum shows; and tiny ones, whose products are signed zeros.
    for (T &value : values) value = std::ldexp(T(random() % 2001) - 1000, int(random() % 40) - 20);
    for (size_t i = 0; i < values.size(); i += 7) values[i] = -std::numeric_limits<T>::min();
    return values;
  };
  for (auto [i, c] : llvm::enumerate(cases)) {
    std::vector<T> input = fill(c.input), cotangent = fill(c.cotangent), first;
    for (int threads : {1, 2})
      for (std::string entry : {"whole", "sum"}) {
        rt::Pool pool(threads);
        rt::ContextOptions context;
        context.pool = &pool;
        rt::Context run(package, context);
        std::vector<T> result(elements(c.filter()), T(-1));
        std::vector<rt::TensorView> inputs{{input.data(), type, c.input}, {cotangent.data(), type, c.cotangent}};
        std::vector<rt::TensorView> outputs{{result.data(), type, c.filter()}};
        run.invoke(inputs, outputs, package.findEntry(entry + std::to_string(i)));
        if (first.empty()) first = result;
        EXPECT_EQ(std::memcmp(first.data(), result.data(), result.size() * sizeof(T)), 0)
            << entry << " on " << threads << " threads: " << functions(i, c, element);
      }
  }
}

TEST(FilterGradientParts, TheirSumHasTheBitsOfTheWhole) {
  auto cases = llvm::ArrayRef(kCases).drop_front(); // the first is one chain as a whole
  compareBits<float>(cases, "f32", SPRIG_RT_F32);
  compareBits<double>(cases.take_front(3), "f64", SPRIG_RT_F64);
}

// A program of channels second gets them: the pass comes after those of layouts and padding.
TEST(FilterGradientParts, ThePipelineMakesThem) {
  std::string text =
      "func.func @main(%x: tensor<64x1x28x28xf32>, %g: tensor<64x6x28x28xf32>, %w: tensor<6x1x5x5xf32>) -> "
      "tensor<6x1x5x5xf32> {\n%r = nn.conv_filter_grad %x, %g {window = array<i64: 5, 5>, strides = "
      "array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 2, 2, 2, 2>} : "
      "tensor<64x1x28x28xf32>, tensor<64x6x28x28xf32>\n%s = nn.sub %w, %r : tensor<6x1x5x5xf32>, "
      "tensor<6x1x5x5xf32>\nreturn %s : tensor<6x1x5x5xf32>\n}\n";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &sharedContext());
  ASSERT_TRUE(module);
  CompileOptions options;
  options.compileTo = "fuse";
  options.threads = 2;
  (void)compileModule(*module, options);
  int found = 0;
  module->walk([&](kernel::ConvFilterGradPartsOp) { ++found; });
  EXPECT_EQ(found, 1);
}

} // namespace
} // namespace sprig::optable
