#include "lib/Data/Batches.h"
#include "sprig/rt/profile.hpp"
#include "test/unit/Loader/Support.h"
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

using namespace sprig;
using namespace sprig::data;

namespace {

// Index as x, twice the index as y; counts what is asked for.
struct Counted {
  int64_t count = 100;
  std::shared_ptr<std::atomic<int>> loads = std::make_shared<std::atomic<int>>(0);
  int64_t slow = -1; ///< takes 20 ms
  int64_t bad = -1;  ///< throws
  int64_t size() const { return count; }
  Sample get(int64_t index) const {
    ++*loads;
    if (index == slow) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (index == bad) throw std::out_of_range("the file is damaged");
    return {std::vector<float>(3, float(index)), index * 2};
  }
};

std::vector<int64_t> orderOf(Loader &loader) {
  std::vector<int64_t> order;
  int64_t number = 0;
  for (const Batch &batch : loader) {
    EXPECT_EQ(batch.number(), number++);
    EXPECT_EQ(batch.host(0).shape(), (Shape{batch.size(), 3}));
    for (int64_t i = 0; i < batch.size(); ++i) {
      int64_t index = batch.indices()[size_t(i)];
      EXPECT_EQ(batch.host(0).item<float>(i * 3 + 2), float(index));
      EXPECT_EQ(batch.host(1).item<int64_t>(i), 2 * index);
      order.push_back(index);
    }
  }
  return order;
}

// Storage that makes one wait is worth many workers; what an epoch gives is as ever.
TEST(Loader, MeasuresHowManyWorkersItGainsFrom) {
  LoaderOptions options{.batch = 4, .shuffle = 7, .workers = kMeasuredWorkers, .ioDelay = {.perItem = 1e-3}};
  Loader slow(Counted(), options);
  EXPECT_GE(slow.options().workers, 4);
  options.workers = 1;
  Loader other(Counted(), options);
  EXPECT_EQ(orderOf(slow), orderOf(other));
  EXPECT_EQ(slow.stats().batches, 25);
  options.workers = kMeasuredWorkers;
  expectHas(refusal([&] { Loader(Counted{.bad = 5}, options); }, ErrorKind::runtime), "the file is damaged");
}

TEST(Loader, TheOrderOfASeedIsThatOfBatchesForAnyNumberOfWorkers) {
  Batches reference({.samples = 100, .batch = 16, .shuffle = true, .seed = 7});
  std::vector<std::vector<int64_t>> epochs(3);
  for (auto &epoch : epochs)
    for (int64_t s = 0; s < reference.stepsPerEpoch(); ++s)
      for (int64_t index : reference.next()) epoch.push_back(index);
  for (int workers : {0, 1, 3, 8}) {
    Loader loader(Counted(), {.batch = 16, .shuffle = 7, .workers = workers});
    EXPECT_EQ(loader.size(), 7);
    for (auto &epoch : epochs) EXPECT_EQ(orderOf(loader), epoch) << workers;
    EXPECT_EQ(loader.stats().workerStarts, workers);
    EXPECT_EQ(loader.stats().batches, 21);
    EXPECT_EQ(loader.stats().samples, 300);
  }
  EXPECT_NE(epochs[0], epochs[1]);
}

TEST(Loader, WithoutASeedSamplesComeInOrder) {
  Loader loader(Counted(), {.batch = 32, .workers = 2});
  std::vector<int64_t> order = orderOf(loader);
  EXPECT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  Loader whole(Counted(), {.batch = 32, .workers = 2, .dropLast = true});
  EXPECT_EQ(whole.size(), 3);
  EXPECT_EQ(orderOf(whole).size(), 96u);
}

TEST(Loader, ArraysAreGatheredIntoAlignedMemory) {
  std::vector<uint8_t> pixels(50 * 7);
  std::vector<int32_t> labels(50);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = uint8_t(i);
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = int32_t(i) * 3;
  Dataset set = TensorDataset({Field(pixels, {50, 7}), Field(labels)}).as(0, sprig::DType::f32, true);
  for (int workers : {0, 2}) {
    Loader loader(set, {.batch = 9, .shuffle = 1, .workers = workers});
    int64_t seen = 0;
    for (const Batch &batch : loader) {
      EXPECT_EQ(uintptr_t(batch.host(0).bytes()) % 64, 0u);
      for (int64_t i = 0; i < batch.size(); ++i, ++seen) {
        int64_t index = batch.indices()[size_t(i)];
        EXPECT_EQ(batch.host(1).item<int32_t>(i), index * 3);
        for (int64_t j = 0; j < 7; ++j)
          EXPECT_EQ(batch.host(0).item<float>(i * 7 + j), float(uint8_t(index * 7 + j)) / 255.f);
      }
    }
    EXPECT_EQ(seen, 50);
  }
}

TEST(Loader, TransformationsDrawTheSameForAnyNumberOfWorkers) {
  auto drawn = [](int workers) {
    Loader loader(Counted(), {.batch = 8, .shuffle = 3, .workers = workers, .transform = [](Sample s, Random &random) {
                                s.push_back(random.uniform());
                                return s;
                              }});
    std::vector<std::vector<double>> epochs(2, std::vector<double>(100));
    for (auto &epoch : epochs)
      for (const Batch &batch : loader)
        for (int64_t i = 0; i < batch.size(); ++i)
          epoch[size_t(batch.indices()[size_t(i)])] = batch.host(2).item<double>(i);
    return epochs;
  };
  auto one = drawn(0);
  EXPECT_EQ(drawn(1), one);
  EXPECT_EQ(drawn(5), one);
  EXPECT_NE(one[0], one[1]);
}

TEST(Loader, WorkersLiveFromEpochToEpochOrNot) {
  for (bool persistent : {true, false}) {
    Loader loader(Counted(), {.batch = 16, .workers = 3, .persistentWorkers = persistent});
    for (int epoch = 0; epoch < 5; ++epoch) orderOf(loader);
    EXPECT_EQ(loader.stats().workerStarts, persistent ? 3 : 15);
  }
}

TEST(Loader, TheQueueIsBounded) {
  Counted set;
  set.count = 400;
  Loader loader(set, {.batch = 4, .workers = 3, .prefetch = 2});
  int64_t taken = 0;
  for (const Batch &batch : loader) {
    ++taken;
    std::this_thread::sleep_for(std::chrono::milliseconds(taken < 5 ? 10 : 0));
    EXPECT_LE(*set.loads, (taken + 6) * 4) << batch.number();
  }
  EXPECT_EQ(taken, 100);
  EXPECT_LE(loader.stats().mostAhead, 6);
  EXPECT_GE(loader.stats().mostAhead, 2);
}

TEST(Loader, MemoryOfBatchesIsUsedAgain) {
  Counted set;
  set.count = 2000;
  Loader loader(set, {.batch = 10, .shuffle = 1, .workers = 2, .prefetch = 2});
  for (int epoch = 0; epoch < 3; ++epoch) orderOf(loader);
  EXPECT_EQ(loader.stats().batches, 600);
  // Of two fields each: what is ahead, what the consumer has, and what workers are about to finish.
  EXPECT_LE(loader.stats().buffers, 2 * (4 + 2 + 2));
  // What the consumer keeps is not touched.
  std::vector<Batch> kept;
  for (const Batch &batch : loader) kept.push_back(batch);
  for (const Batch &batch : kept) EXPECT_EQ(batch.host(1).item<int64_t>(0), 2 * batch.indices()[0]);
}

TEST(Loader, BreakEndsAnEpoch) {
  for (bool persistent : {true, false})
    for (int workers : {0, 1, 4}) {
      Counted set;
      set.count = 4000;
      Loader loader(set, {.batch = 2, .shuffle = 1, .workers = workers, .persistentWorkers = persistent});
      for (const Batch &batch : loader)
        if (batch.number() == 2) break;
      int loads = *set.loads;
      EXPECT_LE(loads, (3 + 2 * workers + 1) * 2);
      EXPECT_EQ(loader.epoch(), 1);
      std::vector<int64_t> next = orderOf(loader);
      EXPECT_EQ(next.size(), 4000u);
      Batches reference({.samples = 4000, .batch = 2, .shuffle = true, .seed = 1});
      reference.seek({1, 0});
      EXPECT_EQ(next[0], reference.next()[0]);
    }
}

TEST(Loader, AFailureReachesTheConsumerWithItsSample) {
  for (int workers : {0, 1, 4}) {
    Counted set;
    set.bad = 37;
    Loader loader(set, {.batch = 10, .workers = workers});
    for (int round = 0; round < 2; ++round) { // the loader stays usable
      int64_t batches = 0;
      std::string text = refusal(
          [&] {
            for (const Batch &batch : loader) batches += batch.size() > 0;
          },
          ErrorKind::runtime);
      EXPECT_EQ(batches, 3);
      EXPECT_EQ(text, "data: sample 37 (batch 3 of epoch " + std::to_string(round) + "): the file is damaged");
    }
    // The original is nested.
    try {
      for (const Batch &batch : loader) (void)batch;
      ADD_FAILURE();
    } catch (const Error &error) {
      EXPECT_THROW(std::rethrow_if_nested(error), std::out_of_range);
    }
  }
}

TEST(Loader, FailuresOfTransformationsAndOfConversions) {
  Loader loader(Counted(), {.batch = 10, .workers = 2, .transform = [](Sample s, Random &) -> Sample {
                              if (s.x().item<float>() == 12) throw 5;
                              return s;
                            }});
  expectHas(refusal([&] { orderOf(loader); }, ErrorKind::runtime), "sample 12 (batch 1 of epoch 0): an exception that");
  std::vector<int64_t> large = {1, 2, 3, 4, int64_t(1) << 40, 6};
  Dataset narrow = TensorDataset({Field(large)}).as(0, sprig::DType::i32);
  expectHas(refusal(
                [&] {
                  for (const Batch &batch : Loader(narrow, {.batch = 6, .workers = 1})) (void)batch;
                },
                ErrorKind::badInput),
            "sample 4 (batch 0 of epoch 0): ");
  Dataset ragged(5, [](int64_t i) { return Sample{std::vector<float>(i == 3 ? 2 : 1)}; });
  expectHas(refusal(
                [&] {
                  for (const Batch &batch : Loader(ragged, {.batch = 5, .workers = 1})) (void)batch;
                },
                ErrorKind::badInput),
            "sample 3 (batch 0 of epoch 0): field 0 is 2xf32, that of sample 0 of the same batch is 1xf32");
  Dataset fields(5, [](int64_t i) { return i == 2 ? Sample{1.f} : Sample{1.f, 2.f}; });
  expectHas(refusal(
                [&] {
                  for (const Batch &batch : Loader(fields, {.batch = 5, .workers = 0})) (void)batch;
                },
                ErrorKind::badInput),
            "has 1 fields, sample 0 has 2");
  Dataset none(5, [](int64_t) { return Sample(); });
  expectHas(refusal([&] {
              for (const Batch &batch : Loader(none, {.workers = 1})) (void)batch;
            }),
            "has no field");
}

TEST(Loader, EndsWhileWorkersWaitOrLoad) {
  for (bool persistent : {true, false})
    for (int round = 0; round < 20; ++round) {
      Counted set;
      set.slow = 5;
      Loader loader(set, {.batch = 2, .workers = 4, .persistentWorkers = persistent});
      auto it = loader.begin();
      if (round % 2) ++it;
      Loader moved = std::move(loader); // the handle goes, the iteration keeps what it needs
    }
  // Simulated storage is left at once.
  auto start = std::chrono::steady_clock::now();
  {
    Loader slow(Counted(), {.batch = 1, .workers = 3, .ioDelay = {.perItem = 0.001}});
    for (const Batch &batch : slow)
      if (batch.number() == 1) break;
    Loader slower(Counted(), {.batch = 50, .workers = 2, .ioDelay = {.perItem = 0.5}});
    std::thread([&, it = std::make_shared<int>()] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }).join();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Loader, AnotherBeginEndsTheFirst) {
  Loader loader(Counted(), {.batch = 10, .workers = 2});
  auto first = loader.begin();
  EXPECT_EQ(first->number(), 0);
  auto second = loader.begin();
  EXPECT_EQ(second->epoch(), 1);
  expectHas(refusal([&] { ++first; }), "this iteration is over");
  ++second;
  EXPECT_EQ(second->number(), 1);
}

TEST(Loader, GoesOnWhereARunStopped) {
  Loader loader(Counted(), {.batch = 10, .shuffle = 5, .workers = 2});
  std::vector<int64_t> whole;
  for (int epoch = 0; epoch < 3; ++epoch) whole = orderOf(loader);
  Loader resumed(Counted(), {.batch = 10, .shuffle = 5, .workers = 3});
  resumed.seek(2, 4);
  std::vector<int64_t> rest;
  for (const Batch &batch : resumed) rest.insert(rest.end(), batch.indices().begin(), batch.indices().end());
  EXPECT_EQ(rest, std::vector<int64_t>(whole.begin() + 40, whole.end()));
  EXPECT_EQ(resumed.epoch(), 3);
  expectHas(refusal([&] { resumed.seek(0, 10); }), "no batch 10 of epoch 0: an epoch has 10 batches");
}

// Shares of all ranks are the batches of one, whatever the numbers; where there are fewer samples than ranks some have
// none, in fields of no rows.
TEST(Loader, RanksShareEveryBatch) {
  for (bool hasTransform : {false, true})
    for (int ranks : {1, 2, 3, 7}) {
      auto optionsOf = [&](int rank) {
        LoaderOptions options{.batch = 32, .shuffle = 5, .workers = rank % 3, .rank = rank, .ranks = ranks};
        if (hasTransform) options.transform = [](Sample sample, Random &) { return sample; };
        return options;
      };
      std::vector<std::vector<std::vector<int64_t>>> shares(static_cast<size_t>(ranks));
      for (int rank = 0; rank < ranks; ++rank) {
        Loader loader(Counted(), optionsOf(rank));
        EXPECT_EQ(loader.size(), 4);
        for (const Batch &batch : loader) {
          shares[size_t(rank)].emplace_back(batch.indices().begin(), batch.indices().end());
          EXPECT_EQ(batch.samplesOfRanks(), batch.number() < 3 ? 32 : 4);
          EXPECT_EQ(batch.host(0).shape(), (Shape{batch.size(), 3}));
          EXPECT_EQ(batch.host(1).type(), (TensorType{sprig::DType::i64, {batch.size()}}));
          for (int64_t i = 0; i < batch.size(); ++i)
            EXPECT_EQ(batch.host(1).item<int64_t>(i), 2 * batch.indices()[size_t(i)]);
        }
      }
      Loader one(Counted(), {.batch = 32, .shuffle = 5});
      for (const Batch &batch : one) {
        std::vector<int64_t> together;
        for (auto &own : shares) {
          const std::vector<int64_t> &share = own[size_t(batch.number())];
          EXPECT_LE(std::abs(int64_t(share.size()) * ranks - batch.size()), ranks);
          together.insert(together.end(), share.begin(), share.end());
        }
        EXPECT_EQ(together, std::vector<int64_t>(batch.indices().begin(), batch.indices().end())) << ranks;
      }
    }
}

TEST(Loader, SharesByWeights) {
  const std::vector<int64_t> weights = {3, 1}, expected[] = {{24, 24, 24, 3}, {8, 8, 8, 1}};
  std::vector<int64_t> together;
  for (int rank = 0; rank < 2; ++rank) {
    std::vector<int64_t> sizes;
    for (const Batch &batch :
         Loader(Counted(), {.batch = 32, .workers = 0, .rank = rank, .ranks = 2, .weights = weights})) {
      sizes.push_back(batch.size());
      together.insert(together.end(), batch.indices().begin(), batch.indices().end());
    }
    EXPECT_EQ(sizes, expected[rank]);
  }
  std::sort(together.begin(), together.end());
  for (size_t i = 0; i < together.size(); ++i) ASSERT_EQ(together[i], int64_t(i));
  EXPECT_EQ(together.size(), 100u);
}

TEST(Loader, RefusesOptionsThatMakeNoSense) {
  expectHas(refusal([] { Loader(Counted(), {.ranks = 2, .weights = {1, 2, 3}}); }),
            "the number of weights is 3, expected that of the ranks, 2");
  expectHas(refusal([] { Loader(Counted(), {.ranks = 2, .weights = {1, -2}}); }), "a rank's weight is -2");
  expectHas(refusal([] { Loader(Counted(), {.ranks = 2, .weights = {1, 1 << 20}}); }),
            "the sum of weights is 1048577, expected at most 1048576");
  expectHas(refusal([] { Loader(Counted(), {.ranks = 0}); }), "ranks is 0, expected at least 1");
  expectHas(refusal([] { Loader(Counted(), {.rank = 2, .ranks = 2}); }), "rank is 2, expected 0 to 1");
  expectHas(refusal([] { Loader(Counted(), {.shuffle = true, .ranks = 2}); }),
            "shuffle has no seed, expected one, so that all 2 ranks have the same order");
  expectHas(refusal([] { Loader(Counted(), {.batch = 0}); }), "batch is 0, expected at least 1");
  expectHas(refusal([] { Loader(Counted(), {.workers = -3}); }), "workers is -3");
  expectHas(refusal([] { Loader(Counted(), {.prefetch = 0}); }), "prefetch is 0");
  expectHas(refusal([] { Loader(Counted(), {.ioDelay = {.latency = -1}}); }), "ioDelay.latency");
  Counted empty;
  empty.count = 0;
  expectHas(refusal([&] { Loader loader(empty); }, ErrorKind::badInput), "the data set is empty");
  expectHas(refusal([] { Loader(Counted(), {.batch = 101, .dropLast = true}); }, ErrorKind::badInput),
            "has 100 samples");
  int workers = Loader(Counted()).options().workers;
  EXPECT_GE(workers, 1);
  EXPECT_LE(workers, 8);
  Loader loader(Counted(), {.batch = 10});
  for (const Batch &batch : loader) {
    expectHas(refusal([&] { batch.host(2); }), "field 2 (from 0) of a batch that has 2");
    expectHas(refusal([&] { batch.checkFields(3); }), "3 names for a batch of 2 fields");
  }
}

// The next batch is loaded while the consumer works: ranges of other threads lie inside of its steps.
TEST(Loader, AProfileShowsTheOverlap) {
  rt::Profile profile;
  profile.start();
  Loader loader(Counted(), {.batch = 10, .workers = 2, .ioDelay = {.perItem = 0.0005}});
  for (const Batch &batch : loader) {
    rt::ProfileScope scope("step");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_GT(batch.size(), 0);
  }
  profile.stop();
  auto data = profile.read();
  struct Range {
    uint64_t begin, end;
    uint32_t thread;
  };
  std::map<std::string, std::vector<Range>> ranges;
  for (uint64_t i = 0; i < data.count; ++i)
    if (data.events[i].name)
      ranges[data.events[i].name].push_back({data.events[i].begin_ns, data.events[i].end_ns, data.events[i].thread});
  EXPECT_EQ(ranges["load batch"].size(), 10u);
  EXPECT_EQ(ranges["wait for data"].size(), 10u);
  EXPECT_EQ(ranges["step"].size(), 10u);
  int overlapping = 0;
  for (const Range &step : ranges["step"])
    for (const Range &load : ranges["load batch"])
      if (load.thread != step.thread && load.begin < step.end && step.begin < load.end) {
        ++overlapping;
        break;
      }
  EXPECT_GE(overlapping, 5);
  EXPECT_GT(loader.stats().loadSeconds, 0.04);
}

} // namespace
