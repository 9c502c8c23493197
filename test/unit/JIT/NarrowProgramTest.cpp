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
  std::string bytes;
  if (w.most < 16) {
    // Two in a byte, taken out of it.
    std::string halves = "tensor<21x" + groups + "x16x1xui8>", pairs = "tensor<21x" + groups + "x16x2xui8>";
    auto two = [&](int k, int n) { return uint8_t(w.code(2 * k, n) | w.code(2 * k + 1, n) << 4); };
    bytes = "%q0 = " + constant(w.groups() * kGroup / 2, "21x" + groups + "x16x1xui8", two) +
            "%q1 = nn.constant dense<[0, 4]> : tensor<2xui8>\n%q2 = nn.shr %q0, %q1 : " + halves +
            ", tensor<2xui8>\n%q3 = nn.constant dense<15> : tensor<ui8>\n%q4 = nn.and %q2, %q3 : " + pairs +
            ", tensor<ui8>\n%q = nn.reshape %q4 : " + pairs + " to tensor<" + codes + ">\n";
  } else {
    bytes = "%q = " + constant(w.groups() * kGroup, codes, [&](int k, int n) { return uint8_t(w.code(k, n)); });
  }
  return program(
      rows, w.depth,
      bytes + "%s = " +
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

void compare(int rows, const Weights &w) {
  std::vector<float> expected = run(wide(rows, w), rows, w.depth, {});
  std::string text = narrow(rows, w);
  EXPECT_EQ(run(text, rows, w.depth, {}), expected) << rows << " rows of " << w.depth << ", to " << w.most;
  EXPECT_EQ(run(text, rows, w.depth, {.architectures = {"x86-64-v3"}}), expected);
  EXPECT_EQ(run(text, rows, w.depth, {.math = MathMode::strict, .fuse = false}), expected);
}

TEST(NarrowProgram, HasTheBitsOfTheDequantisedMatrix) {
  for (int depth : {19, 256, 1543})
    for (int rows : {1, 3, 6, 33})
      for (bool hasZeros : {false, true}) compare(rows, {depth, 15, hasZeros});
  for (int rows : {1, 6}) compare(rows, {13003, 255, true}); // eight bits; smaller matrices of them become f32
}
} // namespace
