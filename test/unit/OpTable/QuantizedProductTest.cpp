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

} // namespace
} // namespace sprig::optable
