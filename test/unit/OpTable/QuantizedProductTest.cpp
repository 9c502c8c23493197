// Products of bytes with all that follows them in one kernel of the CPU.
#include "test/unit/OpTable/Bytes.h"
#include "test/unit/OpTable/Harness.h"
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

// What networks do: a product, its factor, a quantiser, in one kernel, with every tail of columns.
TEST(OpTable, QuantisedProducts) {
  std::vector<Row> rows;
  for (std::string to : {"i8", "ui8"})
    for (int64_t n : {1, 2, 5, 8, 9, 16, 17, 24, 25, 33, 49}) {
      std::string x = tensor({7, 19}, "ui8"), w = tensor({19, n}, "i8"), sums = tensor({7, n}, "i32");
      std::string floats = tensor({7, n}, "f32");
      std::string body = "%w = nn.constant " + constantBytes({19, n}, "i8", n) +
                         "\n%y = nn.constant dense<3> : tensor<ui8>\n%z = nn.constant dense<0> : tensor<i8>\n"
                         "%one = nn.constant dense<1.0> : tensor<f32>\n%f = nn.constant dense<0.0007> : tensor<f32>\n"
                         "%p = nn.matmul_integer %a0, %w, %y, %z : tensor<" +
                         x + ">, tensor<" + w + ">, tensor<ui8>, tensor<i8>\n%c = nn.cast %p : tensor<" + sums +
                         "> to tensor<" + floats + ">\n%m = nn.mul %c, %f : tensor<" + floats +
                         ">, tensor<f32>\n%r = nn.quantize %m, %one, %a1 : "
                         "tensor<" +
                         floats + ">, tensor<f32>, tensor<" + to + ">";
      rows.push_back({std::to_string(n) + " columns in " + to, {x, to}, body, {}});
    }
  check(rows);
}

// The same of one filter for each channel, with a bias of integers and a residual of bytes: what register tiles leave
// is stored by channels.
TEST(OpTable, QuantisedDepthwiseConvolutions) {
  std::vector<Row> rows;
  for (std::string to : {"i8", "ui8"})
    for (int64_t n : {2, 5, 8, 9, 16, 17, 24, 33, 64, 70}) {
      std::string x = tensor({1, n, 6, 5}, "ui8"), w = tensor({n, 1, 3, 3}, "i8"), y = tensor({1, n, 6, 5}, to);
      std::string sums = tensor({1, n, 6, 5}, "i32"), floats = tensor({1, n, 6, 5}, "f32");
      std::string attributes = "{strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, "
                               "1, 1>, groups = " +
                               std::to_string(n) + " : i64}";
      std::string body =
          "%w = nn.constant " + constantBytes({n, 1, 3, 3}, "i8", n) +
          "\n%y = nn.constant dense<3> : tensor<ui8>\n%z = nn.constant dense<0> : tensor<i8>\n"
          "%one = nn.constant dense<1.0> : tensor<f32>\n%f = nn.constant dense<0.0007> : tensor<f32>\n"
          "%b = nn.constant dense<-12345> : tensor<" +
          tensor({n, 1, 1}, "i32") + ">\n%p = nn.conv_integer %a0, %w, %y, %z " + attributes + " : tensor<" + x +
          ">, tensor<" + w + ">, tensor<ui8>, tensor<i8>\n%s = nn.add %p, %b : tensor<" + sums + ">, tensor<" +
          tensor({n, 1, 1}, "i32") + ">\n%c = nn.cast %s : tensor<" + sums + "> to tensor<" + floats +
          ">\n%m = nn.mul %c, %f : tensor<" + floats + ">, tensor<f32>\n%d = nn.dequantize %a2, %one, %a1 : tensor<" +
          y + ">, tensor<f32>, tensor<" + to + ">\n%t = nn.add %m, %d : tensor<" + floats + ">, tensor<" + floats +
          ">\n%r = nn.quantize %t, %one, %a1 : tensor<" + floats + ">, tensor<f32>, tensor<" + to + ">";
      rows.push_back({std::to_string(n) + " channels in " + to, {x, to, y}, body, {}});
    }
  check(rows);
}

/// A constant of bytes of which 16 neighbours are all that there are.
std::string constantHalves(const std::vector<int64_t> &shape, int64_t lowest) {
  static const char *digits = "0123456789ABCDEF";
  std::string text = "dense<\"0x";
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  for (int64_t i = 0; i < count; ++i) {
    int64_t code = i % 11 == 0 ? 0 : i % 7 == 0 ? 15 : (i * 73 + i / 16) % 16, byte = (lowest + code) & 255;
    text += {digits[byte >> 4], digits[byte & 15]};
  }
  return text + "\"> : tensor<" + tensor(shape, "i8") + ">";
}

// Weights that lie as four bits each: every tail of columns and of rows, both ends of their type and of the
// activations'.
TEST(OpTable, ProductsOfHalves) {
  std::vector<Row> rows;
  auto product = [&](int64_t m, int64_t n, int64_t k, int64_t lowest, bool transposed) {
    std::string x = tensor({m, k}, "ui8");
    std::vector<int64_t> shape = transposed ? std::vector{n, k} : std::vector{k, n};
    rows.push_back({x + " times " + tensor(shape, "i4") + " from " + std::to_string(lowest) + " on",
                    {x},
                    "%w = nn.constant " + constantHalves(shape, lowest) +
                        "\n%y = nn.constant dense<3> : tensor<ui8>\n%z = nn.constant dense<0> : tensor<i8>\n"
                        "%r = nn.matmul_integer %a0, %w, %y, %z" +
                        (transposed ? " {transpose_rhs}" : "") + " : tensor<" + x + ">, tensor<" + tensor(shape, "i8") +
                        ">, tensor<ui8>, tensor<i8>",
                    {}});
  };
  for (int64_t n : {65, 80, 82, 105, 130})
    for (int64_t k : {257, 260, 263, 264}) product(1, n, k, -8, k == 257);
  for (int64_t m : {2, 3, 5, 12, 13, 65}) product(m, 72, 269, -7, false);
  for (int64_t lowest : {-128, -8, 0, 112}) product(2, 67, 270, lowest, true);
  check(rows);
}

// Means as integers give what floats give where those are exact: counts and scales are powers of two.
TEST(OpTable, QuantisedMeans) {
  std::vector<Row> rows;
  auto add = [&](const std::string &type, int64_t channels, const std::string &operation,
                 const std::vector<int64_t> &result) {
    std::string x = tensor({2, channels, 8, 9}, type), floats = tensor({2, channels, 8, 9}, "f32");
    std::string mean = tensor(result, "f32");
    rows.push_back({type + ", " + std::to_string(channels) + " channels, " + operation,
                    {x},
                    "%s = nn.constant dense<0.5> : tensor<f32>\n%t = nn.constant dense<0.25> : tensor<f32>\n"
                    "%z = nn.constant dense<7> : tensor<" +
                        type + ">\n%d = nn.dequantize %a0, %s, %z : tensor<" + x + ">, tensor<f32>, tensor<" + type +
                        ">\n%m = " + operation + " : tensor<" + floats + ">\n%r = nn.quantize %m, %t, %z : tensor<" +
                        mean + ">, tensor<f32>, tensor<" + type + ">",
                    {}});
  };
  for (std::string type : {"ui8", "i8"})
    for (int64_t channels : {1, 5, 16, 70}) {
      add(type, channels,
          "nn.avg_pool %d {window = array<i64: 2, 2>, strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>, "
          "padding = array<i64: 0, 0, 0, 0>, counted_padding = array<i64: 0, 0, 0, 0>}",
          {2, channels, 4, 7});
      add(type, channels, "nn.reduce_mean %d axes = [2]", {2, channels, 9});
    }
  check(rows);
}

} // namespace
} // namespace sprig::optable
