// Normalisation, dropout, attention and recurrence against plain loops.
#include "test/unit/Frontend/Ops/Harness.h"

using namespace sprig;
using namespace sprig::test;

namespace {

struct Moments {
  double mean = 0, variance = 0;
  explicit Moments(const Values &v) {
    for (double each : v) mean += each / double(v.size());
    for (double each : v) variance += (each - mean) * (each - mean) / double(v.size());
  }
};

/// x normalised over its axes `axes`, then scaled and shifted by what `channel` picks.
Array normalised(const Array &x, const std::vector<int> &axes, double epsilon) {
  Array mean = reduce(x, axes, true, [](const Values &v) { return Moments(v).mean; });
  Array root = reduce(x, axes, true, [=](const Values &v) { return std::sqrt(Moments(v).variance + epsilon); });
  return zip(zip(x, mean, [](double a, double b) { return a - b; }), root, [](double a, double b) { return a / b; });
}
Array affine(const Array &x, const Array &scale, const Array &shift, int axis) {
  return generate(x.shape, [&](auto &i) {
    size_t c = size_t(i[size_t(axis)]);
    return at(x, i) * scale.values[c] + shift.values[c];
  });
}

TEST(Layers, Normalisation) {
  Array x = numbers({3, 4, 5}, 1), scale = numbers({4}, 2), shift = numbers({4}, 3), mean = numbers({4}, 4),
        variance = numbers({4}, 5, 0.5, 2);
  Tensor t = tensorOf(x), s = tensorOf(scale), b = tensorOf(shift);
  Array given = generate(x.shape, [&](auto &i) {
    size_t c = size_t(i[1]);
    return (at(x, i) - mean.values[c]) / std::sqrt(variance.values[c] + 1e-5);
  });
  check(
      "batchNorm", {t, tensorOf(mean), tensorOf(variance), s, b},
      [](Inputs in) { return batchNorm(in[0], in[1], in[2], in[3], in[4]); }, affine(given, scale, shift, 1));
  check(
      "batchNorm alone", {t, tensorOf(mean), tensorOf(variance)},
      [](Inputs in) { return batchNorm(in[0], in[1], in[2]); }, given);
  auto all = [](const BatchStatistics &r) { return std::vector<Tensor>{r.output, r.mean, r.variance}; };
  checkMany("batchNormTraining", {t, s, b}, [&](Inputs in) { return all(batchNormTraining(in[0], in[1], in[2])); },
            {{affine(normalised(x, {0, 2}, 1e-5), scale, shift, 1)},
             {reduce(x, {0, 2}, false, [](const Values &v) { return Moments(v).mean; })},
             {reduce(x, {0, 2}, false, [](const Values &v) { return Moments(v).variance; })}});
  Array factors = numbers({4, 5}, 6), offsets = numbers({4, 5}, 7);
  Array own = normalised(x, {1, 2}, 1e-5);
  check(
      "layerNorm", {t, tensorOf(factors), tensorOf(offsets)},
      [](Inputs in) { return layerNorm(in[0], {4, 5}, in[1], in[2]); },
      zip(zip(own, factors, [](double p, double q) { return p * q; }), offsets,
          [](double p, double q) { return p + q; }));
  check("layerNorm alone", {t}, [](Inputs in) { return layerNorm(in[0], 5); }, normalised(x, {2}, 1e-5));
  Array means = reduce(x, {2}, true, [](const Values &v) {
    double m = 0;
    for (double each : v) m += each * each / double(v.size());
    return std::sqrt(m + 0x1p-23);
  });
  check(
      "rmsNorm", {t}, [](Inputs in) { return rmsNorm(in[0], 5); },
      zip(x, means, [](double p, double q) { return p / q; }));
  Array split = x;
  split.shape = {3, 2, 10};
  Array grouped = normalised(split, {2}, 1e-5);
  grouped.shape = x.shape;
  check(
      "groupNorm", {t, s, b}, [](Inputs in) { return groupNorm(in[0], 2, in[1], in[2]); },
      affine(grouped, scale, shift, 1));
  check("instanceNorm", {t}, [](Inputs in) { return instanceNorm(in[0]); }, normalised(x, {2}, 1e-5));
  check(
      "localResponseNorm", {t}, [](Inputs in) { return localResponseNorm(in[0], 3, 0.1, 0.75, 2); },
      generate(x.shape, [&](auto &i) {
        double total = 0;
        for (int64_t c = std::max<int64_t>(0, i[1] - 1); c <= std::min<int64_t>(3, i[1] + 1); ++c)
          total += at(x, {i[0], c, i[2]}) * at(x, {i[0], c, i[2]});
        return at(x, i) / std::pow(2 + 0.1 * total / 3, 0.75);
      }));
}

/// softmax(q k^T / sqrt(E) + mask) v for one head.
Array attention(const Array &q, const Array &k, const Array &v, const std::function<double(int64_t, int64_t)> &mask,
                double scale) {
  int64_t l = q.shape[0], s = k.shape[0], e = q.shape[1];
  return generate({l, v.shape[1]}, [=](auto &i) {
    Values weights;
    double total = 0, result = 0;
    for (int64_t j = 0; j < s; ++j) {
      double score = 0;
      for (int64_t d = 0; d < e; ++d) score += at(q, {i[0], d}) * at(k, {j, d});
      weights.push_back(std::exp(score * scale + mask(i[0], j)));
      total += weights.back();
    }
    for (int64_t j = 0; j < s; ++j) result += weights[size_t(j)] / total * at(v, {j, i[1]});
    return result;
  });
}

TEST(Layers, Attention) {
  Array q = numbers({3, 4}, 1), k = numbers({5, 4}, 2), v = numbers({5, 6}, 3), bias = numbers({3, 5}, 4);
  std::vector<Tensor> in{tensorOf(q), tensorOf(k), tensorOf(v), tensorOf(bias)};
  auto none = [](int64_t, int64_t) { return 0.0; };
  check(
      "plain", in, [](Inputs x) { return scaledDotProductAttention(x[0], x[1], x[2]); }, attention(q, k, v, none, 0.5));
  check(
      "scale", in, [](Inputs x) { return scaledDotProductAttention(x[0], x[1], x[2], {.scale = 0.25}); },
      attention(q, k, v, none, 0.25));
  check(
      "causal", in, [](Inputs x) { return scaledDotProductAttention(x[0], x[1], x[2], {.causal = true}); },
      attention(q, k, v, [](int64_t i, int64_t j) { return j <= i ? 0 : -HUGE_VAL; }, 0.5));
  check(
      "bias", in, [](Inputs x) { return scaledDotProductAttention(x[0], x[1], x[2], {.mask = x[3]}); },
      attention(q, k, v, [&](int64_t i, int64_t j) { return at(bias, {i, j}); }, 0.5));
  check(
      "mask", in, [](Inputs x) { return scaledDotProductAttention(x[0], x[1], x[2], {.mask = x[3] > -1.0}); },
      attention(q, k, v, [&](int64_t i, int64_t j) { return at(bias, {i, j}) > -1 ? 0 : -HUGE_VAL; }, 0.5));
  // Two samples and two heads share a key and value.
  Array heads = numbers({2, 2, 3, 4}, 9);
  Tensor got = scaledDotProductAttention(tensorOf(heads), in[1], in[2]);
  Array one{{3, 4}, {heads.values.begin() + 24, heads.values.begin() + 36}};
  expectClose("heads", got[1][0], {attention(one, k, v, none, 0.5)});
}

TEST(Layers, Dropout) {
  Tensor x = ones({64, 64});
  manualSeed(3);
  Array y = arrayOf(dropout(x, 0.25));
  manualSeed(3);
  EXPECT_EQ(arrayOf(dropout(x, 0.25)).values, y.values);
  EXPECT_NE(arrayOf(dropout(x, 0.25)).values, y.values);
  int64_t dropped = 0;
  for (double v : y.values) {
    EXPECT_TRUE(v == 0 || v == double(float(1 / 0.75))) << v;
    dropped += v == 0;
  }
  EXPECT_NEAR(double(dropped) / 4096, 0.25, 0.03);
  EXPECT_EQ(arrayOf(dropout(x, 0.25, false)).values, arrayOf(x).values);
  EXPECT_EQ(arrayOf(dropout(x, 1)).values, std::vector<double>(4096));
  Array channels = arrayOf(dropoutChannels(ones({8, 16, 3, 3}), 0.5));
  for (size_t c = 0; c < 128; ++c)
    for (size_t i = 1; i < 9; ++i) EXPECT_EQ(channels.values[c * 9 + i], channels.values[c * 9]);
}

/// w[row] . v + bias[row]
double rowTimes(const Array &w, int64_t row, const Values &v, const Array &bias) {
  double s = bias.values[size_t(row)];
  for (size_t j = 0; j < v.size(); ++j) s += at(w, {row, int64_t(j)}) * v[j];
  return s;
}

enum class Cell { rnn, gru, lstm };
/// One sequence [steps, features] by PyTorch's formulas and order of gates.
struct Reference {
  Array wi, wh, bi, bh;
  int64_t hidden;
  Values h, c;
  void step(Cell kind, const Values &x) {
    Values next(h.size());
    for (int64_t j = 0; j < hidden; ++j) {
      auto in = [&](int64_t gate) { return rowTimes(wi, gate * hidden + j, x, bi); };
      auto rec = [&](int64_t gate) { return rowTimes(wh, gate * hidden + j, h, bh); };
      size_t k = size_t(j);
      if (kind == Cell::rnn) next[k] = std::tanh(in(0) + rec(0));
      if (kind == Cell::gru) {
        double r = sigmoidOf(in(0) + rec(0)), z = sigmoidOf(in(1) + rec(1)), n = std::tanh(in(2) + r * rec(2));
        next[k] = (1 - z) * n + z * h[k];
      }
      if (kind == Cell::lstm) {
        double i = sigmoidOf(in(0) + rec(0)), f = sigmoidOf(in(1) + rec(1)), g = std::tanh(in(2) + rec(2)),
               o = sigmoidOf(in(3) + rec(3));
        c[k] = f * c[k] + i * g;
        next[k] = o * std::tanh(c[k]);
      }
    }
    h = next;
  }
};

TEST(Layers, Recurrence) {
  const int64_t steps = 4, batch = 2, features = 3, hidden = 5;
  for (Cell kind : {Cell::rnn, Cell::gru, Cell::lstm})
    for (bool reverse : {false, true}) {
      int64_t gates = kind == Cell::rnn ? 1 : kind == Cell::gru ? 3 : 4;
      Array x = numbers({steps, batch, features}, 1), h = numbers({batch, hidden}, 2), c = numbers({batch, hidden}, 3);
      Array wi = numbers({gates * hidden, features}, 4), wh = numbers({gates * hidden, hidden}, 5, -0.7, 0.7);
      Array bi = numbers({gates * hidden}, 6), bh = numbers({gates * hidden}, 7);
      Array outputs{{steps, batch, hidden}, Values(size_t(steps * batch * hidden))}, lastH{{batch, hidden}, {}},
          lastC = lastH;
      for (int64_t b = 0; b < batch; ++b) {
        auto row = [&](const Array &a) {
          return Values(a.values.begin() + b * hidden, a.values.begin() + (b + 1) * hidden);
        };
        Reference cell{wi, wh, bi, bh, hidden, row(h), row(c)};
        for (int64_t s = 0; s < steps; ++s) {
          int64_t t = reverse ? steps - 1 - s : s;
          Values input;
          for (int64_t f = 0; f < features; ++f) input.push_back(at(x, {t, b, f}));
          cell.step(kind, input);
          for (int64_t j = 0; j < hidden; ++j) outputs.values[size_t((t * batch + b) * hidden + j)] = cell.h[size_t(j)];
        }
        lastH.values.insert(lastH.values.end(), cell.h.begin(), cell.h.end());
        lastC.values.insert(lastC.values.end(), cell.c.begin(), cell.c.end());
      }
      std::vector<Tensor> in{tensorOf(x),  tensorOf(h),  tensorOf(c), tensorOf(wi),
                             tensorOf(wh), tensorOf(bi), tensorOf(bh)};
      std::vector<Want> wants{{outputs}, {lastH}};
      if (kind == Cell::lstm) wants.push_back({lastC});
      checkMany(
          kind == Cell::rnn   ? "rnn"
          : kind == Cell::gru ? "gru"
                              : "lstm",
          in,
          [&](Inputs v) -> std::vector<Tensor> {
            if (kind == Cell::rnn) {
              auto r = rnn(v[0], v[1], v[3], v[4], v[5], v[6], RnnActivation::tanh, reverse);
              return {r.output, r.h};
            }
            if (kind == Cell::gru) {
              auto r = gru(v[0], v[1], v[3], v[4], v[5], v[6], reverse);
              return {r.output, r.h};
            }
            auto r = lstm(v[0], v[1], v[2], v[3], v[4], v[5], v[6], reverse);
            return {r.output, r.h, r.c};
          },
          wants);
      if (reverse) continue;
      // Cells, step by step, give the same.
      Tensor state = in[1], memory = in[2];
      for (int64_t t = 0; t < steps; ++t) {
        Tensor now = in[0][t];
        if (kind == Cell::rnn) state = rnnCell(now, state, in[3], in[4], in[5], in[6]);
        if (kind == Cell::gru) state = gruCell(now, state, in[3], in[4], in[5], in[6]);
        if (kind == Cell::lstm) {
          auto r = lstmCell(now, state, memory, in[3], in[4], in[5], in[6]);
          state = r.h;
          memory = r.c;
        }
      }
      expectClose("cells", state, {lastH});
    }
  // Without biases, and with relu.
  Array x = numbers({1, 1, 2}, 1), w = numbers({2, 2}, 2), z = map(numbers({2}), [](double) { return 0; });
  Reference cell{w, w, z, z, 2, {0, 0}, {}};
  RnnOutput got = rnn(tensorOf(x), zeros({1, 2}), tensorOf(w), tensorOf(w), {}, {}, RnnActivation::relu);
  Array wanted{{1, 2}, {}};
  for (int64_t j = 0; j < 2; ++j) wanted.values.push_back(std::max(0.0, rowTimes(w, j, x.values, z)));
  expectClose("relu", got.h, {wanted});
}

TEST(Layers, HalfTypes) {
  Array x = numbers({4, 6}, 1), w = numbers({5, 6}, 2);
  for (DType type : {DType::f16, DType::bf16}) {
    double tolerance = type == DType::f16 ? 2e-3 : 2e-2;
    std::vector<Tensor> in{tensorOf(x).to(type), tensorOf(w).to(type)};
    Array rounded = arrayOf(in[0]), weights = arrayOf(in[1]);
    auto same = [&](const char *name, const std::function<Tensor(Inputs)> &f) {
      // What f32 gives for the same numbers.
      const Tensor wide[] = {in[0].to(DType::f32), in[1].to(DType::f32)};
      check(name, in, f, arrayOf(f(wide)), type, tolerance);
    };
    check(
        "exp", in, [](Inputs v) { return exp(v[0]); }, map(rounded, [](double v) { return std::exp(v); }), type,
        tolerance);
    same("sum", [](Inputs v) { return sum(v[0], 1); });
    same("var", [](Inputs v) { return var(v[0], 1) + stdDev(v[0], 0, 0)[0]; });
    same("linear", [](Inputs v) { return linear(v[0], v[1]); });
    same("softmax", [](Inputs v) { return softmax(v[0], 1); });
    same("layerNorm", [](Inputs v) { return layerNorm(v[0], 6); });
    same("gelu", [](Inputs v) { return gelu(v[0]) * 2 + 0.5; });
    same("cat", [](Inputs v) { return cat({v[0], v[1]}); });
    same("crossEntropy", [](Inputs v) { return crossEntropy(v[0], Tensor({0, 5, 2, 1})); });
    same("interpolate",
         [](Inputs v) { return interpolate(v[0].reshape({1, 4, 6}), {.size = 4, .mode = Interpolation::linear}); });
  }
}

/// By loops: a position in elements, the padding, the elements around it by their weights.
double sampleOf(const Array &x, int64_t n, int64_t c, double u, double v, const GridSampleOptions &o) {
  const double sizes[] = {double(x.shape[2]), double(x.shape[3])};
  double place[2];
  for (int d : {0, 1}) {
    double g = d == 0 ? v : u;
    place[d] = o.alignCorners ? (g + 1) / 2 * (sizes[d] - 1) : ((g + 1) * sizes[d] - 1) / 2;
  }
  auto moved = [&](double p, double size) {
    if (o.padding == GridPadding::zeros) return p;
    double low = o.alignCorners ? 0 : -0.5, high = o.alignCorners ? size - 1 : size - 0.5;
    while (o.padding == GridPadding::reflection && (p < low || p > high)) p = p < low ? 2 * low - p : 2 * high - p;
    return std::min(std::max(p, 0.0), size - 1);
  };
  auto element = [&](double row, double column) {
    if (o.mode == GridMode::bicubic) row = moved(row, sizes[0]), column = moved(column, sizes[1]);
    if (row < 0 || row > sizes[0] - 1 || column < 0 || column > sizes[1] - 1) return 0.0;
    return at(x, {n, c, int64_t(std::nearbyint(row)), int64_t(std::nearbyint(column))});
  };
  if (o.mode != GridMode::bicubic)
    for (int d : {0, 1}) place[d] = moved(place[d], sizes[d]);
  if (o.mode == GridMode::nearest) return element(std::nearbyint(place[0]), std::nearbyint(place[1]));
  auto kernel = [&](double d) {
    d = std::abs(d);
    if (o.mode == GridMode::bilinear) return std::max(0.0, 1 - d);
    return d <= 1 ? 1.25 * d * d * d - 2.25 * d * d + 1 : d < 2 ? -0.75 * (d * d * d - 5 * d * d + 8 * d - 4) : 0.0;
  };
  double sum = 0;
  for (int row = -1; row <= 2; ++row)
    for (int column = -1; column <= 2; ++column) {
      double y = std::floor(place[0]) + row, z = std::floor(place[1]) + column;
      sum += kernel(place[0] - y) * kernel(place[1] - z) * element(y, z);
    }
  return sum;
}

TEST(Layers, GridSample) {
  Array x = numbers({2, 3, 4, 5}, 1), grid = numbers({2, 3, 4, 2}, 2, -1.6, 1.6);
  for (GridMode mode : {GridMode::bilinear, GridMode::nearest, GridMode::bicubic})
    for (GridPadding padding : {GridPadding::zeros, GridPadding::border, GridPadding::reflection})
      for (bool corners : {false, true}) {
        GridSampleOptions o{mode, padding, corners};
        auto want = [&](const std::vector<int64_t> &i) {
          return sampleOf(x, i[0], i[1], at(grid, {i[0], i[2], i[3], 0}), at(grid, {i[0], i[2], i[3], 1}), o);
        };
        check(
            "gridSample " + std::to_string(int(mode)) + std::to_string(int(padding)) + std::to_string(corners),
            {tensorOf(x, DType::f64), tensorOf(grid, DType::f64)}, [=](Inputs v) { return gridSample(v[0], v[1], o); },
            generate({2, 3, 3, 4}, want), DType::f64, 1e-9);
      }
}

// Each sequence by itself, cut to its length, gives the same.
TEST(Layers, SequencesThatEnd) {
  Tensor x = tensorOf(numbers({4, 3, 2}, 1)), h = tensorOf(numbers({3, 3}, 2)), lengths({4, 1, 3});
  auto run = [&](int kind, bool reverse, const Tensor &in, const Tensor &state, const Operand &ends) {
    int64_t rows = 3 * (kind == 0 ? 1 : kind == 1 ? 3 : 4);
    Tensor w = tensorOf(numbers({rows, 2}, 3)), u = tensorOf(numbers({rows, 3}, 4)), b = tensorOf(numbers({rows}, 5)),
           c = tensorOf(numbers({rows}, 6));
    if (kind == 2) {
      LstmOutput o = lstm(in, state, state * 2, w, u, b, c, reverse, ends);
      return std::vector<Tensor>{o.output, o.h, o.c};
    }
    RnnOutput o = kind == 1 ? gru(in, state, w, u, b, c, reverse, ends)
                            : rnn(in, state, w, u, b, c, RnnActivation::tanh, reverse, ends);
    return std::vector<Tensor>{o.output, o.h};
  };
  const int64_t ends[] = {4, 1, 3};
  for (int kind : {0, 1, 2})
    for (bool reverse : {false, true}) {
      std::vector<std::vector<Tensor>> each;
      for (int64_t b = 0; b < 3; ++b)
        each.push_back(run(kind, reverse, x(Slice(0, ends[b]), Slice(b, b + 1)), h[Slice(b, b + 1)], {}));
      std::vector<Want> wants;
      for (size_t k = 0; k < each[0].size(); ++k) {
        std::vector<Tensor> parts;
        for (size_t b = 0; b < 3; ++b) parts.push_back(k ? each[b][k] : pad(each[b][0], {0, 0, 0, 0, 0, 4 - ends[b]}));
        wants.push_back({arrayOf(cat(parts, k ? 0 : 1))});
      }
      checkMany(
          "lengths " + std::to_string(kind) + std::to_string(reverse), {x, h, lengths},
          [&](Inputs v) { return run(kind, reverse, v[0], v[1], v[2]); }, wants, 1e-6);
    }
}

} // namespace
