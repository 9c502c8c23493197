// Fake quantisation and quantisation-aware layers beside plain loops; imperative and compiled have the same bits.
#include "LayerFixture.h"
#include "test/unit/Frontend/Expect.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/optim.h"
#include <gmock/gmock.h>
#include <set>

using namespace sprig;
using namespace sprig::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

struct Quantized {
  float value, ofX, ofScale; ///< gradients
};
Quantized quantized(float x, float scale, int zero, int low, int high) {
  float quotient = x / scale, q = std::nearbyint(quotient) + float(zero);
  float clipped = std::min(std::max(q, float(low)), float(high));
  bool isKept = q == clipped;
  return {(clipped - float(zero)) * scale, isKept ? 1.f : 0.f, clipped - float(zero) - (isKept ? quotient : 0.f)};
}

TEST(FakeQuantize, valuesAndGradients) {
  Tensor x = (someTensor({3, 40}, 1) * 4.f).requireGrad(),
         scale = Tensor::from(std::vector<float>{0.02f, 0.1f, 0.5f}, {3, 1}).requireGrad();
  Tensor zero = full({3, 1}, 9, DType::u8), weight = someTensor({3, 40}, 2);
  auto f = [&](const Tensor &a, const Tensor &s) { return fakeQuantize(a, s, zero, {.high = 15}); };
  std::vector<Tensor> gradients = grad(sum(f(x, scale) * weight), {x, scale});
  Numbers values, ofX, ofScale(3, 0), xs = numbersOf(x), scales = numbersOf(scale), weights = numbersOf(weight);
  for (size_t i = 0; i < xs.size(); ++i) {
    Quantized each = quantized(float(xs[i]), float(scales[i / 40]), 9, 0, 15);
    values.push_back(each.value);
    ofX.push_back(each.ofX * weights[i]);
    ofScale[i / 40] += each.ofScale * weights[i];
  }
  expectNear(f(x, scale), values, 0);
  expectNear(gradients[0], ofX, 0);
  expectNear(gradients[1], ofScale, 1e-5);
  auto both = compile([&](const Tensor &a, const Tensor &s) {
    std::vector<Tensor> found = grad(sum(f(a, s) * weight), {a, s});
    return std::vector<Tensor>{f(a, s), found[0], found[1]};
  });
  std::vector<Tensor> compiled = both(x, scale);
  expectSameBits(compiled[0], f(x, scale));
  expectSameBits(compiled[1], gradients[0]);
  expectSameBits(compiled[2], gradients[1]);
}

// NaN is clipped to the lowest integer: so it is no part of a gradient.
TEST(FakeQuantize, gradientsOfWhatIsNoNumber) {
  Tensor x = Tensor::from(std::vector<float>{NAN, INFINITY, -INFINITY, 1}, {4}).requireGrad();
  Tensor scale = full({}, 0.5).requireGrad(), zero = full({}, 9, DType::u8);
  auto f = [&](const Tensor &a, const Tensor &s) { return fakeQuantize(a, s, zero, {.high = 15}); };
  expectNear(f(x, scale), {-4.5, 3, -4.5, 1}, 0);
  std::vector<Tensor> gradients = grad(sum(f(x, scale)), {x, scale});
  expectNear(gradients[0], {0, 0, 0, 1}, 0);
  expectNear(gradients[1], {-9. + 6 - 9 + 0}, 0);
}

// Scales are numbers of the operand's type: what is less than the least normal one of halves would be none.
TEST(FakeQuantize, scalesOfHalves) {
  Tensor tiny = full({2, 3}, 1e-4, DType::f16);
  nn::FakeQuantize layer;
  expectNear(layer(tiny).to(DType::f32), Numbers(6, 0), 0);
}

TEST(FakeQuantize, refusals) {
  Tensor x = zeros({2, 3}), one = ones({}), zero = zeros({}, DType::u8);
  EXPECT_THAT(errorOf([&] { fakeQuantize(zeros({2}, DType::i32), one, zero); }), HasSubstr("fakeQuantize"));
  EXPECT_THAT(errorOf([&] { fakeQuantize(x, one, ones({})); }),
              HasSubstr("zero point f32; expected i8, u8, i16 or u16"));
  EXPECT_THAT(errorOf([&] { fakeQuantize(x, ones({4}), zero); }),
              HasSubstr("a scale 4xf32, which does not broadcast to 2x3xf32"));
  EXPECT_THAT(errorOf([&] { fakeQuantize(x, one, zero, {.low = -1}); }),
              HasSubstr("clips to -1 to 255, expected two of 0 to 255"));
  EXPECT_THAT(errorOf([&] { fakeQuantize(x, one, zero, {3, 3}); }), HasSubstr("clips to 3 to 3"));
  EXPECT_THAT(errorOf([] { nn::FakeQuantize({.bits = 1}); }), HasSubstr("1 bits, expected 3 to 8"));
  EXPECT_THAT(errorOf([] { nn::FakeQuantize({.momentum = 0}); }), HasSubstr("momentum is 0"));
}

// As lib/Quantize makes quantisers of a range: 0 is in it.
TEST(FakeQuantizeLayer, theRangeIsAMovingAverage) {
  nn::FakeQuantize layer({.momentum = 0.25});
  layer.eval();
  EXPECT_TRUE(std::isnan(numbersOf(layer(ones({1})))[0])) << "nothing was seen";
  layer.train();
  layer(Tensor({-1.f, 3.f}));
  EXPECT_THAT(numbersOf(layer.low), ElementsAre(-1));
  EXPECT_THAT(numbersOf(layer.high), ElementsAre(3));
  Tensor x({-3.f, 0.f, 0.7f, 5.f});
  Tensor trained = layer(x);
  EXPECT_THAT(numbersOf(layer.low), ElementsAre(-1.5));
  EXPECT_THAT(numbersOf(layer.high), ElementsAre(3.5));
  float scale = 5.f / 255;
  int zero = int(std::nearbyint(1.5f / scale));
  Numbers expected;
  for (double each : numbersOf(x)) expected.push_back(quantized(float(each), scale, zero, 0, 255).value);
  expectNear(trained, expected, 1e-6);
  layer.eval();
  expectNear(layer(x), expected, 1e-6);
  EXPECT_THAT(numbersOf(layer.high), ElementsAre(3.5));

  nn::FakeQuantize symmetric({.bits = 4, .isSigned = true, .symmetric = true});
  expectNear(symmetric(Tensor({-7.f, 2.4f, 3.5f})), {-7, 2, 4}, 1e-6);
  nn::FakeQuantize positive; // what is above 0 alone has its zero at the end
  expectNear(positive(Tensor({1.f, 255.f})), {1, 255}, 1e-6);
  EXPECT_EQ(positive.text(), "FakeQuantize(bits=8, signed=False, symmetric=False, momentum=0.01)");
}

nn::Sequential network() {
  return nn::Sequential(nn::Conv2d(1, 4, 3, {.padding = 1}), nn::ReLU(), nn::Flatten(), nn::Linear(64, 5));
}

TEST(QuantizeAware, weightsHaveFewLevels) {
  for (int bits : {8, 4, 3}) {
    nn::Sequential net = network();
    Numbers before = numbersOf(net.get<nn::Linear>("3").weight);
    nn::quantizeAware(net, {.weightBits = bits});
    auto &layer = net.get<nn::Linear>("3");
    Numbers weight = numbersOf(nn::weightOf(layer));
    int most = (1 << (bits - 1)) - 1;
    for (size_t row = 0; row < 5; ++row) {
      double largest = 0;
      std::set<double> levels;
      for (size_t i = 64 * row; i < 64 * (row + 1); ++i) largest = std::max(largest, std::abs(before[i]));
      for (size_t i = 64 * row; i < 64 * (row + 1); ++i) {
        EXPECT_NEAR(weight[i], before[i], largest / most / 2 * 1.001);
        EXPECT_NEAR(weight[i] / largest * most, std::nearbyint(weight[i] / largest * most), 1e-4);
        levels.insert(weight[i]);
      }
      EXPECT_LE(int(levels.size()), 2 * most + 1);
    }
  }
}

TEST(QuantizeAware, parametersAndState) {
  nn::Sequential net = network();
  nn::quantizeAware(net);
  std::vector<std::string> names;
  for (const nn::NamedTensor &row : net.stateDict()) names.push_back(row.name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("0.bias", "0.parametrizations.weight.original",
                                                     "0.input_quantizer.min_val", "0.input_quantizer.max_val", "3.bias",
                                                     "3.parametrizations.weight.original", "3.input_quantizer.min_val",
                                                     "3.input_quantizer.max_val"));
  EXPECT_THAT(errorOf([&] { nn::quantizeAware(net); }), HasSubstr("has a norm already"));
  nn::ReLU none;
  EXPECT_THAT(errorOf([&] { nn::quantizeAware(none); }), HasSubstr("the ReLU has no Linear, convolution"));
  nn::Sequential weights = network();
  nn::quantizeAware(weights, {.perChannel = false, .quantizesInputs = false});
  EXPECT_EQ(weights.stateDict().size(), 4u);
}

// Steps, imperative and compiled, from the same start: the same bits, and the loss falls.
TEST(QuantizeAware, trainsWithTheSameBitsCompiled) {
  Tensor x = someTensor({8, 1, 4, 4}, 5), y = Tensor({0, 1, 2, 3, 4, 0, 1, 2});
  nn::Sequential plain = network(), other = nn::clone(plain);
  nn::quantizeAware(plain, {.weightBits = 4});
  nn::quantizeAware(other, {.weightBits = 4});
  auto stepOf = [&](nn::Sequential &net, auto &optimizer) {
    Tensor loss = crossEntropy(net(x), y);
    optimizer.update(grad(loss, net.parameters()));
    return loss;
  };
  auto first = optim::sgd(plain.parameters(), {.lr = 0.2}), second = optim::sgd(other.parameters(), {.lr = 0.2});
  auto step = compile([&] { return stepOf(other, second); });
  float begin = 0, end = 0;
  for (int i = 0; i < 20; ++i) {
    Tensor a = stepOf(plain, first), b = step();
    expectSameBits(a, b);
    (i ? end : begin) = a.toVector<float>()[0];
  }
  EXPECT_LT(end, begin / 2);
  auto rows = plain.stateDict(), same = other.stateDict();
  for (size_t i = 0; i < rows.size(); ++i) expectSameBits(rows[i].value, same[i].value);
}

} // namespace
