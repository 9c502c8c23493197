// Rows of elementwise operations, with operands that broadcast.
#include "test/unit/Gradients/Harness.h"

namespace sprig::gradients {

std::vector<Row> elementwiseRows() {
  std::vector<Row> rows;
  for (const char *name :
       {"abs", "neg", "exp", "expm1", "sin", "cos", "sinh", "cosh", "tanh", "atan", "asinh", "erf", "sigmoid", "relu"})
    rows.push_back(row(std::string("nn.") + name + " %a0", {"3x4xf64"}));
  for (const char *name : {"log", "log1p", "sqrt", "rsqrt", "reciprocal"})
    rows.push_back(row(std::string("nn.") + name + " %a0", {"7xf64"}, {{Fill::Positive}}));
  rows.push_back({"tan, asin, acos, atanh inside their domains",
                  {"5xf64"},
                  R"(%s = nn.constant dense<0.8> : tensor<f64>
                     %x = nn.mul %a0, %s : tensor<5xf64>, tensor<f64>
                     %0 = nn.tan %x : tensor<5xf64>
                     %1 = nn.asin %x : tensor<5xf64>
                     %2 = nn.acos %x : tensor<5xf64>
                     %3 = nn.atanh %x : tensor<5xf64>
                     %r = nn.concat %0, %1, %2, %3 axis = 0 : tensor<5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>)",
                  {{Fill::Unit}}});
  rows.push_back({"acosh above one",
                  {"5xf64"},
                  R"(%s = nn.constant dense<1.5> : tensor<f64>
                     %x = nn.add %a0, %s : tensor<5xf64>, tensor<f64>
                     %r = nn.acosh %x : tensor<5xf64>)",
                  {{Fill::Positive}}});
  rows.push_back(row("nn.in_range %a0 {low = -1.0, high = 1.0}", {"2x3xf64"}, {{Fill::Unit}}));
  for (const char *name : {"add", "sub", "mul", "div", "max", "min", "rem", "mod"})
    for (auto shapes : std::vector<std::vector<std::string>>{{"2x3xf64", "2x3xf64"},
                                                             {"2x3xf64", "3xf64"},
                                                             {"f64", "2x3xf64"},
                                                             {"2x1x3xf64", "4x1xf64"},
                                                             {"1x3xf64", "2x1xf64"}})
      rows.push_back(row(std::string("nn.") + name + " %a0, %a1", shapes, {{}, {Fill::NonZero}}));
  rows.push_back(row("nn.pow %a0, %a1", {"2x3xf64", "3xf64"}, {{Fill::Positive}, {}}));
  rows.push_back(row("nn.pow %a0, %a1", {"3xf64", "2x1xf64"}, {{Fill::Positive}, {}}));
  rows.push_back({"whole powers of negative numbers",
                  {"4xf64"},
                  R"(%n = nn.constant dense<[3, 2, 1, 0]> : tensor<4xi32>
                     %r = nn.pow %a0, %n : tensor<4xf64>, tensor<4xi32>)"});
  rows.push_back({"powers of zero",
                  {"4xf64"},
                  R"(%z = nn.sub %a0, %a0 : tensor<4xf64>, tensor<4xf64>
                     %n = nn.constant dense<[3.0, 2.0, 1.0, 0.0]> : tensor<4xf64>
                     %r = nn.pow %z, %n : tensor<4xf64>, tensor<4xf64>)",
                  {},
                  /*isLinearised=*/false});
  rows.push_back(row("nn.select %a0, %a1, %a2", {"2x1xi1", "2x3xf64", "f64"}));
  for (auto scale : {"f64", "3x1xf64", "2x3x4xf64"})
    rows.push_back(row("nn.dequantize %a0, %a1, %a2", {"2x3x4xui8", scale, "ui8"}, {{}, {Fill::Positive}, {}}));
  // Where all is clipped, the straight-through gradient is the true one (FakeQuantizeTest has the others).
  for (auto scale : {"f64", "3x1xf64"})
    rows.push_back(
        {std::string("fake quantisation of what is out of range, ") + scale,
         {"2x3x4xf64", scale},
         std::string("%z = nn.constant dense<9> : tensor<ui8>\n%k = nn.constant dense<1.0e+4> : tensor<f64>\n"
                     "%x = nn.mul %a0, %k : tensor<2x3x4xf64>, tensor<f64>\n"
                     "%r = nn.fake_quantize %x, %a1, %z {high = 15 : i64} : tensor<2x3x4xf64>, tensor<") +
             scale + ">, tensor<ui8>",
         {{Fill::NonZero}, {Fill::Positive}},
         /*isLinearised=*/false});
  rows.push_back({"a cast between float types",
                  {"4xf32"},
                  R"(%0 = nn.cast %a0 : tensor<4xf32> to tensor<4xf64>
                     %r = nn.mul %0, %0 : tensor<4xf64>, tensor<4xf64>)",
                  {},
                  /*isLinearised=*/false}); // the first gradient is rounded to f32
  rows.push_back({"steps have no gradient and hide none",
                  {"4xf64"},
                  R"(%0 = nn.floor %a0 : tensor<4xf64>
                     %1 = nn.ceil %a0 : tensor<4xf64>
                     %2 = nn.sign %a0 : tensor<4xf64>
                     %3 = nn.mul %0, %a0 : tensor<4xf64>, tensor<4xf64>
                     %4 = nn.mul %1, %2 : tensor<4xf64>, tensor<4xf64>
                     %r = nn.add %3, %4 : tensor<4xf64>, tensor<4xf64>)"});
  rows.push_back({"products of bytes have no gradient and hide none",
                  {"2x3xf64", "2x4xui8", "1x1x3x4xi8", "ui8", "i8"},
                  R"(%0 = nn.reshape %a2 : tensor<1x1x3x4xi8> to tensor<4x3xi8>
                     %1 = nn.matmul_integer %a1, %0, %a3, %a4 : tensor<2x4xui8>, tensor<4x3xi8>, tensor<ui8>, tensor<i8>
                     %2 = nn.constant dense<[[[[1, 2], [3, 4]]]]> : tensor<1x1x2x2xi8>
                     %3 = nn.conv_integer %a2, %2, %a4, %a4 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<1x1x3x4xi8>, tensor<1x1x2x2xi8>, tensor<i8>, tensor<i8>
                     %4 = nn.reshape %3 : tensor<1x1x2x3xi32> to tensor<2x3xi32>
                     %5 = nn.add %1, %4 : tensor<2x3xi32>, tensor<2x3xi32>
                     %6 = nn.cast %5 : tensor<2x3xi32> to tensor<2x3xf64>
                     %r = nn.mul %6, %a0 : tensor<2x3xf64>, tensor<2x3xf64>)"});
  rows.push_back({"one value used three times",
                  {"4xf64"},
                  R"(%0 = nn.sin %a0 : tensor<4xf64>
                     %1 = nn.mul %0, %0 : tensor<4xf64>, tensor<4xf64>
                     %2 = nn.mul %1, %0 : tensor<4xf64>, tensor<4xf64>
                     %r = nn.add %2, %a0 : tensor<4xf64>, tensor<4xf64>)"});
  return rows;
}

} // namespace sprig::gradients
