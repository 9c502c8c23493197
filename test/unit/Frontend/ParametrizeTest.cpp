// Weight and spectral norms of layers: weights, gradients and power iterations beside loops in double precision.
#include "LayerFixture.h"
#include "test/unit/Frontend/Expect.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/optim.h"
#include "sprig/random.h"
#include <gmock/gmock.h>
#include <numeric>

using namespace sprig;
using namespace sprig::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

std::vector<std::string> parametrizedNames(const nn::Module &module) {
  std::vector<std::string> names;
  for (const nn::NamedTensor &row : module.stateDict()) names.push_back(row.name);
  return names;
}

/// A matrix in double precision: rows along an axis of a tensor [a, b, ...], columns of all others.
struct Matrix {
  size_t rows, columns;
  Numbers numbers;
  double &at(size_t i, size_t j) { return numbers[i * columns + j]; }

  static size_t placeOf(const Shape &shape, int axis, size_t element) { // of a flat index
    size_t inner = 1;
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= size_t(shape[i]);
    return element / inner % size_t(shape[axis]);
  }
  static Matrix of(const Tensor &tensor, int axis) {
    const Shape &shape = tensor.shape();
    Matrix result{size_t(shape[axis]), size_t(tensor.numel() / shape[axis]), {}};
    Numbers flat = numbersOf(tensor);
    for (size_t row = 0; row < result.rows; ++row)
      for (size_t i = 0; i < flat.size(); ++i)
        if (placeOf(shape, axis, i) == row) result.numbers.push_back(flat[i]);
    return result;
  }
  Numbers times(const Numbers &v) {
    Numbers result(rows, 0);
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j) result[i] += at(i, j) * v[j];
    return result;
  }
  Numbers turnedTimes(const Numbers &u) {
    Numbers result(columns, 0);
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j) result[j] += at(i, j) * u[i];
    return result;
  }
};
double dotOf(const Numbers &a, const Numbers &b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }
Numbers unit(Numbers x) {
  double length = std::sqrt(dotOf(x, x));
  for (double &each : x) each /= length;
  return x;
}

Tensor weightedSum(const Tensor &y) { return sum(y * someTensor(y.shape(), 91)); }

/// Layers of every class that takes norms, with an input of each, and the axis of a spectral norm.
template <typename F> void eachLayer(F f) {
  f(nn::Linear(5, 4), someTensor({3, 5}, 81), 0);
  f(nn::Conv1d(2, 4, 3, {.padding = 1, .groups = 2}), someTensor({2, 2, 6}, 82), 0);
  f(nn::Conv2d(2, 3, 3, {.samePadding = true}), someTensor({2, 2, 5, 5}, 83), 0);
  f(nn::ConvTranspose2d(3, 2, 2, {.stride = 2}), someTensor({1, 3, 3, 3}, 84), 1);
  f(nn::Embedding(6, 3), Tensor({1, 5, 1}), 0);
  f(nn::EmbeddingBag(6, 3, nn::Bag::sum), Tensor({{1, 5, 1}}), 0);
}

TEST(WeightNorm, weightsAndGradients) {
  for (int axis : {0, 1})
    eachLayer([&](auto layer, const Tensor &x, int) {
      auto plain = nn::clone(layer);
      Tensor before = plain(x);
      nn::weightNorm(layer, {.axis = axis - 2 * (axis && layer.weight.shape().rank() == 2)}); // from the end, too
      expectNear(layer(x), numbersOf(before), 1e-5);
      EXPECT_FALSE(layer.weight.defined());
      std::vector<Parameter> parts = layer.find("parametrizations.weight")->parameters();
      ASSERT_EQ(parts.size(), 2u);
      Parameter g = parts[0], v = parts[1];
      g.set(someTensor(g.shape(), 85) + 2.f);
      v.set(someTensor(v.shape(), 86));

      // W = g v / |v|; dL/dg = <G, v> / |v| and dL/dv = g / |v| (G - v <G, v> / |v|^2) of each slice.
      Matrix directions = Matrix::of(v.value(), axis);
      Numbers lengths = numbersOf(g), flat = numbersOf(v), weight(flat.size());
      auto rowOf = [&](size_t i) { return Matrix::placeOf(v.shape(), axis, i); };
      Numbers norms(directions.rows, 0), inner(directions.rows, 0);
      for (size_t i = 0; i < flat.size(); ++i) norms[rowOf(i)] += flat[i] * flat[i];
      for (size_t i = 0; i < flat.size(); ++i) weight[i] = lengths[rowOf(i)] * flat[i] / std::sqrt(norms[rowOf(i)]);
      expectNear(nn::weightOf(layer), weight, 1e-6);
      plain.weight.set(Tensor::from(std::vector<float>(weight.begin(), weight.end()), v.shape()));
      expectNear(layer(x), numbersOf(plain(x)), 1e-5);

      Numbers whole = numbersOf(grad(weightedSum(plain(x)), plain.weight)), byLength(directions.rows),
              byDirection(flat.size());
      for (size_t i = 0; i < flat.size(); ++i) inner[rowOf(i)] += whole[i] * flat[i];
      for (size_t r = 0; r < directions.rows; ++r) byLength[r] = inner[r] / std::sqrt(norms[r]);
      for (size_t i = 0; i < flat.size(); ++i) {
        size_t r = rowOf(i);
        byDirection[i] = lengths[r] / std::sqrt(norms[r]) * (whole[i] - flat[i] * inner[r] / norms[r]);
      }
      std::vector<Tensor> gradients = grad(weightedSum(layer(x)), {g, v});
      expectNear(gradients[0], byLength, 2e-5);
      expectNear(gradients[1], byDirection, 2e-5);
      expectSameBits(compile([&](const Tensor &in) { return layer(in); })(x), layer(x));
    });
}

TEST(SpectralNorm, weightsGradientsAndPowerIterations) {
  eachLayer([&](auto layer, const Tensor &x, int axis) {
    auto plain = nn::clone(layer);
    Shape shape = layer.weight.shape();
    Tensor original = layer.weight.value();
    nn::spectralNorm(layer, {.powerIterations = 2});
    nn::Module *buffers = layer.find("parametrizations.weight.0");
    ASSERT_TRUE(buffers);
    Parameter u = buffers->buffers()[0], v = buffers->buffers()[1];
    Matrix matrix = Matrix::of(original, axis);
    Numbers left = numbersOf(u), right = numbersOf(v);
    EXPECT_EQ(left.size(), matrix.rows);
    for (bool training : {false, true, true, false}) {
      layer.train(training);
      if (training)
        for (int i = 0; i < 2; ++i) {
          left = unit(matrix.times(right));
          right = unit(matrix.turnedTimes(left));
        }
      Tensor y = layer(x);
      expectNear(u.value(), left, 1e-5);
      expectNear(v.value(), right, 1e-5);
      double sigma = dotOf(left, matrix.times(right));
      Numbers weight = numbersOf(original);
      for (double &each : weight) each /= sigma;
      expectNear(nn::weightOf(layer), weight, 1e-5);
      plain.weight.set(Tensor::from(std::vector<float>(weight.begin(), weight.end()), shape));
      expectNear(y, numbersOf(plain(x)), 1e-5);
      if (training) continue;
      // W / sigma, sigma = u^T W v with u and v constant: G / sigma - <G, W> / sigma^2 of each element of u v^T.
      Numbers whole = numbersOf(grad(weightedSum(plain(x)), plain.weight)), expected(whole.size()),
              flat = numbersOf(original);
      double inner = dotOf(whole, flat);
      std::vector<size_t> columns(matrix.rows, 0);
      for (size_t i = 0; i < whole.size(); ++i) {
        size_t row = Matrix::placeOf(shape, axis, i);
        expected[i] = whole[i] / sigma - inner / (sigma * sigma) * left[row] * right[columns[row]++];
      }
      expectNear(grad(weightedSum(layer(x)), layer.find("parametrizations.weight")->parameters()[0]), expected, 5e-5);
    }
    // In the end sigma is the largest singular value: there is no longer product with a unit vector.
    layer.train();
    for (int i = 0; i < 200; ++i) layer(x);
    Numbers best = numbersOf(v);
    double sigma = std::sqrt(dotOf(matrix.times(best), matrix.times(best)));
    for (uint32_t seed = 0; seed < 50; ++seed) {
      Numbers other = unit(numbersOf(someTensor({int64_t(matrix.columns)}, 200 + seed)));
      EXPECT_LE(std::sqrt(dotOf(matrix.times(other), matrix.times(other))), sigma * (1 + 1e-5));
    }
  });
}

struct TiedNet : nn::Module {
  nn::Linear a = add("a", nn::Linear(5, 8));
  nn::Sequential rest = add("rest", nn::Sequential(nn::ReLU(), nn::Linear(8, 3, {.bias = false})));
  Tensor operator()(const Tensor &x) const { return rest(a(x)); }
};
TiedNet makeTiedNet() {
  manualSeed(21);
  TiedNet net;
  nn::weightNorm(net.a);
  nn::spectralNorm(net.rest.get<nn::Linear>("1"));
  return net;
}

TEST(Parametrize, trainsTheSameCompiledOrNot) {
  std::vector<nn::StateDict> ends;
  std::vector<Numbers> losses;
  Tensor x = someTensor({6, 5}, 87), y = Tensor({0, 1, 2, 0, 1, 2});
  for (bool compiled : {false, true}) {
    TiedNet net = makeTiedNet();
    auto optimizer = optim::adam(net, {.lr = 0.05});
    auto step = compile([&](const Tensor &x, const Tensor &y) {
      Tensor loss = crossEntropy(net(x), y);
      optimizer.update(grad(loss, net.parameters()));
      return loss;
    });
    step.enable(compiled);
    Numbers &seen = losses.emplace_back();
    for (int i = 0; i < 5; ++i) seen.push_back(step(x, y).item<double>());
    EXPECT_LT(seen.back(), seen.front());
    net.eval();
    ends.push_back(net.stateDict());
    Tensor first = net(x);
    expectSameBits(net(x), first);
    ends.back().push_back({"y", first});
  }
  EXPECT_EQ(losses[0], losses[1]);
  ASSERT_EQ(ends[0].size(), ends[1].size());
  for (size_t i = 0; i < ends[0].size(); ++i) expectSameBits(ends[0][i].value, ends[1][i].value);
}

TEST(Parametrize, namesStatesAndCopies) {
  TiedNet net = makeTiedNet();
  EXPECT_THAT(parametrizedNames(net),
              ElementsAre("a.bias", "a.parametrizations.weight.original0", "a.parametrizations.weight.original1",
                          "rest.1.parametrizations.weight.original", "rest.1.parametrizations.weight.0._u",
                          "rest.1.parametrizations.weight.0._v"));
  EXPECT_EQ(net.a.find("parametrizations.weight")->parameters()[0].shape(), (Shape{8, 1}));
  EXPECT_THAT(net.text(), HasSubstr("in_features=5, out_features=8, bias=True\n    (parametrizations): ModuleDict(\n"
                                    "      (weight): ParametrizationList(\n        (0): WeightNorm()"));
  // A copy is another network; a state goes from one to the other.
  Tensor x = someTensor({2, 5}, 88);
  net.eval();
  TiedNet copy = nn::clone(net), other = makeTiedNet();
  other.eval();
  for (const Parameter &parameter : copy.parameters()) parameter.set(parameter.value() * 1.5f);
  Tensor changed = copy(x);
  EXPECT_NE(numbersOf(changed), numbersOf(net(x)));
  expectSameBits(other(x), net(x));
  other.loadStateDict(copy.stateDict());
  expectSameBits(other(x), changed);
  copy.resetParameters();
  expectSameBits(nn::weightOf(copy.a), nn::weightOf(net.a));
  // Another type, a weight that is frozen.
  net.to(DType::f64);
  EXPECT_EQ(net(x.to(DType::f64)).dtype(), DType::f64);
  nn::Linear frozen(3, 2);
  frozen.freeze();
  nn::weightNorm(frozen);
  for (const Parameter &parameter : frozen.parameters()) EXPECT_FALSE(parameter.trainable());
}

TEST(Parametrize, whatCannotBe) {
  nn::Linear layer(3, 2), tied(3, 2);
  auto optimizer = optim::sgd(layer);
  nn::weightNorm(layer);
  EXPECT_THAT(errorOf([&] { optimizer.update(std::vector<Tensor>(2)); }), HasSubstr("belongs to its module no more"));
  EXPECT_THAT(errorOf([&] { nn::spectralNorm(layer); }), HasSubstr("has a norm already"));
  EXPECT_THAT(errorOf([&] { layer.weight = Parameter(zeros({2, 3})); }), HasSubstr("is computed by a norm"));
  EXPECT_THAT(errorOf([] { nn::weightNorm(nn::LSTM(3, 2)); }), HasSubstr("a LSTM has no weight that can be computed"));
  EXPECT_THAT(errorOf([] { nn::weightNorm(nn::Linear()); }), HasSubstr("was made without sizes"));
  EXPECT_THAT(errorOf([] { nn::weightNorm(nn::Linear(3, 2), {.axis = 2}); }), HasSubstr("axis 2 is out of range of"));
  EXPECT_THAT(errorOf([] { nn::spectralNorm(nn::Linear(3, 2), {.powerIterations = 0}); }),
              HasSubstr("there are 0 power iterations, expected at least 1"));
  nn::Linear owner(3, 2);
  tied.weight = owner.weight;
  EXPECT_THAT(errorOf([&] { nn::weightNorm(tied); }), HasSubstr("is shared with another module"));
  EXPECT_THAT(errorOf([] { nn::weightOf(nn::ReLU()); }), HasSubstr("a ReLU has no weight"));
}

} // namespace
