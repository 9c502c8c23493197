// Losses against plain loops.
#include "test/unit/Frontend/Ops/Harness.h"
#include <numeric>

using namespace sprig;
using namespace sprig::test;

namespace {

double sumOfArray(const Array &a) { return std::accumulate(a.values.begin(), a.values.end(), 0.0); }
Array scalarOf(double v) { return {{}, {v}}; }
Array reducedBy(const Array &losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  return scalarOf(reduction == Reduction::sum ? sumOfArray(losses) : sumOfArray(losses) / double(losses.values.size()));
}
const Reduction kReductions[] = {Reduction::none, Reduction::mean, Reduction::sum};

TEST(Losses, OfElements) {
  struct Row {
    const char *name;
    std::function<Tensor(const Tensor &, const Tensor &, Reduction)> f;
    std::function<double(double, double)> want;
    double low = -2, high = 2, targetLow = -2, targetHigh = 2;
  };
  auto huber = [](double d, double delta) { return d <= delta ? d * d / 2 : delta * (d - delta / 2); };
  auto signOf = [](double t) { return t > 0 ? 1.0 : -1.0; };
  const Row rows[] = {
      {"mse", [](auto &x, auto &t, Reduction r) { return mseLoss(x, t, r); },
       [](double x, double t) { return (x - t) * (x - t); }},
      {"l1", [](auto &x, auto &t, Reduction r) { return l1Loss(x, t, r); },
       [](double x, double t) { return std::abs(x - t); }},
      {"huber", [](auto &x, auto &t, Reduction r) { return huberLoss(x, t, r, 0.75); },
       [=](double x, double t) { return huber(std::abs(x - t), 0.75); }},
      {"smoothL1", [](auto &x, auto &t, Reduction r) { return smoothL1Loss(x, t, r, 0.5); },
       [=](double x, double t) { return huber(std::abs(x - t), 0.5) / 0.5; }},
      {"smoothL1 beta 0", [](auto &x, auto &t, Reduction r) { return smoothL1Loss(x, t, r, 0); },
       [](double x, double t) { return std::abs(x - t); }},
      {"bce", [](auto &x, auto &t, Reduction r) { return bceLoss(x, t, {.reduction = r}); },
       [](double x, double t) { return -(t * std::log(x) + (1 - t) * std::log(1 - x)); }, 0.1, 0.9, 0, 1},
      {"bceWithLogits", [](auto &x, auto &t, Reduction r) { return bceWithLogitsLoss(x, t, {.reduction = r}); },
       [](double x, double t) { return softplusOf(x) - x * t; }, -4, 4, 0, 1},
      {"klDiv", [](auto &x, auto &t, Reduction r) { return klDivLoss(x, t, r); },
       [](double x, double t) { return t * (std::log(t) - x); }, -3, 0, 0.1, 1},
      {"klDiv of logarithms", [](auto &x, auto &t, Reduction r) { return klDivLoss(x, t, r, true); },
       [](double x, double t) { return std::exp(t) * (t - x); }, -3, 0, -3, 0},
      {"poissonNll", [](auto &x, auto &t, Reduction r) { return poissonNllLoss(x, t, r); },
       [](double x, double t) { return std::exp(x) - t * x; }},
      {"poissonNll of rates", [](auto &x, auto &t, Reduction r) { return poissonNllLoss(x, t, r, false); },
       [](double x, double t) { return x - t * std::log(x + 1e-8); }, 0.2, 3},
      {"softMargin", [](auto &x, auto &t, Reduction r) { return softMarginLoss(x, t, r); },
       [](double x, double t) { return softplusOf(-t * x); }},
      {"hingeEmbedding", [](auto &x, auto &t, Reduction r) { return hingeEmbeddingLoss(x, sign(t), 1, r); },
       [](double x, double t) { return t > 0 ? x : std::max(0.0, 1 - x); }},
      {"marginRanking", [](auto &x, auto &t, Reduction r) { return marginRankingLoss(x, -x, sign(t), 0.5, r); },
       [=](double x, double t) { return std::max(0.0, -signOf(t) * 2 * x + 0.5); }},
      {"gaussianNll", [](auto &x, auto &t, Reduction r) { return gaussianNllLoss(x, t, exp(x), r); },
       [](double x, double t) { return (x + (x - t) * (x - t) / std::exp(x)) / 2; }},
  };
  for (const Row &row : rows)
    for (Reduction reduction : kReductions) {
      Array x = numbers({3, 5}, 1, row.low, row.high), t = numbers({3, 5}, 2, row.targetLow, row.targetHigh);
      check(
          row.name, {tensorOf(x), tensorOf(t)}, [&](Inputs in) { return row.f(in[0], in[1], reduction); },
          reducedBy(zip(x, t, row.want), reduction));
    }
}

TEST(Losses, OptionsOfElements) {
  Array x = numbers({3, 4}, 1, -3, 3), t = numbers({3, 4}, 2, 0, 1), w = numbers({4}, 3, 0, 2),
        p = numbers({4}, 4, 0.5, 3);
  std::vector<Tensor> in{tensorOf(x), tensorOf(t), tensorOf(w), tensorOf(p)};
  Array factors = zip(t, p, [](double a, double b) { return 1 + (b - 1) * a; });
  Array losses =
      generate(x.shape, [&](auto &i) { return (1 - at(t, i)) * at(x, i) + at(factors, i) * softplusOf(-at(x, i)); });
  Array weighted = zip(losses, w, [](double a, double b) { return a * b; });
  check(
      "positiveWeight", in,
      [](Inputs v) { return bceWithLogitsLoss(v[0], v[1], {.weight = v[2], .positiveWeight = v[3]}); },
      reducedBy(weighted, Reduction::mean));
  check(
      "weight", in,
      [](Inputs v) { return bceWithLogitsLoss(v[0], v[1], {.weight = v[2], .reduction = Reduction::sum}); },
      reducedBy(zip(zip(x, t, [](double a, double b) { return softplusOf(a) - a * b; }), w,
                    [](double a, double b) { return a * b; }),
                Reduction::sum));
  check(
      "klDiv by batch", in, [](Inputs v) { return klDivLoss(v[0], v[1], Reduction::batchMean); },
      scalarOf(sumOfArray(zip(x, t, [](double a, double b) { return b > 0 ? b * (std::log(b) - a) : 0; })) / 3));
  check(
      "mse against a number", in, [](Inputs v) { return mseLoss(v[0], 0.5); },
      reducedBy(map(x, [](double a) { return (a - 0.5) * (a - 0.5); }), Reduction::mean));
  auto length = [](const Array &a, const Array &b, size_t row, double plus) {
    double s = 0;
    for (size_t j = row * 4; j < row * 4 + 4; ++j) s += std::pow(a.values[j] - b.values[j] + plus, 2);
    return std::sqrt(s);
  };
  Array n = numbers({3, 4}, 9), y{{3}, {1, -1, 1}}, triplets{{3}, {}}, cosines = triplets;
  for (size_t i = 0; i < 3; ++i) {
    triplets.values.push_back(std::max(0.0, length(x, t, i, 1e-6) - length(x, n, i, 1e-6) + 1));
    double dot = 0, a = 0, b = 0;
    for (size_t j = i * 4; j < i * 4 + 4; ++j)
      dot += x.values[j] * n.values[j], a += x.values[j] * x.values[j], b += n.values[j] * n.values[j];
    double cosine = dot / std::sqrt(a * b);
    cosines.values.push_back(y.values[i] > 0 ? 1 - cosine : std::max(0.0, cosine - 0.2));
  }
  check(
      "tripletMargin", {in[0], in[1], tensorOf(n)}, [](Inputs v) { return tripletMarginLoss(v[0], v[1], v[2]); },
      reducedBy(triplets, Reduction::mean));
  check(
      "cosineEmbedding", {in[0], tensorOf(n), tensorOf(y)},
      [](Inputs v) { return cosineEmbeddingLoss(v[0], v[1], v[2], 0.2, Reduction::none); }, cosines);
}

/// Of each class: log softmax over axis 1 of [N, C] or [N, C, D].
Array logSoftmaxOf(const Array &x) {
  Array total = reduce(x, {1}, true, [](auto &v) {
    double s = 0;
    for (double each : v) s += std::exp(each);
    return std::log(s);
  });
  return zip(x, total, [](double a, double b) { return a - b; });
}

TEST(Losses, OfClasses) {
  Array x = numbers({4, 5}, 1), t{{4}, {2, 0, -100, 4}}, w = numbers({5}, 3, 0.5, 2);
  Array logs = logSoftmaxOf(x);
  std::vector<Tensor> in{tensorOf(x), tensorOf(t, DType::i64), tensorOf(w)};
  auto lossOf = [&](bool isWeighted, double smoothing) {
    std::pair<Array, double> result{{{4}, {}}, 0};
    for (int64_t i = 0; i < 4; ++i) {
      int64_t k = int64_t(t.values[size_t(i)]);
      double loss = 0;
      for (int64_t c = 0; c < 5 && k >= 0; ++c)
        loss -=
            ((c == k ? 1 - smoothing : 0) + smoothing / 5) * (isWeighted ? w.values[size_t(c)] : 1) * at(logs, {i, c});
      result.first.values.push_back(loss);
      if (k >= 0) result.second += isWeighted ? w.values[size_t(k)] : 1;
    }
    return result;
  };
  for (bool isWeighted : {false, true})
    for (double smoothing : {0.0, 0.2})
      for (Reduction reduction : kReductions) {
        auto [losses, count] = lossOf(isWeighted, smoothing);
        Array want = reduction == Reduction::mean ? scalarOf(sumOfArray(losses) / count) : reducedBy(losses, reduction);
        check(
            "crossEntropy", in,
            [&](Inputs v) {
              return crossEntropy(
                  v[0], v[1],
                  {.weight = isWeighted ? v[2] : Tensor(), .reduction = reduction, .labelSmoothing = smoothing});
            },
            want);
        if (smoothing == 0)
          check(
              "nllLoss", {tensorOf(logs), in[1], in[2]},
              [&](Inputs v) {
                return nllLoss(v[0], v[1], {.weight = isWeighted ? v[2] : Tensor(), .reduction = reduction});
              },
              want);
      }
}

TEST(Losses, OfClassesWithMoreAxes) {
  Array x = numbers({2, 3, 4}, 5), t = map(counting({2, 4}), [](double v) { return double(int(v) % 3); });
  Array logs = logSoftmaxOf(x);
  Array want = generate({2, 4}, [&](auto &i) { return -at(logs, {i[0], int64_t(at(t, i)), i[1]}); });
  check(
      "crossEntropy", {tensorOf(x), tensorOf(t, DType::i32)},
      [](Inputs v) { return crossEntropy(v[0], v[1], {.reduction = Reduction::none}); }, want);
  Array one = numbers({3}, 6), row = one;
  row.shape = {1, 3};
  check(
      "of one sample", {tensorOf(one), Tensor(int64_t(2))}, [](Inputs v) { return crossEntropy(v[0], v[1]); },
      scalarOf(-logSoftmaxOf(row).values[2]));
}

TEST(Losses, OfProbabilities) {
  Array x = numbers({3, 4}, 1), t = numbers({3, 4}, 2, 0, 1), w = numbers({4}, 3, 0.5, 2);
  Array logs = logSoftmaxOf(x);
  Array losses = generate({3}, [&](auto &i) {
    double s = 0;
    for (int64_t c = 0; c < 4; ++c) s -= (0.9 * at(t, {i[0], c}) + 0.1 / 4) * w.values[size_t(c)] * at(logs, {i[0], c});
    return s;
  });
  for (Reduction reduction : kReductions)
    check(
        "crossEntropy", {tensorOf(x), tensorOf(t), tensorOf(w)},
        [&](Inputs v) {
          return crossEntropy(v[0], v[1], {.weight = v[2], .reduction = reduction, .labelSmoothing = 0.1});
        },
        reducedBy(losses, reduction));
}

/// The sum over all paths that collapse to the labels.
double alignmentsOf(const Array &p, int64_t n, int64_t steps, const std::vector<int64_t> &labels, int64_t blank) {
  int64_t classes = p.shape[2], paths = 1;
  for (int64_t t = 0; t < steps; ++t) paths *= classes;
  double sum = 0;
  for (int64_t path = 0; path < paths; ++path) {
    std::vector<int64_t> collapsed;
    int64_t rest = path, before = -1;
    double logarithm = 0;
    for (int64_t t = 0; t < steps; ++t, rest /= classes) {
      int64_t symbol = rest % classes;
      logarithm += at(p, {t, n, symbol});
      if (symbol != before && symbol != blank) collapsed.push_back(symbol);
      before = symbol;
    }
    if (collapsed == labels) sum += std::exp(logarithm);
  }
  return -std::log(sum);
}

TEST(Losses, Ctc) {
  Array x = numbers({5, 4, 3}, 1);
  Tensor p = logSoftmax(tensorOf(x, DType::f64), 2), labels({{1, 1, 0}, {2, 1, 2}, {0, 0, 0}, {1, 2, 1}}),
         steps({5, 4, 3, 5}), counts({2, 3, 0, 1});
  Array given = arrayOf(p);
  const std::vector<double> want{alignmentsOf(given, 0, 5, {1, 1}, 0), alignmentsOf(given, 1, 4, {2, 1, 2}, 0),
                                 alignmentsOf(given, 2, 3, {}, 0), alignmentsOf(given, 3, 5, {1}, 0)};
  auto loss = [](const CtcOptions &o) { return [o](Inputs v) { return ctcLoss(v[0], v[1], v[2], v[3], o); }; };
  check("ctcLoss", {p, labels, steps, counts}, loss({.reduction = Reduction::none}), {{4}, want}, DType::f64, 1e-12);
  check("mean", {p, labels, steps, counts}, loss({}), {{}, {(want[0] / 2 + want[1] / 3 + want[2] + want[3]) / 4}},
        DType::f64, 1e-12);
  check("sum", {p, labels, steps, counts}, loss({.reduction = Reduction::sum}),
        {{}, {want[0] + want[1] + want[2] + want[3]}}, DType::f64, 1e-12);
  check("another blank", {p, Tensor({{1}, {0}, {1}, {0}}), steps, ones({4}, DType::i64)},
        loss({.blank = 2, .reduction = Reduction::none}),
        {{4},
         {alignmentsOf(given, 0, 5, {1}, 2), alignmentsOf(given, 1, 4, {0}, 2), alignmentsOf(given, 2, 3, {1}, 2),
          alignmentsOf(given, 3, 5, {0}, 2)}},
        DType::f64, 1e-12);
  // Two labels that are the same want a blank between them; no step, no label.
  Tensor short2({2, 0, 0, 0}), few({2, 0, 1, 0});
  check("impossible", {p, labels, short2, few}, loss({.reduction = Reduction::none}), {{4}, {HUGE_VAL, 0, HUGE_VAL, 0}},
        DType::f64);
  check("zeroInfinity", {p, labels, short2, few}, loss({.zeroInfinity = true}), {{}, {0}}, DType::f64);
}

} // namespace
