// Networks that are known by their number of parameters, and initial values by their distributions.
#include "LayerFixture.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/random.h"
#include <gmock/gmock.h>

using namespace sprig;
using namespace sprig::test;

namespace {

nn::Sequential mlp(std::initializer_list<int64_t> sizes) {
  nn::Sequential net;
  auto next = sizes.begin();
  for (int64_t in = *next++; next != sizes.end(); in = *next++) {
    net.append(nn::Linear(in, *next));
    if (next + 1 != sizes.end()) net.append(nn::ReLU());
  }
  return net;
}

struct Residual : nn::Module {
  nn::Conv2d conv1, conv2, shortcut;
  nn::BatchNorm2d bn1, bn2;
  bool hasShortcut;
  Residual(int64_t in, int64_t out, int stride) : hasShortcut(in != out || stride != 1) {
    conv1 = add("conv1", nn::Conv2d(in, out, 3, {.stride = stride, .padding = 1}));
    conv2 = add("conv2", nn::Conv2d(out, out, 3, {.padding = 1}));
    if (hasShortcut) shortcut = add("conv3", nn::Conv2d(in, out, 1, {.stride = stride}));
    bn1 = add("bn1", nn::BatchNorm2d(out));
    bn2 = add("bn2", nn::BatchNorm2d(out));
  }
  Tensor operator()(Tensor x) const {
    Tensor y = bn2(conv2(relu(bn1(conv1(x)))));
    return relu(y + (hasShortcut ? shortcut(x) : x));
  }
};

struct ResNet : nn::Module {
  nn::Sequential body = add("body", nn::Sequential(nn::Conv2d(1, 64, 3, {.padding = 1}), nn::BatchNorm2d(64), relu));
  nn::Linear fc = add("fc", nn::Linear(512, 10));
  ResNet() {
    int64_t channels = 64;
    for (int64_t width : {64, 128, 256, 512})
      for (int i = 0; i < 2; ++i) {
        body.append(Residual(channels, width, i == 0 && width > 64 ? 2 : 1));
        channels = width;
      }
  }
  Tensor operator()(Tensor x) const { return fc(mean(body(x), {2, 3})); }
};

TEST(Networks, parameterCounts) {
  EXPECT_EQ(nn::Linear(10, 1).numParameters(), 11);
  EXPECT_EQ(mlp({784, 256, 128, 10}).numParameters(), 235146);
  EXPECT_EQ(mlp({784, 512, 256, 10}).numParameters(), 535818);
  EXPECT_EQ(mlp({1000, 512, 256, 10}).numParameters(), 646410);
  EXPECT_EQ(mlp({784, 512, 256, 256, 128, 10}).numParameters() - (256 * 256 + 256), 567434);
  nn::Sequential lenet(nn::Conv2d(1, 20, 3), nn::ReLU(), nn::AvgPool2d(2), nn::Conv2d(20, 50, 5), nn::ReLU(),
                       nn::AvgPool2d(2), nn::Flatten(), nn::Linear(800, 128), nn::ReLU(), nn::Linear(128, 10));
  EXPECT_EQ(lenet.numParameters(), 129068);
  EXPECT_EQ(lenet(zeros({2, 1, 28, 28})).shape(), (Shape{2, 10}));
  nn::MaxPool2d pool(3, {.stride = 2});
  nn::Sequential alexnet(nn::Conv2d(1, 96, 11, {.stride = 4, .padding = 1}), relu, pool,
                         nn::Conv2d(96, 256, 5, {.padding = 2}), relu, pool, nn::Conv2d(256, 384, 3, {.padding = 1}),
                         relu, nn::Conv2d(384, 384, 3, {.padding = 1}), relu, nn::Conv2d(384, 256, 3, {.padding = 1}),
                         relu, pool, nn::Flatten(), nn::Linear(6400, 4096), relu, nn::Dropout(), nn::Linear(4096, 4096),
                         relu, nn::Dropout(), nn::Linear(4096, 10));
  EXPECT_EQ(alexnet.numParameters(), 46764746);
  ResNet resnet;
  EXPECT_EQ(resnet.numParameters(), 11175818);
  EXPECT_EQ(resnet.get<Residual>("body.5").path(), "body.5");
}

struct Moments {
  double mean = 0, deviation = 0, low = 1e30, high = -1e30;
  explicit Moments(const Tensor &tensor) {
    Numbers values = numbersOf(tensor);
    for (double v : values) {
      mean += v / double(values.size());
      low = std::min(low, v);
      high = std::max(high, v);
    }
    for (double v : values) deviation += (v - mean) * (v - mean) / double(values.size());
    deviation = std::sqrt(deviation);
  }
};

TEST(Init, distributions) {
  manualSeed(1);
  constexpr double kCount = 200000;
  TensorType type{DType::f32, {400, 500}};
  auto isUniform = [&](const Tensor &tensor, double bound) {
    Moments m(tensor);
    EXPECT_NEAR(m.mean, 0, 5 * bound / std::sqrt(3 * kCount));
    EXPECT_NEAR(m.deviation, bound / std::sqrt(3), 0.01 * bound);
    EXPECT_GE(m.low, -bound);
    EXPECT_LT(m.high, bound);
    EXPECT_LT(m.low, -0.999 * bound);
    EXPECT_GT(m.high, 0.999 * bound);
  };
  auto isNormal = [&](const Tensor &tensor, double mean, double deviation) {
    Moments m(tensor);
    EXPECT_NEAR(m.mean, mean, 5 * deviation / std::sqrt(kCount));
    EXPECT_NEAR(m.deviation, deviation, 0.01 * deviation);
    EXPECT_GT(m.high, mean + 3.5 * deviation);
  };
  isUniform(init::uniform(type, -2, 2), 2);
  isNormal(init::normal(type, 3, 0.01), 3, 0.01);
  isUniform(init::xavierUniform(type), std::sqrt(6.0 / 900));
  isNormal(init::xavierNormal(type, 2), 0, 2 * std::sqrt(2.0 / 900));
  isUniform(init::kaimingUniform(type, std::sqrt(5.0)), 1 / std::sqrt(500.0));
  isUniform(init::kaimingUniform(type, 0, init::Fan::out, init::Nonlinearity::relu), std::sqrt(6.0 / 400));
  isNormal(init::kaimingNormal(type, 0, init::Fan::in, init::Nonlinearity::tanh), 0, 5.0 / 3 / std::sqrt(500.0));
  // The fans of a convolution count its window.
  isUniform(init::kaimingUniform({DType::f32, {1000, 2, 10, 10}}, std::sqrt(5.0)), 1 / std::sqrt(200.0));
  Moments cut(init::truncNormal(type, 1, 2, 0, 3));
  EXPECT_GE(cut.low, 0);
  EXPECT_LE(cut.high, 3);
  EXPECT_NEAR(cut.mean, 1.41328, 0.01); // 1 + 2 (phi(-1/2) - phi(1)) / (Phi(1) - Phi(-1/2))
  Moments tail(init::truncNormal(type, 0, 1, 5, 100));
  EXPECT_GE(tail.low, 5);
  EXPECT_NEAR(tail.mean, 5.18650, 0.002); // phi(5) / (1 - Phi(5))
  EXPECT_EQ(numbersOf(init::ones({DType::f32, {3}})), (Numbers{1, 1, 1}));
}

TEST(Init, sizesAreChecked) {
  EXPECT_THROW(nn::Linear(int64_t(1) << 40, int64_t(1) << 40), Error);
  EXPECT_THROW(init::xavierNormal({DType::f32, {3}}), Error);
  EXPECT_THROW(init::normal({DType::i32, {3}}), Error);
}

TEST(Init, elementTypes) {
  nn::setDefaultDType(DType::f64);
  nn::BatchNorm1d norm(3);
  nn::Linear layer(3, 2);
  nn::setDefaultDType(DType::f32);
  EXPECT_EQ(layer.weight.dtype(), DType::f64);
  EXPECT_EQ(norm.runningVariance.dtype(), DType::f64);
  EXPECT_EQ(layer(norm(ones({4, 3}, DType::f64))).dtype(), DType::f64);
  EXPECT_THROW(nn::setDefaultDType(DType::i32), Error);
}

TEST(Init, orthogonal) {
  for (Shape shape : {Shape{5, 9}, Shape{9, 5}, Shape{4, 2, 3}}) {
    Numbers q = numbersOf(init::orthogonal({DType::f32, shape}, 2));
    size_t rows = size_t(shape[0]), columns = q.size() / rows;
    bool wide = rows <= columns;
    size_t count = wide ? rows : columns, length = wide ? columns : rows;
    for (size_t i = 0; i < count; ++i)
      for (size_t j = 0; j < count; ++j) {
        double product = 0;
        for (size_t k = 0; k < length; ++k)
          product += wide ? q[i * columns + k] * q[j * columns + k] : q[k * columns + i] * q[k * columns + j];
        EXPECT_NEAR(product, i == j ? 4 : 0, 1e-5);
      }
  }
}

TEST(Init, oneSeedGovernsAll) {
  auto draw = [](uint64_t seed) {
    manualSeed(seed);
    nn::Linear first(3, 4);
    nn::GRU second(3, 4);
    return std::pair(numbersOf(first.weight), numbersOf(second.weights[0].states));
  };
  EXPECT_EQ(draw(5), draw(5));
  EXPECT_NE(draw(5).first, draw(6).first);
  manualSeed(5);
  nn::Linear a(3, 4), b(3, 4);
  EXPECT_NE(numbersOf(a.weight), numbersOf(b.weight));
}

} // namespace
