// Rows of composites: compiled by their decompositions, judged by formulas of their own.
#include "test/unit/OpTable/Harness.h"
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

// Every step of a decomposition rounds to the element type.

TEST(OpTable, Activations) {
  std::vector<Row> rows;
  for (const char *type : {"f32", "f64", "f16", "bf16"})
    for (const char *operation :
         {"nn.silu %a0", "nn.mish %a0", "nn.softplus %a0", "nn.softsign %a0", "nn.hard_swish %a0", "nn.gelu %a0",
          "nn.gelu %a0 {tanh_approximation}", "nn.elu %a0 {alpha = 1.5 : f64}", "nn.celu %a0 {alpha = 0.5 : f64}",
          "nn.selu %a0 {alpha = 1.67326 : f64, gamma = 1.0507 : f64}", "nn.leaky_relu %a0 {alpha = 0.125 : f64}",
          "nn.hard_sigmoid %a0 {alpha = 0.25 : f64, beta = 0.5 : f64}"})
      for (const char *shape : {"67x", "3x33x"})
        rows.push_back(row(operation, {shape + std::string(type)}, roundings(type, 6)));
  check(rows);
}

TEST(OpTable, Softmaxes) {
  std::vector<Row> rows;
  for (const char *type : {"f32", "f64", "f16", "bf16"})
    for (const char *shape : {"1x10x", "5x33x", "3x17x5x", "1x1x1x", "2x1000x", "4x16x16x"})
      for (const char *name : {"nn.softmax", "nn.log_softmax"})
        for (const char *axis : {"0", "1"})
          rows.push_back(
              row(std::string(name) + " %a0 axis = " + axis, {shape + std::string(type)}, roundings(type, 12)));
  // A NaN, here the logarithm of what is negative, is one of its whole row and of no other. Two stands for it in the
  // result, since which NaN it is differs between devices.
  for (std::string size : {"3x16x", "41x37x", "21x300x"}) {
    std::string type = "tensor<" + size + "f32>", bits = "tensor<" + size + "i1>";
    rows.push_back({"softmax of some NaN",
                    {size + "f32"},
                    "%c = nn.constant dense<0.98> : tensor<f32>\n%two = nn.constant dense<2.0> : tensor<f32>\n"
                    "%s = nn.add %a0, %c : " +
                        type + ", tensor<f32>\n%l = nn.log %s : " + type + "\n%y = nn.softmax %l axis = 1 : " + type +
                        "\n%n = nn.is_nan %y : " + type + "\n%r = nn.select %n, %two, %y : " + bits +
                        ", tensor<f32>, " + type,
                    roundings("f32", 60)});
  }
  check(rows);
}

TEST(OpTable, Norms) {
  std::vector<Row> rows;
  for (const char *type : {"f32", "f64", "bf16"}) {
    std::string t = type;
    Bound bound = roundings(t, 16);
    for (const char *width : {"1", "16", "33", "128"}) {
      std::string w = width, x = "5x" + w + "x" + t, v = w + "x" + t;
      rows.push_back(row("nn.layer_norm %a0, %a1, %a2 axis = 1 {epsilon = 0.001 : f64}", {x, v, v}, bound));
      rows.push_back(row("nn.layer_norm %a0, %a1 axis = 1 {epsilon = 0.001 : f64}", {x, v}, bound));
      rows.push_back(row("nn.rms_norm %a0, %a1 axis = 1 {epsilon = 0.001 : f64}", {x, v}, bound));
    }
    rows.push_back(row("nn.layer_norm %a0, %a1, %a2 axis = 1 {epsilon = 0.001 : f64}",
                       {"2x3x5x" + t, "3x5x" + t, "3x5x" + t}, bound));
    for (const char *groups : {"1", "2", "6"})
      rows.push_back(
          row(std::string("nn.group_norm %a0, %a1, %a2 {groups = ") + groups + " : i64, epsilon = 0.001 : f64}",
              {"2x6x3x5x" + t, "6x" + t, "6x" + t}, bound));
    rows.push_back(row("nn.batch_norm %a0, %a1, %a2, %a3, %a4 {epsilon = 0.001 : f64}",
                       {"2x17x3x5x" + t, "17x" + t, "17x" + t, "17x" + t, "17x" + t}, bound,
                       {{}, {}, {}, {}, {Fill::Positive}}));
  }
  check(rows);
}

} // namespace
} // namespace sprig::optable
