// Calls that are handed over while the one before is under way: the next inputs come beside this one's arithmetic.
// Exact on the clock of null devices, in any order of their commands; results and state are those of calls one by one.
#include "runtime/device/null/NullMachine.h"
#include "runtime/test/TestPackage.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>

namespace sprig::rt::test {
namespace {

constexpr int64_t kWords = 25'000;             // 100 kB
constexpr double kArray = 105e3, kWord = 5004; // over 5 us and 1 GB/s

// A step of training: sum += x in place, and a word of the result, in `workNs` in all.
TestPackage training(double workNs) {
  TestPackage made;
  uint32_t zeros = made.addConstant(std::vector<uint32_t>(kWords, 0));
  made.program.states.push_back({{"sum", SPRIG_RT_U32, {kWords}}, zeros});
  EntryBuilder entry("step");
  uint32_t x = entry.input("x", {kWords}), y = entry.output("y", {1}), sum = entry.state(0, kWords * 4);
  entry.dispatch(0, Add, {sum, x, sum}, kWords, kWords);
  entry.dispatch(0, Add, {sum, sum, y}, 1);
  entry.entry.updatesState = true;
  for (core::Command &command : entry.entry.lanes[0].commands)
    command.flops = uint64_t((workNs / 2 - core::NullMachine::kLaunchNs) * core::NullMachine::kFlopsPerNs);
  made.program.entries.push_back(entry.entry);
  return made;
}

class Steps {
public:
  explicit Steps(const TestPackage &made, const char *seed) : context(load(made, seed)) {}

  Words &input(int step) {
    Words &x = *inputs.emplace_back(std::make_unique<Words>(kWords));
    for (size_t i = 0; i < x.size(); ++i) x[i] = uint32_t(step + 1) * uint32_t(i + 1);
    return x;
  }
  Future submit(int step, bool sameResult = false) {
    if (results.empty() || !sameResult) results.push_back(std::make_unique<Words>(1));
    return context.submit({input(step).view()}, {results.back()->view()});
  }
  // 2 (1 + ... + steps)
  void expectResult(int step) const {
    EXPECT_EQ((*results[size_t(step)])[0], uint32_t((step + 1) * (step + 2))) << "step " << step;
  }

  std::vector<std::unique_ptr<Words>> inputs, results;
  Context context;

private:
  static Package load(const TestPackage &made, const char *seed) {
    setenv("SPRIG_NULL_SEED", seed, 1);
    LoadOptions options;
    options.device = "null:0";
    options.links = {"host-null:0=5us,1GB/s"};
    Package package = made.load(options);
    unsetenv("SPRIG_NULL_SEED");
    return package;
  }
};

double secondsOf(const std::vector<Future> &futures) {
  double seconds = 0;
  for (const Future &future : futures) {
    future.wait();
    seconds += future.run().simulated_seconds;
  }
  return seconds;
}

class AheadSeeds : public testing::TestWithParam<const char *> {};
constexpr int kSteps = 20;

TEST_P(AheadSeeds, AStepTakesTheLongerOfItsUploadAndItsArithmetic) {
  // Arithmetic longer than the upload, shorter, and as long.
  for (double work : {3e5, 5e4, kArray}) {
    Steps steps(training(work), GetParam());
    std::vector<Future> futures;
    for (int step = 0; step < kSteps; ++step) futures.push_back(steps.submit(step));
    EXPECT_NEAR(secondsOf(futures), (kArray + work + (kSteps - 1) * std::max(kArray, work) + kWord) * kNs, 1e-12);
    for (int step = 0; step < kSteps; ++step) steps.expectResult(step);
  }
}

TEST_P(AheadSeeds, CallsOneByOneTakeTheSum) {
  constexpr double kWork = 3e5;
  Steps steps(training(kWork), GetParam());
  double seconds = 0;
  for (int step = 0; step < kSteps; ++step) {
    Words &x = steps.input(step), &y = *steps.results.emplace_back(std::make_unique<Words>(1));
    steps.context.invoke({x.view()}, {y.view()});
    seconds += steps.context.lastRun().simulated_seconds;
    steps.expectResult(step);
  }
  EXPECT_NEAR(seconds, kSteps * (kArray + kWork + kWord) * kNs, 1e-12);
  // A submission that is waited for before the next one is made is no different.
  Steps read(training(kWork), GetParam());
  seconds = 0;
  for (int step = 0; step < kSteps; ++step) {
    seconds += secondsOf({read.submit(step)});
    read.expectResult(step);
  }
  EXPECT_NEAR(seconds, kSteps * (kArray + kWork + kWord) * kNs, 1e-12);
}

// The loop of a trainer that reads each loss while the next step is under way.
TEST_P(AheadSeeds, ALoopThatReadsEachResultOneStepLaterHidesUploadsToo) {
  constexpr double kWork = 3e5;
  Steps steps(training(kWork), GetParam());
  std::vector<Future> futures;
  for (int step = 0; step < kSteps; ++step) {
    futures.push_back(steps.submit(step));
    if (step == 0) continue;
    futures[size_t(step) - 1].wait();
    steps.expectResult(step - 1);
  }
  EXPECT_NEAR(secondsOf(futures), (kArray + kSteps * kWork + kWord) * kNs, 1e-12);
  // Nothing is hidden that was handed over too late: an upload begins when the step two before was seen to have ended.
  Steps late(training(2000), GetParam());
  futures.clear();
  for (int step = 0; step < kSteps; ++step) {
    futures.push_back(late.submit(step));
    if (step > 0) futures[size_t(step) - 1].wait();
  }
  double pair = kArray + 2000 + kWord; // two uploads in a row, then the wait for the first of both
  EXPECT_GE(secondsOf(futures), (kArray * kSteps + 2000 + kWord) * kNs - 1e-12);
  EXPECT_LE(secondsOf(futures), pair * kSteps * kNs);
}

TEST_P(AheadSeeds, ACallThatUsesTheResultsOfTheOneBeforeWaitsForIt) {
  constexpr double kWork = 3e5;
  // The same array for all results.
  Steps same(training(kWork), GetParam());
  std::vector<Future> futures;
  for (int step = 0; step < kSteps; ++step) futures.push_back(same.submit(step, true));
  EXPECT_NEAR(secondsOf(futures), kSteps * (kArray + kWork + kWord) * kNs, 1e-12);
  // Results that are the next inputs: x, 2 x, 4 x, ...
  TestPackage made;
  EntryBuilder entry("double");
  uint32_t x = entry.input("x", {kWords}), y = entry.output("y", {kWords});
  entry.dispatch(0, Add, {x, x, y}, kWords, kWords);
  made.program.entries.push_back(entry.entry);
  Steps chain(made, GetParam());
  std::vector<std::unique_ptr<Words>> values;
  for (int i = 0; i <= 10; ++i) values.push_back(std::make_unique<Words>(kWords, 3));
  futures.clear();
  for (size_t i = 0; i < 10; ++i) futures.push_back(chain.context.submit({values[i]->view()}, {values[i + 1]->view()}));
  secondsOf(futures);
  EXPECT_EQ((*values[10])[kWords - 1], 3u << 10);
}

TEST_P(AheadSeeds, OthersGoOnWhenOneIsCancelled) {
  Steps steps(training(3e5), GetParam());
  std::vector<Future> futures;
  for (int step = 0; step < kSteps; ++step) {
    futures.push_back(steps.submit(step));
    if (step % 5 == 3) futures.back().cancel();
  }
  for (int step = 0; step < kSteps; ++step) {
    sprig_rt_code code = SPRIG_RT_OK;
    std::string error = errorOf([&] { futures[size_t(step)].wait(); }, &code);
    if (error.empty()) continue;
    EXPECT_EQ(code, SPRIG_RT_CANCELLED) << error;
    EXPECT_EQ(step % 5, 3);
  }
  // One more sees a state that some steps are missing in, those alone.
  futures.push_back(steps.submit(kSteps));
  futures.back().wait();
  uint32_t sum = (*steps.results.back())[0] / 2, all = (kSteps + 1) * (kSteps + 2) / 2, most = 4 + 9 + 14 + 19;
  EXPECT_LE(sum, all);
  EXPECT_GE(sum, all - most);
}

// An index that is out of range fails its own call.
TEST_P(AheadSeeds, OthersGoOnWhenOneFails) {
  TestPackage made;
  EntryBuilder entry("gather");
  uint32_t table = entry.input("table", {4}), index = entry.input("index", {1}, SPRIG_RT_I64),
           size = entry.input("size", {1}, SPRIG_RT_I64), out = entry.output("out", {1});
  entry.dispatch(0, Gather, {table, index, size, out}, 1);
  made.program.entries.push_back(entry.entry);
  Steps steps(made, GetParam());
  Words values(4, 9);
  std::vector<std::unique_ptr<Array>> indices;
  std::vector<std::unique_ptr<Words>> results;
  Array length(SPRIG_RT_I64, {1});
  length.as<int64_t>()[0] = 4;
  std::vector<Future> futures;
  for (int i = 0; i < kSteps; ++i) {
    indices.push_back(std::make_unique<Array>(SPRIG_RT_I64, std::vector<int64_t>{1}));
    indices.back()->as<int64_t>()[0] = i % 3 ? 2 : 7;
    results.push_back(std::make_unique<Words>(1));
    futures.push_back(
        steps.context.submit({values.view(), indices.back()->view(), length.view()}, {results.back()->view()}));
  }
  for (int i = 0; i < kSteps; ++i) {
    sprig_rt_code code = SPRIG_RT_OK;
    std::string error = errorOf([&] { futures[size_t(i)].wait(); }, &code);
    EXPECT_EQ(code, i % 3 ? SPRIG_RT_OK : SPRIG_RT_BAD_INPUT) << error;
    if (i % 3) EXPECT_EQ((*results[size_t(i)])[0], 9u);
    if (i % 3 == 0) EXPECT_TRUE(error.starts_with("entry 'gather': ")) << error;
  }
}

// A call of one context is started while the one before runs on the processor, too, which works on the caller's arrays.
TEST_P(AheadSeeds, DevicesBesideTheProcessor) {
  TestPackage made;
  made.program.devices = {{"cpu"}, {"cpu", 1}};
  EntryBuilder entry("both");
  uint32_t x = entry.input("x", {kWords}), there = entry.arena(kWords * 4), y = entry.output("y", {kWords}),
           back = entry.output("back", {kWords}), copied = entry.event();
  for (uint32_t buffer : {there, y}) entry.entry.buffers[buffer].device = 1;
  entry.dispatch(0, Add, {x, x, back}, kWords, kWords);
  entry.copy(0, back, there);
  entry.record(0, copied);
  entry.wait(1, copied);
  entry.dispatch(1, Add, {there, there, y}, kWords, kWords);
  entry.entry.lanes[1].device = 1;
  entry.entry.moreArenas = {entry.entry.arenaSize};
  entry.entry.arenaSize = 0;
  made.program.entries.push_back(entry.entry);
  setenv("SPRIG_NULL_SEED", GetParam(), 1);
  LoadOptions options;
  options.device = "cpu:0,null:0";
  Context context(made.load(options));
  unsetenv("SPRIG_NULL_SEED");
  std::vector<std::unique_ptr<Words>> arrays;
  std::vector<Future> futures;
  for (uint32_t i = 0; i < 10; ++i) {
    for (int k = 0; k < 3; ++k) arrays.push_back(std::make_unique<Words>(kWords, i + 1));
    futures.push_back(context.submit({arrays[3 * i]->view()}, {arrays[3 * i + 1]->view(), arrays[3 * i + 2]->view()}));
  }
  for (uint32_t i = 0; i < 10; ++i) {
    futures[i].wait();
    EXPECT_EQ((*arrays[3 * i + 1])[kWords - 1], 4 * (i + 1));
    EXPECT_EQ((*arrays[3 * i + 2])[kWords - 1], 2 * (i + 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, AheadSeeds, testing::Values("0", "1", "7", "11"));

TEST(Ahead, TheSecondCopyIsThereWhereItIsUsed) {
  Steps steps(training(3e5), "0");
  Words x(kWords, 1), y(1), z(1);
  steps.context.invoke({x.view()}, {y.view()});
  uint64_t one = memory::allocated();
  for (int i = 0; i < 3; ++i) steps.context.submit({x.view()}, {y.view()}).wait();
  steps.context.invoke({x.view()}, {y.view()});
  EXPECT_EQ(memory::allocated(), one);
  Future first = steps.context.submit({x.view()}, {y.view()});
  Future second = steps.context.submit({x.view()}, {z.view()});
  first.wait();
  second.wait();
  EXPECT_GE(memory::allocated(), one + kWords * 4);
  EXPECT_LE(memory::allocated(), one + kWords * 4 + 4096);
  uint64_t two = memory::allocated();
  for (int i = 0; i < 10; ++i) {
    first = steps.context.submit({x.view()}, {y.view()});
    steps.context.submit({x.view()}, {z.view()}).wait();
  }
  EXPECT_EQ(memory::allocated(), two);
}

} // namespace
} // namespace sprig::rt::test
