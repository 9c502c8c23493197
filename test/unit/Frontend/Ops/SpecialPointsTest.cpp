// Values, gradients and second derivatives where formulas meet, end or overflow, beside those of PyTorch in double
// precision (special_points.py).
#include "sprig/fft.h"
#include "sprig/grad.h"
#include "test/unit/Frontend/Ops/Harness.h"

using namespace sprig;
using namespace sprig::test;

namespace {

struct Point {
  std::string name;
  std::function<Tensor(Inputs)> f;
  std::vector<Shape> shapes;
  std::vector<Values> inputs;
  Values value;
  std::vector<Values> first, second; ///< of each input; NaN: anything
};

const std::vector<Point> &points() {
  static const std::vector<Point> all = {
#include "test/unit/Frontend/Ops/SpecialPoints.inc"
  };
  return all;
}

/// The value, and for each input the first and the second derivative.
std::vector<Tensor> derived(const Point &point, Inputs given) {
  std::vector<Tensor> inputs;
  for (const Tensor &x : given) inputs.push_back(x.requireGrad());
  std::vector<Tensor> results{point.f(inputs)};
  Tensor total = sum(results[0]);
  std::vector<Tensor> first = grad(std::span(&total, 1), inputs, {.createGraph = true});
  Tensor slopes = sum(first[0]);
  for (size_t i = 1; i < first.size(); ++i) slopes = slopes + sum(first[i]);
  for (const Tensor &x : inputs) slopes = slopes + sum(x * 0); // so that it depends on all of them
  std::vector<Tensor> second = grad(std::span(&slopes, 1), inputs);
  results.insert(results.end(), first.begin(), first.end());
  results.insert(results.end(), second.begin(), second.end());
  return results;
}

bool hasNan(const Values &values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
}

TEST(SpecialPoints, ArePyTorchs) {
  std::vector<Tensor> inputs;
  std::vector<Want> found;
  std::vector<const Point *> compiled;
  for (const Point &point : points()) {
    std::vector<Tensor> own;
    for (size_t i = 0; i < point.inputs.size(); ++i)
      own.push_back(tensorOf({point.shapes[i], point.inputs[i]}, DType::f64));
    std::vector<Tensor> results = derived(point, own);
    std::vector<Values> wants{point.value};
    wants.insert(wants.end(), point.first.begin(), point.first.end());
    wants.insert(wants.end(), point.second.begin(), point.second.end());
    std::vector<Want> gots;
    bool isNumber = true;
    for (size_t i = 0; i < results.size(); ++i) {
      Array got = arrayOf(results[i]);
      gots.push_back({got, DType::f64});
      isNumber = isNumber && !hasNan(got.values);
      ASSERT_EQ(got.values.size(), wants[i].size()) << point.name;
      const char *what = i == 0 ? "the value" : i <= own.size() ? "the gradient" : "the second derivative";
      for (size_t k = 0; k < wants[i].size(); ++k) {
        double g = got.values[k], w = wants[i][k];
        if (i && std::isnan(w)) continue;
        bool agrees = std::isnan(w) ? std::isnan(g) : g == w || std::abs(g - w) <= 1e-9 * (1e-3 + std::abs(w));
        EXPECT_TRUE(agrees) << point.name << ": element " << k << " of " << what << " is " << g << ", PyTorch's " << w;
      }
    }
    if (!isNumber) continue; // NaN may have any sign
    compiled.push_back(&point);
    inputs.insert(inputs.end(), own.begin(), own.end());
    found.insert(found.end(), gots.begin(), gots.end());
  }
  // Compiled, all at once: the same bits.
  auto all = [&](Inputs in) {
    std::vector<Tensor> results;
    for (const Point *point : compiled) {
      std::vector<Tensor> some = derived(*point, in.first(point->inputs.size()));
      in = in.subspan(point->inputs.size());
      results.insert(results.end(), some.begin(), some.end());
    }
    return results;
  };
  checkMany("special points", inputs, all, found);
}

/// Against numbers of double precision; the gradient is of the sum of all results.
void expectNearDouble(const std::string &name, const Tensor &got, const Values &want, double tolerance) {
  Values values = arrayOf(got).values;
  ASSERT_EQ(values.size(), want.size()) << name;
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(values[i], want[i], tolerance * (1 + std::abs(want[i]))) << name << ": element " << i;
}

// The largest numbers of narrow types: of f16 squares overflow from 256 on, of f32 from 1.9e19 on.
TEST(SpecialPoints, NarrowTypesKeepTheirRange) {
  auto half = [](const Values &values, const Shape &shape) {
    return tensorOf({shape, values}, DType::f16).requireGrad();
  };
  Tensor x = half({300, 400, 0, 0, 30000, 40000}, {3, 2}), y = half({400, 300, 3, 4, 300, 400}, {3, 2});
  for (double p : {2.0, 4.0}) {
    double ratio = p == 2 ? 1 : std::pow(std::pow(3, 4) + std::pow(4, 4), 0.25) / 5;
    Tensor length = norm(x, p, 1);
    expectNearDouble("norm", length, {500 * ratio, 0, 50000 * ratio}, 1e-3);
    double g = std::pow(3 / (5 * ratio), p - 1), h = std::pow(4 / (5 * ratio), p - 1);
    expectNearDouble("norm's gradient", grad(sum(length.to(DType::f32)), {x})[0], {g, h, 0, 0, g, h}, 2e-3);
  }
  expectNearDouble("normalize", normalize(x), {0.6, 0.8, 0, 0, 0.6, 0.8}, 1e-3);
  expectNearDouble("cosineSimilarity", cosineSimilarity(x, y), {0.96, 0, 1}, 1e-3);
  expectNearDouble("cdist", cdist(x, y), {141.42, 495, 0, 500, 5, 500, 49520, 49995, 49500}, 1e-3);
  expectNearDouble("tripletMarginLoss", tripletMarginLoss(x, y, x, 1, Reduction::none), {142.42, 6, 49501}, 1e-3);
  Tensor zeros = half({0, 2}, {2}), counts = half({0, 1}, {2});
  expectNearDouble("poissonNllLoss", poissonNllLoss(zeros, counts, Reduction::none, false), {0, 2 - std::log(2)}, 1e-3);
  expectNearDouble("gaussianNllLoss", gaussianNllLoss(x, y, y * 100 + 1, Reduction::none),
                   {std::log(40001) / 2 + 0.125, std::log(30001) / 2 + 1.0 / 6, std::log(301) / 2 + 9.0 / 602,
                    std::log(401) / 2 + 16.0 / 802, std::log(30001) / 2 + 29700. * 29700 / 60002,
                    std::log(40001) / 2 + 39600. * 39600 / 80002},
                   1e-2);

  Tensor large = tensorOf({{4}, {2e19, -2e19, 3e38, 7e12}}, DType::f32).requireGrad();
  Tensor wave = gelu(large, Gelu::tanh);
  expectNearDouble("gelu", wave, {2e19, 0, 3e38, 7e12}, 1e-6);
  expectNearDouble("gelu's gradient", grad(sum(wave), {large})[0], {1, 0, 1, 1}, 0);
  Tensor single = tensorOf({{2, 1}, {1e20, -1e-30}}, DType::f32).requireGrad();
  expectNearDouble("norm of one", norm(single, 2, 1), {1e20, 1e-30}, 1e-6);
  expectNearDouble("its gradient", grad(sum(norm(single, 2, 1)), {single})[0], {1, -1}, 0);
}

} // namespace
