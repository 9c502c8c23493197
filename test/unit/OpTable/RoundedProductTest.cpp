// Products of bf16 that are summed in f32: one instruction on some processors, multiply-adds that flush denormals on
// others, with the same bits.
#include "test/unit/OpTable/Bytes.h"
#include "test/unit/OpTable/Harness.h"
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

const std::vector<Pattern> kTwoUnits = {{Fill::Unit}, {Fill::Unit}};

/// A constant of bf16 in [-1, 1] times a power of two.
std::string halvesOfExponent(const std::vector<int64_t> &shape, int exponent = 0) {
  static const char *digits = "0123456789ABCDEF";
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  std::string text = "dense<\"0x";
  for (int64_t i = 0; i < count; ++i) {
    // 1.m times 2^-1 to 2^-3.
    uint32_t bits = uint32_t(i * 73 % 128) | uint32_t(126 + exponent - i % 3) << 7 | uint32_t(i * 37 % 5 < 2) << 15;
    for (int shift : {4, 0, 12, 8}) text += digits[bits >> shift & 15];
  }
  return text + "\"> : tensor<" + tensor(shape, "bf16") + ">";
}

Bound sumsOf(double k) { return {1, 2 * k * (1 + k / 8) * 0x1p-24}; }

Row roundedProduct(int64_t m, int64_t n, int64_t k, bool transposed) {
  std::string x = "tensor<" + tensor({m, k}, "f32") + ">", h = "tensor<" + tensor({m, k}, "bf16") + ">";
  std::vector<int64_t> shape = transposed ? std::vector{n, k} : std::vector{k, n};
  std::string out = "tensor<" + tensor({m, n}, "f32") + ">";
  return {std::to_string(m) + "x" + std::to_string(k) + " times " + std::to_string(k) + "x" + std::to_string(n),
          {tensor({m, k}, "f32"), tensor({n}, "f32")},
          "%w = nn.constant " + halvesOfExponent(shape) + "\n%h = nn.cast %a0 : " + x + " to " + h +
              "\n%p = nn.matmul %h, %w {accumulator = f32" + (transposed ? ", transpose_rhs" : "") + "} : " + h +
              ", tensor<" + tensor(shape, "bf16") + ">\n%b = nn.add %p, %a1 : " + out + ", tensor<" +
              tensor({n}, "f32") + ">\n%r = nn.relu %b : " + out,
          sumsOf(double(k)),
          kTwoUnits};
}

TEST(OpTable, RoundedMatrixProducts) {
  std::vector<Row> rows;
  for (int64_t n : {1, 5, 8, 16, 17, 33, 49, 65, 130})
    for (int64_t k : {1, 2, 19, 32}) rows.push_back(roundedProduct(7, n, k, k == 19));
  for (int64_t m : {1, 2, 3, 5, 15, 31, 65}) rows.push_back(roundedProduct(m, 40, 33, false));
  // Sums that are cut in parts, with a last factor that has no neighbour.
  for (int64_t k : {1024, 1025, 1536, 1537, 2049}) rows.push_back(roundedProduct(3, 20, k, true));
  // Rows that are f32 part by part where there is no such instruction.
  for (int64_t k : {255, 256, 257, 300, 513, 1023, 1024})
    for (int64_t m : {5, 14, 29}) rows.push_back(roundedProduct(m, 33, k, false));
  check(rows);
}

TEST(OpTable, RoundedConvolutions) {
  struct Case {
    std::vector<int64_t> input, filter;
    std::string strides, dilations, padding, groups;
  } cases[] = {
      {{1, 16, 7, 9}, {33, 16, 3, 3}, "1, 1", "1, 1", "1, 1, 1, 1", "1"},
      {{2, 6, 7, 7}, {17, 6, 3, 3}, "2, 2", "1, 1", "1, 1, 1, 1", "1"},
      {{2, 32, 5, 6}, {40, 32, 1, 1}, "1, 1", "1, 1", "0, 0, 0, 0", "1"},
      {{1, 8, 9, 9}, {6, 4, 3, 3}, "1, 1", "1, 1", "0, 1, 2, 1", "2"},
      {{1, 3, 11, 11}, {8, 3, 3, 3}, "1, 1", "1, 1", "1, 1, 1, 1", "1"},
      {{1, 3, 11, 11}, {8, 3, 3, 3}, "1, 1", "2, 2", "0, 0, 0, 0", "1"},
      {{9, 4, 3, 3}, {5, 4, 2, 2}, "1, 1", "1, 1", "0, 0, 0, 0", "1"},
      {{2, 4, 17}, {5, 4, 3}, "2", "1", "1, 1", "1"},
      {{1, 130, 4, 4}, {5, 130, 3, 3}, "1, 1", "1, 1", "0, 0, 0, 0", "1"},
  };
  std::vector<Row> rows;
  for (const Case &c : cases) {
    std::string x = "tensor<" + tensor(c.input, "f32") + ">", h = "tensor<" + tensor(c.input, "bf16") + ">";
    int64_t depth = 1;
    for (size_t d = 1; d < c.filter.size(); ++d) depth *= c.filter[d];
    rows.push_back({tensor(c.input, "bf16") + " with " + tensor(c.filter, "bf16"),
                    {tensor(c.input, "f32")},
                    "%w = nn.constant " + halvesOfExponent(c.filter) + "\n%h = nn.cast %a0 : " + x + " to " + h +
                        "\n%r = nn.conv %h, %w {accumulator = f32, strides = array<i64: " + c.strides +
                        ">, dilations = array<i64: " + c.dilations + ">, padding = array<i64: " + c.padding +
                        ">, groups = " + c.groups + " : i64} : " + h + ", tensor<" + tensor(c.filter, "bf16") + ">",
                    sumsOf(double(depth)),
                    kTwoUnits});
  }
  check(rows);
}

// Products and sums on both sides of the smallest normal number, 2^-126.
TEST(OpTable, RoundedProductsOfTinyNumbers) {
  std::vector<Row> rows;
  for (int exponent : {-60, -63, -66, -70})
    for (int64_t k : {2, 7, 40}) {
      std::string x = "tensor<" + tensor({5, k}, "f32") + ">", h = "tensor<" + tensor({5, k}, "bf16") + ">";
      rows.push_back({"factors of 2^" + std::to_string(exponent) + ", " + std::to_string(k) + " of them",
                      {tensor({5, k}, "f32")},
                      "%s = nn.constant dense<1.0e-19> : tensor<f32>\n%t = nn.mul %a0, %s : " + x +
                          ", tensor<f32>\n%h = nn.cast %t : " + x + " to " + h + "\n%w = nn.constant " +
                          halvesOfExponent({k, 20}, exponent) + "\n%r = nn.matmul %h, %w {accumulator = f32} : " + h +
                          ", tensor<" + tensor({k, 20}, "bf16") + ">",
                      {1, double(2 * k) * 0x1p-126},
                      kTwoUnits});
    }
  check(rows);
}

// A constant that is infinite, with a last factor that has no neighbour; and 2^24 before 1024 ones, of which a chain
// that is not cut keeps none.
TEST(OpTable, RoundedProductsOfSpecialSizes) {
  auto roundedProduct = [](int64_t k, const std::string &factor, const std::string &weight) -> Row {
    std::string x = "tensor<2x" + std::to_string(k) + "xf32>", h = "tensor<2x" + std::to_string(k) + "xbf16>";
    std::string w = "tensor<" + std::to_string(k) + "x3xbf16>";
    return {std::to_string(k) + " of " + weight.substr(0, 20),
            {"2x" + std::to_string(k) + "xf32"},
            "%one = nn.constant dense<1.0> : tensor<f32>\n" + factor + " : " + x + ", " + x +
                "\n%p = nn.add %d, %one : " + x + ", tensor<f32>\n%h = nn.cast %p : " + x + " to " + h +
                "\n%w = nn.constant dense<" + weight + "> : " + w +
                "\n%r = nn.matmul %h, %w {accumulator = f32} : " + h + ", " + w,
            {0, 600},
            kTwoUnits};
  };
  std::string large = "[[16777216.0, 16777216.0, 1.0]";
  for (int i = 1; i < 1025; ++i) large += ", [1.0, 1.0, 1.0]";
  check({roundedProduct(3, "%d = nn.mul %a0, %a0", "0x7F80"), roundedProduct(4, "%d = nn.mul %a0, %a0", "0x7F80"),
         roundedProduct(1025, "%d = nn.sub %a0, %a0", large + "]")});
}

// Casts that nothing separates: a NaN that signals becomes a quiet one, fused or not.
TEST(OpTable, RoundedNaNs) {
  check({{"bf16 by f32 to bf16",
          {"40xbf16"},
          "%n = nn.constant dense<0x7F81> : tensor<bf16>\n%z = nn.constant dense<0.0> : tensor<bf16>\n"
          "%g = nn.compare gt %a0, %z : tensor<40xbf16>, tensor<bf16>\n"
          "%s = nn.select %g, %n, %a0 : tensor<40xi1>, tensor<bf16>, tensor<40xbf16>\n"
          "%f = nn.cast %s : tensor<40xbf16> to tensor<40xf32>\n%r = nn.cast %f : tensor<40xf32> to tensor<40xbf16>",
          {},
          kTwoUnits}});
}

// No product of the thread's own is flushed: what follows the sums, and what a kernel after them computes.
TEST(OpTable, RoundedProductsLeaveDenormalsAlone) {
  check(
      {{"denormals behind a product",
        {"3x8xf32", "3x20xf32"},
        "%s = nn.constant dense<1.0e-41> : tensor<f32>\n%h = nn.cast %a0 : tensor<3x8xf32> to tensor<3x8xbf16>\n"
        "%w = nn.constant " +
            halvesOfExponent({8, 20}) +
            "\n%p = nn.matmul %h, %w {accumulator = f32} : tensor<3x8xbf16>, tensor<8x20xbf16>\n"
            "%t = nn.mul %p, %s : tensor<3x20xf32>, tensor<f32>\n%u = nn.mul %a1, %s : tensor<3x20xf32>, tensor<f32>\n"
            "%r = nn.sub %t, %u : tensor<3x20xf32>, tensor<3x20xf32>",
        {4, 0x1p-147},
        kTwoUnits}});
}

} // namespace
} // namespace sprig::optable
