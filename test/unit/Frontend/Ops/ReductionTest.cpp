// Reductions, running sums and order against plain loops.
#include "test/unit/Frontend/Ops/Harness.h"
#include <algorithm>
#include <numeric>

using namespace sprig;
using namespace sprig::test;

namespace {

double sumOf(const Values &v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double meanOf(const Values &v) { return sumOf(v) / double(v.size()); }
double varOf(const Values &v, double correction) {
  double m = meanOf(v), s = 0;
  for (double each : v) s += (each - m) * (each - m);
  return s / (double(v.size()) - correction);
}
double normOf(const Values &v, double p) {
  double s = 0;
  for (double each : v) s += std::pow(std::abs(each), p);
  return std::pow(s, 1 / p);
}

TEST(Reductions, OverAxes) {
  struct Row {
    const char *name;
    std::function<Tensor(const Tensor &, const Ints &, bool)> f;
    std::function<double(const Values &)> want;
  };
  const Row rows[] = {
      {"sum", [](auto &x, auto &a, bool k) { return sum(x, a, k); }, sumOf},
      {"mean", [](auto &x, auto &a, bool k) { return mean(x, a, k); }, meanOf},
      {"prod", [](auto &x, auto &a, bool k) { return prod(x, a, k); },
       [](const Values &v) { return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<>()); }},
      {"max", [](auto &x, auto &a, bool k) { return max(x, a, k); },
       [](const Values &v) { return *std::max_element(v.begin(), v.end()); }},
      {"min", [](auto &x, auto &a, bool k) { return min(x, a, k); },
       [](const Values &v) { return *std::min_element(v.begin(), v.end()); }},
      {"var", [](auto &x, auto &a, bool k) { return var(x, a, 1, k); }, [](const Values &v) { return varOf(v, 1); }},
      {"stdDev", [](auto &x, auto &a, bool k) { return stdDev(x, a, 0, k); },
       [](const Values &v) { return std::sqrt(varOf(v, 0)); }},
      {"logsumexp", [](auto &x, auto &a, bool k) { return logsumexp(x, a, k); },
       [](const Values &v) {
         double s = 0;
         for (double each : v) s += std::exp(each);
         return std::log(s);
       }},
      {"norm 2", [](auto &x, auto &a, bool k) { return norm(x, 2, a, k); },
       [](const Values &v) { return normOf(v, 2); }},
      {"norm 1", [](auto &x, auto &a, bool k) { return norm(x, 1, a, k); },
       [](const Values &v) { return normOf(v, 1); }},
      {"norm 3", [](auto &x, auto &a, bool k) { return norm(x, 3, a, k); },
       [](const Values &v) { return normOf(v, 3); }},
      {"norm infinity", [](auto &x, auto &a, bool k) { return norm(x, HUGE_VAL, a, k); },
       [](const Values &v) {
         double m = 0;
         for (double each : v) m = std::max(m, std::abs(each));
         return m;
       }},
  };
  Array x = numbers({3, 4, 5}, 21);
  for (const Row &row : rows) {
    check(
        row.name, {tensorOf(x)}, [&](Inputs in) { return row.f(in[0], {}, false); },
        reduce(x, {0, 1, 2}, false, row.want));
    check(row.name, {tensorOf(x)}, [&](Inputs in) { return row.f(in[0], 1, false); }, reduce(x, {1}, false, row.want));
    check(
        row.name, {tensorOf(x)}, [&](Inputs in) { return row.f(in[0], {-1, 0}, true); },
        reduce(x, {0, 2}, true, row.want));
  }
}

TEST(Reductions, OfIntegersAndBooleans) {
  Array x{{2, 3}, {0, 5, 2, 0, 0, 0}};
  check("sum", {tensorOf(x, DType::u8)}, [](Inputs in) { return sum(in[0]); }, {{}, {7}}, DType::i64);
  check("prod", {tensorOf(x, DType::i32)}, [](Inputs in) { return prod(in[0] + 1, 1); }, {{2}, {18, 1}}, DType::i64);
  check("any", {tensorOf(x)}, [](Inputs in) { return any(in[0], 1); }, {{2}, {1, 0}}, DType::boolean);
  check("any of all", {tensorOf(x, DType::boolean)}, [](Inputs in) { return any(in[0]); }, {{}, {1}}, DType::boolean);
  check("all", {tensorOf(x)}, [](Inputs in) { return all(in[0] < 5, 0, true); }, {{1, 3}, {1, 0, 1}}, DType::boolean);
  check(
      "max", {tensorOf(x, DType::boolean)}, [](Inputs in) { return max(in[0], 0); }, {{3}, {0, 1, 1}}, DType::boolean);
  check(
      "cumsum", {tensorOf(x, DType::i32)}, [](Inputs in) { return cumsum(in[0], 1); }, {{2, 3}, {0, 5, 7, 0, 0, 0}},
      DType::i64);
}

TEST(Reductions, ArgumentsAndRunning) {
  Array x{{2, 4}, {3, 9, -1, 9, 0, -5, 7, -5}};
  check("argmax", {tensorOf(x)}, [](Inputs in) { return in[0].argmax(); }, {{2}, {1, 2}}, DType::i64);
  check("argmin", {tensorOf(x)}, [](Inputs in) { return argmin(in[0], 1, true); }, {{2, 1}, {2, 1}}, DType::i64);
  check("argmax 0", {tensorOf(x)}, [](Inputs in) { return argmax(in[0], 0); }, {{4}, {0, 0, 1, 0}}, DType::i64);
  check("cumsum", {tensorOf(x)}, [](Inputs in) { return cumsum(in[0], -1); }, {{2, 4}, {3, 12, 11, 20, 0, -5, 2, -3}});
  check("cumprod", {tensorOf(x)}, [](Inputs in) { return cumprod(in[0], 0); },
        {{2, 4}, {3, 9, -1, 9, 0, -45, -7, -45}});
  auto both = [](const Sorted &s) { return std::vector<Tensor>{s.values, s.indices}; };
  checkMany("topk", {tensorOf(x)}, [&](Inputs in) { return both(topk(in[0], 2)); },
            {{{{2, 2}, {9, 9, 7, 0}}}, {{{2, 2}, {1, 3, 2, 0}}, DType::i64}});
  checkMany("topk smallest", {tensorOf(x)}, [&](Inputs in) { return both(topk(in[0], 1, 0, false)); },
            {{{{1, 4}, {0, -5, -1, -5}}}, {{{1, 4}, {1, 1, 0, 1}}, DType::i64}});
  checkMany("sort", {tensorOf(x)}, [&](Inputs in) { return both(sort(in[0])); },
            {{{{2, 4}, {-1, 3, 9, 9, -5, -5, 0, 7}}}, {{{2, 4}, {2, 0, 1, 3, 1, 3, 0, 2}}, DType::i64}});
  check(
      "argsort", {tensorOf(x)}, [](Inputs in) { return argsort(in[0], 1, true); }, {{2, 4}, {1, 3, 0, 2, 2, 0, 1, 3}},
      DType::i64);
}

TEST(Reductions, OfInfinities) {
  double inf = HUGE_VAL;
  Array x{{3, 2}, {inf, 1, -inf, -inf, -inf, 2}};
  check("logsumexp", {tensorOf(x)}, [](Inputs in) { return logsumexp(in[0], 1); }, {{3}, {inf, -inf, 2}});
}

TEST(Reductions, LengthsAndAngles) {
  Array a = numbers({3, 4}, 1), b = numbers({3, 4}, 2);
  auto length = [&](const Array &x, double p) {
    return reduce(x, {1}, true, [=](const Values &v) { return normOf(v, p); });
  };
  auto over = [](double x, double y) { return x / y; };
  auto times = [](double x, double y) { return x * y; };
  check("normalize", {tensorOf(a)}, [](Inputs in) { return normalize(in[0]); }, zip(a, length(a, 2), over));
  check("normalize 1", {tensorOf(a)}, [](Inputs in) { return normalize(in[0], 1, -1); }, zip(a, length(a, 1), over));
  Array dots = reduce(zip(a, b, times), {1}, true, sumOf);
  Array cosine = zip(dots, zip(length(a, 2), length(b, 2), times), over);
  cosine.shape = {3};
  check(
      "cosineSimilarity", {tensorOf(a), tensorOf(b)}, [](Inputs in) { return cosineSimilarity(in[0], in[1]); }, cosine);
}

} // namespace
