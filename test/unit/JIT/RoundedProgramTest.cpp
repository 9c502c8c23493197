// The precision policy bf16 against docs/numerics.md: which bits it gives, how far they are from f32's, what it
// refuses.
#include "sprig/compile.h"
#include "sprig/error.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>

using namespace sprig;
using rt::TensorView;

namespace {
constexpr int kRows = 5, kColumns = 7;

float left(int m, int k) { return std::sin(float(m * 31 + k * 7 + 1)) * 3; }
float right(int k, int n) { return std::cos(float(k * 13 + n * 5 + 2)); }

std::string product(int depth) {
  std::string k = std::to_string(depth), text = "dense<\"0x";
  for (int i = 0; i < depth; ++i)
    for (int n = 0; n < kColumns; ++n)
      for (int shift : {4, 0, 12, 8, 20, 16, 28, 24})
        text += "0123456789ABCDEF"[std::bit_cast<uint32_t>(right(i, n)) >> shift & 15];
  return "func.func @main(%x: tensor<5x" + k + "xf32>) -> tensor<5x7xf32> {\n  %w = nn.constant " + text +
         "\"> : tensor<" + k + "x7xf32>\n  %0 = nn.matmul %x, %w : tensor<5x" + k + "xf32>, tensor<" + k +
         "x7xf32>\n  return %0 : tensor<5x7xf32>\n}";
}

std::vector<float> run(const std::string &text, int depth, const CompileOptions &options) {
  std::vector<float> x(kRows * depth);
  for (int m = 0; m < kRows; ++m)
    for (int k = 0; k < depth; ++k) x[m * depth + k] = left(m, k);
  Program program = compile(Model::text(text), options);
  auto outputs = program({TensorView(x.data(), {kRows, depth})});
  return {outputs[0].as<float>(), outputs[0].as<float>() + outputs[0].elements()};
}

float asHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000);
}

// Of each two neighbours the odd one first; a last one alone.
float sumOf(int m, int n, int depth) {
  float sum = 0;
  auto add = [&](int k) { sum = std::fma(asHalf(left(m, k)), asHalf(right(k, n)), sum); };
  for (int k = 0; k < depth; k += 2) {
    if (k + 1 < depth) add(k + 1);
    add(k);
  }
  return sum;
}

TEST(RoundedProgram, HasTheBitsAndTheBoundThatAreStated) {
  for (int depth : {1, 2, 23, 256}) {
    std::string text = product(depth);
    std::vector<float> rounded = run(text, depth, {.precision = Precision::bf16}), exact = run(text, depth, {});
    for (int m = 0; m < kRows; ++m)
      for (int n = 0; n < kColumns; ++n) {
        EXPECT_EQ(rounded[m * kColumns + n], sumOf(m, n, depth)) << depth << ": " << m << ", " << n;
        double size = 0;
        for (int k = 0; k < depth; ++k) size += std::fabs(double(left(m, k)) * double(right(k, n)));
        EXPECT_LE(std::fabs(rounded[m * kColumns + n] - exact[m * kColumns + n]),
                  (0x1p-7 + 0x1p-16 + 2 * (depth + 3) * 0x1p-24) * size);
      }
    EXPECT_NE(rounded, exact);
  }
}

TEST(RoundedProgram, HasTheSameBitsWithEverySetOfInstructions) {
  std::string text = product(1537);
  std::vector<float> native = run(text, 1537, {.precision = Precision::bf16});
  EXPECT_EQ(native, run(text, 1537, {.architectures = {"x86-64-v3"}, .precision = Precision::bf16}));
  EXPECT_EQ(native, run(text, 1537, {.optimization = 0, .precision = Precision::bf16, .fuse = false}));
}

TEST(RoundedProgram, RefusesStateByName) {
  try {
    compile(Model::text(product(2)), {.precision = Precision::bf16, .freeze = false});
    ADD_FAILURE() << "was compiled";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(error.what()).find("--precision bf16: parameters that stay state"), std::string::npos)
        << error.what();
  }
}
} // namespace
