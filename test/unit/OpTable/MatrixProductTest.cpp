// Products and convolutions of bytes that are large enough for a processor's matrix unit: sizes around its tiles of 16
// rows, 64 bytes and 16 columns.
#include "test/unit/OpTable/Bytes.h"
#include "test/unit/OpTable/Harness.h"
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

Row product(int64_t m, int64_t k, int64_t n, bool quantises) {
  std::string x = tensor({m, k}, "ui8"), w = tensor({k, n}, "i8"), sums = tensor({m, n}, "i32");
  std::string floats = tensor({m, n}, "f32"), bytes = tensor({m, n}, "ui8");
  std::string name = x + " times " + w + (quantises ? ", quantised" : "");
  std::string body = "%w = nn.constant " + constantBytes({k, n}, "i8", m + k + n) +
                     "\n%y = nn.constant dense<3> : tensor<ui8>\n%z = nn.constant dense<0> : tensor<i8>\n%p = "
                     "nn.matmul_integer %a0, %w, %y, %z : tensor<" +
                     x + ">, tensor<" + w + ">, tensor<ui8>, tensor<i8>\n";
  if (!quantises) return {name, {x}, body + "%r = nn.add %p, %p : tensor<" + sums + ">, tensor<" + sums + ">", {}};
  body += "%b = nn.constant dense<-70> : tensor<" + tensor({n}, "i32") + ">\n%s = nn.add %p, %b : tensor<" + sums +
          ">, tensor<" + tensor({n}, "i32") +
          ">\n%one = nn.constant dense<1.0> : tensor<f32>\n%f = nn.constant dense<0.0007> : tensor<f32>\n%c = nn.cast "
          "%s : tensor<" +
          sums + "> to tensor<" + floats + ">\n%m = nn.mul %c, %f : tensor<" + floats +
          ">, tensor<f32>\n%r = nn.quantize %m, %one, %a1 : tensor<" + floats + ">, tensor<f32>, tensor<ui8>";
  return {name, {x, "ui8"}, body, {}};
}

TEST(OpTable, MatrixProductsOfBytes) {
  std::vector<Row> rows;
  for (auto [m, k, n] : {std::array<int64_t, 3>{16, 64, 64},
                         {5, 256, 64},
                         {15, 128, 48},
                         {17, 128, 48},
                         {33, 64, 40},
                         {31, 192, 33},
                         {48, 84, 20},
                         {64, 100, 17},
                         {61, 131, 70},
                         {40, 70, 16},
                         {23, 333, 9},
                         {512 + 24, 32, 33},
                         {1030, 20, 8},
                         {28, 144, 130},
                         {29, 784, 16},
                         {130, 65, 32}})
    for (bool quantises : {false, true}) rows.push_back(product(m, k, n, quantises));
  check(rows);
}

struct Convolution {
  std::vector<int64_t> input, filter; // NCHW, OIHW
  int64_t stride, dilation, low, high, groups;
  std::vector<int64_t> result; // height and width
};

Row convolution(const Convolution &c, int64_t point) {
  std::vector<int64_t> shape = {c.input[0], c.filter[0], c.result[0], c.result[1]};
  auto pair = [](int64_t value) { return std::to_string(value) + ", " + std::to_string(value); };
  std::string x = tensor(c.input, "ui8"), w = tensor(c.filter, "i8"), sums = tensor(shape, "i32");
  // No padding above or below a single row.
  auto sides = [&](int64_t value) {
    return std::to_string(c.input[2] == 1 ? 0 : value) + ", " + std::to_string(value);
  };
  std::string attributes = "{strides = array<i64: " + pair(c.stride) + ">, dilations = array<i64: " + pair(c.dilation) +
                           ">, padding = array<i64: " + sides(c.low) + ", " + sides(c.high) +
                           ">, groups = " + std::to_string(c.groups) + " : i64}";
  return {x + " by " + w + " " + attributes + ", point " + std::to_string(point),
          {x},
          "%w = nn.constant " + constantBytes(c.filter, "i8", c.input[3]) + "\n%y = nn.constant dense<" +
              std::to_string(point) + "> : tensor<ui8>\n%z = nn.constant dense<0> : tensor<i8>\n%p = " +
              "nn.conv_integer %a0, %w, %y, %z " + attributes + " : tensor<" + x + ">, tensor<" + w +
              ">, tensor<ui8>, tensor<i8>\n%r = nn.add %p, %p : tensor<" + sums + ">, tensor<" + sums + ">",
          {}};
}

// Rows are neighbours in width, whose edges lack taps where what is padded counts nothing, or samples.
TEST(OpTable, MatrixConvolutions) {
  std::vector<Row> rows;
  for (const Convolution &c : std::vector<Convolution>{{{1, 64, 6, 14}, {40, 64, 3, 3}, 1, 1, 1, 1, 1, {6, 14}},
                                                       {{1, 32, 5, 17}, {33, 32, 3, 3}, 1, 1, 1, 1, 1, {5, 17}},
                                                       {{2, 16, 7, 33}, {16, 16, 3, 3}, 1, 1, 1, 1, 1, {7, 33}},
                                                       {{1, 48, 9, 31}, {24, 48, 5, 5}, 2, 1, 2, 2, 1, {5, 16}},
                                                       {{1, 64, 8, 20}, {32, 64, 3, 3}, 1, 2, 2, 2, 1, {8, 20}},
                                                       {{1, 64, 4, 18}, {64, 32, 3, 3}, 1, 1, 1, 1, 2, {4, 18}},
                                                       {{1, 64, 9, 9}, {32, 64, 1, 1}, 2, 1, 0, 0, 1, {5, 5}},
                                                       {{1, 64, 7, 7}, {40, 64, 1, 1}, 1, 1, 0, 0, 1, {7, 7}},
                                                       {{1, 16, 6, 40}, {16, 16, 3, 3}, 1, 1, 0, 0, 1, {4, 38}},
                                                       {{1, 16, 2, 60}, {16, 16, 1, 25}, 1, 2, 24, 24, 1, {50, 60}},
                                                       {{1, 64, 1, 400}, {64, 64, 1, 3}, 1, 1, 1, 1, 1, {1, 400}},
                                                       {{1, 64, 1, 402}, {64, 64, 1, 3}, 1, 1, 0, 0, 1, {1, 400}},
                                                       {{1, 32, 1, 130}, {40, 32, 1, 5}, 1, 2, 4, 4, 1, {1, 130}},
                                                       {{20, 32, 4, 4}, {32, 32, 3, 3}, 1, 1, 1, 1, 1, {4, 4}},
                                                       {{37, 64, 3, 3}, {48, 64, 3, 3}, 2, 1, 1, 1, 1, {2, 2}}})
    for (int64_t point : {0, 3}) rows.push_back(convolution(c, point));
  check(rows);
}

} // namespace
} // namespace sprig::optable
