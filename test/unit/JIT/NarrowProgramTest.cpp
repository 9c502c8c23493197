// Products with weights of few bits against docs/numerics.md: they have the bits of the product with the dequantised
// matrix, and packages hold the few bits.
#include "sprig/compile.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>

using namespace sprig;
using rt::TensorView;

namespace {
constexpr int kColumns = 21, kGroup = 32;

struct Weights {
  int depth, most; // codes of 0 to most
  bool hasZeros;

  int groups() const { return (depth + kGroup - 1) / kGroup; }
  int code(int k, int n) const { return (k * 37 + n * 11 + k / 16) % (most + 1); }
  float scale(int k, int n) const { return 0.01f + 0.003f * std::fabs(std::sin(float(k / kGroup * 7 + n))); }
  int zero(int k, int n) const { return hasZeros ? (k / kGroup * 5 + n * 3) % 16 : 8; }
  float number(int k, int n) const { return float(code(k, n) - zero(k, n)) * scale(k, n); }
};

/// A constant [columns, rows, ...] of bytes or floats in hexadecimal digits.
template <typename Bits> std::string constant(int rows, const std::string &type, Bits bits) {
  std::string text = "dense<\"0x";
  for (int n = 0; n < kColumns; ++n)
    for (int row = 0; row < rows; ++row) {
      auto value = bits(row, n);
      for (unsigned shift = 0; shift < sizeof value * 8; shift += 8)
        for (unsigned half : {4u, 0u}) text += "0123456789ABCDEF"[value >> (shift + half) & 15];
    }
  return "nn.constant " + text + "\"> : tensor<" + type + ">\n";
}

std::string program(int rows, int depth, const std::string &weight) {
  std::string m = std::to_string(rows), k = std::to_string(depth);
  return "func.func @main(%x: tensor<" + m + "x" + k + "xf32>) -> tensor<" + m + "x21xf32> {\n" + weight +
         "  %0 = nn.matmul %x, %w {transpose_rhs} : tensor<" + m + "x" + k + "xf32>, tensor<21x" + k +
         "xf32>\n  return %0 : tensor<" + m + "x21xf32>\n}";
}

std::string narrow(int rows, const Weights &w) {
  std::string groups = std::to_string(w.groups()), all = std::to_string(w.groups() * kGroup);
  std::string codes = "21x" + groups + "x32xui8", scales = "21x" + groups + "x1xf32", zeros = "21x" + groups + "x1xui8";
  return program(
      rows, w.depth,
      "%q = " + constant(w.groups() * kGroup, codes, [&](int k, int n) { return uint8_t(w.code(k, n)); }) + "%s = " +
          constant(w.groups(), scales, [&](int g, int n) { return std::bit_cast<uint32_t>(w.scale(g * kGroup, n)); }) +
          "%z = " + constant(w.groups(), zeros, [&](int g, int n) { return uint8_t(w.zero(g * kGroup, n)); }) +
          "%d = nn.dequantize %q, %s, %z : tensor<" + codes + ">, tensor<" + scales + ">, tensor<" + zeros +
          ">\n%r = nn.reshape %d : tensor<21x" + groups + "x32xf32> to tensor<21x" + all +
          "xf32>\n%w = nn.slice %r starts = [0, 0] sizes = [21, " + std::to_string(w.depth) +
          "] steps = [1, 1] : tensor<21x" + all + "xf32>\n");
}

std::string wide(int rows, const Weights &w) {
  return program(rows, w.depth,
                 "%w = " + constant(w.depth, "21x" + std::to_string(w.depth) + "xf32",
                                    [&](int k, int n) { return std::bit_cast<uint32_t>(w.number(k, n)); }));
}

std::vector<float> run(const std::string &text, int rows, int depth, const CompileOptions &options) {
  std::vector<float> x(rows * depth);
  for (int i = 0; i < rows * depth; ++i) x[i] = std::sin(float(i * 31 + 1)) * 3;
  Program compiled = compile(Model::text(text), options);
  auto outputs = compiled({TensorView(x.data(), {rows, depth})});
  return {outputs[0].as<float>(), outputs[0].as<float>() + outputs[0].elements()};
}

TEST(NarrowProgram, HasTheBitsOfTheDequantisedMatrix) {
  for (int depth : {19, 256, 1543})
    for (int rows : {1, 3, 6, 33})
      for (Weights w : {Weights{depth, 15, true}, Weights{depth, 15, false}, Weights{depth, 255, true}}) {
        std::vector<float> expected = run(wide(rows, w), rows, depth, {});
        std::string text = narrow(rows, w);
        EXPECT_EQ(run(text, rows, depth, {}), expected) << rows << " rows of " << depth << ", to " << w.most;
        EXPECT_EQ(run(text, rows, depth, {.architectures = {"x86-64-v3"}}), expected);
        EXPECT_EQ(run(text, rows, depth, {.math = MathMode::strict, .fuse = false}), expected);
      }
}
} // namespace
