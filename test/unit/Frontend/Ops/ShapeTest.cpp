// Operations that move elements: every result is a pattern of positions of 0, 1, 2, ...
#include "test/unit/Frontend/Ops/Harness.h"

using namespace sprig;
using namespace sprig::test;

namespace {

TEST(Shapes, SameElements) {
  Array x = counting({2, 3, 4});
  Tensor t = tensorOf(x);
  struct Row {
    const char *name;
    std::function<Tensor(const Tensor &)> f;
    Shape shape;
  };
  const Row rows[] = {
      {"reshape", [](auto &v) { return v.reshape({6, 4}); }, {6, 4}},
      {"reshape -1", [](auto &v) { return v.reshape({4, -1, 2}); }, {4, 3, 2}},
      {"flatten", [](auto &v) { return v.flatten(); }, {24}},
      {"flatten 1", [](auto &v) { return v.flatten(1); }, {2, 12}},
      {"flatten 0 1", [](auto &v) { return flatten(v, 0, 1); }, {6, 4}},
      {"unflatten", [](auto &v) { return unflatten(v, -1, {2, -1}); }, {2, 3, 2, 2}},
      {"unsqueeze", [](auto &v) { return v.unsqueeze(1); }, {2, 1, 3, 4}},
      {"unsqueeze -1", [](auto &v) { return v.unsqueeze(-1); }, {2, 3, 4, 1}},
      {"squeeze", [](auto &v) { return v.unsqueeze(0).squeeze(0); }, {2, 3, 4}},
      {"squeeze of another size", [](auto &v) { return v.squeeze(1); }, {2, 3, 4}},
      {"squeeze all", [](auto &v) { return squeeze(v.reshape({1, 2, 1, 12})); }, {2, 12}},
  };
  for (const Row &row : rows) check(row.name, {t}, [&](Inputs in) { return row.f(in[0]); }, {row.shape, x.values});
}

TEST(Shapes, AxesInAnotherOrder) {
  Array x = counting({2, 3, 4});
  Tensor t = tensorOf(x);
  check("transpose", {t}, [](Inputs in) { return in[0].transpose(); }, permuted(x, {0, 2, 1}));
  check("transpose 0 2", {t}, [](Inputs in) { return in[0].transpose(0, 2); }, permuted(x, {2, 1, 0}));
  check("permute", {t}, [](Inputs in) { return in[0].permute({2, 0, -2}); }, permuted(x, {2, 0, 1}));
  check("movedim", {t}, [](Inputs in) { return movedim(in[0], 0, -1); }, permuted(x, {1, 2, 0}));
  check("movedim back", {t}, [](Inputs in) { return movedim(in[0], 2, 0); }, permuted(x, {2, 0, 1}));
}

TEST(Shapes, Repetition) {
  Array x = counting({2, 1, 3});
  Tensor t = tensorOf(x);
  auto pick = [&](const Shape &shape, auto f) {
    return generate(shape, [=](const Position &i) { return at(x, f(i)); });
  };
  check(
      "expand", {t}, [](Inputs in) { return in[0].expand({2, 4, -1}); },
      pick({2, 4, 3}, [](auto &i) { return Position{i[0], 0, i[2]}; }));
  check(
      "broadcastTo", {t}, [](Inputs in) { return broadcastTo(in[0], {5, 2, 2, 3}); },
      pick({5, 2, 2, 3}, [](auto &i) { return Position{i[1], 0, i[3]}; }));
  check(
      "tile", {t}, [](Inputs in) { return tile(in[0], {2, 3, 1, 2}); },
      pick({2, 6, 1, 6}, [](auto &i) { return Position{i[1] % 2, 0, i[3] % 3}; }));
  check(
      "tile fewer", {t}, [](Inputs in) { return tile(in[0], {2}); },
      pick({2, 1, 6}, [](auto &i) { return Position{i[0], 0, i[2] % 3}; }));
  check(
      "repeatInterleave", {t}, [](Inputs in) { return repeatInterleave(in[0], 3, -1); },
      pick({2, 1, 9}, [](auto &i) { return Position{i[0], 0, i[2] / 3}; }));
}

TEST(Shapes, JoiningAndSplitting) {
  Array a = counting({2, 3}), b = numbers({2, 2}, 3);
  check(
      "cat", {tensorOf(a), tensorOf(b)}, [](Inputs in) { return cat({in[0], in[1]}, 1); },
      generate({2, 5}, [&](auto &i) { return i[1] < 3 ? at(a, i) : at(b, {i[0], i[1] - 3}); }));
  check(
      "stack", {tensorOf(a), tensorOf(a)}, [](Inputs in) { return stack({in[0], in[1] * 2}, -1); },
      generate({2, 3, 2}, [&](auto &i) { return at(a, {i[0], i[1]}) * double(1 + i[2]); }));
  Array x = counting({2, 7});
  auto columns = [&](int64_t from, int64_t count) {
    return Want{generate({2, count}, [&](auto &i) { return at(x, {i[0], i[1] + from}); })};
  };
  checkMany("split", {tensorOf(x)}, [](Inputs in) { return split(in[0], 3, 1); },
            {columns(0, 3), columns(3, 3), columns(6, 1)});
  checkMany("split by sizes", {tensorOf(x)}, [](Inputs in) { return split(in[0], {2, 5}, -1); },
            {columns(0, 2), columns(2, 5)});
  checkMany("chunk", {tensorOf(x)}, [](Inputs in) { return chunk(in[0], 4, 1); },
            {columns(0, 2), columns(2, 2), columns(4, 2), columns(6, 1)});
  checkMany("unbind", {tensorOf(x)}, [](Inputs in) { return unbind(in[0]); },
            {{{{7}, {0, 1, 2, 3, 4, 5, 6}}}, {{{7}, {7, 8, 9, 10, 11, 12, 13}}}});
}

TEST(Shapes, PickingAsNumPy) {
  Array x = counting({4, 5, 6});
  Tensor t = tensorOf(x);
  auto pick = [&](const Shape &shape, auto f) {
    return generate(shape, [=](const Position &i) { return at(x, f(i)); });
  };
  check("x[2]", {t}, [](Inputs in) { return in[0][2]; }, pick({5, 6}, [](auto &i) { return Position{2, i[0], i[1]}; }));
  check(
      "x[-1]", {t}, [](Inputs in) { return in[0][-1]; }, pick({5, 6}, [](auto &i) { return Position{3, i[0], i[1]}; }));
  check(
      "x[1:3]", {t}, [](Inputs in) { return in[0][Slice(1, 3)]; },
      pick({2, 5, 6}, [](auto &i) { return Position{i[0] + 1, i[1], i[2]}; }));
  check(
      "x[:, 1:-1, 2]", {t}, [](Inputs in) { return in[0](all, Slice(1, -1), 2); },
      pick({4, 3}, [](auto &i) { return Position{i[0], i[1] + 1, 2}; }));
  check(
      "x[..., ::-2]", {t}, [](Inputs in) { return in[0](rest, Slice(Slice::kOpen, Slice::kOpen, -2)); },
      pick({4, 5, 3}, [](auto &i) { return Position{i[0], i[1], 5 - 2 * i[2]}; }));
  check(
      "x[:, None, 3]", {t}, [](Inputs in) { return in[0](all, newAxis, 3); },
      pick({4, 1, 6}, [](auto &i) { return Position{i[0], 3, i[2]}; }));
  check(
      "x[5:2:-1] is cut", {t}, [](Inputs in) { return in[0][Slice(9, 1, -1)]; },
      pick({2, 5, 6}, [](auto &i) { return Position{3 - i[0], i[1], i[2]}; }));
  check("x[2:2]", {t}, [](Inputs in) { return in[0][Slice(2, 2)]; }, {{0, 5, 6}, {}});
  Tensor rows({2, 0, -1, 2});
  check(
      "x[indices]", {t, rows}, [](Inputs in) { return in[0][in[1]]; },
      pick({4, 5, 6}, [](auto &i) { return Position{std::array<int64_t, 4>{2, 0, 3, 2}[size_t(i[0])], i[1], i[2]}; }));
  check(
      "x[1, indices, ::2]", {t, rows}, [](Inputs in) { return in[0](1, in[1], Slice(0, Slice::kOpen, 2)); },
      pick({4, 3}, [](auto &i) { return Position{1, std::array<int64_t, 4>{2, 0, 4, 2}[size_t(i[0])], 2 * i[1]}; }));
  check(
      "slice", {t}, [](Inputs in) { return in[0].slice(1, -3, 5, 2); },
      pick({4, 2, 6}, [](auto &i) { return Position{i[0], 2 + 2 * i[1], i[2]}; }));
  check(
      "narrow", {t}, [](Inputs in) { return narrow(in[0], 2, 1, 4); },
      pick({4, 5, 4}, [](auto &i) { return Position{i[0], i[1], i[2] + 1}; }));
  check(
      "select", {t}, [](Inputs in) { return select(in[0], 1, -2); },
      pick({4, 6}, [](auto &i) { return Position{i[0], 3, i[1]}; }));
  check(
      "flip", {t}, [](Inputs in) { return flip(in[0], {0, -1}); },
      pick({4, 5, 6}, [](auto &i) { return Position{3 - i[0], i[1], 5 - i[2]}; }));
  check(
      "roll", {t}, [](Inputs in) { return roll(in[0], -2, 1); },
      pick({4, 5, 6}, [](auto &i) { return Position{i[0], (i[1] + 2) % 5, i[2]}; }));
  check(
      "roll on", {t}, [](Inputs in) { return roll(in[0], 7, 2); },
      pick({4, 5, 6}, [](auto &i) { return Position{i[0], i[1], (i[2] + 5) % 6}; }));
}

TEST(Shapes, Assigning) {
  Array x = counting({4, 5});
  check(
      "x[1:3, ::2] = -1", {tensorOf(x)},
      [](Inputs in) { return assign(in[0], {Slice(1, 3), Slice(0, Slice::kOpen, 2)}, -1); },
      generate({4, 5}, [&](auto &i) { return i[0] >= 1 && i[0] < 3 && i[1] % 2 == 0 ? -1 : at(x, i); }));
  Array row = numbers({5}, 2);
  check(
      "x[2] = row", {tensorOf(x), tensorOf(row)}, [](Inputs in) { return assign(in[0], {2}, in[1]); },
      generate({4, 5}, [&](auto &i) { return i[0] == 2 ? row.values[size_t(i[1])] : at(x, i); }));
}

TEST(Shapes, Gathering) {
  Array x = counting({4, 3});
  Tensor t = tensorOf(x), picks = tensorOf({{2, 3}, {3, 0, -1, 1, 1, 2}}, DType::i64);
  check("gather", {t, remainder(picks, 4)}, [](Inputs in) { return gather(in[0], 0, in[1]); },
        {{2, 3}, {9, 1, 11, 3, 4, 8}});
  check("take", {t, picks}, [](Inputs in) { return take(in[0], in[1]); }, {{2, 3}, {3, 0, 11, 1, 1, 2}});
  check("take along an axis", {t, Tensor({1, 1})}, [](Inputs in) { return take(in[0], in[1], 1); },
        {{4, 2}, {1, 1, 4, 4, 7, 7, 10, 10}});
  check("indexSelect", {t, Tensor({2, 0})}, [](Inputs in) { return indexSelect(in[0], 1, in[1]); },
        {{4, 2}, {2, 0, 5, 3, 8, 6, 11, 9}});
  check("embedding", {tensorOf({{2, 1}, {3, 1}}, DType::i64), t}, [](Inputs in) { return embedding(in[0], in[1]); },
        {{2, 1, 3}, {9, 10, 11, 3, 4, 5}});
  check("oneHot", {Tensor({1, 0, 2})}, [](Inputs in) { return oneHot(in[0], 3, DType::f32); },
        {{3, 3}, {0, 1, 0, 1, 0, 0, 0, 0, 1}});
  check(
      "tril", {t}, [](Inputs in) { return tril(in[0]); },
      generate({4, 3}, [&](auto &i) { return i[1] <= i[0] ? at(x, i) : 0; }));
  check(
      "triu 1", {t}, [](Inputs in) { return triu(in[0], 1); },
      generate({4, 3}, [&](auto &i) { return i[1] >= i[0] + 1 ? at(x, i) : 0; }));
  check(
      "tril -1", {t}, [](Inputs in) { return tril(in[0], -1); },
      generate({4, 3}, [&](auto &i) { return i[1] <= i[0] - 1 ? at(x, i) : 0; }));
  check("diag", {t}, [](Inputs in) { return diag(in[0]); }, {{3}, {0, 4, 8}});
  check("diag -1", {t}, [](Inputs in) { return diag(in[0], -1); }, {{3}, {3, 7, 11}});
  check("diag 2", {t}, [](Inputs in) { return diag(in[0], 2); }, {{1}, {2}});
  check("diag of a vector", {Tensor({1.f, 2.f})}, [](Inputs in) { return diag(in[0], 1); },
        {{3, 3}, {0, 1, 0, 0, 0, 2, 0, 0, 0}});
  check("diag of a vector, below", {Tensor({1.f, 2.f})}, [](Inputs in) { return diag(in[0], -1); },
        {{3, 3}, {0, 0, 0, 1, 0, 0, 0, 2, 0}});
}

TEST(Shapes, Scattering) {
  Tensor zeros = tensorOf(map(counting({3, 3}), [](double) { return 1; }));
  Tensor picks = tensorOf({{2, 3}, {2, 0, 1, 2, 0, 0}}, DType::i64), values = tensorOf(counting({2, 3}));
  check("scatter", {zeros, picks, values}, [](Inputs in) { return scatter(in[0], 0, in[1], in[2]); },
        {{3, 3}, {1, 4, 5, 1, 1, 2, 3, 1, 1}});
  check("scatterAdd", {zeros, picks, values}, [](Inputs in) { return scatterAdd(in[0], 0, in[1], in[2]); },
        {{3, 3}, {1, 6, 6, 1, 1, 3, 4, 1, 1}});
  check("scatter max", {zeros, picks, values}, [](Inputs in) { return scatter(in[0], 0, in[1], in[2], Scatter::max); },
        {{3, 3}, {1, 4, 5, 1, 1, 2, 3, 1, 1}});
  check("scatter a number", {zeros, picks}, [](Inputs in) { return scatter(in[0], 0, in[1], 7); },
        {{3, 3}, {1, 7, 7, 1, 1, 7, 7, 1, 1}});
  check("indexAdd", {zeros, Tensor({2, 2}), tensorOf(counting({3, 2}))},
        [](Inputs in) { return indexAdd(in[0], 1, in[1], in[2]); }, {{3, 3}, {1, 1, 2, 1, 1, 6, 1, 1, 10}});
}

TEST(Shapes, Padding) {
  Array x = counting({2, 3});
  Tensor t = tensorOf(x);
  check("constant", {t}, [](Inputs in) { return pad(in[0], {1, 2, 0, 1}, Padding::constant, 9); },
        {{3, 6}, {9, 0, 1, 2, 9, 9, 9, 3, 4, 5, 9, 9, 9, 9, 9, 9, 9, 9}});
  check("reflect", {t}, [](Inputs in) { return pad(in[0], {2, 1}, Padding::reflect); },
        {{2, 6}, {2, 1, 0, 1, 2, 1, 5, 4, 3, 4, 5, 4}});
  check("replicate", {t}, [](Inputs in) { return pad(in[0], {2, 1}, Padding::replicate); },
        {{2, 6}, {0, 0, 0, 1, 2, 2, 3, 3, 3, 4, 5, 5}});
  check("circular", {t}, [](Inputs in) { return pad(in[0], {2, 1}, Padding::circular); },
        {{2, 6}, {1, 2, 0, 1, 2, 0, 4, 5, 3, 4, 5, 3}});
  check("negative", {t}, [](Inputs in) { return pad(in[0], {-1, 1}); }, {{2, 3}, {1, 2, 0, 4, 5, 0}});
}

TEST(Shapes, Resampling) {
  Array x = numbers({1, 2, 3, 4}, 17);
  Tensor t = tensorOf(x);
  auto nearest = [&](const Shape &size, double sy, double sx) {
    return generate({1, 2, size[0], size[1]}, [=](const Position &i) {
      return at(x, {0, i[1], std::min<int64_t>(2, int64_t(double(i[2]) * sy)),
                    std::min<int64_t>(3, int64_t(double(i[3]) * sx))});
    });
  };
  check("nearest twice", {t}, [](Inputs in) { return interpolate(in[0], {.scale = {2}}); }, nearest({6, 8}, 0.5, 0.5));
  check(
      "nearest to a size", {t}, [](Inputs in) { return interpolate(in[0], {.size = {5, 3}}); },
      nearest({5, 3}, 3.0 / 5, 4.0 / 3));
  auto linear = [&](const Shape &size, bool corners) {
    auto place = [=](int64_t i, int64_t in, int64_t out) {
      double p = corners ? (out > 1 ? double(i) * double(in - 1) / double(out - 1) : 0)
                         : (double(i) + 0.5) * double(in) / double(out) - 0.5;
      return std::min(std::max(p, 0.0), double(in - 1));
    };
    return generate({1, 2, size[0], size[1]}, [=](const Position &i) {
      double y = place(i[2], 3, size[0]), z = place(i[3], 4, size[1]);
      int64_t y0 = int64_t(y), z0 = int64_t(z), y1 = std::min<int64_t>(y0 + 1, 2), z1 = std::min<int64_t>(z0 + 1, 3);
      double v = y - double(y0), u = z - double(z0);
      return (1 - v) * ((1 - u) * at(x, {0, i[1], y0, z0}) + u * at(x, {0, i[1], y0, z1})) +
             v * ((1 - u) * at(x, {0, i[1], y1, z0}) + u * at(x, {0, i[1], y1, z1}));
    });
  };
  check(
      "bilinear", {t}, [](Inputs in) { return interpolate(in[0], {.size = {6, 5}, .mode = Interpolation::bilinear}); },
      linear({6, 5}, false));
  check(
      "bilinear, smaller", {t},
      [](Inputs in) { return interpolate(in[0], {.size = 2, .mode = Interpolation::bilinear}); },
      linear({2, 2}, false));
  check(
      "bilinear, corners", {t},
      [](Inputs in) {
        return interpolate(in[0], {.size = {7, 9}, .mode = Interpolation::bilinear, .alignCorners = true});
      },
      linear({7, 9}, true));
  auto cubic = [&](const Shape &size, bool corners) {
    auto place = [=](int64_t i, int64_t in, int64_t out) {
      return corners ? (out > 1 ? double(i) * double(in - 1) / double(out - 1) : 0)
                     : (double(i) + 0.5) * double(in) / double(out) - 0.5;
    };
    auto kernel = [](double d) {
      d = std::abs(d);
      return d <= 1 ? 1.25 * d * d * d - 2.25 * d * d + 1 : d < 2 ? -0.75 * (d * d * d - 5 * d * d + 8 * d - 4) : 0.0;
    };
    return generate({1, 2, size[0], size[1]}, [=](const Position &i) {
      double y = place(i[2], 3, size[0]), z = place(i[3], 4, size[1]), sum = 0;
      for (int64_t p = -3; p < 7; ++p)
        for (int64_t q = -3; q < 8; ++q)
          sum += kernel(y - double(p)) * kernel(z - double(q)) *
                 at(x, {0, i[1], std::clamp<int64_t>(p, 0, 2), std::clamp<int64_t>(q, 0, 3)});
      return sum;
    });
  };
  for (bool corners : {false, true})
    for (Shape size : {Shape{6, 5}, Shape{2, 3}})
      check(
          "bicubic", {t},
          [=](Inputs in) {
            return interpolate(in[0], {.size = size, .mode = Interpolation::bicubic, .alignCorners = corners});
          },
          cubic(size, corners));
  check(
      "area", {t}, [](Inputs in) { return interpolate(in[0], {.size = {1, 2}, .mode = Interpolation::area}); },
      generate({1, 2, 1, 2}, [&](auto &i) {
        double s = 0;
        for (int64_t y = 0; y < 3; ++y)
          for (int64_t z = 0; z < 2; ++z) s += at(x, {0, i[1], y, 2 * i[3] + z});
        return s / 6;
      }));
  Array channels = counting({1, 8, 2, 3});
  check(
      "pixelShuffle", {tensorOf(channels)}, [](Inputs in) { return pixelShuffle(in[0], 2); },
      generate({1, 2, 4, 6},
               [&](auto &i) { return at(channels, {0, i[1] * 4 + i[2] % 2 * 2 + i[3] % 2, i[2] / 2, i[3] / 2}); }));
  check(
      "pixelUnshuffle", {tensorOf(channels)}, [](Inputs in) { return pixelUnshuffle(pixelShuffle(in[0], 2), 2); },
      channels);
}

TEST(Shapes, Creation) {
  auto same = [](const Shape &shape, double v) { return map(counting(shape), [=](double) { return v; }); };
  check("zeros", {}, [](Inputs) { return zeros({2, 3}); }, same({2, 3}, 0));
  check("ones", {}, [](Inputs) { return ones({2}, DType::i32); }, same({2}, 1), DType::i32);
  check("full", {}, [](Inputs) { return full({3}, 2.5, DType::f64); }, same({3}, 2.5), DType::f64);
  check("a scalar", {}, [](Inputs) { return full({}, 7, DType::i64); }, same({}, 7), DType::i64);
  Tensor like = tensorOf(counting({2, 2}), DType::i16);
  check("zerosLike", {like}, [](Inputs in) { return zerosLike(in[0]); }, same({2, 2}, 0), DType::i16);
  check("onesLike", {like}, [](Inputs in) { return onesLike(in[0]); }, same({2, 2}, 1), DType::i16);
  check("fullLike", {like}, [](Inputs in) { return fullLike(in[0], -3); }, same({2, 2}, -3), DType::i16);
  check("arange", {}, [](Inputs) { return arange(5); }, counting({5}), DType::i64);
  check("arange by steps", {}, [](Inputs) { return arange(10, 1, -4, DType::f32); }, {{3}, {10, 6, 2}});
  check("arange of nothing", {}, [](Inputs) { return arange(3, 3); }, {{0}, {}}, DType::i64);
  check("arangeReal", {}, [](Inputs) { return arangeReal(0.5, 2, 0.25); }, {{6}, {0.5, 0.75, 1, 1.25, 1.5, 1.75}});
  check("linspace", {}, [](Inputs) { return linspace(-1, 2, 7); }, {{7}, {-1, -0.5, 0, 0.5, 1, 1.5, 2}});
  check("linspace of one", {}, [](Inputs) { return linspace(3, 4, 1); }, {{1}, {3}});
  check("eye", {}, [](Inputs) { return eye(2, 3); }, {{2, 3}, {1, 0, 0, 0, 1, 0}});
}

TEST(Shapes, WithoutElements) {
  Tensor none = tensorOf({{0, 3}, {}}), some = tensorOf(counting({2, 3}));
  check("sum", {none}, [](Inputs in) { return sum(in[0], 0); }, {{3}, {0, 0, 0}});
  check("mean", {none}, [](Inputs in) { return mean(in[0]); }, {{}, {std::nan("")}});
  check("prod", {none}, [](Inputs in) { return prod(in[0], 0); }, {{3}, {1, 1, 1}});
  check("all", {none}, [](Inputs in) { return all(in[0]); }, {{}, {1}}, DType::boolean);
  check("add", {none}, [](Inputs in) { return in[0] + 1; }, {{0, 3}, {}});
  check("cat", {none, some}, [](Inputs in) { return cat({in[0], in[1]}); }, counting({2, 3}));
  check("reshape", {none}, [](Inputs in) { return in[0].reshape({3, 2, 0}); }, {{3, 2, 0}, {}});
  check(
      "matmul", {none}, [](Inputs in) { return matmul(transpose(in[0]), in[0]); },
      map(counting({3, 3}), [](double) { return 0; }));
  check("pad", {none}, [](Inputs in) { return pad(in[0], {0, 0, 1, 0}, Padding::constant, 4); }, {{1, 3}, {4, 4, 4}});
  check("flip", {none}, [](Inputs in) { return flip(in[0], {0, 1}); }, {{0, 3}, {}});
  check("sort", {none}, [](Inputs in) { return sort(in[0], 0).values; }, {{0, 3}, {}});
  check("softmax", {none}, [](Inputs in) { return softmax(in[0], 1); }, {{0, 3}, {}});
}

} // namespace
