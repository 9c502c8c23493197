// Rows of matrix products and convolutions: odd sizes, tails, batches, groups, dilations, empty and single dimensions.
#include "test/unit/OpTable/Harness.h"
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

// A chain of k fused multiply-adds of values in [-1, 1]; half types accumulate in f32.
Bound chainBound(const std::string &type, double k) {
  if (type[0] == 'i' || type[0] == 'u') return {};
  return {1, k * (1 + k / 8) * (type == "f64" ? 0x1p-53 : 0x1p-24)};
}

std::vector<Pattern> kUnits = {{Fill::Unit}, {Fill::Unit}, {Fill::Unit}};

TEST(OpTable, MatrixProducts) {
  const int64_t sizes[][3] = {{1, 1, 1},     {1, 33, 17},    {1, 256, 65}, {4, 31, 16}, {5, 17, 7},
                              {7, 65, 33},   {8, 32, 64},    {15, 16, 15}, {16, 31, 1}, {17, 100, 31},
                              {33, 65, 129}, {64, 256, 100}, {3, 5, 0},    {0, 4, 5},   {3, 0, 4}};
  for (const char *type : {"f32", "f64", "bf16", "f16", "i32", "i8", "ui8", "i64"}) {
    std::vector<Row> rows;
    std::string t = type;
    auto matrix = [&](int64_t r, int64_t c) { return std::to_string(r) + "x" + std::to_string(c) + "x" + t; };
    for (const auto &s : sizes) {
      int64_t m = s[0], n = s[1], k = s[2];
      // Every size in f32; in the other types those that reach each tail.
      if (t != "f32" && m != 1 && m != 5 && m != 15 && n != 0 && k != 0) continue;
      Bound bound = chainBound(t, k);
      rows.push_back(row("nn.matmul %a0, %a1", {matrix(m, k), matrix(k, n)}, bound, kUnits));
      rows.push_back(row("nn.matmul %a0, %a1 {transpose_rhs}", {matrix(m, k), matrix(n, k)}, bound, kUnits));
    }
    rows.push_back(
        row("nn.matmul %a0, %a1 {transpose_lhs}", {matrix(17, 5), matrix(17, 33)}, chainBound(t, 17), kUnits));
    rows.push_back(row("nn.matmul %a0, %a1 {transpose_lhs, transpose_rhs}", {matrix(17, 5), matrix(33, 17)},
                       chainBound(t, 17), kUnits));
    rows.push_back(
        row("nn.matmul %a0, %a1", {"2x3x" + matrix(5, 7), "2x3x" + matrix(7, 17)}, chainBound(t, 7), kUnits));
    rows.push_back(row("nn.matmul %a0, %a1", {"2x1x" + matrix(5, 7), "3x" + matrix(7, 17)}, chainBound(t, 7), kUnits));
    rows.push_back(row("nn.matmul %a0, %a1", {"3x" + matrix(5, 7), matrix(7, 17)}, chainBound(t, 7), kUnits));
    check(rows);
  }
}

// Sums that a target may take in parts, less the same from a layout in which they stay whole: not a bit is left.
TEST(OpTable, LongProductsInParts) {
  check({{"matmul",
          {"1536x9xf32", "1536x17xf32"},
          "%t = nn.transpose %a0 [1, 0] : tensor<1536x9xf32>\n"
          "%n = nn.neg %t : tensor<9x1536xf32>\n"
          "%p = nn.matmul %a0, %a1 {transpose_lhs} : tensor<1536x9xf32>, tensor<1536x17xf32>\n"
          "%q = nn.matmul %n, %a1 : tensor<9x1536xf32>, tensor<1536x17xf32>\n"
          "%r = nn.add %p, %q : tensor<9x17xf32>, tensor<9x17xf32>",
          {},
          kUnits},
         {"matmul",
          {"1x2048xf32", "2048x17xf32"},
          "%t = nn.transpose %a1 [1, 0] : tensor<2048x17xf32>\n"
          "%n = nn.neg %t : tensor<17x2048xf32>\n"
          "%p = nn.matmul %a0, %a1 : tensor<1x2048xf32>, tensor<2048x17xf32>\n"
          "%q = nn.matmul %a0, %n {transpose_rhs} : tensor<1x2048xf32>, tensor<17x2048xf32>\n"
          "%r = nn.add %p, %q : tensor<1x17xf32>, tensor<1x17xf32>",
          {},
          kUnits}});
}

// A constant right side is packed; the epilogue after the product must not change its bits.
std::string constantMatrix(const std::string &type, int64_t rows, int64_t columns) {
  std::string text = "dense<[";
  for (int64_t r = 0; r < rows; ++r) {
    text += r ? ", [" : "[";
    for (int64_t c = 0; c < columns; ++c) {
      int64_t value = (r * 7 + c * 13) % 31 - 15;
      text += (c ? ", " : "") + (type[0] == 'i' ? std::to_string(value) : std::to_string(value / 16.0));
    }
    text += "]";
  }
  return text + "]> : tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + type + ">";
}

TEST(OpTable, ProductsWithConstants) {
  const int64_t sizes[][3] = {{1, 33, 17}, {1, 10, 65},  {3, 31, 16}, {4, 64, 9},  {7, 65, 33},
                              {8, 32, 15}, {14, 100, 8}, {31, 17, 5}, {65, 33, 31}};
  std::vector<Row> rows;
  for (const char *type : {"f32", "f64", "bf16"})
    for (const auto &s : sizes) {
      std::string t = type, m = std::to_string(s[0]), n = std::to_string(s[1]), k = std::to_string(s[2]);
      std::string lhs = "tensor<" + m + "x" + k + "x" + t + ">", weight = "tensor<" + n + "x" + k + "x" + t + ">";
      std::string out = "tensor<" + m + "x" + n + "x" + t + ">", bias = "tensor<" + n + "x" + t + ">";
      std::string constant = "%w = nn.constant " + constantMatrix(t, s[1], s[2]) + "\n";
      std::string name = m + "x" + k + " times a constant " + k + "x" + n + " of " + t;
      double slack = t == "bf16" ? 0.05 : 0;
      Bound bound = chainBound(t, s[2]);
      bound.absolute += slack;
      rows.push_back({"linear " + name,
                      {m + "x" + k + "x" + t, n + "x" + t},
                      constant + "%r = nn.linear %a0, %w, %a1 : " + lhs + ", " + weight + ", " + bias,
                      bound,
                      kUnits});
      rows.push_back({"linear with relu, " + name,
                      {m + "x" + k + "x" + t, n + "x" + t},
                      constant + "%y = nn.linear %a0, %w, %a1 : " + lhs + ", " + weight + ", " + bias +
                          "\n%r = nn.relu %y : " + out,
                      bound,
                      kUnits});
      rows.push_back({"linear with residual, " + name,
                      {m + "x" + k + "x" + t, n + "x" + t, m + "x" + n + "x" + t},
                      constant + "%y = nn.linear %a0, %w, %a1 : " + lhs + ", " + weight + ", " + bias +
                          "\n%z = nn.add %y, %a2 : " + out + ", " + out + "\n%r = nn.tanh %z : " + out,
                      {bound.ulps + 3, bound.absolute},
                      kUnits});
    }
  check(rows);
}

std::string convAttributes(const std::string &strides, const std::string &dilations, const std::string &padding,
                           const std::string &more = "") {
  return " {strides = array<i64: " + strides + ">, dilations = array<i64: " + dilations +
         ">, padding = array<i64: " + padding + ">" + more + "}";
}

TEST(OpTable, Convolutions) {
  struct Case {
    const char *input, *filter, *strides, *dilations, *padding, *groups;
    double k;
  } cases[] = {
      {"1x3x8x9x", "4x3x3x3x", "1, 1", "1, 1", "1, 1, 1, 1", "1", 27},
      {"2x5x7x7x", "33x5x3x3x", "2, 2", "1, 1", "1, 1, 1, 1", "1", 45},
      {"1x16x5x6x", "17x16x1x1x", "1, 1", "1, 1", "0, 0, 0, 0", "1", 16},
      {"1x4x9x9x", "6x2x3x3x", "1, 1", "1, 1", "0, 1, 2, 1", "2", 18},
      {"2x17x6x7x", "17x1x3x3x", "1, 1", "1, 1", "1, 1, 1, 1", "17", 9},
      {"1x32x5x5x", "32x1x3x3x", "2, 2", "1, 1", "1, 1, 1, 1", "32", 9},
      {"1x3x11x11x", "8x3x3x3x", "1, 1", "2, 2", "2, 2, 2, 2", "1", 27},
      {"2x5x9x38x", "1x5x3x5x", "1, 1", "1, 1", "1, 2, 1, 4", "1", 75},
      {"1x1x28x28x", "6x1x5x5x", "1, 1", "1, 1", "0, 0, 0, 0", "1", 25},
      {"1x3x3x3x", "2x3x5x5x", "1, 1", "1, 1", "3, 3, 3, 3", "1", 75},
      {"1x2x1x1x", "3x2x1x1x", "1, 1", "1, 1", "0, 0, 0, 0", "1", 2},
      {"2x4x17x", "5x4x3x", "2", "1", "1, 1", "1", 12},
      {"1x2x4x5x6x", "3x2x2x2x2x", "1, 1, 1", "1, 1, 1", "0, 0, 0, 1, 1, 1", "1", 16},
      {"1x8x32x32x", "16x8x3x3x", "1, 1", "1, 1", "1, 1, 1, 1", "1", 72},
      // What a tile's windows see of several images, in part or as a whole, with strides, dilations and groups.
      {"3x16x11x9x", "17x16x3x3x", "1, 1", "1, 1", "0, 1, 0, 1", "1", 144},
      {"2x16x16x16x", "18x16x3x3x", "2, 2", "1, 1", "1, 1, 0, 0", "1", 144},
      {"11x16x4x4x", "16x16x3x3x", "1, 1", "1, 1", "1, 1, 1, 1", "1", 144},
      {"3x12x12x15x", "33x12x2x4x", "1, 3", "2, 1", "1, 2, 1, 2", "1", 96},
      {"3x16x10x8x", "34x8x3x3x", "3, 2", "1, 1", "1, 1, 1, 1", "2", 72},
      {"0x3x8x8x", "4x3x3x3x", "1, 1", "1, 1", "1, 1, 1, 1", "1", 27},
      // One channel in and out: vectors of columns, the last of them in part, inside and across the padding.
      {"2x1x9x70x", "1x1x3x5x", "1, 1", "1, 1", "1, 2, 1, 4", "1", 15},
      {"1x1x6x140x", "1x1x2x3x", "2, 1", "1, 2", "0, 0, 1, 0", "1", 6},
      {"3x1x20x", "1x1x24x", "1", "2", "30, 40", "1", 24},
      {"2x1x3x4x18x", "1x1x2x3x2x", "1, 2, 1", "1, 1, 3", "1, 0, 2, 0, 1, 3", "1", 12},
      {"1x1x40x", "1x1x3x", "2", "1", "1, 1", "1", 3},
      // One channel out of several: rows of the input stay from one row of the result to the next.
      {"1x18x6x40x", "1x18x2x3x", "2, 1", "1, 2", "0, 0, 1, 0", "1", 108},
      {"1x3x9x12x", "1x3x3x3x", "1, 1", "2, 1", "2, 1, 2, 1", "1", 27},
      {"3x20x40x", "1x20x9x", "1", "3", "12, 12", "1", 180},
      {"1x4x3x4x18x", "1x4x2x3x2x", "1, 2, 1", "1, 1, 3", "1, 0, 2, 0, 1, 3", "1", 48},
      // Taps far apart, of which a tile's columns see the same ones.
      {"2x4x150x", "5x4x7x", "1", "20", "60, 60", "1", 28},
      {"1x3x160x", "4x3x9x", "2", "15", "70, 61", "1", 27},
      {"1x20x180x", "20x1x7x", "1", "24", "144, 0", "20", 7},
      // One row, in blocks of columns: two, and many, of which only the outer ones have padding.
      {"1x4x150x", "9x4x5x", "1", "1", "3, 2", "1", 20},
      {"1x32x700x", "17x32x9x", "1", "2", "9, 7", "1", 288},
      // Long chains, whatever the tiles.
      {"1x400x20x", "9x400x3x", "1", "1", "1, 1", "1", 1200},
  };
  for (const char *type : {"f32", "f64", "bf16", "i32"}) {
    std::vector<Row> rows;
    bool all = std::string(type) == "f32";
    for (const Case &c : llvm::ArrayRef(cases).take_front(all ? std::size(cases) : 8))
      rows.push_back(row("nn.conv %a0, %a1" + convAttributes(c.strides, c.dilations, c.padding,
                                                             std::string(", groups = ") + c.groups + " : i64"),
                         {c.input + std::string(type), c.filter + std::string(type)}, chainBound(type, c.k), kUnits));
    check(rows);
  }
}

// Functions are computed for the rows of a register tile in turn: tiles of all heights, at edges and in between, with
// masked columns.
TEST(OpTable, FunctionsBehindConvolutions) {
  for (std::string t : {"f32", "f64"}) {
    auto rowOf = [&](const char *input, const char *filter, const char *groups, const char *result,
                     const char *function) {
      std::string a = "tensor<" + (input + t) + ">", b = "tensor<" + (filter + t) + ">";
      std::string r = "tensor<" + (result + t) + ">";
      return Row{std::string("nn.conv and nn.") + function,
                 {input + t, filter + t},
                 "%x = nn.conv %a0, %a1" +
                     convAttributes("1, 1", "1, 1", "1, 1, 1, 1", std::string(", groups = ") + groups + " : i64") +
                     " : " + a + ", " + b + "\n%y = nn." + function + " %x : " + r + "\n%r = nn.mul %y, %x : " + r +
                     ", " + r,
                 {16, t == "f32" ? 1e-5 : 1e-13},
                 kUnits};
    };
    check({rowOf("1x8x6x33x", "20x8x3x3x", "1", "1x20x6x33x", "sigmoid"),
           rowOf("2x8x5x14x", "40x8x3x3x", "1", "2x40x5x14x", "tanh"),
           rowOf("1x21x6x30x", "21x1x3x3x", "21", "1x21x6x30x", "erf"),
           rowOf("1x3x5x7x", "4x3x3x3x", "1", "1x4x5x7x", "exp")});
  }
}

// What a window does not see is no part of a sum, though the weight be infinite or NaN. Sizes that tiles take.
TEST(OpTable, ConvolutionsOfInfinities) {
  auto rowOf = [](std::string op, std::string left, std::string right, std::string attributes) {
    std::string a = "tensor<" + left + ">", b = "tensor<" + right + ">";
    return Row{op,
               {left, right},
               "%x = nn.reciprocal %a1 : " + b + "\n%r = " + op + " %a0, %x" + attributes + " : " + a + ", " + b,
               {4, 1e-4},
               {{Fill::Unit}, {Fill::Index, 40}}};
  };
  std::string none = ", output_padding = array<i64: 0, 0>";
  check({
      rowOf("nn.conv", "2x16x7x9xf32", "16x16x3x3xf32", convAttributes("1, 1", "1, 1", "1, 1, 1, 1")),
      rowOf("nn.conv", "2x1x9x70xf32", "1x1x3x5xf32", convAttributes("1, 1", "1, 1", "1, 2, 1, 4")),
      rowOf("nn.conv", "1x9x13x12xf32", "31x9x3x3xf32", convAttributes("2, 2", "1, 1", "1, 2, 2, 1")),
      rowOf("nn.conv", "3x4x5x5xf32", "16x4x3x3xf32", convAttributes("1, 1", "1, 1", "6, 7, 20, 3")),
      rowOf("nn.conv", "2x24x6x7xf32", "32x12x3x3xf32",
            convAttributes("1, 1", "2, 1", "2, 1, 2, 1", ", groups = 2 : i64")),
      rowOf("nn.conv", "2x24x130xf32", "15x24x5xf32", convAttributes("2", "3", "6, 6")),
      rowOf("nn.conv", "1x8x4x5x6xf32", "30x8x3x2x3xf32", convAttributes("1, 1, 1", "1, 1, 1", "1, 0, 1, 1, 1, 1")),
      rowOf("nn.conv_transpose", "2x16x6x5xf32", "16x16x3x3xf32", convAttributes("1, 1", "1, 1", "1, 1, 1, 1", none)),
      rowOf("nn.conv_transpose", "2x18x6x5xf32", "18x15x3x3xf32",
            convAttributes("2, 2", "1, 1", "1, 1, 0, 1", none + ", groups = 2 : i64")),
      rowOf("nn.conv_transpose", "2x12x8x6xf32", "12x16x3x3xf32", convAttributes("1, 2", "1, 1", "2, 0, 2, 1", none)),
      rowOf("nn.conv_transpose", "2x8x7x8xf32", "8x16x4x3xf32", convAttributes("3, 2", "1, 3", "1, 0, 2, 5", none)),
      rowOf("nn.conv_filter_grad", "2x8x9x7xf32", "2x16x9x7xf32",
            convAttributes("1, 1", "1, 1", "1, 1, 1, 1", ", window = array<i64: 3, 3>")),
      rowOf("nn.conv_filter_grad", "3x24x22x23xf32", "3x34x12x12xf32",
            convAttributes("2, 2", "1, 1", "2, 1, 1, 2", ", window = array<i64: 3, 3>, groups = 2 : i64")),
      // Blocks compute their parts: fewer and more of them than are read at once, the last one shorter.
      rowOf("nn.conv_filter_grad", "5x1x15x14xf32", "5x6x15x14xf32",
            convAttributes("1, 1", "1, 1", "1, 1, 1, 1", ", window = array<i64: 3, 3>")),
      rowOf("nn.conv_filter_grad", "9x4x33x31xf32", "9x6x31x31xf32",
            convAttributes("1, 1", "1, 1", "0, 1, 0, 1", ", window = array<i64: 3, 3>, groups = 2 : i64")),
  });
}

TEST(OpTable, FilterGradients) {
  struct Case {
    const char *input, *cotangent, *window, *strides, *dilations, *padding, *groups;
    double k;
  } cases[] = {
      {"2x3x8x9x", "2x4x8x9x", "3, 3", "1, 1", "1, 1", "1, 1, 1, 1", "1", 144},
      {"2x9x7x7x", "2x33x4x4x", "3, 3", "2, 2", "1, 1", "1, 1, 1, 1", "1", 32},
      {"2x16x5x6x", "2x17x5x6x", "1, 1", "1, 1", "1, 1", "0, 0, 0, 0", "1", 60},
      {"1x4x9x9x", "1x6x8x10x", "3, 3", "1, 1", "1, 1", "0, 1, 1, 2", "2", 80},
      {"2x17x6x7x", "2x17x6x7x", "3, 3", "1, 1", "1, 1", "1, 1, 1, 1", "17", 84},
      {"3x32x5x5x", "3x32x3x3x", "3, 3", "2, 2", "1, 1", "1, 1, 1, 1", "32", 27},
      {"1x3x11x11x", "1x8x11x11x", "3, 3", "1, 1", "2, 2", "2, 2, 2, 2", "1", 121},
      {"4x1x20x20x", "4x6x16x16x", "5, 5", "1, 1", "1, 1", "0, 0, 0, 0", "1", 1024},
      {"5x6x20x20x", "5x16x16x16x", "5, 5", "1, 1", "1, 1", "0, 0, 0, 0", "1", 1280},
      {"6x16x14x14x", "6x40x14x14x", "3, 3", "1, 1", "1, 1", "1, 1, 1, 1", "1", 1176},
      {"3x32x20x20x", "3x32x20x20x", "3, 3", "1, 1", "1, 1", "1, 1, 1, 1", "32", 1200},
      {"1x3x3x3x", "1x2x5x5x", "5, 5", "1, 1", "1, 1", "3, 3, 3, 3", "1", 25},
      {"2x1x9x9x", "2x20x9x9x", "5, 5", "1, 1", "1, 1", "2, 2, 2, 2", "1", 162},
      {"2x4x17x", "2x5x9x", "3", "2", "1", "1, 1", "1", 18},
      {"1x20x1500x", "1x5x1500x", "3", "1", "1", "1, 1", "1", 1500},
      {"1x2x4x5x6x", "1x3x3x5x6x", "2, 2, 2", "1, 1, 1", "1, 1, 1", "0, 0, 0, 0, 1, 1", "1", 90},
      {"1x10x4x5x6x", "1x3x4x5x6x", "3, 3, 3", "1, 1, 1", "1, 1, 1", "1, 1, 1, 1, 1, 1", "1", 120},
      {"0x3x8x8x", "0x4x8x8x", "3, 3", "1, 1", "1, 1", "1, 1, 1, 1", "1", 1},
  };
  for (const char *type : {"f32", "f64", "bf16", "i32"}) {
    std::vector<Row> rows;
    bool all = std::string(type) == "f32";
    for (const Case &c : llvm::ArrayRef(cases).take_front(all ? std::size(cases) : 8))
      rows.push_back(
          row("nn.conv_filter_grad %a0, %a1" + convAttributes(c.strides, c.dilations, c.padding,
                                                              std::string(", window = array<i64: ") + c.window +
                                                                  ">, groups = " + c.groups + " : i64"),
              {c.input + std::string(type), c.cotangent + std::string(type)}, chainBound(type, c.k), kUnits));
    check(rows);
  }
}

TEST(OpTable, TransposedConvolutions) {
  std::vector<Row> rows;
  for (const char *type : {"f32", "f64", "i32"}) {
    std::string t = type;
    auto add = [&](std::string input, std::string filter, std::string attributes, double k) {
      rows.push_back(row("nn.conv_transpose %a0, %a1" + attributes, {input + t, filter + t}, chainBound(t, k), kUnits));
    };
    add("1x3x4x5x", "3x2x3x3x", convAttributes("1, 1", "1, 1", "0, 0, 0, 0", ", output_padding = array<i64: 0, 0>"),
        27);
    add("2x3x4x4x", "3x17x2x2x", convAttributes("2, 2", "1, 1", "0, 0, 0, 0", ", output_padding = array<i64: 0, 0>"),
        12);
    add("1x4x5x5x", "4x3x3x3x", convAttributes("2, 2", "1, 1", "1, 1, 1, 1", ", output_padding = array<i64: 1, 1>"),
        36);
    add("1x4x5x5x", "4x3x3x3x",
        convAttributes("1, 1", "2, 2", "1, 0, 0, 1", ", output_padding = array<i64: 0, 0>, groups = 2 : i64"), 18);
    add("1x3x7x", "3x2x3x", convAttributes("3", "1", "0, 0", ", output_padding = array<i64: 0>"), 9);
    // Phases of strides: odd sizes, taps that reach one phase alone, phases that no tap reaches, cropped inputs.
    add("2x5x4x5x", "5x3x3x3x", convAttributes("2, 2", "1, 1", "1, 1, 1, 1", ", output_padding = array<i64: 0, 1>"),
        20);
    add("1x4x3x3x", "4x3x1x1x", convAttributes("2, 3", "1, 1", "0, 0, 0, 0", ", output_padding = array<i64: 1, 2>"), 4);
    add("1x4x4x3x", "4x2x5x4x",
        convAttributes("2, 2", "2, 3", "3, 0, 2, 4", ", output_padding = array<i64: 0, 0>, groups = 2 : i64"), 40);
    add("1x2x6x", "2x3x5x", convAttributes("4", "2", "6, 5", ", output_padding = array<i64: 0>"), 10);
    add("1x2x3x2x3x", "2x3x2x3x2x",
        convAttributes("2, 1, 2", "1, 1, 1", "0, 1, 0, 0, 1, 0", ", output_padding = array<i64: 1, 0, 1>"), 24);
  }
  check(rows);
}

} // namespace
} // namespace sprig::optable
