// Matrix products, convolutions and pools against plain loops.
#include "test/unit/Frontend/Ops/Harness.h"
#include <algorithm>

using namespace sprig;
using namespace sprig::test;

namespace {

/// [..., M, K] x [..., K, N] with leading axes that broadcast.
Array product(const Array &a, const Array &b) {
  int p = a.shape.rank(), q = b.shape.rank();
  auto lead = [](const Shape &s) { return Shape(s.data(), s.size() - 2); };
  Array x{lead(a.shape), std::vector<double>(size_t(lead(a.shape).elements()))},
      y{lead(b.shape), std::vector<double>(size_t(lead(b.shape).elements()))};
  for (size_t i = 0; i < x.values.size(); ++i) x.values[i] = double(i);
  for (size_t i = 0; i < y.values.size(); ++i) y.values[i] = double(i);
  Array left = zip(x, y, [](double l, double) { return l; }), right = zip(x, y, [](double, double r) { return r; });
  int64_t m = a.shape[p - 2], k = a.shape[p - 1], n = b.shape[q - 1];
  Array result{left.shape, {}};
  result.shape.push_back(m);
  result.shape.push_back(n);
  for (size_t batch = 0; batch < left.values.size(); ++batch)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double s = 0;
        for (int64_t c = 0; c < k; ++c)
          s += a.values[size_t((int64_t(left.values[batch]) * m + i) * k + c)] *
               b.values[size_t((int64_t(right.values[batch]) * k + c) * n + j)];
        result.values.push_back(s);
      }
  return result;
}

Array as(Array a, const Shape &shape) {
  a.shape = shape;
  return a;
}

TEST(Contract, MatmulHasPyTorchsRules) {
  struct Row {
    Shape a, b, aAs, bAs, result;
  };
  const Row rows[] = {
      {{3, 4}, {4, 5}, {3, 4}, {4, 5}, {3, 5}},
      {{4}, {4, 5}, {1, 4}, {4, 5}, {5}},
      {{3, 4}, {4}, {3, 4}, {4, 1}, {3}},
      {{4}, {4}, {1, 4}, {4, 1}, {}},
      {{2, 1, 3, 4}, {6, 4, 5}, {2, 1, 3, 4}, {6, 4, 5}, {2, 6, 3, 5}},
      {{4}, {2, 4, 5}, {1, 4}, {2, 4, 5}, {2, 5}},
      {{2, 3, 4}, {4}, {2, 3, 4}, {4, 1}, {2, 3}},
  };
  for (const Row &row : rows) {
    Array a = numbers(row.a, 1), b = numbers(row.b, 2);
    check(
        "matmul", {tensorOf(a), tensorOf(b)}, [](Inputs in) { return matmul(in[0], in[1]); },
        as(product(as(a, row.aAs), as(b, row.bAs)), row.result));
  }
  Array i = counting({2, 3}), j = counting({3, 2});
  check(
      "integers", {tensorOf(i, DType::i32), tensorOf(j, DType::i64)}, [](Inputs in) { return matmul(in[0], in[1]); },
      product(i, j), DType::i64);
}

TEST(Contract, TheOtherProducts) {
  Array a = numbers({3, 4}, 1), b = numbers({4, 5}, 2), u = numbers({4}, 3), v = numbers({5}, 4), c = numbers({5}, 5);
  check("mm", {tensorOf(a), tensorOf(b)}, [](Inputs in) { return mm(in[0], in[1]); }, product(a, b));
  check(
      "mv", {tensorOf(a), tensorOf(u)}, [](Inputs in) { return mv(in[0], in[1]); }, as(product(a, as(u, {4, 1})), {3}));
  check(
      "dot", {tensorOf(u), tensorOf(u)}, [](Inputs in) { return dot(in[0], in[1]); },
      as(product(as(u, {1, 4}), as(u, {4, 1})), {}));
  check(
      "outer", {tensorOf(u), tensorOf(v)}, [](Inputs in) { return outer(in[0], in[1]); },
      product(as(u, {4, 1}), as(v, {1, 5})));
  check(
      "bmm", {tensorOf(as(a, {2, 2, 3})), tensorOf(as(numbers({2, 3, 2}), {2, 3, 2}))},
      [](Inputs in) { return bmm(in[0], in[1]); }, product(as(a, {2, 2, 3}), numbers({2, 3, 2})));
  check(
      "addmm", {tensorOf(c), tensorOf(a), tensorOf(b)}, [](Inputs in) { return addmm(in[0], in[1], in[2], 0.5, 2); },
      zip(c, product(a, b), [](double x, double y) { return 0.5 * x + 2 * y; }));
  Array w = numbers({6, 4}, 6), bias = numbers({6}, 7), x = numbers({2, 3, 4}, 8);
  Array wanted = product(x, permuted(w, {1, 0}));
  check("linear", {tensorOf(x), tensorOf(w)}, [](Inputs in) { return linear(in[0], in[1]); }, wanted);
  check(
      "linear with bias", {tensorOf(x), tensorOf(w), tensorOf(bias)},
      [](Inputs in) { return linear(in[0], in[1], in[2]); },
      zip(wanted, bias, [](double p, double q) { return p + q; }));
  check(
      "linear of a vector", {tensorOf(u), tensorOf(w)}, [](Inputs in) { return linear(in[0], in[1]); },
      as(product(as(u, {1, 4}), permuted(w, {1, 0})), {6}));
  Array x1 = numbers({3, 2}, 1), x2 = numbers({3, 4}, 2), w3 = numbers({5, 2, 4}, 3);
  check(
      "bilinear", {tensorOf(x1), tensorOf(x2), tensorOf(w3), tensorOf(c)},
      [](Inputs in) { return bilinear(in[0], in[1], in[2], in[3]); }, generate({3, 5}, [&](auto &n) {
        double s = c.values[size_t(n[1])];
        for (int64_t i = 0; i < 2; ++i)
          for (int64_t j = 0; j < 4; ++j) s += at(x1, {n[0], i}) * at(w3, {n[1], i, j}) * at(x2, {n[0], j});
        return s;
      }));
}

Array biased(const Array &x, const Array &bias) {
  return generate(x.shape, [&](auto &i) { return at(x, i) + bias.values[size_t(i[1])]; });
}

TEST(Contract, Convolutions) {
  Array x1 = numbers({2, 3, 9}, 1), w1 = numbers({4, 3, 3}, 2), b = numbers({4}, 3);
  check(
      "conv1d", {tensorOf(x1), tensorOf(w1), tensorOf(b)},
      [](Inputs in) { return conv1d(in[0], in[1], in[2], {.stride = 2, .padding = 1}); },
      biased(convolution(x1, w1, {{2}, {1}, {1}}), b));
  Array x2 = numbers({2, 4, 7, 6}, 4), w2 = numbers({6, 2, 3, 2}, 5);
  check(
      "conv2d", {tensorOf(x2), tensorOf(w2)},
      [](Inputs in) {
        return conv2d(in[0], in[1], {}, {.stride = {1, 2}, .padding = {2, 0}, .dilation = {2, 1}, .groups = 2});
      },
      convolution(x2, w2, {{1, 2}, {2, 0}, {2, 1}, 2}));
  Array alone = as(numbers({4, 7, 6}, 9), {1, 4, 7, 6}), wanted = convolution(alone, w2, {{1, 1}, {0, 0}, {1, 1}, 2});
  check(
      "conv2d of one image", {tensorOf(as(alone, {4, 7, 6})), tensorOf(w2)},
      [](Inputs in) { return conv2d(in[0], in[1], {}, {.groups = 2}); }, as(wanted, Shape(wanted.shape.data() + 1, 3)));
  // As if there were a zero after the last row, and none where the window is odd.
  Array more = generate({2, 4, 10, 7}, [&](auto &i) {
    return i[2] < 1 || i[2] > 7 || i[3] > 5 ? 0 : at(x2, {i[0], i[1], i[2] - 1, i[3]});
  });
  Array even = numbers({4, 4, 4, 2}, 8);
  check(
      "conv2d of the same size", {tensorOf(x2), tensorOf(even)},
      [](Inputs in) { return conv2d(in[0], in[1], {}, {.samePadding = true}); },
      convolution(more, even, {{1, 1}, {0, 0}, {1, 1}}));
  Array x3 = numbers({1, 2, 4, 5, 4}, 6), w3 = numbers({3, 2, 2, 3, 2}, 7);
  check(
      "conv3d", {tensorOf(x3), tensorOf(w3)}, [](Inputs in) { return conv3d(in[0], in[1], {}, {.padding = 1}); },
      convolution(x3, w3, {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}));
}

TEST(Contract, TransposedConvolutions) {
  Array x1 = numbers({2, 4, 5}, 1), w1 = numbers({4, 3, 3}, 2), b = numbers({3}, 3);
  check(
      "convTranspose1d", {tensorOf(x1), tensorOf(w1), tensorOf(b)},
      [](Inputs in) { return convTranspose1d(in[0], in[1], in[2], {.stride = 2, .padding = 1, .outputPadding = 1}); },
      biased(transposedConvolution(x1, w1, {{2}, {1}, {1}}, {1}), b));
  Array x2 = numbers({1, 4, 4, 3}, 4), w2 = numbers({4, 2, 3, 2}, 5);
  check(
      "convTranspose2d", {tensorOf(x2), tensorOf(w2)},
      [](Inputs in) {
        return convTranspose2d(in[0], in[1], {},
                               {.stride = {2, 1}, .padding = {1, 0}, .groups = 2, .dilation = {1, 2}});
      },
      transposedConvolution(x2, w2, {{2, 1}, {1, 0}, {1, 2}, 2}, {0, 0}));
  Array x3 = numbers({1, 2, 3, 2, 2}, 6), w3 = numbers({2, 2, 2, 2, 2}, 7);
  check(
      "convTranspose3d", {tensorOf(x3), tensorOf(w3)},
      [](Inputs in) { return convTranspose3d(in[0], in[1], {}, {.stride = 2}); },
      transposedConvolution(x3, w3, {{2, 2, 2}, {0, 0, 0}, {1, 1, 1}}, {0, 0, 0}));
}

double largest(const std::vector<double> &v, int64_t) { return *std::max_element(v.begin(), v.end()); }
double meanOfAll(const std::vector<double> &v, int64_t count) {
  double s = 0;
  for (double each : v) s += each;
  return s / double(count);
}
double meanOfInside(const std::vector<double> &v, int64_t) { return meanOfAll(v, int64_t(v.size())); }

TEST(Contract, Pools) {
  Array x = numbers({2, 3, 7, 8}, 1), line = numbers({2, 3, 9}, 2), cube = numbers({1, 2, 4, 4, 5}, 3);
  Tensor t = tensorOf(x), l = tensorOf(line), c = tensorOf(cube);
  check(
      "maxPool2d", {t}, [](Inputs in) { return maxPool2d(in[0], 2); },
      pool(x, {2, 2}, {{2, 2}, {0, 0}, {1, 1}}, {3, 4}, largest));
  check(
      "maxPool2d with options", {t},
      [](Inputs in) { return maxPool2d(in[0], {3, 2}, {.stride = {2, 3}, .padding = {1, 0}, .dilation = {1, 2}}); },
      pool(x, {3, 2}, {{2, 3}, {1, 0}, {1, 2}}, {4, 2}, largest));
  check(
      "maxPool2d up", {t}, [](Inputs in) { return maxPool2d(in[0], 3, {.stride = 2, .ceilMode = true}); },
      pool(x, {3, 3}, {{2, 2}, {0, 0}, {1, 1}}, {3, 4}, largest));
  check(
      "maxPool1d", {l}, [](Inputs in) { return maxPool1d(in[0], 4, {.stride = 3}); },
      pool(line, {4}, {{3}, {0}, {1}}, {2}, largest));
  check(
      "maxPool3d", {c}, [](Inputs in) { return maxPool3d(in[0], 2); },
      pool(cube, {2, 2, 2}, {{2, 2, 2}, {0, 0, 0}, {1, 1, 1}}, {2, 2, 2}, largest));
  check(
      "avgPool2d", {t}, [](Inputs in) { return avgPool2d(in[0], 3, {.stride = 2, .padding = 1}); },
      pool(x, {3, 3}, {{2, 2}, {1, 1}, {1, 1}}, {4, 4}, meanOfAll));
  check(
      "avgPool2d without padding", {t},
      [](Inputs in) { return avgPool2d(in[0], 3, {.stride = 2, .padding = 1, .countIncludePad = false}); },
      pool(x, {3, 3}, {{2, 2}, {1, 1}, {1, 1}}, {4, 4}, meanOfInside));
  check(
      "avgPool1d up", {l}, [](Inputs in) { return avgPool1d(in[0], 4, {.stride = 2, .padding = 1, .ceilMode = true}); },
      pool(line, {4}, {{2}, {1}, {1}}, {5}, meanOfAll));
  check(
      "avgPool3d", {c}, [](Inputs in) { return avgPool3d(in[0], {2, 1, 2}); },
      pool(cube, {2, 1, 2}, {{2, 1, 2}, {0, 0, 0}, {1, 1, 1}}, {2, 4, 2}, meanOfInside));
}

TEST(Contract, AdaptivePools) {
  Array x = numbers({2, 3, 7, 8}, 1);
  auto adaptive = [&](int64_t h, int64_t w, auto f) {
    return generate({2, 3, h, w}, [=](auto &i) {
      std::vector<double> v;
      for (int64_t y = i[2] * 7 / h; y < (i[2] * 7 + 7 + h - 1) / h; ++y)
        for (int64_t z = i[3] * 8 / w; z < (i[3] * 8 + 8 + w - 1) / w; ++z) v.push_back(at(x, {i[0], i[1], y, z}));
      return f(v, int64_t(v.size()));
    });
  };
  Tensor t = tensorOf(x);
  check(
      "adaptiveAvgPool2d", {t}, [](Inputs in) { return adaptiveAvgPool2d(in[0], {3, 5}); }, adaptive(3, 5, meanOfAll));
  check(
      "adaptiveAvgPool2d even", {t}, [](Inputs in) { return adaptiveAvgPool2d(in[0], {7, 4}); },
      adaptive(7, 4, meanOfAll));
  check(
      "adaptiveAvgPool2d to one", {t}, [](Inputs in) { return adaptiveAvgPool2d(in[0], 1); },
      adaptive(1, 1, meanOfAll));
  check(
      "adaptiveAvgPool2d larger", {t}, [](Inputs in) { return adaptiveAvgPool2d(in[0], {9, 8}); },
      adaptive(9, 8, meanOfAll));
  check("adaptiveMaxPool2d", {t}, [](Inputs in) { return adaptiveMaxPool2d(in[0], {2, 3}); }, adaptive(2, 3, largest));
  check(
      "adaptiveMaxPool2d to one", {t}, [](Inputs in) { return adaptiveMaxPool2d(in[0], 1); }, adaptive(1, 1, largest));
  Array line = numbers({1, 2, 6}, 2);
  check(
      "adaptiveAvgPool1d", {tensorOf(line)}, [](Inputs in) { return adaptiveAvgPool1d(in[0], 2); },
      pool(line, {3}, {{3}, {0}, {1}}, {2}, meanOfAll));
  check(
      "adaptiveMaxPool1d", {tensorOf(line)}, [](Inputs in) { return adaptiveMaxPool1d(in[0], 3); },
      pool(line, {2}, {{2}, {0}, {1}}, {3}, largest));
  Array cube = numbers({1, 1, 2, 4, 2}, 3);
  check(
      "adaptiveAvgPool3d", {tensorOf(cube)}, [](Inputs in) { return adaptiveAvgPool3d(in[0], {1, 2, 1}); },
      pool(cube, {2, 2, 2}, {{2, 2, 2}, {0, 0, 0}, {1, 1, 1}}, {1, 2, 1}, meanOfAll));
  check(
      "adaptiveMaxPool3d", {tensorOf(cube)}, [](Inputs in) { return adaptiveMaxPool3d(in[0], {2, 2, 1}); },
      pool(cube, {1, 2, 2}, {{1, 2, 2}, {0, 0, 0}, {1, 1, 1}}, {2, 2, 1}, largest));
}

} // namespace
