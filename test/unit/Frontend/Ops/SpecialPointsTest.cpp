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

} // namespace
