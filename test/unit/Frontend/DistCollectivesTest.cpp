// All collectives as operations: their values and gradients against their definitions, alone and in functions that
// compile() records, of rows that ranks divide and not.
#include "sprig/sprig.h"
#include "test/unit/Frontend/Expect.h"
#include "gtest/gtest.h"
#include "test/unit/Frontend/RankSteps.h"
#include <cstring>

using namespace sprig;
using namespace std::chrono_literals;

namespace {

// The numbers of a matrix, row by row.
using Numbers = std::vector<double>;
constexpr int64_t kColumns = 2;

enum class Kind { reduceScatter, meanScatter, allGather, broadcast, reduce, meanReduce, gather, scatter, allToAll };
constexpr Kind kKinds[] = {Kind::reduceScatter, Kind::meanScatter, Kind::allGather, Kind::broadcast, Kind::reduce,
                           Kind::meanReduce,    Kind::gather,      Kind::scatter,   Kind::allToAll};
constexpr const char *kNames[] = {"reduce_scatter", "reduce_scatter mean", "all_gather", "broadcast",
                                  "reduce",         "reduce mean",         "gather",     "scatter",
                                  "all_to_all"};

bool takesPart(Kind kind) { return kind == Kind::allGather || kind == Kind::gather; }

struct Case {
  Kind kind;
  int ranks;
  int64_t rows; // of the whole
  int root;

  std::pair<int64_t, int64_t> part(int rank) const {
    int64_t each = rows / ranks, larger = rows % ranks, begin = rank * each + std::min<int64_t>(rank, larger);
    return {begin, begin + each + (rank < larger)};
  }
  int64_t partRows(int rank) const { return part(rank).second - part(rank).first; }
  int64_t rowsGiven(int rank) const { return takesPart(kind) ? partRows(rank) : rows; }
  std::string text() const {
    return std::string(kNames[int(kind)]) + " of " + std::to_string(rows) + " rows, " + std::to_string(ranks) +
           " ranks, root " + std::to_string(root);
  }
};

Tensor runCase(dist::Group &group, const Case &c, const Tensor &x) {
  switch (c.kind) {
  case Kind::reduceScatter: return group.reduceScatter(x);
  case Kind::meanScatter: return group.reduceScatter(x, dist::Reduce::mean);
  case Kind::allGather: return group.allGather(x, c.rows);
  case Kind::broadcast: return group.broadcast(x, c.root);
  case Kind::reduce: return group.reduce(x, dist::Reduce::sum, c.root);
  case Kind::meanReduce: return group.reduce(x, dist::Reduce::mean, c.root);
  case Kind::gather: return group.gather(x, c.root, c.rows);
  case Kind::scatter: return group.scatter(x, c.root);
  case Kind::allToAll: return group.allToAll(x);
  }
  return {};
}

// Small whole numbers, so that sums are exact in every type; means of 1, 2 and 4 ranks as well.
Numbers given(const Case &c, int rank) {
  Numbers numbers;
  for (int64_t i = 0; i < c.rowsGiven(rank) * kColumns; ++i) numbers.push_back(double((i * 5 + rank * 3) % 7 - 2));
  return numbers;
}

// What a rank has of what all give.
Numbers defined(const Case &c, int rank, const std::vector<Numbers> &all) {
  auto rowsOf = [&](const Numbers &whole, int of) {
    auto [begin, end] = c.part(of);
    return Numbers(whole.begin() + begin * kColumns, whole.begin() + end * kColumns);
  };
  Numbers sum(size_t(c.rows * kColumns)), joined, exchanged;
  bool isMean = c.kind == Kind::meanScatter || c.kind == Kind::meanReduce;
  for (const Numbers &each : all) {
    for (size_t i = 0; i < sum.size() && i < each.size(); ++i) sum[i] += each[i] / (isMean ? c.ranks : 1);
    joined.insert(joined.end(), each.begin(), each.end());
    if (c.kind != Kind::allToAll) continue;
    Numbers part = rowsOf(each, rank);
    exchanged.insert(exchanged.end(), part.begin(), part.end());
  }
  switch (c.kind) {
  case Kind::reduceScatter:
  case Kind::meanScatter: return rowsOf(sum, rank);
  case Kind::allGather: return joined;
  case Kind::broadcast: return all[size_t(c.root)];
  case Kind::reduce:
  case Kind::meanReduce: return rank == c.root ? sum : Numbers(sum.size());
  case Kind::gather: return rank == c.root ? joined : Numbers(joined.size());
  case Kind::scatter: return rowsOf(all[size_t(c.root)], rank);
  case Kind::allToAll: return exchanged;
  }
  return {};
}

std::vector<Case> casesOf(int mostRanks, std::initializer_list<int64_t> rows) {
  std::vector<Case> cases;
  for (Kind kind : kKinds)
    for (int ranks = 1; ranks <= mostRanks; ++ranks)
      for (int64_t each : rows) cases.push_back({kind, ranks, each, ranks - 1});
  return cases;
}

Numbers numbersOf(const Tensor &x) { return x.to(DType::f64).toVector<double>(); }

Tensor tensorOf(const Numbers &numbers, DType type = DType::f64) {
  return Tensor(numbers, {int64_t(numbers.size()) / kColumns, kColumns}).to(type);
}

// A sum over ranks that are what the definition says: <y, w> for each rank's y of all ranks' x.
double sumOfAll(const Case &c, const std::vector<Numbers> &x, const std::vector<Numbers> &weights) {
  double total = 0;
  for (int rank = 0; rank < c.ranks; ++rank) {
    Numbers y = defined(c, rank, x);
    for (size_t i = 0; i < y.size(); ++i) total += y[i] * weights[size_t(rank)][i];
  }
  return total;
}

} // namespace

TEST(DistCollectives, ValuesAreThoseOfTheDefinitionAloneAndInPrograms) {
  for (const Case &c : casesOf(4, {0, 1, 3, 4, 13})) {
    std::vector<Numbers> all;
    for (int rank = 0; rank < c.ranks; ++rank) all.push_back(given(c, rank));
    const bool isMean = c.kind == Kind::meanScatter || c.kind == Kind::meanReduce;
    if (isMean && c.ranks == 3) continue; // thirds are rounded
    for (DType type : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i32, DType::i64, DType::i8}) {
      if (isMean && !isFloat(type)) continue;
      dist::spawn(c.ranks, [&](dist::Group &group) {
        auto f = compile([&](const Tensor &x) { return runCase(group, c, x * 2) + 1; });
        Tensor x = tensorOf(all[size_t(group.rank())], type), y = runCase(group, c, x), program = f(x);
        EXPECT_EQ(numbersOf(y), defined(c, group.rank(), all)) << c.text() << ", rank " << group.rank();
        EXPECT_EQ(y.dtype(), type);
        EXPECT_EQ(y.device(), defaultDevice());
        EXPECT_TRUE(sameBits(program, runCase(group, c, x * 2) + 1)) << c.text() << ", rank " << group.rank();
      });
    }
  }
}

// Sums round: the program adds in the same order.
TEST(DistCollectives, ProgramsHaveTheBitsOfTheirOperations) {
  for (const Case &c : casesOf(4, {5, 4099}))
    dist::spawn(c.ranks, [&](dist::Group &group) {
      manualSeed(uint64_t(group.rank()) + 3);
      Tensor x = randn({c.rowsGiven(group.rank()), kColumns}).detach(), w;
      auto both = [&](const Tensor &x) {
        Tensor at = x.requireGrad(), y = runCase(group, c, sin(at));
        return std::vector<Tensor>{y, grad(sum(y * y * double(group.rank() + 1)), at)};
      };
      auto f = compile(both);
      std::vector<Tensor> program = f(x), operations = both(x);
      for (size_t i = 0; i < program.size(); ++i)
        EXPECT_TRUE(sameBits(program[i], operations[i])) << c.text() << ", rank " << group.rank() << ", " << i;
    });
}

// Gradients are those of the sum of all ranks' outputs, to any rank's operand: each is linear, so they are differences.
TEST(DistCollectives, GradientsAreThoseOfTheSumOfAllRanksOutputs) {
  for (const Case &c : casesOf(4, {1, 4, 5})) {
    std::vector<Numbers> x, weights, expected;
    for (int rank = 0; rank < c.ranks; ++rank) x.push_back(given(c, rank));
    for (int rank = 0; rank < c.ranks; ++rank) {
      weights.emplace_back();
      for (size_t i = 0; i < defined(c, rank, x).size(); ++i) weights.back().push_back(double(i * 3 % 5) + rank * 10);
    }
    double base = sumOfAll(c, x, weights);
    for (int rank = 0; rank < c.ranks; ++rank) {
      expected.emplace_back();
      for (size_t i = 0; i < x[size_t(rank)].size(); ++i) {
        std::vector<Numbers> moved = x;
        moved[size_t(rank)][i] += 1;
        expected.back().push_back(sumOfAll(c, moved, weights) - base);
      }
    }
    for (bool compiled : {false, true})
      dist::spawn(c.ranks, [&](dist::Group &group) {
        size_t rank = size_t(group.rank());
        Tensor w = tensorOf(weights[rank]);
        // Of 2 <y, w> and, by another derivative, of the sum of the squares of what that gives.
        auto f = compile([&](const Tensor &a) {
          Tensor at = a.requireGrad(), y = runCase(group, c, at);
          Tensor first = grad(sum(y * y * w), at, {.createGraph = true});
          return std::vector<Tensor>{grad(sum(runCase(group, c, at) * w), at), first, grad(sum(first), at)};
        });
        f.enable(compiled);
        std::vector<Tensor> found = f(tensorOf(x[rank]));
        std::string text = c.text() + ", rank " + std::to_string(rank) + (compiled ? ", compiled" : "");
        Numbers once = numbersOf(found[0]), first = numbersOf(found[1]), second = numbersOf(found[2]);
        // d sum_r <y_r^2, w_r> / dx = 2 A^T (w y), and of the sum of that 2 A^T (w A 1).
        std::vector<Numbers> ones, wy, wa;
        for (int other = 0; other < c.ranks; ++other) ones.emplace_back(x[size_t(other)].size(), 1.0);
        for (int other = 0; other < c.ranks; ++other) {
          wy.push_back(defined(c, other, x));
          wa.push_back(defined(c, other, ones));
          for (size_t i = 0; i < wy.back().size(); ++i)
            wy.back()[i] *= 2 * weights[size_t(other)][i], wa.back()[i] *= 2 * weights[size_t(other)][i];
        }
        for (size_t i = 0; i < once.size(); ++i) {
          std::vector<Numbers> moved = x;
          moved[rank][i] += 1;
          EXPECT_NEAR(once[i], expected[rank][i], 1e-9) << text << " at " << i;
          EXPECT_NEAR(first[i], sumOfAll(c, moved, wy) - sumOfAll(c, x, wy), 1e-9) << text << " at " << i;
          EXPECT_NEAR(second[i], sumOfAll(c, moved, wa) - sumOfAll(c, x, wa), 1e-9) << text << " at " << i;
        }
      });
  }
}

// Rows that went apart come together again, on parts of a group as on all of it, in one program.
TEST(DistCollectives, PartsOfAGroupHaveThem) {
  dist::spawn(5, [](dist::Group &group) {
    dist::Group part = group.split(group.rank() % 2, -group.rank());
    auto f = compile([&](const Tensor &x) {
      Tensor there = part.allToAll(x), rows = part.reduceScatter(x);
      return std::vector<Tensor>{there, part.allGather(rows, x.shape()[0]), part.broadcast(x * 2, 1)};
    });
    Tensor x = full({7, 2}, group.rank());
    std::vector<Tensor> found = f(x);
    auto [begin, end] = part.rowsOf(7);
    EXPECT_EQ(found[0].shape(), (Shape{part.size() * (end - begin), 2}));
    EXPECT_EQ(found[1].toVector<float>(), std::vector<float>(14, group.rank() % 2 ? 4 : 6));
    EXPECT_EQ(found[2].toVector<float>(), std::vector<float>(14, group.rank() % 2 ? 2 : 4));
    EXPECT_TRUE(sameBits(found[0], part.allToAll(x)));
  });
}

// A whole layer whose rows are on all ranks: its weights gathered, its gradients handed out, in one compiled step.
TEST(DistCollectives, AStepOfGatheredWeightsIsThatOfOneRank) {
  const int64_t outputs = 5;
  manualSeed(9);
  Tensor weights = randn({outputs, 3}).detach(), x = randn({6, 3}).detach();
  Tensor at = weights.requireGrad();
  Numbers expected = numbersOf(grad(sum(tanh(matmul(x, transpose(at)))), at));
  for (int ranks : {2, 3})
    dist::spawn(ranks, [&](dist::Group &group) {
      auto [begin, end] = group.rowsOf(6);
      auto [first, last] = group.rowsOf(outputs);
      Tensor samples = slice(x.to(defaultDevice()), 0, begin, end),
             own = slice(weights.to(defaultDevice()), 0, first, last);
      auto step = compile([&](const Tensor &part, const Tensor &samples) {
        Tensor at = part.requireGrad(), whole = group.allGather(at, outputs);
        return grad(sum(tanh(matmul(samples, transpose(whole)))), at);
      });
      Numbers found = numbersOf(step(own, samples));
      ASSERT_EQ(int64_t(found.size()), (last - first) * 3);
      for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[size_t(first * 3) + i], 1e-5);
    });
}

TEST(DistCollectives, MistakesNameTheCallAndTheLine) {
  auto refusal = [](const std::function<void(dist::Group &)> &f) {
    return errorOf([&] { dist::spawn(2, f, {.timeout = 20s}); });
  };
  std::string text = refusal([](dist::Group &group) {
    Tensor x = ones({2, 2}).requireGrad();
    grad(sum(group.reduceScatter(x, dist::Reduce::max)), x);
  });
  EXPECT_TRUE(has(text, "DistCollectivesTest.cpp:") && has(text, "reduce_scatter") &&
              has(text, "has no gradient: it is a max"))
      << text;
  text = refusal([](dist::Group &group) {
    compile([&](const Tensor &x) { return cond(sum(x) > 0, [&] { return group.broadcast(x); }, [&] { return x; }); })(
        ones({2}));
  });
  EXPECT_TRUE(has(text, "broadcast: is in a branch, a loop or a checkpoint")) << text;
  // Programs that differ between ranks: the root, the rows.
  text = refusal([](dist::Group &group) {
    compile([&](const Tensor &x) { return group.broadcast(x, group.rank()); })(ones({2})).wait();
  });
  EXPECT_TRUE(has(text, "collective 1 differs") && has(text, "root 0") && has(text, "root 1")) << text;
  text = refusal([](dist::Group &group) {
    compile([&](const Tensor &x) { return group.reduceScatter(x); })(ones({4 + group.rank()})).wait();
  });
  EXPECT_TRUE(has(text, "collective 1 differs") && has(text, "reduce_scatter of 4 f32") &&
              has(text, "reduce_scatter of 5 f32"))
      << text;
  text =
      refusal([](dist::Group &group) { compile([&](const Tensor &x) { return group.allGather(x, 7); })(ones({2})); });
  EXPECT_TRUE(has(text, "DistCollectivesTest.cpp:") && has(text, "all_gather: of 7 rows rank ")) << text;
  text = refusal([](dist::Group &group) {
    Tensor x = group.rank() ? ones({3}) : ones({2});
    group.broadcast(x.requireGrad());
  });
  EXPECT_TRUE(has(text, "rank 0 has a tensor 2xf32, rank 1 one of 3xf32")) << text;
}
