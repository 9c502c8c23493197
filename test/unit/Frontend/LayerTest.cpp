// Values, state and gradients of layers, against plain loops.
#include "LayerFixture.h"
#include "test/unit/Frontend/Expect.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include <gmock/gmock.h>

using namespace sprig;
using namespace sprig::test;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {

TEST(Layer, linear) {
  nn::Linear layer(5, 3);
  Tensor x = someTensor({2, 4, 5}, 1);
  Tensor y = layer(x);
  EXPECT_EQ(y.shape(), (Shape{2, 4, 3}));
  expectNear(y, test::linear(numbersOf(x), numbersOf(layer.weight), numbersOf(layer.bias), 5));
  EXPECT_THAT(errorOf([] { nn::Linear(0, 3); }), HasSubstr("the number of inputs is 0"));
}

TEST(Layer, convolution) {
  nn::Conv2d layer(4, 6, {3, 2}, {.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}, .groups = 2});
  EXPECT_EQ(layer.weight.shape(), (Shape{6, 2, 3, 2}));
  Tensor x = someTensor({2, 4, 7, 6}, 2);
  Tensor y = layer(x);
  ASSERT_EQ(y.shape(), (Shape{2, 6, 4, 4}));
  Numbers in = numbersOf(x), w = numbersOf(layer.weight), b = numbersOf(layer.bias), expected;
  for (int n = 0; n < 2; ++n)
    for (int o = 0; o < 6; ++o)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
          double sum = b[size_t(o)];
          for (int c = 0; c < 2; ++c)
            for (int p = 0; p < 3; ++p)
              for (int q = 0; q < 2; ++q) {
                int row = i * 2 + p - 1, column = j + 2 * q, channel = (o / 3) * 2 + c;
                if (row < 0 || row >= 7) continue;
                sum +=
                    in[size_t(((n * 4 + channel) * 7 + row) * 6 + column)] * w[size_t(((o * 2 + c) * 3 + p) * 2 + q)];
              }
          expected.push_back(sum);
        }
  expectNear(y, expected);
}

TEST(Layer, convolutionPadding) {
  Tensor x = someTensor({1, 2, 9}, 3);
  // An even window needs one element more after than before.
  nn::Conv1d same(2, 3, 4, {.samePadding = true});
  Tensor padded = pad(x, {1, 2});
  EXPECT_EQ(same(x).shape(), (Shape{1, 3, 9}));
  expectNear(same(x), numbersOf(conv1d(padded, same.weight, same.bias)));
  nn::Conv1d circular(2, 3, 3, {.padding = 2, .paddingMode = Padding::circular});
  expectNear(circular(x), numbersOf(conv1d(pad(x, {2, 2}, Padding::circular), circular.weight, circular.bias)));
  EXPECT_THAT(errorOf([] { nn::Conv2d(3, 4, 3, {.groups = 2}); }), HasSubstr("do not divide into 2 groups"));
  EXPECT_THAT(errorOf([] { nn::Conv2d(3, 4, {3, 3, 3}); }), HasSubstr("3 numbers for 2 axes"));
}

TEST(Layer, transposedConvolutionIsTheGradientOfAConvolution) {
  nn::ConvTranspose2d layer(3, 2, 3, {.stride = 2, .padding = 1, .outputPadding = 1, .bias = false});
  Tensor x = someTensor({1, 3, 4, 4}, 4), image = someTensor({1, 2, 8, 8}, 5).requireGrad();
  Tensor forward = conv2d(image, layer.weight.value().detach(), {}, {.stride = 2, .padding = 1});
  Tensor gradient = grad(sum(forward * x), image);
  EXPECT_EQ(layer(x).shape(), (Shape{1, 2, 8, 8}));
  expectNear(layer(x), numbersOf(gradient));
}

TEST(Layer, batchNorm) {
  nn::BatchNorm2d layer(3);
  init::uniform_(layer.weight, 0.5, 1.5);
  init::uniform_(layer.bias, -1, 1);
  Numbers weight = numbersOf(layer.weight), bias = numbersOf(layer.bias);
  Numbers runningMean(3, 0), runningVariance(3, 1);
  auto indexOf = [](int n, int c, int i) { return size_t((n * 3 + c) * 10 + i); };
  for (int step = 0; step < 2; ++step) {
    Tensor x = someTensor({4, 3, 2, 5}, uint32_t(6 + step)) * 3;
    Numbers in = numbersOf(x), expected(in.size());
    for (int c = 0; c < 3; ++c) {
      double mean = 0, variance = 0;
      for (int n = 0; n < 4; ++n)
        for (int i = 0; i < 10; ++i) mean += in[indexOf(n, c, i)] / 40;
      for (int n = 0; n < 4; ++n)
        for (int i = 0; i < 10; ++i) variance += std::pow(in[indexOf(n, c, i)] - mean, 2) / 40;
      size_t k = size_t(c);
      for (int n = 0; n < 4; ++n)
        for (int i = 0; i < 10; ++i)
          expected[indexOf(n, c, i)] = (in[indexOf(n, c, i)] - mean) / std::sqrt(variance + 1e-5) * weight[k] + bias[k];
      runningMean[k] = 0.9 * runningMean[k] + 0.1 * mean;
      runningVariance[k] = 0.9 * runningVariance[k] + 0.1 * variance * 40 / 39;
    }
    expectNear(layer(x), expected);
  }
  expectNear(layer.runningMean.value(), runningMean);
  expectNear(layer.runningVariance.value(), runningVariance);
  EXPECT_EQ(layer.numBatchesTracked.value().item<int64_t>(), 2);

  layer.eval();
  Tensor x = someTensor({1, 3, 1, 2}, 9);
  Numbers in = numbersOf(x), expected;
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 2; ++i) {
      size_t k = size_t(c);
      expected.push_back((in[size_t(c * 2 + i)] - runningMean[k]) / std::sqrt(runningVariance[k] + 1e-5) * weight[k] +
                         bias[k]);
    }
  expectNear(layer(x), expected);
  EXPECT_EQ(layer.numBatchesTracked.value().item<int64_t>(), 2);
  EXPECT_THAT(errorOf([&] { layer(zeros({2, 4, 3, 3})); }), HasSubstr("needs 3 channels, it is 2x4x3x3xf32"));
  EXPECT_THAT(errorOf([&] { layer(zeros({2, 3})); }), HasSubstr("needs 4 dimensions"));
}

TEST(Layer, batchNormWithoutMomentumAverages) {
  nn::BatchNorm1d layer(1, {.momentum = std::nullopt, .affine = false});
  layer(Tensor::from(std::vector<float>{0, 2}, {2, 1})).wait(); // mean 1, variance 2
  layer(Tensor::from(std::vector<float>{4, 6}, {2, 1})).wait(); // mean 5, variance 2
  expectNear(layer.runningMean.value(), {3});
  expectNear(layer.runningVariance.value(), {2});
}

TEST(Layer, otherNorms) {
  Tensor x = someTensor({2, 4, 3}, 10) * 2;
  Numbers in = numbersOf(x);
  auto normalised = [&](size_t begin, size_t count, bool isRms, double epsilon) {
    double mean = 0, square = 0;
    for (size_t i = begin; i < begin + count; ++i) mean += in[i] / double(count);
    if (isRms) mean = 0;
    for (size_t i = begin; i < begin + count; ++i) square += (in[i] - mean) * (in[i] - mean) / double(count);
    Numbers result;
    for (size_t i = begin; i < begin + count; ++i) result.push_back((in[i] - mean) / std::sqrt(square + epsilon));
    return result;
  };
  auto over = [&](size_t count, bool isRms = false, double epsilon = 1e-5) {
    Numbers result;
    for (size_t i = 0; i < in.size(); i += count)
      for (double value : normalised(i, count, isRms, epsilon)) result.push_back(value);
    return result;
  };
  expectNear(nn::LayerNorm(3)(x), over(3));
  expectNear(nn::LayerNorm({4, 3})(x), over(12));
  expectNear(nn::LayerNorm(3, {.affine = false})(x), over(3));
  expectNear(nn::GroupNorm(2, 4)(x), over(6));
  expectNear(nn::InstanceNorm1d(4)(x), over(3));
  expectNear(nn::InstanceNorm1d(4)(x[0]), numbersOf(nn::InstanceNorm1d(4)(x)[0]), 0); // without a batch
  EXPECT_THROW(nn::InstanceNorm1d(3)(x[0]), Error);
  EXPECT_THROW(nn::InstanceNorm2d(4)(x[0]), Error);
  expectNear(nn::RMSNorm(3, {.epsilon = 1e-6})(x), over(3, true, 1e-6));
  EXPECT_EQ(nn::LayerNorm({4, 3}).numParameters(), 24);
  EXPECT_EQ(nn::LayerNorm({4, 3}, {.bias = false}).numParameters(), 12);
}

TEST(Layer, instanceNormTracks) {
  nn::InstanceNorm1d layer(1, {.trackRunningStats = true});
  layer(Tensor::from(std::vector<float>{0, 2, 4, 8}, {2, 1, 2})).wait(); // means 1 and 6, variances 2 and 8
  expectNear(layer.runningMean.value(), {0.35});
  expectNear(layer.runningVariance.value(), {0.9 + 0.5});
  layer(Tensor({{0.f, 2.f}})).wait(); // of one sample: mean 1, variance 2
  expectNear(layer.runningMean.value(), {0.9 * 0.35 + 0.1});
  layer.eval();
  Tensor one({{0.f, 2.f}});
  expectNear(layer(one), numbersOf(layer(one.unsqueeze(0))), 0);
}

TEST(Layer, embedding) {
  nn::Embedding layer(5, 3, {.paddingIndex = 1});
  Numbers table = numbersOf(layer.weight);
  for (int i = 3; i < 6; ++i) EXPECT_EQ(table[size_t(i)], 0);
  Tensor y = layer(Tensor({{4, 1}, {0, 4}}));
  EXPECT_EQ(y.shape(), (Shape{2, 2, 3}));
  Numbers expected;
  for (int row : {4, 1, 0, 4})
    for (int i = 0; i < 3; ++i) expected.push_back(table[size_t(row * 3 + i)]);
  expectNear(y, expected, 0);
  Tensor gradient = grad(sum(y), layer.parameters())[0];
  expectNear(gradient, {1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2}, 0);
}

TEST(Layer, embeddingBag) {
  Tensor bags({{4, 1}, {0, 4}}), weights({{2.f, -1.f}, {0.5f, 3.f}});
  for (nn::Bag mode : {nn::Bag::mean, nn::Bag::sum, nn::Bag::max}) {
    nn::EmbeddingBag layer(5, 3, mode);
    Numbers table = numbersOf(layer.weight), expected, weighted;
    for (auto [a, b, u, v] : {std::tuple(4, 1, 2.0, -1.0), {0, 4, 0.5, 3.0}})
      for (int i = 0; i < 3; ++i) {
        double x = table[size_t(a * 3 + i)], y = table[size_t(b * 3 + i)];
        expected.push_back(mode == nn::Bag::mean ? (x + y) / 2 : mode == nn::Bag::sum ? x + y : std::max(x, y));
        weighted.push_back(u * x + v * y);
      }
    expectNear(layer(bags), expected, 1e-6);
    expectSameBits(compile(layer)(bags), layer(bags));
    if (mode != nn::Bag::sum) continue;
    expectNear(layer(bags, weights), weighted, 1e-6);
    Tensor gradient = grad(sum(layer(bags, weights)), layer.parameters())[0];
    expectNear(gradient, {0.5, 0.5, 0.5, -1, -1, -1, 0, 0, 0, 0, 0, 0, 5, 5, 5}, 1e-6);
  }
}

// Bags of 3, 0, 2 and 1 indices, by offsets and padded; values and gradients by hand.
TEST(Layer, embeddingBagOfRaggedBags) {
  const std::vector<std::vector<int>> bags = {{4, 1, 4}, {}, {0, 2}, {3}};
  Tensor flat({int64_t(4), int64_t(1), int64_t(4), int64_t(0), int64_t(2), int64_t(3)}),
      offsets({int64_t(0), int64_t(3), int64_t(3), int64_t(5)});
  Tensor padded({{4, 1, 4}, {-7, 99, 5}, {0, 2, -1}, {3, 6, 6}}), lengths({3, 0, 2, 1});
  Tensor flatWeights({2.f, -1.f, 0.5f, 3.f, 1.f, -2.f});
  const float nan = std::nanf("");
  Tensor paddedWeights({{2.f, -1.f, 0.5f}, {nan, nan, nan}, {3.f, 1.f, nan}, {-2.f, nan, nan}});
  Tensor factors = someTensor({4, 3}, 71);
  Numbers by = numbersOf(factors);
  for (nn::Bag mode : {nn::Bag::mean, nn::Bag::sum, nn::Bag::max})
    for (bool isWeighed : {false, true}) {
      if (isWeighed && mode != nn::Bag::sum) continue;
      nn::EmbeddingBag layer(5, 3, mode);
      Numbers table = numbersOf(layer.weight), expected(12, 0), gradient(15, 0), each = numbersOf(flatWeights);
      size_t at = 0;
      for (size_t b = 0; b < 4; at += bags[b].size(), ++b)
        for (size_t f = 0; f < 3; ++f) {
          size_t n = bags[b].size();
          double &y = expected[b * 3 + f];
          auto element = [&](size_t i) { return size_t(bags[b][i]) * 3 + f; };
          if (mode == nn::Bag::max) {
            size_t most = 0;
            for (size_t i = 1; i < n; ++i)
              if (table[element(i)] > table[element(most)]) most = i;
            if (n) y = table[element(most)];
            // Of equal ones each has its part of the gradient; together they are one row's.
            if (n) gradient[element(most)] += by[b * 3 + f];
            continue;
          }
          for (size_t i = 0; i < n; ++i) {
            double share = isWeighed ? each[at + i] : mode == nn::Bag::mean ? 1 / double(n) : 1;
            y += share * table[element(i)];
            gradient[element(i)] += share * by[b * 3 + f];
          }
        }
      auto ragged = [&](const Tensor &indices, const Tensor &begins) {
        return layer.byOffsets(indices, begins, isWeighed ? flatWeights : Tensor());
      };
      auto masked = [&](const Tensor &indices, const Tensor &counts) {
        return layer.byLengths(indices, counts, isWeighed ? paddedWeights : Tensor());
      };
      expectNear(ragged(flat, offsets), expected, 1e-6);
      expectNear(masked(padded, lengths), expected, 1e-6);
      expectSameBits(compile(ragged)(flat, offsets), ragged(flat, offsets));
      expectSameBits(compile(masked)(padded, lengths), masked(padded, lengths));
      expectNear(grad(sum(ragged(flat, offsets) * factors), layer.weight), gradient, 1e-6);
      expectNear(grad(sum(masked(padded, lengths) * factors), layer.weight), gradient, 1e-6);
    }
  nn::EmbeddingBag layer(5, 3);
  expectNear(layer.byOffsets(Tensor({1, 2}), Tensor({0, 2})),
             numbersOf(cat({layer(Tensor({{1, 2}})), zeros({1, 3})}, 0)), 1e-6);
  EXPECT_THAT(errorOf([&] { layer.byOffsets(flat, Tensor({1, 3})).wait(); }),
              HasSubstr("expected an index below 2, found -1"));
  EXPECT_THAT(errorOf([&] { layer.byOffsets(flat, Tensor({0, 7})).wait(); }),
              HasSubstr("expected an index below 7, found 7"));
  EXPECT_THAT(errorOf([&] { layer.byOffsets(flat, Tensor({0, 5, 3})).wait(); }), HasSubstr("found -2"));
  EXPECT_THAT(errorOf([&] { layer.byOffsets(flat, Tensor({0, -1})).wait(); }), HasSubstr("found -1"));
  EXPECT_THAT(errorOf([&] { layer.byLengths(padded, Tensor({1, 4, 0, 0})).wait(); }), HasSubstr("found 4"));
  EXPECT_THAT(errorOf([&] { layer.byLengths(padded, Tensor({1, -1, 0, 0})).wait(); }), HasSubstr("found -1"));
  // Of half types counts are whole and sums those of f32.
  nn::EmbeddingBag narrow(2, 1);
  narrow.weight.set(Tensor({{1.f}, {1.f}}));
  narrow.to(DType::bf16);
  EXPECT_EQ(narrow.byOffsets(zeros({1000}, DType::i64), Tensor({0})).to(DType::f32).item<float>(), 1.f);
  EXPECT_THAT(errorOf([&] { layer.byOffsets(padded, offsets); }), HasSubstr("takes bags of indices [n], got 4x3xi32"));
  EXPECT_THAT(errorOf([&] { layer.byLengths(padded, offsets.slice(0, 0, 3)); }),
              HasSubstr("takes lengths [4] of i64 or i32, got 3xi64"));
}

TEST(Layer, ctcLossIsItsFunction) {
  Tensor x = logSoftmax(someTensor({6, 2, 4}, 72), 2), targets({{1, 2, 2}, {3, 0, 0}}), steps({6, 5}), labels({3, 1});
  CtcOptions options{.blank = 0, .reduction = Reduction::sum};
  expectSameBits(nn::CTCLoss(options)(x, targets, steps, labels), ctcLoss(x, targets, steps, labels, options));
}

TEST(Layer, dropout) {
  nn::Dropout layer(0.25);
  Tensor x = ones({100, 100}), y = layer(x);
  int zeros = 0;
  for (double value : numbersOf(y)) {
    if (value == 0)
      ++zeros;
    else
      ASSERT_FLOAT_EQ(float(value), 1 / 0.75f);
  }
  EXPECT_NEAR(zeros, 2500, 5 * std::sqrt(10000 * 0.25 * 0.75));
  EXPECT_NE(numbersOf(layer(x)), numbersOf(y));
  layer.eval();
  EXPECT_EQ(numbersOf(layer(x)), numbersOf(x));
  nn::Dropout2d channels(0.5);
  Numbers rows = numbersOf(channels(ones({8, 8, 2, 2})));
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], rows[i - i % 4]);
  EXPECT_THAT(errorOf([] { nn::Dropout(1.5); }), HasSubstr("outside of [0, 1]"));
}

TEST(Layer, shapes) {
  Tensor x = someTensor({2, 3, 6, 8}, 11);
  EXPECT_EQ(nn::MaxPool2d(3, {.stride = 2})(x).shape(), (Shape{2, 3, 2, 3}));
  EXPECT_EQ(nn::AvgPool2d({2, 4})(x).shape(), (Shape{2, 3, 3, 2}));
  EXPECT_EQ(nn::AdaptiveAvgPool2d(1)(x).shape(), (Shape{2, 3, 1, 1}));
  EXPECT_EQ(nn::AdaptiveMaxPool2d({3, 5})(x).shape(), (Shape{2, 3, 3, 5}));
  EXPECT_EQ(nn::Flatten()(x).shape(), (Shape{2, 144}));
  EXPECT_EQ(nn::Unflatten(1, {1, 3})(x).shape(), (Shape{2, 1, 3, 6, 8}));
  EXPECT_EQ(nn::ReflectionPad2d({1, 2, 3, 0})(x).shape(), (Shape{2, 3, 9, 11}));
  EXPECT_EQ(nn::ConstantPad2d(1, 5)(x).shape(), (Shape{2, 3, 8, 10}));
  EXPECT_EQ(nn::Upsample({.scale = {2}})(x).shape(), (Shape{2, 3, 12, 16}));
  EXPECT_EQ(nn::PixelUnshuffle(2)(x).shape(), (Shape{2, 12, 3, 4}));
  EXPECT_EQ(numbersOf(nn::PixelShuffle(2)(nn::PixelUnshuffle(2)(x))), numbersOf(x));
  EXPECT_EQ(nn::Bilinear(8, 3, 2)(ones({5, 8}), ones({5, 3})).shape(), (Shape{5, 2}));
}

TEST(Layer, activations) {
  Tensor x = Tensor::from(std::vector<float>{-2, -0.5f, 0, 0.5f, 3}, {1, 5});
  auto check = [&](const auto &layer, double (*f)(double)) {
    Numbers expected;
    for (double value : numbersOf(x)) expected.push_back(f(value));
    expectNear(layer(x), expected, 1e-6);
  };
  check(nn::ReLU(), [](double v) { return std::max(v, 0.0); });
  check(nn::ReLU6(), [](double v) { return std::min(std::max(v, 0.0), 6.0); });
  check(nn::Sigmoid(), [](double v) { return test::sigmoid(v); });
  check(nn::LogSigmoid(), [](double v) { return std::log(test::sigmoid(v)); });
  check(nn::Tanh(), [](double v) { return std::tanh(v); });
  check(nn::Tanhshrink(), [](double v) { return v - std::tanh(v); });
  check(nn::SiLU(), [](double v) { return v * test::sigmoid(v); });
  check(nn::Mish(), [](double v) { return v * std::tanh(std::log1p(std::exp(v))); });
  check(nn::Softsign(), [](double v) { return v / (1 + std::abs(v)); });
  check(nn::Hardsigmoid(), [](double v) { return std::min(std::max(v / 6 + 0.5, 0.0), 1.0); });
  check(nn::Hardswish(), [](double v) { return v * std::min(std::max(v / 6 + 0.5, 0.0), 1.0); });
  check(nn::GELU(), [](double v) { return v * (1 + std::erf(v / std::sqrt(2.0))) / 2; });
  check(nn::ELU(2), [](double v) { return v > 0 ? v : 2 * std::expm1(v); });
  check(nn::CELU(2), [](double v) { return v > 0 ? v : 2 * std::expm1(v / 2); });
  check(nn::SELU(), [](double v) { return 1.0507009873554805 * (v > 0 ? v : 1.6732632423543772 * std::expm1(v)); });
  check(nn::LeakyReLU(0.2), [](double v) { return v > 0 ? v : 0.2 * v; });
  check(nn::PReLU(), [](double v) { return v > 0 ? v : 0.25 * v; });
  check(nn::Hardshrink(), [](double v) { return std::abs(v) > 0.5 ? v : 0; });
  check(nn::Softshrink(), [](double v) { return v > 0.5 ? v - 0.5 : v < -0.5 ? v + 0.5 : 0; });
  check(nn::Hardtanh(), [](double v) { return std::min(std::max(v, -1.0), 1.0); });
  check(nn::Softplus(), [](double v) { return std::log1p(std::exp(v)); });
  check(nn::Threshold(0.25, -7), [](double v) { return v > 0.25 ? v : -7; });
  double total = 0;
  for (double v : numbersOf(x)) total += std::exp(v);
  Numbers softmax, logSoftmax;
  for (double v : numbersOf(x)) {
    softmax.push_back(std::exp(v) / total);
    logSoftmax.push_back(v - std::log(total));
  }
  expectNear(nn::Softmax()(x), softmax);
  expectNear(nn::LogSoftmax()(x), logSoftmax);
  EXPECT_EQ(nn::GLU()(ones({2, 6})).shape(), (Shape{2, 3}));
}

// PyTorch's shapes for each layout, and no others.
TEST(Layer, masksOfAttentionHavePyTorchsShapes) {
  Tensor x = someTensor({2, 5, 8}, 1), keys = zeros({2, 5}, DType::boolean);
  nn::MultiheadAttention batchFirst(8, 2, {.batchFirst = true}), stepsFirst(8, 2);
  (void)batchFirst(x, x, x, {.mask = zeros({5, 5}), .keyPadding = keys}).text();
  (void)batchFirst(x, x, x, {.mask = zeros({4, 5, 5}), .keyPadding = zeros({2, 5})}).text();
  (void)stepsFirst(x, x, x, {.keyPadding = keys.T()}).text();
  (void)stepsFirst(x[0], x[0], x[0], {.mask = zeros({2, 5, 5}), .keyPadding = keys[0]}).text();
  auto refusal = [&](const nn::MultiheadAttention &layer, const Tensor &q, const Tensor &kv,
                     const nn::AttentionMask &mask) { return errorOf([&] { layer(q, kv, kv, mask); }); };
  for (const Tensor &padding : {keys.T(), keys.flatten(), keys.unsqueeze(1), keys[0], zeros({1, 5}, DType::boolean)})
    EXPECT_THAT(refusal(batchFirst, x, x, {.keyPadding = padding}),
                AllOf(HasSubstr("MultiheadAttention: keyPadding is " + describe(padding.type())),
                      HasSubstr("2x5x8xf32 (batchFirst) it has to be [batch, keys] = [2, 5]")));
  EXPECT_THAT(refusal(stepsFirst, x, x, {.keyPadding = keys}),
              HasSubstr("(batchFirst is not set) it has to be [batch, keys] = [5, 2]"));
  EXPECT_THAT(refusal(stepsFirst, x[0], x[0], {.keyPadding = keys}), HasSubstr("it has to be [keys] = [5]"));
  for (const Shape &shape : {Shape{5}, Shape{5, 4}, Shape{2, 5, 5}, Shape{5, 1}, Shape{2, 2, 5, 5}})
    EXPECT_THAT(refusal(batchFirst, x, x, {.mask = zeros(shape)}),
                HasSubstr("it has to be [steps, keys] = [5, 5] or [batch heads, steps, keys] = [4, 5, 5]"));
  EXPECT_THAT(refusal(batchFirst, x, x, {.mask = zeros({5, 5}, DType::i64)}), HasSubstr("takes booleans"));
  // Keys of another batch would broadcast.
  EXPECT_THAT(refusal(batchFirst, x, x[Slice(0, 1)], {}), HasSubstr("their batches have to be equal"));
  EXPECT_THAT(errorOf([&] { batchFirst(x, x, x(all, Slice(0, 4))); }), HasSubstr("as many steps"));
  // Nor is a number a state, or a weight.
  EXPECT_THAT(errorOf([&] { nn::LSTM(8, 3)(x, 1.0); }), HasSubstr("LSTM: takes a tensor as h, got a number"));
  EXPECT_THAT(errorOf([&] { nn::GRUCell(8, 3)(x[0], 1); }), HasSubstr("GRUCell: takes a tensor as h, got a number"));
  EXPECT_THAT(errorOf([&] { nn::EmbeddingBag(4, 3, nn::Bag::sum)(Tensor({{1, 2}}), 0.5); }),
              HasSubstr("takes a tensor as weights, got a number"));
}

} // namespace
