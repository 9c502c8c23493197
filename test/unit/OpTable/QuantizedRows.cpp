// Rows of quantisation and of products of bytes: element types, zero points, odd sizes, saturated ends. In integers, so
// every bound is equality.
#include "test/unit/OpTable/Bytes.h"
#include "test/unit/OpTable/Harness.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

TEST(OpTable, Quantisation) {
  std::vector<Row> rows;
  const std::vector<Pattern> patterns = {{Fill::Plain}, {Fill::Positive}, {}};
  for (std::string to : {"i8", "ui8", "i16", "ui16"})
    for (std::string from : {"f32", "f64", "f16", "bf16"}) {
      rows.push_back(row("nn.quantize %a0, %a1, %a2", {"3x37x" + from, from, to}, {}, patterns));
      rows.push_back(
          row("nn.quantize %a0, %a1, %a2", {"3x37x" + from, from, to}, {}, {{Fill::Special}, {Fill::Positive}}));
      rows.push_back(row("nn.quantize %a0, %a1, %a2", {"2x5x7x" + from, "5x1x" + from, "5x1x" + to}, {}, patterns));
    }
  // Every tail of a vector.
  for (std::string to : {"i8", "ui8", "i16", "ui16"})
    for (std::string columns : {"1", "2", "3", "7", "9", "16", "17", "18", "31", "33"})
      rows.push_back(row("nn.quantize %a0, %a1, %a2", {"3x" + columns + "xf32", "f32", to}, {}, patterns));
  for (std::string from : {"i8", "ui8", "i16", "ui16", "i32"})
    for (std::string to : {"f32", "f64", "f16", "bf16"}) {
      rows.push_back(row("nn.dequantize %a0, %a1, %a2", {"3x37x" + from, to, from}, {1}, {{}, {Fill::Positive}, {}}));
      rows.push_back(row("nn.dequantize %a0, %a1, %a2", {"4x5x" + from, "4x1x" + to, "4x1x" + from}, {1},
                         {{}, {Fill::Positive}, {}}));
    }
  check(rows);
}

// Values and gradients; infinities and NaN are clipped.
TEST(OpTable, FakeQuantisation) {
  std::vector<Row> rows;
  const std::vector<Pattern> patterns = {{Fill::Plain}, {Fill::Positive}, {}};
  for (std::string from : {"f32", "f64", "f16", "bf16"})
    for (std::string to : {"i8", "ui8"}) {
      rows.push_back(row("nn.fake_quantize %a0, %a1, %a2", {"3x37x" + from, from, to}, {4}, patterns));
      rows.push_back(row("nn.fake_quantize %a0, %a1, %a2 {low = 1 : i64, high = 15 : i64}",
                         {"2x5x7x" + from, "5x1x" + from, "5x1x" + to}, {4}, patterns));
      rows.push_back(row("nn.fake_quantize %a0, %a1, %a2 {low = 1 : i64, high = 15 : i64}", {"3x37x" + from, from, to},
                         {4}, {{Fill::Special}, {Fill::Positive}, {}}));
    }
  for (std::string columns : {"1", "7", "16", "31", "33"})
    rows.push_back(row("nn.fake_quantize %a0, %a1, %a2 {low = -7 : i64, high = 7 : i64}",
                       {"3x" + columns + "xf32", "3x1xf32", "i8"}, {1}, patterns));
  check(rows);
}

/// The types that dot products take; of the others, fewer sizes do.
bool isUsual(const std::string &left, const std::string &right) { return left == "ui8" && right == "i8"; }

// Products with both sides computed, which are widened, and with constants, which become dot products.
TEST(OpTable, ProductsOfBytes) {
  const int64_t sizes[][3] = {{1, 1, 1},  {1, 33, 17}, {1, 64, 256}, {2, 10, 3},  {3, 100, 31}, {5, 17, 7},
                              {7, 65, 4}, {8, 32, 64}, {16, 31, 2},  {33, 70, 5}, {64, 16, 129}};
  std::vector<Row> rows;
  for (std::string left : {"ui8", "i8"})
    for (std::string right : {"i8", "ui8"})
      for (auto [m, n, k] : sizes) {
        if (!isUsual(left, right) && m != 1 && m != 5 && m != 33) continue;
        std::string types = tensor({m, k}, left) + " times " + tensor({k, n}, right);
        auto operands = "tensor<" + tensor({m, k}, left) + ">, tensor<" + tensor({k, n}, right) + ">, tensor<" + left +
                        ">, tensor<" + right + ">";
        rows.push_back(
            row("nn.matmul_integer %a0, %a1, %a2, %a3", {tensor({m, k}, left), tensor({k, n}, right), left, right}));
        for (int64_t zero : {0, 3, 128})
          rows.push_back({types + ", a constant, zero point " + std::to_string(zero),
                          {tensor({m, k}, left), left},
                          "%w = nn.constant " + constantBytes({k, n}, right, m) + "\n%z = nn.constant dense<" +
                              std::to_string(right == "i8" ? zero / 2 - 32 : zero) + "> : tensor<" + right +
                              ">\n%r = nn.matmul_integer %a0, %w, %a1, %z : " + operands,
                          {}});
        rows.push_back({types + " turned, zero points for rows and columns",
                        {tensor({m, k}, left), tensor({m, 1}, left)},
                        "%w = nn.constant " + constantBytes({n, k}, right, m) + "\n%z = nn.constant " +
                            constantBytes({n, 1}, right, k) +
                            "\n%r = nn.matmul_integer %a0, %w, %a1, %z {transpose_rhs} : tensor<" +
                            tensor({m, k}, left) + ">, tensor<" + tensor({n, k}, right) + ">, tensor<" +
                            tensor({m, 1}, left) + ">, tensor<" + tensor({n, 1}, right) + ">",
                        {}});
      }
  check(rows);
}

struct ConvolutionOfBytes {
  std::vector<int64_t> input, filter, strides, dilations, padding;
  int64_t groups = 1;

  std::string attributes() const {
    auto list = [](const std::vector<int64_t> &values) {
      std::string text = "array<i64";
      for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : ": ") + std::to_string(values[i]);
      return text + ">";
    };
    return "{strides = " + list(strides) + ", dilations = " + list(dilations) + ", padding = " + list(padding) +
           ", groups = " + std::to_string(groups) + " : i64}";
  }
};

/// A convolution with a constant filter whose zero point is `zero`, a constant of `zeros`; the input's is not known
/// where it is negative.
Row withConstant(const ConvolutionOfBytes &c, const std::string &left, const std::string &right,
                 const std::string &zeros, const std::string &zero, int inputZero) {
  std::string input = tensor(c.input, left), filter = tensor(c.filter, right);
  bool isKnown = inputZero >= 0;
  return {input + " of zero " + std::to_string(inputZero) + " with a constant " + filter + " " + c.attributes() + ", " +
              zeros,
          isKnown ? std::vector<std::string>{input} : std::vector<std::string>{input, left},
          "%w = nn.constant " + constantBytes(c.filter, right, c.input[1]) + "\n%z = nn.constant " + zero +
              "\n%y = nn.constant dense<" + std::to_string(std::max(inputZero, 0)) + "> : tensor<" + left +
              ">\n%r = nn.conv_integer %a0, %w, " + (isKnown ? "%y" : "%a1") + ", %z " + c.attributes() + " : tensor<" +
              input + ">, tensor<" + filter + ">, tensor<" + left + ">, tensor<" + zeros + ">",
          {}};
}

TEST(OpTable, ConvolutionsOfBytes) {
  const ConvolutionOfBytes convolutions[] = {
      {{1, 1, 9, 11}, {5, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {{1, 3, 8, 8}, {16, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {{2, 3, 9, 9}, {33, 3, 3, 3}, {2, 2}, {1, 1}, {0, 0, 1, 1}},
      {{1, 4, 7, 9}, {17, 4, 3, 3}, {1, 1}, {2, 2}, {2, 2, 2, 2}},
      {{1, 3, 9, 9}, {6, 3, 3, 3}, {1, 1}, {2, 2}, {2, 2, 2, 2}},
      {{1, 16, 14, 14}, {32, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {{3, 8, 5, 5}, {70, 8, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
      {{1, 6, 6, 6}, {8, 6, 1, 1}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
      {{1, 2, 9, 4}, {3, 2, 2, 2}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {{1, 8, 8, 8}, {12, 4, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 2},
      {{1, 6, 8, 8}, {9, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 3},
      {{1, 24, 7, 7}, {24, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 24},
      {{1, 20, 9, 9}, {20, 1, 5, 5}, {2, 2}, {1, 1}, {2, 2, 2, 2}, 20},
      {{9, 4, 3, 3}, {10, 4, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {{1, 5, 21}, {7, 5, 4}, {3}, {1}, {2, 1}},
      {{1, 2, 4, 5, 6}, {8, 2, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}},
  };
  std::vector<Row> rows;
  for (std::string left : {"ui8", "i8"})
    for (std::string right : {"i8", "ui8"})
      for (const ConvolutionOfBytes &c : convolutions) {
        if (!isUsual(left, right) && &c - convolutions >= 5) continue;
        std::string input = tensor(c.input, left), filter = tensor(c.filter, right);
        rows.push_back(row("nn.conv_integer %a0, %a1, %a2, %a3 " + c.attributes(), {input, filter, left, right}));
        std::vector<int64_t> perFilter(c.filter.size(), 1);
        perFilter[0] = c.filter[0];
        std::string zeros = tensor(perFilter, right);
        for (int inputZero : {-1, 0}) {
          rows.push_back(withConstant(c, left, right, right, "dense<1> : tensor<" + right + ">", inputZero));
          rows.push_back(withConstant(c, left, right, zeros, constantBytes(perFilter, right, 5), inputZero));
        }
        rows.push_back(withConstant(c, left, right, right, "dense<0> : tensor<" + right + ">", 77));
      }
  // Filters that differ from their zero points by more than an i8, some of a filter or all.
  for (auto [i, c] : llvm::enumerate(convolutions)) {
    std::vector<int64_t> perFilter(c.filter.size(), 1);
    perFilter[0] = c.filter[0];
    std::string left = i % 2 ? "ui8" : "i8", right = i / 2 % 2 ? "i8" : "ui8", zeros = tensor(perFilter, right);
    std::string far = right == "i8" ? "dense<-128>" : "dense<255>";
    rows.push_back(withConstant(c, left, right, right, far + " : tensor<" + right + ">", -1));
    rows.push_back(withConstant(c, "ui8", right, right, far + " : tensor<" + right + ">", 0));
    rows.push_back(withConstant(c, left, right, zeros, constantBytes(perFilter, right, int64_t(i)), 77));
  }
  check(rows);
}

// One filter for each channel: channels of every tail and of several blocks, windows of more than four taps above each
// other, rows of several blocks, padding on any side, and wider than the input.
TEST(OpTable, DepthwiseConvolutionsOfBytes) {
  auto square = [](int64_t channels, int64_t size, int64_t window, int64_t stride, int64_t padding,
                   int64_t dilation = 1) {
    return ConvolutionOfBytes{{1, channels, size, size}, {channels, 1, window, window},        {stride, stride},
                              {dilation, dilation},      {padding, padding, padding, padding}, channels};
  };
  std::vector<ConvolutionOfBytes> convolutions;
  for (int64_t channels : {2, 3, 8, 15, 16, 17, 31, 32, 48, 63, 64, 65, 130})
    convolutions.push_back(square(channels, 7, 3, 1, 1));
  for (int64_t size : {1, 2, 3, 4, 5, 8, 13, 16, 29}) convolutions.push_back(square(8, size, 3, 1, 1));
  convolutions.push_back(square(24, 9, 3, 2, 1));
  convolutions.push_back(square(20, 11, 5, 2, 2));
  convolutions.push_back(square(66, 12, 3, 1, 2, 2));
  convolutions.push_back(square(5, 6, 2, 1, 3));
  convolutions.push_back(square(70, 4, 1, 2, 0));
  convolutions.push_back(square(6, 3, 3, 1, 5, 3));
  convolutions.push_back({{2, 12, 6, 5}, {12, 1, 4, 2}, {2, 1}, {1, 2}, {0, 1, 3, 0}, 12});
  convolutions.push_back({{1, 64, 3, 150}, {64, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 64});
  convolutions.push_back({{1, 7, 700}, {7, 1, 9}, {1}, {2}, {8, 8}, 7});
  convolutions.push_back({{3, 40, 21}, {40, 1, 4}, {3}, {1}, {2, 1}, 40});
  convolutions.push_back({{1, 18, 4, 5, 6}, {18, 1, 3, 3, 3}, {1, 1, 2}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, 18});
  std::vector<Row> rows;
  const std::string none = "dense<0> : tensor<i8>";
  for (auto [i, c] : llvm::enumerate(convolutions)) {
    const int inputZeros[] = {0, 77, -1};
    rows.push_back(withConstant(c, "ui8", "i8", "i8", none, inputZeros[i % 3]));
    rows.push_back(withConstant(c, "ui8", "i8", "i8", none, inputZeros[(i + 1) % 3]));
    if (i % 4 == 0) rows.push_back(withConstant(c, "i8", "i8", "i8", none, inputZeros[i / 4 % 3]));
  }
  check(rows);
}

// Maxima of bytes: channels of every tail, padding on any side, windows in the padding alone.
TEST(OpTable, PoolsOfBytes) {
  std::vector<Row> rows;
  auto pool = [&](const std::vector<int64_t> &shape, const std::string &windows, bool channelsLast) {
    for (std::string type : {"ui8", "i8"})
      rows.push_back(
          row("nn.pool max %a0 {" + windows + (channelsLast ? ", channels_last}" : "}"), {tensor(shape, type)}));
  };
  auto windows = [](const std::string &window, const std::string &strides, const std::string &dilations,
                    const std::string &padding) {
    return "window = array<i64: " + window + ">, strides = array<i64: " + strides +
           ">, dilations = array<i64: " + dilations + ">, padding = array<i64: " + padding + ">";
  };
  for (int64_t channels : {1, 2, 15, 16, 17, 32, 63, 64, 65, 83, 130})
    pool({2, 7, 9, channels}, windows("3, 3", "2, 2", "1, 1", "1, 1, 1, 1"), true);
  for (int64_t size : {1, 2, 5, 9, 17, 30})
    pool({1, size, size, 20}, windows("2, 2", "1, 1", "1, 1", "1, 1, 0, 0"), true);
  pool({1, 3, 40, 24}, windows("3, 5", "1, 3", "1, 4", "2, 0, 2, 9"), true);
  pool({1, 4, 5, 3}, windows("2, 2", "2, 2", "1, 1", "4, 0, 0, 4"), true);
  pool({2, 33, 18}, windows("4", "2", "1", "1, 2"), true);
  pool({1, 4, 5, 6, 18}, windows("2, 3, 2", "1, 2, 1", "1, 1, 1", "0, 1, 0, 1, 1, 0"), true);
  pool({2, 19, 8, 7}, windows("2, 2", "2, 2", "1, 1", "0, 0, 0, 1"), false);
  check(rows);
}

// All elements at the ends of their types, as deep as 32 bits are enough for: nothing saturates on the way.
TEST(OpTable, SumsOfBytesReachTheirEnds) {
  std::vector<Row> rows;
  for (auto [x, w] : {std::pair(255, -128), std::pair(255, 127), std::pair(0, -128)}) {
    std::string body = "%x = nn.constant dense<" + std::to_string(x) + "> : tensor<3x33025xui8>\n" +
                       "%w = nn.constant dense<" + std::to_string(w) + "> : tensor<33025x2xi8>\n" +
                       "%v = nn.max %a0, %x : tensor<ui8>, tensor<3x33025xui8>\n"
                       "%y = nn.constant dense<0> : tensor<ui8>\n%z = nn.constant dense<0> : tensor<i8>\n"
                       "%r = nn.matmul_integer %v, %w, %y, %z : tensor<3x33025xui8>, tensor<33025x2xi8>, tensor<ui8>, "
                       "tensor<i8>";
    rows.push_back({std::to_string(x) + " times " + std::to_string(w), {"ui8"}, body, {}});
  }
  check(rows);
}

} // namespace
} // namespace sprig::optable
