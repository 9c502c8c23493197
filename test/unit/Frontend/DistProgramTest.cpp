// All-reduces as operations: in functions that compile() records, under gradients, and while the rank computes.
#include "test/unit/Frontend/RankSteps.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

using namespace sprig;
using namespace std::chrono_literals;

// Batches need not divide, and ranks may have no sample.
TEST(DistProgram, AStepOfRanksIsOneProgramWithTheBitsOfItsOperations) {
  for (auto [ranks, batch, clip] : {std::tuple<int, int64_t, double>{1, 8, 0}, {2, 16, 0}, {3, 13, 0.05}, {4, 2, 0}}) {
    std::vector<Trained> programs(static_cast<size_t>(ranks)), operations = programs;
    dist::spawn(ranks, [&, batch = batch, clip = clip](dist::Group &group) {
      programs[size_t(group.rank())] = train(batch, &group, true, clip);
      operations[size_t(group.rank())] = train(batch, &group, false, clip);
    });
    Trained one = train(batch, nullptr, true, clip);
    for (int rank = 0; rank < ranks; ++rank) {
      const Trained &program = programs[size_t(rank)];
      EXPECT_TRUE(sameBits(program.state, operations[size_t(rank)].state)) << ranks << " ranks, rank " << rank;
      EXPECT_EQ(program.losses, operations[size_t(rank)].losses) << ranks << " ranks, rank " << rank;
      for (size_t i = 0; i < one.losses.size(); ++i) EXPECT_NEAR(program.losses[i], one.losses[i], 1e-6) << ranks;
      for (size_t i = 0; i < one.state.size(); ++i) {
        std::vector<float> a = program.state[i].value.toVector<float>(), b = one.state[i].value.toVector<float>();
        for (size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-6) << ranks << " ranks, " << batch;
      }
    }
  }
}

// f of all ranks together is sum_r w_r y^3, y = sum_r a_r (a mean divides); so df/da = 3 y^2 sum_r w_r on each.
TEST(DistProgram, GradientsAreThoseOfTheSumOfAllRanksOutputs) {
  for (bool compiled : {false, true})
    for (auto reduce : {dist::Reduce::sum, dist::Reduce::mean})
      for (int ranks : {1, 2, 3})
        dist::spawn(ranks, [&](dist::Group &group) {
          auto cube = [&](const Tensor &a) {
            Tensor y = group.allReduce(a, reduce);
            return sum(y * y * y) * double(group.rank() + 1);
          };
          auto f = compile([&](const Tensor &a) {
            Tensor at = a.requireGrad(), first = grad(cube(at), at, {.createGraph = true});
            return std::vector<Tensor>{first, grad(sum(first), at)};
          });
          f.enable(compiled);
          double own = group.rank() + 1.0, n = ranks, y = n * (n + 1) / 2, weights = y;
          if (reduce == dist::Reduce::mean) y /= n, weights /= n;
          std::vector<Tensor> found = f(Tensor({own, own}));
          double first = 3 * y * y * weights;
          // The sum of all ranks' first gradients, by each rank's operand.
          double second = n * 6 * y * weights;
          if (reduce == dist::Reduce::mean) second /= n;
          EXPECT_NEAR(found[0].toVector<double>()[1], first, 1e-12 * first) << ranks << compiled;
          EXPECT_NEAR(found[1].toVector<double>()[0], second, 1e-12 * second) << ranks << compiled;
          // Through a call of a compiled function.
          auto call = compile([&](const Tensor &a) { return cube(a); });
          call.enable(compiled);
          Tensor at = Tensor({own, own}).requireGrad();
          EXPECT_NEAR(grad(call(at), at).toVector<double>()[0], first, 1e-12 * first) << ranks << compiled;
        });
}

// Several tensors at once, of which some have gradients, and what has none.
TEST(DistProgram, GradientsOfListsAndWhatHasNone) {
  dist::spawn(2, [](dist::Group &group) {
    Tensor a = full({3}, 2.0).requireGrad(), b = ones({2}), c = full({2, 2}, 3.0).requireGrad();
    std::vector<Tensor> sums = group.allReduce({a, b, Tensor(), c});
    std::vector<Tensor> gradients = grad(sum(sums[0]) * 2 + sum(sums[1]) + sum(sums[3] * sums[3]), {a, c});
    EXPECT_EQ(gradients[0].toVector<float>(), std::vector<float>(3, 4));
    EXPECT_EQ(gradients[1].toVector<float>(), std::vector<float>(4, 24)); // 2 ranks, each 2 * (3 + 3)
  });
  std::string text = errorOfRanks([](dist::Group &group) {
    Tensor x = ones({2}).requireGrad();
    grad(sum(group.allReduce(x, dist::Reduce::max)), x);
  });
  EXPECT_TRUE(has(text, "DistProgramTest.cpp:") && has(text, "all_reduce") && has(text, "has no gradient: it is a max"))
      << text;
}

TEST(DistProgram, CollectivesRunWhileTheRankComputes) {
  std::vector<std::vector<float>> results(3);
  dist::spawn(3, [&](dist::Group &group) {
    Tensor own = arange(0, 30000, 1, DType::f32) * double(group.rank() + 1), x = ones({64, 64});
    std::vector<Tensor> pending = group.allReduceAsync({own, own * 2});
    Tensor more = group.allReduceAsync(sum(own), dist::Reduce::max);
    for (int i = 0; i < 4; ++i) x = matmul(x, x) * (1.0 / 64);
    group.barrier(); // later than what is under way
    EXPECT_TRUE(pending[0].ready() && pending[1].ready() && more.ready());
    pending[1].wait();
    Tensor after = pending[0] + pending[1] + x.slice(0, 0, 1).slice(1, 0, 1).reshape({1}) - 1;
    EXPECT_EQ(after.toVector<float>()[10000], float(10000 * 6 * 3));
    EXPECT_EQ(after.device(), defaultDevice());
    // Nobody waits for it: the end of the rank does.
    results[size_t(group.rank())] = group.allReduce(own).toVector<float>();
    (void)group.allReduceAsync(own);
  });
  EXPECT_EQ(results[0], results[2]);
}

// Programs, collectives that wait and those that do not: each rank has one order, whatever thread runs them.
TEST(DistProgram, TheOrderIsThatInWhichARankAsks) {
  std::vector<std::vector<float>> results(2);
  dist::spawn(2, [&](dist::Group &group) {
    auto twice = compile([&](const Tensor &x) { return group.allReduce(x * 2); },
                         {.report = [](const std::string &) {}}); // of another shape at times
    Tensor x = full({700}, double(group.rank() + 1));
    std::vector<Tensor> found;
    for (int i = 0; i < 20; ++i) {
      found.push_back(twice(x));
      found.push_back(group.allReduceAsync(found.back() + i));
      if (i % 3 == 0) found.push_back(group.allReduce(full({3}, i)));
      if (i % 7 == group.rank()) synchronize(); // the other rank may be ahead
      found.push_back(twice(found.back()));
    }
    for (const Tensor &each : found) results[size_t(group.rank())].push_back(each.toVector<float>()[0]);
  });
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0][0], 6);
  EXPECT_EQ(results[0][1], 12);
}

// Each rank has a sequence of its own: all begin where the caller's is, which goes on as the first rank has.
TEST(DistProgram, RandomNumbersOfRanksAreTheSameInEachRun) {
  auto run = [](int seed, bool byRank) {
    manualSeed(uint64_t(seed));
    std::vector<std::vector<float>> drawn(3);
    dist::spawn(3, [&](dist::Group &group) {
      if (byRank) manualSeed(uint64_t(seed + group.rank()));
      nn::Linear layer(5, 4);
      auto noise = compile([&](const Tensor &x) { return x + randn({3}); });
      std::vector<float> &own = drawn[size_t(group.rank())] = layer.weight.value().toVector<float>();
      for (int i = 0; i < 3; ++i)
        for (float each : noise(zeros({3})).toVector<float>()) own.push_back(each);
    });
    drawn.push_back(randn({4}).toVector<float>());
    return drawn;
  };
  auto first = run(3, false);
  EXPECT_EQ(first, run(3, false));
  EXPECT_EQ(first[0], first[1]);
  EXPECT_EQ(first[0], first[2]);
  EXPECT_NE(first[0], run(4, false)[0]);
  auto apart = run(3, true);
  EXPECT_EQ(apart, run(3, true));
  EXPECT_EQ(apart[0], first[0]);
  EXPECT_NE(apart[1], first[1]);
  // As if the first rank had been the caller.
  manualSeed(3);
  nn::Linear layer(5, 4);
  for (int i = 0; i < 3; ++i) randn({3});
  EXPECT_EQ(randn({4}).toVector<float>(), first[3]);
}

TEST(DistProgram, AFunctionIsRecordedForTheGroupThatCallsIt) {
  dist::Group *current = nullptr;
  std::vector<std::string> reports;
  auto total = compile([&](const Tensor &x) { return current->allReduce(x); },
                       {.name = "total", .report = [&](const std::string &line) { reports.push_back(line); }});
  for (int ranks : {1, 1}) {
    float found = 0;
    dist::spawn(ranks, [&](dist::Group &group) {
      current = &group;
      found = total(full({}, 3.0)).item<float>();
    });
    EXPECT_EQ(found, 3);
  }
  // Two ranks, a function each, kept beyond their group.
  std::vector<std::optional<Function<std::function<Tensor(Tensor)>>>> functions(2);
  std::atomic<dist::Group *> groups[2] = {};
  for (int round = 0; round < 2; ++round)
    dist::spawn(2, [&](dist::Group &group) {
      auto rank = size_t(group.rank());
      groups[rank] = &group;
      if (!functions[rank])
        functions[rank].emplace(compile(
            std::function<Tensor(Tensor)>([&groups, rank](Tensor x) { return groups[rank].load()->allReduce(x); }),
            FunctionOptions{"sum of ranks", [](const std::string &) {}}));
      EXPECT_EQ((*functions[rank])(full({2}, 1.0)).toVector<float>()[1], 2) << round;
    });
  ASSERT_EQ(functions[0]->recordings().size(), 2u);
  EXPECT_TRUE(has(functions[0]->recordings()[1], "recorded was rank 0 of 2, whose group has ended"))
      << functions[0]->recordings()[1];
}

// Even and odd ranks, then pairs of the even ones in another order; each part has an order of its own.
// One function for all ranks, of which each has its own program: a rank that waits in a call keeps none from calling.
// With one call in flight a second one waits for the first, and so for the other rank's.
TEST(DistProgram, RanksShareAFunction) {
  static thread_local dist::Group *own = nullptr;
  static thread_local nn::Linear *layer = nullptr;
  auto step = compile(
      [](const Tensor &x) {
        Parameter weight = layer->parameters()[0];
        weight.set(weight + own->allReduce(x));
        return own->allReduce(x * double(own->rank() + 1));
      },
      {.name = "step", .report = [](const std::string &line) { ADD_FAILURE() << line; }, .maxVariants = 1});
  struct Limit {
    int before = maxInFlight();
    Limit() { setMaxInFlight(1); }
    ~Limit() { setMaxInFlight(before); }
  } limit;
  dist::spawn(2,
              [&](dist::Group &group) {
                own = &group;
                nn::Linear mine(1, 1);
                layer = &mine;
                float before = mine.parameters()[0].value().item<float>();
                std::vector<Tensor> results;
                for (int i = 0; i < 20; ++i) results.push_back(step(full({1, 1}, double(i))));
                for (int i = 0; i < 20; ++i) EXPECT_EQ(results[size_t(i)].item<float>(), float(3 * i));
                EXPECT_FLOAT_EQ(mine.parameters()[0].value().item<float>(), before + 2 * 190);
              },
              {.timeout = 10s});
  EXPECT_EQ(step.recordings(), std::vector<std::string>(2, "first call"));
  // State of one rank is no other's.
  nn::Linear shared(1, 1);
  auto with = compile([&](const Tensor &x) { return own->allReduce(shared(x)); }, {.name = "with"});
  std::string text = errorOfRanks([&](dist::Group &group) {
    own = &group;
    with(full({1, 1}, 1.0)).wait();
  });
  EXPECT_TRUE(has(text, "rank 1: ") && has(text, "linear: has operands on two devices")) << text;
}

// A rank may have ranks of its own, on its device and others that nobody has.
TEST(DistProgram, RanksWithinARank) {
  dist::spawn(2, [](dist::Group &outer) {
    std::vector<std::string> names(2);
    dist::spawn(2, [&](dist::Group &inner) {
      names[size_t(inner.rank())] = defaultDevice().name();
      EXPECT_EQ(inner.allReduce(full({2}, double(inner.rank() + 1))).toVector<float>()[1], 3);
    });
    EXPECT_EQ(names[0] == names[1], false);
    EXPECT_EQ(names[0], defaultDevice().name());
    EXPECT_EQ(outer.allReduce(full({}, 1.0)).item<float>(), 2);
  });
}

TEST(DistProgram, PartsAreGroupsOfTheirOwn) {
  dist::spawn(5, [](dist::Group &group) {
    const int rank = group.rank();
    dist::Group part = group.split(rank % 2, -rank); // the last comes first
    EXPECT_EQ(part.size(), rank % 2 ? 2 : 3);
    EXPECT_EQ(part.rank(), rank % 2 ? (3 - rank) / 2 : (4 - rank) / 2);
    auto both = compile([&](const Tensor &x) { return part.allReduce(x) * 10; });
    const int sum = rank % 2 ? 4 : 6;
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(part.allReduce(Tensor(rank)).item<int>(), sum);
      EXPECT_EQ(both(full({2}, rank)).toVector<float>()[1], float(10 * sum));
      if (rank % 2) part.barrier(); // parts need not go together
      EXPECT_EQ(group.allReduce(Tensor(rank)).item<int>(), 10);
      Tensor later = part.allReduceAsync(full({3}, rank));
      EXPECT_EQ(part.broadcast(Tensor(rank), 0).item<int>(), rank % 2 ? 3 : 4);
      EXPECT_EQ(part.allGather(Tensor({rank})).toVector<int>(),
                rank % 2 ? (std::vector<int>{3, 1}) : (std::vector<int>{4, 2, 0}));
      EXPECT_EQ(later.toVector<float>()[0], float(sum));
    }
    dist::Group pair = group.sub({4, 0});
    ASSERT_EQ(pair.size(), rank == 0 || rank == 4 ? 2 : 0);
    if (pair.size()) {
      EXPECT_EQ(pair.rank(), rank == 4 ? 0 : 1);
      Tensor x = full({2}, rank + 1.0).requireGrad(), y = pair.allReduce(x);
      EXPECT_EQ(grad(sum * 0.0 + sprig::sum(y * y), x).toVector<float>()[0], 24); // 2 ranks, each 2 * (1 + 5)
      dist::Group one = pair.split(pair.rank());
      EXPECT_EQ(one.allReduce(Tensor(rank)).item<int>(), rank);
    } else {
      EXPECT_EQ(pair.rank(), -1);
    }
    group.barrier();
  });
  // Ranks by their numbers in the whole, with the part.
  std::string text = errorOfRanks([](dist::Group &group) {
    dist::Group part = group.sub({0, 1});
    group.rank() ? group.allReduce(ones({4})) : part.allReduce(ones({4}));
  });
  EXPECT_TRUE(has(text, "collectives differ: ") && has(text, "all_reduce of 4 f32 (sum, tree) of ranks 0 and 1 at "))
      << text;
  text = errorOf([] {
    dist::spawn(3,
                [](dist::Group &group) {
                  dist::Group part = group.sub({2, 0});
                  if (group.rank() == 0) part.allReduce(ones({4}));
                  if (group.rank() == 2) std::this_thread::sleep_for(500ms);
                },
                {.timeout = 50ms});
  });
  EXPECT_TRUE(has(text, "rank 0 has waited 0.05 s for rank 2: rank 0 is at its collective 2, all_reduce of 4 f32 "
                        "(sum, tree) of ranks 2 and 0 at "))
      << text;
  text = errorOfRanks([](dist::Group &group) { group.sub({1}).allReduce(ones({2})); });
  EXPECT_TRUE(has(text, "rank 0: ") && has(text, "all_reduce: this rank is not in the part that it is of")) << text;
  text = errorOfRanks([](dist::Group &group) { group.sub({1, 2}); });
  EXPECT_TRUE(has(text, "sub: expected ranks below 2, found 2")) << text;
}

// Probabilities that are 0 or 1 to the nearest of 2^32.
TEST(DistProgram, DropoutOfAShareAtTheEndsOfItsRange) {
  for (auto [p, kept] : {std::pair(0x1p-34, 1.0f), {1 - 0x1p-34, 0.0f}, {1 - 0x1p-33, 0.0f}, {1.0, 0.0f}}) {
    Tensor one = dropout(full({3, 4}, 1.0), p, true);
    for (float each : one.toVector<float>()) EXPECT_EQ(each, kept) << p;
    dist::spawn(2, [p = p, kept = kept](dist::Group &group) {
      auto [begin, end] = group.rowsOf(3);
      dist::BatchShare share(group, 3);
      for (float each : dropout(full({end - begin, 4}, 1.0), p, true).toVector<float>()) EXPECT_EQ(each, kept) << p;
    });
  }
}

// One around the call is a key: of batches of 8 and 7 samples the first rank has as many rows.
TEST(DistProgram, ABatchShareAroundTheCallIsPartOfWhatIsCompiled) {
  dist::spawn(2, [](dist::Group &group) {
    std::vector<nn::StateDict> states;
    std::vector<std::vector<float>> outputs(2);
    std::vector<std::string> reasons;
    for (bool compiled : {false, true}) {
      manualSeed(5);
      nn::Sequential net(nn::BatchNorm1d(6), nn::Dropout(0.5));
      auto f = compile([&](const Tensor &x) { return net(x); },
                       {.report = [&](const std::string &reason) { reasons.push_back(reason); }});
      f.enable(compiled);
      for (int64_t samples : {8, 8, 7, 8, 7}) {
        dist::BatchShare share(group, samples);
        auto [begin, end] = group.rowsOf(samples);
        for (float each : f(samplesOf(1, begin, end).first).toVector<float>()) outputs[compiled].push_back(each);
      }
      states.push_back(net.stateDict());
    }
    EXPECT_EQ(outputs[1], outputs[0]);
    EXPECT_TRUE(sameBits(states[1], states[0]));
    ASSERT_EQ(reasons.size(), 1u);
    if (group.rank() == 0)
      EXPECT_TRUE(has(reasons[0], "the batch is rows 0 to 4 of 7 samples, recorded was rows 0 to 4 of 8 samples"))
          << reasons[0];
  });
}

TEST(DistProgram, MistakesAreErrorsByName) {
  std::string text = errorOfRanks([](dist::Group &group) {
    auto f = compile([&](const Tensor &x) {
      return whileLoop([](const Tensor &y) { return sum(y) < 10; }, [&](const Tensor &y) { return group.allReduce(y); },
                       x);
    });
    f(ones({2}));
  });
  EXPECT_TRUE(has(text, "DistProgramTest.cpp:") && has(text, "all_reduce: is in a branch, a loop or a checkpoint"))
      << text;
  // Programs that differ, as ranks find it in them.
  text = errorOfRanks([](dist::Group &group) {
    auto f = compile([&](const Tensor &x) { return group.allReduce(x); });
    f(ones({2 + group.rank()})).wait();
  });
  EXPECT_TRUE(has(text, "all_reduce") && has(text, "collective 1 differs")) << text;
  // What nobody reads.
  text = errorOfRanks([](dist::Group &group) {
    auto f = compile([&](const Tensor &x) { return group.allReduce(x); });
    f(ones({2 + group.rank()}));
  });
  EXPECT_TRUE(has(text, "collective 1 differs")) << text;
  text = errorOfRanks([](dist::Group &group) { (void)group.allReduceAsync(ones({2 + group.rank()})); });
  EXPECT_TRUE(has(text, "collective 1 differs") && has(text, "DistProgramTest.cpp:")) << text;
  // What is computed there fails on one rank: the others, who wait for it, are told.
  text = errorOfRanks([](dist::Group &group) {
    auto f = compile([&](const Tensor &x, const Tensor &i) { return group.allReduce(gather(x, 0, i)); });
    f(ones({2}), Tensor({int64_t(group.rank() * 7)})).wait();
  });
  EXPECT_TRUE(has(text, "DistProgramTest.cpp:") && has(text, "expected an index below 2, found 7")) << text;
  text = errorOfRanks([](dist::Group &group) {
    Tensor x = gather(ones({2}), 0, Tensor({int64_t(group.rank() * 7)}));
    (void)group.allReduceAsync(x);
    group.barrier();
  });
  EXPECT_TRUE(has(text, "DistProgramTest.cpp:") && has(text, "expected an index below 2, found 7")) << text;
  // Devices are ranks' own.
  text = errorOf([] { dist::spawn(2, [](dist::Group &) {}, {.devices = {"cpu:1", "cpu:1"}}); });
  EXPECT_TRUE(has(text, "spawn: cpu:1 is the device of two ranks")) << text;
  Tensor outside = ones({2});
  text = errorOfRanks([&](dist::Group &group) {
    EXPECT_EQ(outside.to(defaultDevice()).toVector<float>()[0], 1);
    if (group.rank() == 1) (void)(outside * 2);
  });
  EXPECT_TRUE(has(text, "mul: is on cpu:0, which is the device of rank 0; this rank's is cpu:1")) << text;
  // A group is of its rank's thread, and as long as that runs.
  dist::Group *kept = nullptr;
  text = errorOfRanks([&](dist::Group &group) {
    if (group.rank() == 0) kept = &group;
    group.barrier();
    if (group.rank() == 1) kept->allReduce(ones({2}));
    group.barrier();
  });
  EXPECT_TRUE(has(text, "all_reduce: is of rank 0 of 2, which is another thread")) << text;
}

// Calls of ranks that go together: the bits of single ones, with other collectives between them.
TEST(DistProgram, CallsThatGoTogether) {
  for (auto [ranks, batch, clip] : {std::tuple<int, int64_t, double>{2, 16, 0}, {3, 13, 0.05}, {4, 9, 0}}) {
    dist::spawn(ranks, [&, batch = batch, clip = clip](dist::Group &group) {
      std::vector<Trained> runs(2);
      for (size_t isTogether : {0, 1}) {
        manualSeed(5);
        nn::Sequential net(nn::Linear(6, 8), nn::Tanh(), nn::Linear(8, 3));
        auto optimizer = optim::adam(net, {.lr = 0.05});
        if (clip > 0) optimizer.setClipNorm(clip);
        auto step = compile([&](const Tensor &x, const Tensor &y) {
          Tensor loss = crossEntropy(net(x), y, {.reduction = Reduction::sum}) * (1.0 / double(batch));
          optimizer.update(group.allReduce(grad(loss, net.parameters())));
          return group.allReduce(loss);
        });
        auto [begin, end] = group.rowsOf(batch);
        for (int round = 0; round < 2; ++round) {
          std::vector<std::tuple<Tensor, Tensor>> calls;
          for (int i = 0; i < 3; ++i) {
            auto [x, y] = samplesOf(3 * round + i, begin, end);
            calls.emplace_back(x, y);
          }
          std::vector<Tensor> losses;
          if (isTogether)
            losses = step.together(calls);
          else
            for (auto &[x, y] : calls) losses.push_back(step(x, y));
          EXPECT_EQ(group.allReduce(ones({1})).item<float>(), float(group.size()));
          for (const Tensor &loss : losses) runs[isTogether].losses.push_back(loss.item<float>());
        }
        group.checkReplicas(net);
        runs[isTogether].state = net.stateDict();
      }
      EXPECT_EQ(runs[1].losses, runs[0].losses) << batch;
      EXPECT_TRUE(sameBits(runs[1].state, runs[0].state)) << batch;
    });
  }
}
