// Winograd's short convolutions: the matrices, the kernels over every kind of edge, and the error that numerics.md
// states, measured against the double-precision convolution that the pass rewrites.
#include "dialects/NN/NNDialect.h"
#include "lib/Data/Largest.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Target/CPU/Layout/WinogradFilter.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "sprig/rt/sprig_rt.hpp"
#include "test/unit/OpTable/Harness.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace sprig::optable {
namespace {

using kernel::WinogradLine;

std::vector<double> times(const std::vector<double> &matrix, const std::vector<double> &vector) {
  std::vector<double> result(matrix.size() / vector.size(), 0);
  for (size_t i = 0; i < matrix.size(); ++i) result[i / vector.size()] += matrix[i] * vector[i % vector.size()];
  return result;
}

TEST(Winograd, ShortConvolutionsAreConvolutions) {
  int found = 0;
  for (int64_t m = 1; m <= 8; ++m)
    for (int64_t r = 1; r <= 8; ++r) {
      auto line = WinogradLine::get(m, r);
      if (!line) continue;
      ++found;
      std::vector<double> input, filter;
      for (int64_t i = 0; i < line->frequencies(); ++i) input.push_back(std::sin(1.0 + 3 * i));
      for (int64_t i = 0; i < r; ++i) filter.push_back(std::cos(2.0 + 5 * i));
      std::vector<double> a = times(line->filterMatrix(), filter), b = times(line->inputMatrix(), input);
      for (size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
      std::vector<double> got = times(line->outputMatrix(), a);
      for (int64_t i = 0; i < m; ++i) {
        double want = 0;
        for (int64_t k = 0; k < r; ++k) want += input[i + k] * filter[k];
        EXPECT_NEAR(got[i], want, 1e-12) << "F(" << m << ", " << r << ") output " << i;
      }
    }
  EXPECT_EQ(found, 1 + 4 + 6 + 8);
  EXPECT_FALSE(WinogradLine::get(3, 3));
  EXPECT_FALSE(WinogradLine::get(0, 3));
}

// Every edge: tiles that stick out, padding wider than a tile, strips longer than a segment, several blocks, tails of
// channels and of columns, halves of a block, a share of the panels each.
TEST(Winograd, Kernels) {
  std::vector<Row> rows;
  auto add = [&](std::string input, int64_t channels, int64_t outputs, std::array<int64_t, 2> window,
                 std::array<int64_t, 2> tile, std::string padding, std::string epilogue = "") {
    int64_t frequencies = (window[0] + tile[0] - 1) * (window[1] + tile[1] - 1);
    std::string x = input + "x" + std::to_string(channels) + "xf32";
    std::string panels = std::to_string((outputs + 31) / 32) + "x" + std::to_string(frequencies * channels) + "x32xf32";
    auto pair = [](std::array<int64_t, 2> p) { return std::to_string(p[0]) + ", " + std::to_string(p[1]); };
    std::string attributes = "{window = array<i64: " + pair(window) + ">, tile = array<i64: " + pair(tile) +
                             ">, channels = " + std::to_string(outputs) + " : i64, padding = array<i64: " + padding +
                             ">}";
    double bound = channels * (std::max(window[0] + tile[0], window[1] + tile[1]) > 7 ? 4e-3 : 2e-4);
    Row made =
        row("kernel.conv_winograd %a0, %a1 " + attributes, {x, panels}, {1, bound}, {{Fill::Unit}, {Fill::Unit}});
    made.body += epilogue;
    rows.push_back(made);
  };
  add("1x4x4", 1, 1, {3, 3}, {4, 4}, "1, 1, 1, 1");
  add("2x9x7", 5, 33, {3, 3}, {4, 4}, "1, 1, 1, 1");
  add("1x8x8", 16, 32, {3, 3}, {2, 2}, "0, 0, 0, 0");
  add("3x7x7", 17, 20, {3, 3}, {4, 4}, "1, 1, 1, 1");
  add("1x3x5", 33, 64, {3, 3}, {4, 2}, "2, 1, 2, 3");
  add("1x5x130", 3, 7, {3, 3}, {4, 4}, "1, 1, 1, 1");
  add("20x4x4", 32, 50, {3, 3}, {4, 4}, "1, 1, 1, 1");
  add("2x12x12", 20, 50, {5, 5}, {4, 4}, "0, 0, 0, 0");
  add("1x11x9", 4, 18, {5, 5}, {2, 2}, "2, 2, 2, 2");
  add("1x9x9", 4, 6, {5, 3}, {2, 4}, "6, 5, 6, 5");
  add("2x1x40", 8, 12, {1, 3}, {1, 4}, "0, 1, 0, 1");
  add("1x17x3", 8, 12, {7, 1}, {2, 1}, "3, 0, 3, 0");
  add("1x16x16", 8, 32, {3, 3}, {4, 4}, "1, 1, 1, 1");
  add("1x18x14", 12, 20, {3, 3}, {4, 4}, "1, 1, 1, 1");
  add("1x8x8", 48, 200, {3, 3}, {4, 4}, "1, 1, 1, 1",
      "\n%b = nn.constant dense<0.5> : tensor<200xf32>\n%s = nn.add %r, %b : tensor<1x8x8x200xf32>, tensor<200xf32>"
      "\n%t = nn.relu %s : tensor<1x8x8x200xf32>");
  check(rows, Given::layouts);
}

struct ConvLayer {
  int64_t batch, channels, size, outputs, window, padding;
};

class Accuracy : public testing::TestWithParam<ConvLayer> {};

// Compiled with the default options, the largest error is at most 2e-5 of the largest output.
TEST_P(Accuracy, OfTheRewriteIsWithinTheStatedBound) {
  const ConvLayer &l = GetParam();
  mlir::DialectRegistry registry;
  registerSprigDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::mt19937_64 random(7);
  std::normal_distribution<float> normal;
  int64_t out = l.size + 2 * l.padding - l.window + 1, taps = l.window * l.window;
  auto fill = [&](int64_t count, float scale) {
    std::vector<float> values(count);
    for (float &value : values) value = normal(random) * scale;
    return values;
  };
  std::vector<float> input = fill(l.batch * l.channels * l.size * l.size, 1);
  std::vector<float> filter = fill(l.outputs * l.channels * taps, 1 / std::sqrt(float(l.channels * taps)));
  auto dims = [](std::vector<int64_t> sizes) {
    std::string text;
    for (int64_t size : sizes) text += std::to_string(size) + "x";
    return "tensor<" + text + "f32>";
  };
  std::string x = dims({l.batch, l.channels, l.size, l.size}), w = dims({l.outputs, l.channels, l.window, l.window});
  std::string y = dims({l.batch, l.outputs, out, out}), pad = std::to_string(l.padding);
  llvm::StringRef raw(reinterpret_cast<const char *>(filter.data()), filter.size() * sizeof(float));
  std::string text = "func.func @main(%x: " + x + ") -> " + y + " {\n%w = nn.constant dense<\"0x" + llvm::toHex(raw) +
                     "\"> : " + w +
                     "\n%y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = "
                     "array<i64: " +
                     pad + ", " + pad + ", " + pad + ", " + pad + ">} : " + x + ", " + w + "\nreturn %y : " + y + "\n}";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  auto type = mlir::RankedTensorType::get({l.batch, l.channels, l.size, l.size}, mlir::Float32Type::get(&context));
  std::vector<interp::Tensor> inputs{interp::Tensor::ofFloats(type, std::vector<double>(input.begin(), input.end()))};
  auto want = interp::run(*module->getOps<mlir::func::FuncOp>().begin(), inputs);
  ASSERT_TRUE(mlir::succeeded(want));

  std::string remarks;
  CompileOptions options;
  options.remarks = {"fuse"};
  options.report = [&](const std::string &line) { remarks += line + "\n"; };
  std::vector<uint8_t> bytes = compileModule(*module, options).package;
  EXPECT_NE(remarks.find("becomes kernel.conv_winograd"), std::string::npos) << remarks;
  rt::Package package = rt::Package::fromMemory(std::span<const uint8_t>(bytes), "winograd");
  rt::Context run(package);
  std::vector<float> got(l.batch * l.outputs * out * out);
  rt::TensorView in(input.data(), SPRIG_RT_F32, {l.batch, l.channels, l.size, l.size});
  rt::TensorView result(got.data(), SPRIG_RT_F32, {l.batch, l.outputs, out, out});
  run.invoke({&in, 1}, {&result, 1});

  interp::Elements<double> exact = want->front().floats();
  double largest = 0, error = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    largest = std::max(largest, std::fabs(exact[i]));
    error = data::largest(error, std::fabs(got[i] - exact[i]));
  }
  RecordProperty("relative_error", std::to_string(error / largest));
  std::printf("largest error %.1e of the largest output\n", error / largest);
  EXPECT_LE(error, 2e-5 * largest);
}

INSTANTIATE_TEST_SUITE_P(Winograd, Accuracy,
                         testing::Values(ConvLayer{2, 64, 28, 64, 3, 1}, ConvLayer{2, 128, 14, 128, 3, 1},
                                         ConvLayer{8, 256, 7, 256, 3, 1}, ConvLayer{1, 16, 32, 16, 3, 1},
                                         ConvLayer{3, 37, 19, 45, 3, 0}, ConvLayer{8, 20, 12, 50, 5, 0},
                                         ConvLayer{2, 64, 15, 64, 5, 2}, ConvLayer{2, 128, 13, 96, 5, 2},
                                         ConvLayer{2, 192, 12, 64, 5, 2}));

} // namespace
} // namespace sprig::optable
