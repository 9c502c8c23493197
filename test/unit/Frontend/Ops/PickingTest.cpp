// Equations, masks with a bound, windows, distances and order: against plain loops in double precision.
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/losses.h"
#include "test/unit/Frontend/Expect.h"
#include "test/unit/Frontend/Ops/Harness.h"
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <type_traits>

using namespace sprig;
using namespace sprig::test;

namespace {

/// The sum of an equation with one letter a label, by loops over all labels.
Array einsumOf(const std::string &equation, const std::vector<Array> &operands) {
  size_t arrow = equation.find("->");
  std::vector<std::string> terms(1);
  for (char c : equation.substr(0, arrow)) c == ',' ? terms.emplace_back() : terms.back() += c;
  std::string output = equation.substr(arrow + 2);
  std::map<char, int64_t> sizes;
  for (size_t i = 0; i < terms.size(); ++i)
    for (size_t d = 0; d < terms[i].size(); ++d)
      sizes[terms[i][d]] = std::max(sizes[terms[i][d]], operands[i].shape[int(d)]);
  std::string rest = output;
  for (auto [label, size] : sizes)
    if (rest.find(label) == std::string::npos) rest += label;
  Shape shape, inner;
  for (size_t i = 0; i < rest.size(); ++i) (i < output.size() ? shape : inner).push_back(sizes[rest[i]]);
  return generate(shape, [&](const Position &outer) {
    double sum = 0;
    for (int64_t k = 0; k < inner.elements(); ++k) {
      Position all = outer, more = indexOf(inner, k);
      all.insert(all.end(), more.begin(), more.end());
      double product = 1;
      for (size_t i = 0; i < terms.size(); ++i) {
        Position index;
        for (size_t d = 0; d < terms[i].size(); ++d)
          index.push_back(operands[i].shape[int(d)] == 1 ? 0 : all[rest.find(terms[i][d])]);
        product *= at(operands[i], index);
      }
      sum += product;
    }
    return sum;
  });
}

void checkEinsum(const std::string &equation, const std::vector<Shape> &shapes, const std::string &plain = "") {
  std::vector<Array> arrays;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < shapes.size(); ++i) {
    arrays.push_back(numbers(shapes[i], unsigned(i + 1)));
    tensors.push_back(tensorOf(arrays.back()));
  }
  check(
      equation, tensors, [&](Inputs in) { return einsum(equation, std::vector<Tensor>(in.begin(), in.end())); },
      einsumOf(plain.empty() ? equation : plain, arrays));
}

TEST(Einsum, AgainstLoops) {
  checkEinsum("ij,jk->ik", {{2, 3}, {3, 4}});
  checkEinsum("bij,bjk->bik", {{5, 2, 3}, {5, 3, 4}});
  checkEinsum("ij,ij->ij", {{2, 3}, {2, 3}});
  checkEinsum("i,j->ji", {{3}, {4}});
  checkEinsum("i,i->", {{5}, {5}});
  checkEinsum("ii->i", {{4, 4}});
  checkEinsum("ii->", {{4, 4}});
  checkEinsum("bii,bij->jb", {{2, 3, 3}, {2, 3, 4}});
  checkEinsum("ij->ji", {{2, 3}});
  checkEinsum("ijk->j", {{2, 3, 4}});
  checkEinsum("bhqd,bkhd->bhqk", {{2, 3, 4, 5}, {2, 6, 3, 5}});
  checkEinsum("ab,bc,cd->ad", {{2, 3}, {3, 4}, {4, 5}});
  checkEinsum("ij,k->i", {{2, 3}, {4}});
  checkEinsum("ij,jk->ik", {{2, 1}, {3, 4}});
  checkEinsum("...ij,...jk->...ik", {{5, 2, 3}, {5, 3, 4}}, "aij,ajk->aik");
  checkEinsum("i...,j...->...ij", {{2, 3, 1}, {4, 3, 5}}, "iab,jac->acij");
  checkEinsum("...i->...", {{2, 3, 4}}, "abi->ab");
  checkEinsum("...i,ij", {{2, 3, 4}, {4, 5}}, "abi,ij->abj");
  checkEinsum("ba", {{2, 3}}, "ba->ab");
  checkEinsum(" i j , j k -> i k ", {{2, 3}, {3, 4}}, "ij,jk->ik");
  expectClose("integers", einsum("ij,j->i", {Tensor({{1, 2}, {3, 4}}), Tensor({5, 6})}), {{{2}, {17, 39}}, DType::i32});
  expectClose("empty", einsum("ij,jk->ik", {zeros({2, 0}), zeros({0, 3})}), {{{2, 3}, std::vector<double>(6, 0)}});
}

TEST(Grids, Meshgrid) {
  Array a = numbers({3}, 1), b = numbers({2}, 2), c = numbers({4}, 3);
  auto along = [](const Array &v, const Shape &shape, size_t axis) {
    return Want{generate(shape, [&](const Position &i) { return v.values[size_t(i[axis])]; })};
  };
  std::vector<Tensor> in{tensorOf(a), tensorOf(b), tensorOf(c)};
  checkMany("meshgrid", in, [](Inputs v) { return meshgrid(std::vector<Tensor>(v.begin(), v.end())); },
            {along(a, {3, 2, 4}, 0), along(b, {3, 2, 4}, 1), along(c, {3, 2, 4}, 2)});
  checkMany("meshgrid xy", in, [](Inputs v) { return meshgrid(std::vector<Tensor>(v.begin(), v.end()), Indexing::xy); },
            {along(a, {2, 3, 4}, 1), along(b, {2, 3, 4}, 0), along(c, {2, 3, 4}, 2)});
  checkMany("meshgrid of one", {in[0]}, [](Inputs v) { return meshgrid({v[0]}, Indexing::xy); }, {{a}});
}

TEST(Closeness, ElementsAndAll) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  Array a{{7}, {1, 1.00001, 0, inf, inf, nan, 3}}, b{{7}, {1, 1, 1e-9, inf, -inf, nan, inf}};
  Tensor x = tensorOf(a, DType::f64), y = tensorOf(b, DType::f64);
  check("isclose", {x, y}, [](Inputs v) { return isclose(v[0], v[1]); }, {{7}, {1, 1, 1, 1, 0, 0, 0}}, DType::boolean);
  check(
      "isclose, tight", {x, y},
      [](Inputs v) { return isclose(v[0], v[1], {.rtol = 0, .atol = 1e-10, .equalNan = true}); },
      {{7}, {1, 0, 0, 1, 0, 1, 0}}, DType::boolean);
  check("allclose", {x, y}, [](Inputs v) { return allclose(v[0], v[1]); }, {{}, {0}}, DType::boolean);
  Tensor small({1, 2, 3});
  EXPECT_TRUE(allclose(small, small + 1, {.atol = 1}).item<bool>());
  EXPECT_FALSE(allclose(small, small + 1).item<bool>());
  EXPECT_TRUE(allclose(zeros({0}), zeros({0})).item<bool>());
  EXPECT_TRUE(allclose(ones({2, 3}), 1).item<bool>());
}

TEST(Masks, Nonzero) {
  Array x{{2, 3}, {0, 5, 0, -1, 0, 2}};
  checkMany("nonzero", {tensorOf(x)},
            [](Inputs v) {
              Nonzero n = nonzero(v[0], 4);
              return std::vector<Tensor>{n.indices, n.count};
            },
            {{{{4, 2}, {0, 1, 1, 0, 1, 2, -1, -1}}, DType::i64}, {{{}, {3}}, DType::i64}});
  checkMany("nonzero, as many", {tensorOf(x, DType::boolean)},
            [](Inputs v) { return std::vector<Tensor>{nonzero(v[0], 3, 7).indices}; },
            {{{{3, 2}, {0, 1, 1, 0, 1, 2}}, DType::i64}});
  EXPECT_EQ(nonzero(zeros({3}), 2).indices.toVector<int64_t>(), (std::vector<int64_t>{-1, -1}));
  EXPECT_EQ(nonzero(zeros({3}), 0).count.item<int>(), 0);
  EXPECT_EQ(nonzero(zeros({0, 3}), 1).indices.text(), "[[-1, -1]]");
  std::string error = errorOf([] { nonzero(ones({3}), 2).indices.wait(); });
  EXPECT_TRUE(has(error, "PickingTest.cpp:" + std::to_string(__LINE__ - 1)) && has(error, "3") && has(error, "2"))
      << error;
}

TEST(Masks, Select) {
  Array x = numbers({3, 4}, 3);
  Tensor t = tensorOf(x);
  std::vector<double> positive;
  for (double v : x.values)
    if (v > 0) positive.push_back(v);
  double count = double(positive.size());
  positive.resize(12, -7);
  checkMany("maskedSelect", {t},
            [](Inputs v) {
              Selected s = maskedSelect(v[0], v[0] > 0, 12, -7);
              return std::vector<Tensor>{s.values, s.count};
            },
            {{{{12}, positive}}, {{{}, {count}}, DType::i64}});
  check("maskedSelect, broadcast", {t, Tensor({true, false, false, true})},
        [](Inputs v) { return maskedSelect(v[0][1], v[1], 3).values; }, {{3}, {at(x, {1, 0}), at(x, {1, 3}), 0}});
  Tensor rows = Tensor({true, false, true}).unsqueeze(1);
  EXPECT_EQ(maskedSelect(arange(3), rows, 6).values.text(), "[0, 1, 2, 0, 1, 2]");
  std::string error = errorOf([&] { maskedSelect(t, t == t, 5).values.wait(); });
  EXPECT_TRUE(has(error, "PickingTest.cpp:" + std::to_string(__LINE__ - 1)) && has(error, "12") && has(error, "5"))
      << error;
}

TEST(Masks, ScatterAndAssign) {
  Array x = numbers({2, 3}, 1), source = numbers({4}, 2);
  Tensor mask({{false, true, true}, {true, false, false}});
  check("maskedScatter", {tensorOf(x), mask, tensorOf(source)},
        [](Inputs v) { return maskedScatter(v[0], v[1], v[2]); },
        {{2, 3}, {x.values[0], source.values[0], source.values[1], source.values[2], x.values[4], x.values[5]}});
  std::string error = errorOf([&] { maskedScatter(tensorOf(x), mask, zeros({2})).wait(); });
  EXPECT_TRUE(has(error, "PickingTest.cpp:" + std::to_string(__LINE__ - 1)) && has(error, "3")) << error;
  EXPECT_TRUE(has(errorOf([&] { maskedScatter(tensorOf(x), mask, zeros({0})).wait(); }), "PickingTest.cpp:"));
  check("assign by a mask", {tensorOf(x), mask}, [](Inputs v) { return assign(v[0], {v[1]}, 9); },
        {{2, 3}, {x.values[0], 9, 9, 9, x.values[4], x.values[5]}});
  check("assign rows", {tensorOf(x), Tensor({false, true}), tensorOf(source)},
        [](Inputs v) { return assign(v[0], {v[1]}, v[2](Slice(0, 3))); },
        {{2, 3}, {x.values[0], x.values[1], x.values[2], source.values[0], source.values[1], source.values[2]}});
  check("assign columns", {tensorOf(x), Tensor({false, true, false})},
        [](Inputs v) { return assign(v[0], {all, v[1]}, 9) + assign(v[0], {rest, v[1]}, 9); },
        {{2, 3}, {2 * x.values[0], 18, 2 * x.values[2], 2 * x.values[3], 18, 2 * x.values[5]}});
}

TEST(Patches, UnfoldAndFold) {
  Array x = numbers({2, 3, 5, 6}, 1);
  // [N, C, height, width, rows, columns]: stride 2 and 1, padding 1 and 0, dilation 1 and 2, window 3 x 2.
  auto at4 = [&](int64_t n, int64_t c, int64_t h, int64_t w) {
    return h < 0 || h >= 5 || w < 0 || w >= 6 ? 0 : at(x, {n, c, h, w});
  };
  const UnfoldOptions options{.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}};
  Array columns = generate({2, 3 * 6, 3 * 4}, [&](const Position &i) {
    int64_t c = i[1] / 6, p = i[1] % 6, row = i[2] / 4, column = i[2] % 4;
    return at4(i[0], c, row * 2 + p / 2 - 1, column + p % 2 * 2);
  });
  check("unfold", {tensorOf(x)}, [&](Inputs v) { return unfold(v[0], {3, 2}, options); }, columns);
  Array alone = columns;
  alone.shape = {18, 12};
  alone.values.resize(18 * 12);
  check("unfold of one", {tensorOf(x)}, [&](Inputs v) { return unfold(v[0][0], {3, 2}, options); }, alone);
  Array sum = generate({2, 3, 5, 6}, [](auto &) { return 0.0; });
  for (int64_t k = 0; k < int64_t(columns.values.size()); ++k) {
    Position i = indexOf(columns.shape, k);
    int64_t c = i[1] / 6, p = i[1] % 6, h = i[2] / 4 * 2 + p / 2 - 1, w = i[2] % 4 + p % 2 * 2;
    if (h >= 0 && h < 5 && w < 6)
      sum.values[size_t(positionOf(sum.shape, {i[0], c, h, w}))] += columns.values[size_t(k)];
  }
  check("fold", {tensorOf(columns)}, [&](Inputs v) { return fold(v[0], {5, 6}, {3, 2}, options); }, sum);
  check(
      "windows along an axis", {tensorOf(x)}, [](Inputs v) { return unfold(v[0], 2, 3, 2); },
      generate({2, 3, 2, 6, 3}, [&](const Position &i) { return at(x, {i[0], i[1], i[2] * 2 + i[4], i[3]}); }));
}

TEST(Distances, BetweenRows) {
  Array a = numbers({2, 3, 4}, 1), b = numbers({1, 5, 4}, 2);
  for (double p : {2.0, 1.0, 3.0, 0.5, 0.0, std::numeric_limits<double>::infinity()})
    check(
        "cdist " + std::to_string(p), {tensorOf(a), tensorOf(b)}, [p](Inputs v) { return cdist(v[0], v[1], p); },
        generate({2, 3, 5}, [&](const Position &i) {
          double sum = 0, most = 0;
          for (int64_t k = 0; k < 4; ++k) {
            double d = std::abs(at(a, {i[0], i[1], k}) - at(b, {0, i[2], k}));
            sum += p == 0 ? d != 0 : std::pow(d, p);
            most = std::max(most, d);
          }
          return p == 0 ? sum : std::isinf(p) ? most : std::pow(sum, 1 / p);
        }));
  // Where rows are equal the gradient is 0, not NaN.
  Tensor x = tensorOf(numbers({3, 2}, 1)).requireGrad();
  for (double p : {2.0, 1.0, 3.0, 0.5})
    EXPECT_TRUE(all(isFinite(grad(sum(cdist(x, x.detach(), p)), x))).item<bool>()) << p;
}

TEST(Order, MediansAndQuantiles) {
  Array x = numbers({3, 6}, 5);
  Tensor t = tensorOf(x);
  auto sorted = [](std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v;
  };
  Array lower = reduce(x, {1}, false, [&](auto &v) { return sorted(v)[2]; });
  check("median", {t}, [](Inputs v) { return median(v[0], 1).values; }, lower);
  lower.shape = {3, 1};
  check("median, kept", {t}, [](Inputs v) { return gather(v[0], 1, median(v[0], 1, true).indices); }, lower);
  check("median of all", {t}, [](Inputs v) { return median(v[0]); }, {{}, {sorted(x.values)[8]}});
  check("median of integers", {Tensor({5, 1, 3, 4})}, [](Inputs v) { return median(v[0]); }, {{}, {3}}, DType::i32);
  auto quantileOf = [&](double q, Quantile between) {
    return [=](const std::vector<double> &given) {
      std::vector<double> v = sorted(given);
      double place = q * double(v.size() - 1);
      size_t low = size_t(place), high = std::min(low + (place > double(low)), v.size() - 1);
      switch (between) {
      case Quantile::linear: return v[low] + (v[high] - v[low]) * (place - double(low));
      case Quantile::lower: return v[low];
      case Quantile::higher: return v[high];
      case Quantile::nearest: return v[size_t(std::nearbyint(place))];
      case Quantile::midpoint: return (v[low] + v[high]) / 2;
      }
      return 0.0;
    };
  };
  for (Quantile between : {Quantile::linear, Quantile::lower, Quantile::higher, Quantile::nearest, Quantile::midpoint})
    for (double q : {0.0, 0.25, 0.5, 0.7, 1.0}) {
      std::string name = "quantile " + std::to_string(q) + " " + std::to_string(int(between));
      check(
          name, {t}, [=](Inputs v) { return quantile(v[0], q, 1, false, between); },
          reduce(x, {1}, false, quantileOf(q, between)));
      check(
          name + " of all", {t}, [=](Inputs v) { return quantile(v[0], q, between); },
          reduce(x, {0, 1}, false, quantileOf(q, between)));
    }
  Array first = reduce(x, {0}, true, quantileOf(0.3, Quantile::linear)),
        second = reduce(x, {0}, true, quantileOf(0.9, Quantile::linear));
  first.values.insert(first.values.end(), second.values.begin(), second.values.end());
  first.shape = {2, 1, 6};
  check("several quantiles", {t}, [](Inputs v) { return quantile(v[0], {0.3, 0.9}, 0, true); }, first);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Tensor broken = tensorOf({{2, 3}, {1, nan, 2, 5, 4, 6}});
  check("median with NaN", {broken}, [](Inputs v) { return median(v[0], 1).values; }, {{2}, {nan, 5}});
  check("quantile with NaN", {broken}, [](Inputs v) { return quantile(v[0], 0.0, 1); }, {{2}, {nan, 4}});
}

// A negative index is an error, as in PyTorch, but where it counts from the end there too.
TEST(Picking, negativeIndices) {
  static_assert(std::is_assignable_v<Tensor &, Tensor> && !std::is_assignable_v<Tensor, Tensor>); // x[0] = y
  static_assert(std::is_assignable_v<Parameter &, Parameter> && !std::is_assignable_v<Parameter, Parameter>);
  Tensor x = Tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}), last = Tensor({int64_t(-1)}),
         one = Tensor({{int64_t(-1), int64_t(0)}});
  using Function = std::function<Tensor(const Tensor &, const Tensor &)>;
  const std::pair<const Tensor *, Function> refused[] = {
      {&last, [](const Tensor &a, const Tensor &i) { return embedding(i, a); }},
      {&last, [](const Tensor &a, const Tensor &i) { return indexSelect(a, 0, i); }},
      {&last, [](const Tensor &a, const Tensor &i) { return indexAdd(a, 0, i, ones({1, 2})); }},
      {&one, [](const Tensor &a, const Tensor &i) { return gather(a, 0, i); }},
      {&one, [](const Tensor &a, const Tensor &i) { return scatterAdd(a, 0, i, ones({1, 2})); }},
      {&one, [](const Tensor &a, const Tensor &i) { return scatter(a, 0, i, 7); }}};
  for (auto &[indices, f] : refused) {
    for (bool compiles : {false, true}) {
      auto g = compile(f);
      g.enable(compiles);
      std::string text = errorOf([&] { g(x, *indices).text(); });
      EXPECT_TRUE(has(text, "expected an index below 3, found -1")) << text;
      EXPECT_TRUE(has(text, "PickingTest.cpp:")) << text;
      EXPECT_TRUE(has(errorOf([&] { g(x, *indices + 4).text(); }), "found")); // 3
      EXPECT_EQ(errorOf([&] { g(x, *indices + 2).text(); }), "no error");
    }
    Tensor narrow = indices->to(DType::i32);
    EXPECT_TRUE(has(errorOf([&] { f(x, narrow).text(); }), "found -1"));
  }
  EXPECT_EQ(x[last].toVector<float>(), (std::vector<float>{5, 6}));
  EXPECT_EQ(take(x, last, 0).toVector<float>(), (std::vector<float>{5, 6}));
  EXPECT_EQ(take(x, last).toVector<float>(), std::vector<float>{6});
  EXPECT_EQ(assign(x, {last}, 0)[2].toVector<float>(), (std::vector<float>{0, 0}));
  EXPECT_TRUE(has(errorOf([&] { crossEntropy(x, softmax(x, 1), {.ignoreIndex = 0}); }), "ignores class 0"));
}

} // namespace
