// What operations refuse, and how they say it: the caller's line, the operation, both facts.
#include "test/unit/Frontend/Ops/Harness.h"
#include "sprig/function.h"
#include <cmath>
#include <limits>

using namespace sprig;
using namespace sprig::test;

// The statement stands on the line that the error must name.
#define REFUSED(op, statement, ...) expectRefused(__LINE__, op, {__VA_ARGS__}, [&] { (void)(statement); })

namespace {

Tensor f(const Shape &shape) { return zeros(shape); }

TEST(Refusals, Elementwise) {
  Tensor a = f({32, 128}), b = f({64}), i = zeros({3}, DType::i64), m = zeros({3}, DType::boolean);
  REFUSED("add", a + b, "32x128xf32", "64xf32", "does not broadcast");
  REFUSED("mul", b * a, "32x128xf32", "64xf32");
  REFUSED("div", a / b, "32x128xf32", "64xf32");
  REFUSED("lt", a < b, "32x128xf32", "64xf32");
  REFUSED("where", where(a > 0, a, b), "32x128xf32", "64xf32");
  REFUSED("where", where(a, a, a), "boolean", "32x128xf32");
  REFUSED("maskedFill", maskedFill(b, a > 0, 1), "32x128xi1", "64xf32");
  REFUSED("sub", m - m, "booleans", "3xi1");
  REFUSED("neg", -m, "booleans");
  REFUSED("bitwiseAnd", bitwiseAnd(a, a), "integers or booleans", "f32");
  REFUSED("add", zeros({2}, DType::u64) + zeros({2}, DType::i8), "u64", "i8", "common element type");
  REFUSED("gelu", gelu(i), "floats", "3xi64", "to(DType::f32)");
  REFUSED("softmax", softmax(a, 2), "axis 2", "32x128xf32", "-2 to 1");
  REFUSED("glu", glu(f({3})), "odd", "3xf32");
  REFUSED("prelu", prelu(f({2, 5}), f({4})), "4xf32", "2x5xf32");
  REFUSED("add", Tensor() + 1, "operand");
}

TEST(Refusals, Picking) {
  Tensor a = f({2, 3}), b = f({4, 5}), v = f({3}), m = zeros({2, 3}, DType::boolean);
  REFUSED("einsum", einsum("ij,jk->ik", {a, b}), "'j'", "3", "4", "ij,jk->ik");
  REFUSED("einsum", einsum("ij->i", {a, b}), "1 terms", "2 operands");
  REFUSED("einsum", einsum("ijk->i", {a}), "'ijk'", "[2, 3]");
  REFUSED("einsum", einsum("ij->k", {a}), "no term has");
  REFUSED("einsum", einsum("ij->ii", {a}), "twice");
  REFUSED("einsum", einsum("i1->i", {a}), "'1'", "letters");
  REFUSED("einsum", einsum("i..->i", {a}), "ellipsis");
  REFUSED("einsum", einsum("ii->i", {a}), "diagonal", "[2, 3]");
  REFUSED("einsum", einsum("ij->j", {m}), "booleans");
  REFUSED("einsum", einsum("", std::vector<Tensor>()), "one operand");
  REFUSED("einsum", einsum("abcdef,ghijkl->abcdefghijkl", {f({1, 1, 1, 1, 1, 1}), f({1, 1, 1, 1, 1, 1})}), "12 axes");
  REFUSED("meshgrid", meshgrid({a}), "vectors", "2x3xf32");
  REFUSED("meshgrid", meshgrid({v, zeros({2}, DType::i64)}), "3xf32", "2xi64");
  REFUSED("isclose", isclose(a, b), "2x3xf32", "4x5xf32");
  REFUSED("allclose", allclose(a, a, {.rtol = -1}), "-1");
  REFUSED("nonzero", nonzero(a, -1), "-1");
  REFUSED("nonzero", nonzero(Tensor(1.f), 1), "scalar");
  REFUSED("maskedSelect", maskedSelect(a, a, 3), "boolean", "2x3xf32");
  REFUSED("maskedSelect", maskedSelect(b, m, 3), "4x5xf32", "2x3xi1");
  REFUSED("maskedSelect", maskedSelect(a, m, 3, v), "scalar", "3xf32");
  REFUSED("maskedScatter", maskedScatter(a, m, zeros({6}, DType::f64)), "6xf64", "2x3xf32");
  REFUSED("maskedScatter", maskedScatter(v, m, v), "2x3xi1", "3xf32");
  REFUSED("index", a[m], "mask", "2x3xi1", "maskedSelect()");
  REFUSED("assign", assign(a, {v > 0}, 1), "3xi1", "2x3xf32");
  REFUSED("assign", assign(a, {m}, v), "3xf32", "maskedScatter()");
  REFUSED("assign", assign(a, {0, v > 0}, 1), "3xi1", "`all`");
  REFUSED("unfold", unfold(f({1, 2, 3, 3}), 4), "spans 4", "1x2x3x3xf32");
  REFUSED("unfold", unfold(a, 2), "2x3xf32");
  REFUSED("unfold", unfold(a, 1, 4, 1), "windows of 4", "3 elements", "2x3xf32");
  REFUSED("fold", fold(f({1, 5, 4}), {3, 3}, 2), "1x5x4xf32", "multiple of 4");
  REFUSED("cdist", cdist(a, b), "2x3xf32", "4x5xf32");
  REFUSED("cdist", cdist(a, v), "3xf32");
  REFUSED("cdist", cdist(a, a, -1), "-1");
  REFUSED("median", median(a, 2), "axis 2", "2x3xf32");
  REFUSED("median", median(f({2, 0}), 1), "one element or more", "2x0xf32");
  REFUSED("quantile", quantile(a, 1.5, 0), "1.5", "0 to 1");
  REFUSED("quantile", quantile(zeros({3}, DType::i64), 0.5), "floats", "3xi64");
  REFUSED("quantile", quantile(a, std::vector<double>(), 0), "one share");
}

TEST(Refusals, SamplesAndLengths) {
  Tensor image = f({1, 2, 3, 4}), x = f({5, 2, 3}), h = f({2, 4}), w = f({4, 3}), u = f({4, 4});
  REFUSED("gridSample", gridSample(f({2, 3}), f({2, 3})), "2x3xf32", "spatial axes");
  REFUSED("gridSample", gridSample(image, f({2, 5, 5, 2})), "1x2x3x4xf32", "2x5x5x2xf32");
  REFUSED("gridSample", gridSample(image, f({1, 5, 5, 3})), "1x5x5x3xf32");
  REFUSED("gridSample", gridSample(image, zeros({1, 5, 5, 2}, DType::f64)), "f64");
  REFUSED("gridSample", gridSample(f({1, 2, 3}), f({1, 5, 1}), {.mode = GridMode::bicubic}), "bicubic", "1x2x3xf32");
  REFUSED("rnn", rnn(x, h, w, u, {}, {}, RnnActivation::tanh, false, Tensor({1, 2, 3})), "3xi32", "2 sequences");
  REFUSED("rnn", rnn(x, h, w, u, {}, {}, RnnActivation::tanh, false, f({2})), "integers", "2xf32");
}

TEST(Refusals, Alignments) {
  Tensor p = f({5, 2, 4}), two = zeros({2}, DType::i64), labels = zeros({2, 3}, DType::i64);
  REFUSED("ctcLoss", ctcLoss(f({5, 2}), labels, two, two), "5x2xf32", "2x3xi64");
  REFUSED("ctcLoss", ctcLoss(p, zeros({3, 3}, DType::i64), two, two), "5x2x4xf32", "3x3xi64");
  REFUSED("ctcLoss", ctcLoss(p, labels, zeros({3}, DType::i64), two), "input lengths [2]", "3xi64");
  REFUSED("ctcLoss", ctcLoss(p, labels, two, f({2})), "integers", "2xf32");
  REFUSED("ctcLoss", ctcLoss(p, labels, two, two, {.blank = 4}), "blank 4", "4 classes");
  REFUSED("ctcLoss", ctcLoss(p, labels, two, two, {.reduction = Reduction::batchMean}), "batchMean");
}

TEST(Refusals, FourierAndMatrices) {
  Tensor a = f({2, 3}), v = f({3}), h = zeros({4}, DType::f16), s = f({3, 3});
  REFUSED("fft", fft(h), "4xf16", "f32");
  REFUSED("fft", fft(a, {.n = -1}), "-1");
  REFUSED("fft", fft(a, {.axis = 2}), "axis 2", "2x3xf32");
  REFUSED("fft", fft(f({0})), "0 elements", "0xf32");
  REFUSED("ifft", ifft({a, v}), "2x3xf32", "3xf32");
  REFUSED("irfft", irfft({f({1}), f({1})}), "0 elements");
  REFUSED("fft2", fft2(v), "last two axes", "3xf32");
  REFUSED("mul", mul(Complex{v, v}, Complex{zeros({3}, DType::f64), zeros({3}, DType::f64)}), "3xf32", "3xf64");
  REFUSED("fftfreq", fftfreq(0), "0 elements");
  constexpr int64_t kHuge = int64_t(1) << 40; // the host makes no table of so many
  REFUSED("fftfreq", fftfreq(kHuge), "1099511627776 numbers", "67108864");
  REFUSED("fft", fft(v, {.n = kHuge}), "1099511627776 numbers", "67108864");
  REFUSED("irfft", irfft({v, v}, {.n = kHuge}), "1099511627776 numbers", "67108864");
  REFUSED("solve", solve(a, v), "square", "2x3xf32");
  REFUSED("solve", solve(s, f({2, 2})), "3x3xf32", "2x2xf32", "[..., 3, k]");
  REFUSED("solve", solve(s, zeros({3}, DType::f64)), "3x3xf32", "3xf64");
  REFUSED("solve", solve(f({2, 3, 3}), f({4, 3, 1})), "2x3x3xf32", "4x3x1xf32", "leading axes");
  REFUSED("inverse", inverse(v), "square", "3xf32");
  REFUSED("inverse", inverse(f({0, 0})), "elements", "0x0xf32");
  REFUSED("det", det(a), "2x3xf32");
  REFUSED("slogdet", slogdet(zeros({3, 3}, DType::i64)), "floats");
  REFUSED("cholesky", cholesky(a), "2x3xf32");
  REFUSED("choleskySolve", choleskySolve(v, s), "3xf32");
}

// A number takes the element type of the tensor beside it; one that the type does not hold would wrap in silence.
TEST(Refusals, NumbersBeyondTheirType) {
  Tensor i = zeros({2}, DType::i8), u = zeros({2}, DType::u8), w = zeros({2}, DType::i32);
  REFUSED("full", full({2}, 300, DType::i8), "300.0", "i8", "-128 to 127");
  REFUSED("full", full({2}, -1, DType::u64), "-1.0", "u64", "0 to 18446744073709551615");
  REFUSED("full", full({2}, 0.5, DType::i64), "0.5", "i64", "whole numbers");
  REFUSED("full", full({2}, std::nan(""), DType::i32), "nan", "i32");
  REFUSED("arange", arange(250, 257, DType::u8), "256", "u8", "0 to 255");
  REFUSED("arange", arange(2, -2, -1, DType::u8), "-1", "u8");
  REFUSED("arange", arange(0.0, 3.5e9, 1e9, DType::i32), "3e+09", "i32");
  REFUSED("linspace", linspace(0, 256, 3, DType::u8), "256.0", "u8");
  REFUSED("randint", randint(0, 257, {2}, DType::u8), "256", "u8");
  REFUSED("randint", randint(-1, 3, {2}, DType::u32), "-1", "u32");
  REFUSED("pow", pow(w, -1), "integers to the power of -1", "to(DType::f32)");
  REFUSED("item", Tensor(300).item<uint8_t>(), "300", "0 to 255");
  REFUSED("item", Tensor(-1).item<unsigned>(), "-1", "0 to 4294967295");
  REFUSED("item", Tensor(int64_t(1) << 40).item<int>(), "1099511627776", "-2147483648 to 2147483647");
  REFUSED("item", Tensor(3e9).item<int>(), "3e+09", "-2147483648 to 2147483647");
  REFUSED("item", Tensor(~uint64_t(0)).item<int64_t>(), "18446744073709551615", "-9223372036854775808 to ");
  REFUSED("item", Tensor(std::nanf("")).item<int>(), "nan");
  REFUSED("add", i + 300, "300", "i8");
  REFUSED("sub", u - 256, "256", "u8");
  REFUSED("mul", w * 3000000000, "3000000000", "i32");
  REFUSED("maximum", maximum(u, -1), "-1", "u8");
  REFUSED("clamp", clamp(i, -128, 128), "128", "i8");
  EXPECT_EQ(arange(250, 256, DType::u8).text(), "[250, 251, 252, 253, 254, 255]");
  EXPECT_EQ(arange(1, 1, DType::u8).numel(), 0);
  EXPECT_EQ(linspace(-0.5, 255.5, 2, DType::u8).text(), "[0, 255]");
  EXPECT_EQ(Tensor(-2.7).item<int>(), -2);
  EXPECT_EQ(Tensor(255.9).item<uint8_t>(), 255);
  EXPECT_EQ(Tensor(~uint64_t(0)).item<uint64_t>(), ~uint64_t(0));
  EXPECT_EQ(Tensor(std::numeric_limits<int64_t>::min()).item<int64_t>(), std::numeric_limits<int64_t>::min());
  EXPECT_TRUE(Tensor(0.5).item<bool>());
  REFUSED("operand", zeros({2}, DType::u64) + (uint64_t(1) << 63), "9223372036854775808", "i64");
  EXPECT_EQ((i + 127).text(), "[127, 127]");
  EXPECT_EQ((i + -128).text(), "[-128, -128]");
  EXPECT_EQ(full({1}, 18446744073709549568.0, DType::u64).text(), "[18446744073709549568]");
  EXPECT_EQ((i + 300.0).text(), "[300, 300]") << "a real number makes integers f32";
}

TEST(Refusals, AssignmentsNameTheirLine) {
  Tensor a = f({2, 3});
  REFUSED("add", a += f({4}), "2x3xf32", "4xf32");
  REFUSED("mul", a *= f({4}), "2x3xf32", "4xf32");
}

TEST(Refusals, Reductions) {
  Tensor a = f({2, 3}), none = f({2, 0});
  REFUSED("sum", a.sum(5), "axis 5", "2x3xf32");
  REFUSED("sum", sum(a, {0, -2}), "twice", "[0, -2]");
  REFUSED("mean", mean(zeros({2}, DType::i32)), "floats", "2xi32");
  REFUSED("max", max(none, 1), "0 elements", "2x0xf32");
  REFUSED("argmax", argmax(none), "0 elements", "2x0xf32");
  REFUSED("topk", topk(a, 4), "picks 4 of 3", "2x3xf32");
}

TEST(Refusals, Shapes) {
  Tensor a = f({2, 3}), t = zeros({2}, DType::i64);
  REFUSED("reshape", a.reshape({4, 2}), "6 elements", "2x3xf32", "[4, 2]");
  REFUSED("reshape", reshape(a, {-1, 4}), "2x3xf32", "[-1, 4]");
  REFUSED("reshape", reshape(a, {-1, -1}), "more than one -1");
  REFUSED("permute", a.permute({0}), "[0]", "2x3xf32");
  REFUSED("permute", a.permute({1, 1}), "twice");
  REFUSED("transpose", a.transpose(0, 2), "axis 2", "2x3xf32");
  REFUSED("unsqueeze", a.unsqueeze(4), "axis 4", "2x3xf32");
  REFUSED("expand", a.expand({4, 3}), "2x3xf32", "[4, 3]");
  REFUSED("cat", cat({a, f({2, 4})}), "2x3xf32", "2x4xf32", "axis 0");
  REFUSED("cat", cat({a, f({3})}, 1), "2x3xf32", "3xf32");
  REFUSED("cat", cat(std::vector<Tensor>()), "no tensors");
  REFUSED("stack", stack({a, f({3, 2})}), "2x3xf32", "3x2xf32");
  REFUSED("split", split(a, {1, 3}, 1), "4", "2x3xf32");
  REFUSED("index", a[2], "element 2 of 2", "2x3xf32");
  REFUSED("index", a(0, 0, 0), "3 axes", "2x3xf32");
  REFUSED("index", a[a > 0], "mask", "2x3xi1");
  REFUSED("index", a[a], "integers", "2x3xf32");
  REFUSED("slice", a.slice(0, 0, 2, 0), "step of 0");
  REFUSED("narrow", narrow(a, 1, 1, 3), "3 elements", "2x3xf32");
  REFUSED("assign", assign(a, {0}, f({4})), "4xf32", "3xf32");
  REFUSED("pad", pad(a, {3, 0}, Padding::reflect), "axis 1", "2x3xf32");
  REFUSED("pad", pad(a, {1}), "1 amounts", "2x3xf32");
  REFUSED("gather", gather(a, 0, t), "2xi64", "2x3xf32");
  REFUSED("indexSelect", indexSelect(a, 0, a), "integers", "2x3xf32");
  REFUSED("scatter", scatter(a, 0, zeros({1, 3}, DType::i64), f({2, 3})), "1x3xi64", "2x3xf32");
  REFUSED("embedding", embedding(t, f({3})), "3xf32", "[rows, features]");
  REFUSED("interpolate", interpolate(f({1, 2, 3, 4}), {.size = 2, .scale = {2}}), "either a size or a scale");
  constexpr int64_t kHuge = (int64_t(1) << 40) + 1; // no multiple of 3
  for (Interpolation mode : {Interpolation::nearest, Interpolation::linear})
    REFUSED("interpolate", interpolate(f({1, 2, 3}), {.size = kHuge, .mode = mode}), "1099511627777 numbers");
  REFUSED("interpolate", interpolate(f({1, 2, 3, 4}), {.size = {2, kHuge}, .mode = Interpolation::bicubic}),
          "1099511627777 numbers");
  REFUSED("interpolate", interpolate(f({1, 2, 3, 4}), {.size = kHuge}), "more than 2^48 elements");
  REFUSED("interpolate", interpolate(f({1, 2, 3}), {.size = 2, .mode = Interpolation::bicubic}), "1x2x3xf32",
          "2 spatial");
  REFUSED("conv1d", conv1d(f({1, 2, 5}), f({3, 2, 2}), {}, {.stride = 2, .samePadding = true}), "stride 2");
  REFUSED("conv1d", conv1d(f({1, 2, 5}), f({3, 2, 2}), {}, {.padding = 1, .samePadding = true}), "padding 1");
  REFUSED("zeros", zeros({-1, 2}), "[-1, 2]");
  REFUSED("zeros", zeros({int64_t(1) << 40, int64_t(1) << 40}), "2^48");
  REFUSED("arange", arange(3, 0), "3 to 0", "lead away");
  REFUSED("arange", arange(0, 1, -0.5), "0 to 1", "-0.5", "other sign");
  REFUSED("arange", arange(0, 0.05, -0.1), "0.05", "-0.1");
  REFUSED("arange", arange(0, -1, 2), "0 to -1", "steps of 2");
  REFUSED("arange", arange(0, 5, -10), "steps of -10");
  REFUSED("arange", arange(0, 1, 0), "step other than 0");
  REFUSED("arange", arange(0, 1, 0.0), "step other than 0");
  REFUSED("arange", arange(0, std::nan(""), 1), "finite");
  REFUSED("arange", arange(0, 1, 1e-300), "2^48");
  REFUSED("arange", arange(0, 2, 1, DType::boolean), "booleans");
  REFUSED("linspace", linspace(0, 1, -1), "-1 numbers");
}

TEST(Refusals, Products) {
  Tensor a = f({3, 4}), b = f({5, 6}), image = f({2, 3, 8, 8}), w = f({4, 2, 3, 3});
  REFUSED("matmul", matmul(a, b), "4 columns", "3x4xf32", "5 rows", "5x6xf32");
  REFUSED("matmul", matmul(f({2, 3, 4}), f({3, 4, 5})), "2x3x4xf32", "3x4x5xf32", "leading axes");
  REFUSED("mm", mm(a, f({4})), "3x4xf32", "4xf32");
  REFUSED("linear", linear(a, b), "6 features", "5x6xf32", "3x4xf32");
  REFUSED("linear", linear(a, f({5, 4}), f({4})), "4xf32", "5 features");
  REFUSED("linear", linear(a.to(DType::f64), f({5, 4})), "3x4xf64", "5x4xf32");
  REFUSED("conv2d", conv2d(image, w), "3 channels", "2x3x8x8xf32", "4x2x3x3xf32");
  REFUSED("conv2d", conv2d(image, f({4, 3, 9, 3})), "spans 9", "8", "2x3x8x8xf32");
  REFUSED("conv2d", conv2d(image, f({4, 3, 3, 3}), {}, {.stride = 0}), "stride 0");
  REFUSED("conv2d", conv2d(image, f({4, 3, 3, 3}), f({3})), "3xf32", "4 channels");
  REFUSED("conv1d", conv1d(image, w), "2x3x8x8xf32", "1 spatial axis");
  REFUSED("convTranspose2d", convTranspose2d(image, w), "3 channels", "4x2x3x3xf32");
  REFUSED("maxPool2d", maxPool2d(image, 2, {.padding = 2}), "padding 2", "window of 2");
  REFUSED("avgPool2d", avgPool2d(image, {2, 2, 2}), "[2, 2, 2]", "2 spatial axes");
}

TEST(Refusals, Layers) {
  Tensor x = f({4, 6});
  REFUSED("batchNorm", batchNorm(x, f({5}), f({6})), "5xf32", "4x6xf32", "6xf32");
  REFUSED("batchNormTraining", batchNormTraining(f({1, 6})), "1x6xf32");
  REFUSED("layerNorm", layerNorm(x, 5), "[5]", "4x6xf32");
  REFUSED("layerNorm", layerNorm(x, 6, f({4})), "4xf32", "4x6xf32");
  REFUSED("groupNorm", groupNorm(x, 4), "6 channels", "4x6xf32", "4 groups");
  REFUSED("dropout", dropout(x, 1.5), "1.5", "0 to 1");
  REFUSED("scaledDotProductAttention", scaledDotProductAttention(x, f({4, 5}), x), "4x6xf32", "4x5xf32");
  REFUSED("lstm", lstm(f({2, 1, 3}), f({1, 2}), f({1, 2}), f({8, 4}), f({8, 2})), "8x4xf32", "8x3xf32", "2x1x3xf32");
}

TEST(Refusals, Losses) {
  Tensor x = f({4, 3}), classes = zeros({4}, DType::i64);
  REFUSED("crossEntropy", crossEntropy(x, f({4})), "4xf32", "4x3xf32", "to(DType::i64)");
  REFUSED("crossEntropy", crossEntropy(x, zeros({3}, DType::i64)), "3xi64", "4x3xf32", "4xi64");
  REFUSED("crossEntropy", crossEntropy(x, classes, {.weight = f({4})}), "4xf32", "4x3xf32", "3xf32");
  REFUSED("crossEntropy", crossEntropy(x, classes, {.labelSmoothing = 2}), "label smoothing 2");
  REFUSED("nllLoss", nllLoss(x, zeros({4, 3}, DType::i64)), "4x3xi64", "4x3xf32");
  REFUSED("mseLoss", mseLoss(x, f({4})), "4xf32", "4x3xf32");
  REFUSED("mseLoss", mseLoss(x, zeros({4, 3}, DType::f64)), "4x3xf64", "4x3xf32");
  REFUSED("bceWithLogitsLoss", bceWithLogitsLoss(x, x, {.weight = f({2})}), "2xf32", "4x3xf32");
  REFUSED("l1Loss", l1Loss(x, x, Reduction::batchMean), "batchMean");
}

TEST(Refusals, Random) {
  REFUSED("randint", randint(3, 3, {2}), "3");
  REFUSED("rand", rand({2}, DType::i32), "i32");
  REFUSED("multinomial", multinomial(f({3}), 4), "4 of 3");
  REFUSED("bernoulli", bernoulli({2}, 2), "2");
}

// What only running can show is thrown by the reading, with the line that recorded it.
TEST(Refusals, ValuesWhenTheyAreRead) {
  auto reads = [](int line, const std::string &text, const Tensor &x) {
    try {
      (void)x.text();
      ADD_FAILURE() << "line " << line << " gave a value";
    } catch (const Error &error) {
      std::string what = error.what();
      EXPECT_NE(what.find("RefusalTest.cpp:" + std::to_string(line)), std::string::npos) << what;
      EXPECT_NE(what.find(text), std::string::npos) << what;
    }
  };
  Tensor x = f({3, 2}), far = Tensor({7, 0});
  reads(__LINE__, "7", x[far]);
  reads(__LINE__, "7", crossEntropy(f({2, 3}), far));
  reads(__LINE__, "7", oneHot(far, 3));
  reads(__LINE__, "zero", floorDivide(far, 0));
  float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  reads(__LINE__, "expected a value of at most 1, found 1.1", bernoulli(Tensor({0.5f, 1.1f})));
  reads(__LINE__, "expected a value of at least 0, found nan", bernoulli(Tensor({nan, 0.5f})));
  reads(__LINE__, "expected a value of at least 0, found -0.25", multinomial(Tensor({1.f, -0.25f, 2.f}), 1, true));
  reads(__LINE__, "found inf", multinomial(Tensor({1.f, infinity}), 1));
  reads(__LINE__, "expected a value of at least 1, found 0", multinomial(Tensor({0.f, 0.f}), 1, true));
  reads(__LINE__, "expected a value of at least 2, found 1", multinomial(Tensor({0.f, 3.f}), 2));
  reads(__LINE__, "expected a value of at most 1, found 1.00000", bceLoss(Tensor({0.5f, 1.0000001f}), 1));
  reads(__LINE__, "at most 1, found 2", compile([](Tensor p) { return bceLoss(p, 0); })(Tensor({0.f, 0.5f, 2.f})));
  reads(__LINE__, "expected a value of at least 0, found -2", gaussianNllLoss(f({2}), 0, Tensor({1.f, -2.f})));
}

} // namespace
