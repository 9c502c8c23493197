// Networks with convolutions give the same bits operation by operation, in the model's layout, as compiled whole, with
// channels last: sums over batch and places, which are long enough to show another order.
#include "LayerFixture.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/sprig.h"
#include <cstring>

using namespace sprig;
using namespace sprig::test;

namespace {

Tensor flat(const std::vector<Tensor> &tensors) {
  std::vector<Tensor> parts;
  for (const Tensor &tensor : tensors) parts.push_back(reshape(tensor, {-1}));
  return cat(parts, 0);
}

/// What f gives for x in both forms; f is pure.
template <typename F> void expectSameBits(F f, const Tensor &x, const std::string &what) {
  std::vector<float> plain = f(x).template toVector<float>();
  std::vector<float> compiled = compile(f)(x).template toVector<float>();
  ASSERT_EQ(plain.size(), compiled.size()) << what;
  for (size_t i = 0; i < plain.size(); ++i)
    ASSERT_EQ(std::memcmp(&plain[i], &compiled[i], sizeof(float)), 0)
        << what << ", element " << i << ": " << plain[i] << " and compiled " << compiled[i];
}

/// Batches, heights and widths around whole vectors, the width alone deciding which accumulator takes an element in;
/// one of more than 1024 positions, whose sums are those of its samples.
const std::vector<Shape> kShapes = {{1, 3, 16, 16}, {3, 3, 5, 17}, {8, 3, 4, 15},  {8, 3, 7, 3},  {3, 3, 33, 1},
                                    {1, 3, 9, 33},  {3, 3, 1, 40}, {11, 3, 12, 8}, {2, 3, 3, 64}, {3, 3, 2, 32}};

/// Gradients of all parameters, and the loss.
template <typename Net> Tensor step(const Net &net, const Tensor &x) {
  Tensor y = net(x), loss = mean(y * y) + sum(y) * 0.01f;
  std::vector<Tensor> results = grad(loss, net.parameters());
  results.push_back(loss);
  return flat(results);
}

TEST(SameBits, BiasGradients) {
  for (int64_t channels : {5, 40})
    for (const Shape &shape : kShapes) {
      nn::Sequential net(nn::Conv2d(3, channels, 3, {.padding = 1}), nn::Tanh());
      expectSameBits([&](Tensor x) { return step(net, x); }, someTensor(shape, 1),
                     describe(shape) + " to " + std::to_string(channels));
    }
}

TEST(SameBits, BatchNormInTraining) {
  for (int64_t channels : {16, 72})
    for (const Shape &shape : kShapes) {
      Parameter filter(someTensor({channels, 3, 3, 3}, 2)), scale(someTensor({channels}, 3)),
          shift(someTensor({channels}, 4));
      auto f = [&](Tensor x) {
        Tensor y = conv2d(x, filter, {}, {.padding = 1});
        Tensor center = mean(y, {0, 2, 3}, true), spread = var(y, {0, 2, 3}, 0, true);
        Tensor z = relu((y - center) * rsqrt(spread + 1e-5f) * reshape(scale, {-1, 1, 1}) + reshape(shift, {-1, 1, 1}));
        std::vector<Tensor> results = grad(mean(z * z), std::vector{filter, scale, shift});
        results.insert(results.end(), {center, spread, mean(z, {2, 3})});
        return flat(results);
      };
      expectSameBits(f, someTensor(shape, 5), describe(shape) + " to " + std::to_string(channels));
    }
}

TEST(SameBits, LayersOfConvolutionalNetworks) {
  for (const Shape &shape : kShapes) {
    if (shape[2] < 4 || shape[3] < 4) continue;
    nn::Sequential net(nn::Conv2d(3, 16, 3, {.padding = 1}), nn::BatchNorm2d(16), relu,
                       nn::Conv2d(16, 16, 3, {.padding = 1, .groups = 16}), nn::BatchNorm2d(16), relu, nn::MaxPool2d(2),
                       nn::Conv2d(16, 24, 1), relu, nn::AvgPool2d(2), nn::AdaptiveAvgPool2d(1), nn::Flatten(),
                       nn::Linear(24, 10));
    expectSameBits([&](Tensor x) { return step(net, x); }, someTensor(shape, 6), describe(shape));
  }
}

/// Sums, products and extrema along every choice of dimensions, after a convolution and after a pool.
TEST(SameBits, ReductionsOfAllKinds) {
  std::vector<Ints> choices = {{0}, {1}, {2}, {3}, {0, 2, 3}, {2, 3}, {1, 2, 3}, {1, 2}, {1, 3}, {0, 1, 2, 3}};
  for (const Shape &shape : {Shape{3, 3, 9, 17}, Shape{2, 3, 6, 16}, Shape{3, 3, 21, 2}}) {
    Tensor filter = someTensor({20, 3, 3, 3}, 7);
    for (const Ints &axes : choices)
      for (bool pooled : {false, true}) {
        auto f = [&](Tensor x) {
          Tensor y = conv2d(x, filter, {}, {.padding = 1});
          if (pooled) y = avgPool2d(y, 2, {.stride = 1, .padding = 1});
          y = y * 0.25f;
          return flat(
              {sum(y, axes), mean(exp(y), axes, true), prod(y * 0.1f + 1.f, axes), max(y, axes), sum(y * y, axes)});
        };
        expectSameBits(f, someTensor(shape, 8),
                       describe(shape) + (pooled ? " pooled" : "") + ", " + std::to_string(&axes - choices.data()));
      }
  }
}

TEST(SameBits, NormsOfSamplesAndGroups) {
  for (const Shape &shape : {Shape{3, 3, 9, 17}, Shape{2, 3, 8, 16}}) {
    nn::Sequential net(nn::Conv2d(3, 16, 3, {.padding = 1}), nn::GroupNorm(4, 16), relu,
                       nn::Conv2d(16, 16, 3, {.padding = 1}));
    auto f = [&](Tensor x) { return flat({step(net, x), softmax(net(x), 1)}); };
    expectSameBits(f, someTensor(shape, 9), describe(shape));
  }
}

/// Gradients of a loss on y by the parameters, and y.
Tensor gradientsAnd(const Tensor &y, const std::vector<Parameter> &parameters) {
  std::vector<Tensor> results = grad(mean(y * y) + sum(y) * 0.01f, parameters);
  results.push_back(y);
  return flat(results);
}

/// What is read at one step is compiled for that step alone where it can be: values, and gradients of all parameters.
TEST(SameBits, NetworksThatAreReadAtOneStep) {
  for (bool normFirst : {false, true})
    for (int64_t step : {0, 4, -1}) {
      nn::TransformerOptions options = {.feedForward = 48, .dropout = 0, .batchFirst = true, .normFirst = normFirst};
      nn::TransformerEncoderLayer first(16, 2, options), second(16, 2, options);
      nn::Linear head(16, 3);
      std::vector<Parameter> parameters = first.parameters();
      for (const nn::Module *module : std::initializer_list<const nn::Module *>{&second, &head})
        for (const Parameter &parameter : module->parameters()) parameters.push_back(parameter);
      auto f = [&](Tensor x) {
        Tensor y = head(second(first(x)).select(1, step));
        return gradientsAnd(y, parameters);
      };
      for (int64_t batch : {1, 3, 17})
        expectSameBits(f, someTensor({batch, 9, 16}, 10),
                       "batch " + std::to_string(batch) + ", step " + std::to_string(step) +
                           (normFirst ? ", norm first" : ""));
    }
  auto recurrent = [](auto layer, const std::string &name) {
    nn::Linear head(12, 3);
    std::vector<Parameter> parameters = layer.parameters();
    for (const Parameter &parameter : head.parameters()) parameters.push_back(parameter);
    for (int64_t step : {-1, 2})
      for (int64_t batch : {1, 3, 17}) {
        auto f = [&](Tensor x) {
          Tensor y = head(layer(x).output.select(1, step));
          return gradientsAnd(y, parameters);
        };
        expectSameBits(f, someTensor({batch, 7, 5}, 11),
                       name + " " + std::to_string(step) + ", batch " + std::to_string(batch));
      }
  };
  recurrent(nn::LSTM(5, 12, {.batchFirst = true}), "LSTM");
  recurrent(nn::GRU(5, 12, {.batchFirst = true}), "GRU");
  recurrent(nn::GRU(5, 6, {.batchFirst = true, .bidirectional = true}), "GRU both ways");
}

} // namespace
