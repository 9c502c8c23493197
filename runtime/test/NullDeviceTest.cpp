// Null devices that compute: everything that a package may do has the results of the processor on memory that the host
// cannot touch, in every order that the schedule allows; and what the schedule forgets shows.
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/null/NullDevice.h"
#include "runtime/exec/State.h"
#include "runtime/test/RandomGraph.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

namespace sprig::rt::test {
namespace {

using namespace std::chrono_literals;

constexpr int kSeeds = 8; // both lazy orders, and some at random

// A variable of the environment for a scope.
struct Variable {
  Variable(const char *name, const std::string &value) : name(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name); }
  const char *name;
};

class NullDeviceSeeds : public testing::TestWithParam<int> {
protected:
  Variable seed{"SPRIG_NULL_SEED", std::to_string(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Orders, NullDeviceSeeds, testing::Range(0, kSeeds));

TEST_P(NullDeviceSeeds, GraphsOverLanesEqualASerialRun) {
  for (uint32_t number = 0; number < 12; ++number) {
    RandomGraph graph(number, 1 + number % 5, 3 + int(number) * 7);
    Context context(graph.package.load(on("null:0")));
    Words in(kWidth), out(kWidth);
    for (uint32_t round = 0; round < 3; ++round) {
      for (size_t i = 0; i < in.size(); ++i) in[i] = number + round * 1000003u + uint32_t(i);
      context.invoke({in.view()}, {out.view()});
      std::vector<uint32_t> want = graph.expected(in);
      for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], want[i]) << "word " << i << " of graph " << number;
    }
  }
}

TEST_P(NullDeviceSeeds, ArraysOfAnyKindAndPaddedBatches) {
  TestPackage package;
  for (int64_t batch : {2, 4}) {
    EntryBuilder entry("main");
    uint32_t x = entry.input("x", {batch, 8}), y = entry.output("y", {batch, 8});
    entry.dispatch(0, Add, {x, x, y}, batch * 8);
    entry.entry.independentSamples = true;
    package.program.entries.push_back(entry.entry);
  }
  Context context(package.load(on("null:1")));
  Words in(200), out(200);
  for (size_t i = 0; i < in.size(); ++i) in[i] = uint32_t(i);
  for (int64_t batch = 1; batch < 12; ++batch) {
    // Rows with a gap, from an address that is aligned to words only.
    TensorView x(in.data() + 1, std::vector<int64_t>{batch, 8}, {11, 1}), y(out.data() + 3, {batch, 8});
    context.invoke({x}, {y});
    for (int64_t row = 0; row < batch; ++row)
      for (int64_t i = 0; i < 8; ++i) ASSERT_EQ(out[size_t(3 + row * 8 + i)], 2 * in[size_t(1 + row * 11 + i)]);
  }
}

// Counts up a state, from a constant that is one element in the file; and adds another constant.
TestPackage counting() {
  TestPackage made;
  core::Constant zeros = {};
  zeros.name = "zeros";
  zeros.size = 64;
  zeros.splat = {5, 0, 0, 0};
  made.program.constants.push_back(zeros);
  std::vector<uint32_t> values(16);
  for (uint32_t i = 0; i < 16; ++i) values[i] = i * 100;
  uint32_t constant = made.addConstant(values);
  core::StateType state = {};
  state.tensor = {"count", SPRIG_RT_U32, {16}, 0};
  state.initial = 0;
  made.program.states.push_back(state);
  EntryBuilder entry("main");
  uint32_t count = entry.state(0, 64), y = entry.output("y", {16});
  entry.dispatch(0, Count, {count}, 16);
  entry.dispatch(0, Add, {count, entry.constant(constant, 64), y}, 16);
  entry.entry.updatesState = true;
  made.program.entries.push_back(entry.entry);
  return made;
}

TEST_P(NullDeviceSeeds, StatesAndConstantsLieOnTheDevice) {
  Package package = counting().load(on("null:0"));
  State state(package);
  Context context(package, {nullptr, &state, 0});
  Words out(16), read(16);
  std::span<uint8_t> bytes(reinterpret_cast<uint8_t *>(read.data()), 64);
  for (uint32_t round = 1; round < 4; ++round) {
    context.invoke({}, {out.view()});
    state.read(0, bytes);
    for (uint32_t i = 0; i < 16; ++i) {
      ASSERT_EQ(out[i], 5 + round + i * 100);
      ASSERT_EQ(read[i], 5 + round);
    }
  }
  for (uint32_t i = 0; i < 16; ++i) read[i] = i;
  state.write(0, bytes);
  context.invoke({}, {out.view()});
  for (uint32_t i = 0; i < 16; ++i) ASSERT_EQ(out[i], i + 1 + i * 100);
  EXPECT_EQ(errorOf([&] { state.bytes(0); }), "state 'count' lies on null:0: expected sprig_rt_state_read or "
                                              "sprig_rt_state_write, which copy");
  EXPECT_EQ(errorOf([&] { state.read(0, bytes.first(8)); }), "state 'count': expected 64 bytes, got 8");
  EXPECT_EQ(errorOf([&] { State::bound(package); }),
            "expected devices that work on the host's memory, found null:0: its states have memory of their own");
}

TEST(NullDevice, TheHostsStatesAreReadAndWrittenToo) {
  Package package = counting().load();
  State state(package);
  Words read(16), out(16);
  std::span<uint8_t> bytes(reinterpret_cast<uint8_t *>(read.data()), 64);
  state.read(0, bytes);
  EXPECT_EQ(read[3], 5u);
  read[3] = 50;
  state.write(0, bytes);
  Context(package, {nullptr, &state, 0}).invoke({}, {out.view()});
  EXPECT_EQ(out[3], 351u);
}

// Two states at home on the first device. The second reads a copy of the one, which its update in place waits for, and
// computes the other, which is copied home.
struct Crossing {
  bool waitsForReader = true, waitsForValue = true, copiesState = true, copiesBack = true;

  TestPackage package() const {
    TestPackage made;
    made.program.devices = {{"cpu"}, {"cpu", 1}};
    made.program.constants.push_back({"fives", 64, 0, {5, 0, 0, 0}});
    for (const char *name : {"count", "doubled"}) made.program.states.push_back({{name, SPRIG_RT_U32, {16}, 0}, 0});
    EntryBuilder entry("main");
    auto there = [&](uint32_t buffer) {
      entry.entry.buffers[buffer].device = 1;
      return buffer;
    };
    uint32_t count = entry.state(0, 64), doubled = entry.state(1, 64);
    uint32_t seen = there(entry.arena(64)), twice = there(entry.arena(64)), y = there(entry.output("y", {16}));
    uint32_t read = entry.event(), computed = entry.event();
    if (waitsForReader) entry.wait(0, read);
    entry.dispatch(0, Count, {count}, 16);
    if (waitsForValue) entry.wait(0, computed);
    if (copiesBack) entry.copy(0, twice, doubled);
    if (copiesState) entry.copy(1, count, seen);
    entry.record(1, read);
    entry.dispatch(1, Add, {seen, seen, twice}, 16);
    entry.record(1, computed);
    entry.dispatch(1, Add, {twice, seen, y}, 16);
    entry.entry.lanes[1].device = 1;
    entry.entry.moreArenas = {entry.entry.arenaSize};
    entry.entry.updatesState = true;
    made.program.entries.push_back(entry.entry);
    return made;
  }

  // Whether a few runs have the right values.
  bool isRight(const char *devices) const {
    Package loaded = package().load(on(devices));
    State state(loaded);
    Context context(loaded, {nullptr, &state, 0});
    Words out(16), count(16), doubled(16);
    auto bytes = [](Words &words) { return std::span<uint8_t>(reinterpret_cast<uint8_t *>(words.data()), 64); };
    bool right = true;
    for (uint32_t round = 0; round < 4; ++round) {
      context.invoke({}, {out.view()});
      state.read(0, bytes(count));
      state.read(1, bytes(doubled));
      for (uint32_t i = 0; i < 16; ++i)
        right &= out[i] == 3 * (5 + round) && count[i] == 6 + round && doubled[i] == 2 * (5 + round);
    }
    return right;
  }
};

TEST_P(NullDeviceSeeds, StatesAreReadAndUpdatedFromOtherDevices) {
  for (const char *devices : {"null:0,1", "null:5,2", "cpu,null:0", "null:0,cpu"}) {
    EXPECT_TRUE(Crossing().isRight(devices)) << devices;
    EXPECT_FALSE(Crossing{.copiesState = false}.isRight(devices)) << devices;
    EXPECT_FALSE(Crossing{.copiesBack = false}.isRight(devices)) << devices;
  }
}

TEST(NullDevice, AStateThatNoEventOrdersIsRefused) {
  auto error = [](Crossing crossing) { return errorOf([&] { crossing.package().load(on("null:0,1")); }); };
  EXPECT_EQ(error({}), "");
  EXPECT_EQ(error({.waitsForReader = false}),
            "test: entry 0 'main': lane 1 command 0 'c0' on cpu:1 reads bytes 0 to 64 of state 'count', which lane 0 "
            "command 0 'c0' on cpu writes; no event orders the two");
  EXPECT_EQ(error({.waitsForValue = false}),
            "test: entry 0 'main': lane 0 command 2 'c2' on cpu reads bytes 64 to 128 of the arena of cpu:1, which "
            "lane 1 command 2 'c2' on cpu:1 writes; no event orders the two");
}

TEST_P(NullDeviceSeeds, AFailureBehindTheCallEndsAllLanes) {
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {8}), zero = entry.input("zero", {8}), y = entry.output("y", {8});
  uint32_t t = entry.arena(32);
  uint32_t done = entry.event();
  entry.wait(0, done);
  entry.dispatch(0, Add, {t, x, y}, 8);
  entry.dispatch(1, Divide, {x, zero, t}, 8);
  entry.record(1, done);
  package.program.entries.push_back(entry.entry);
  Context context(package.load(on("null:0")));
  Words six(8, 6), divisor(8, 3), out(8, 42);
  for (int round = 0; round < 5; ++round) {
    divisor[5] = 0;
    sprig_rt_code code = SPRIG_RT_OK;
    ASSERT_EQ(errorOf([&] { context.invoke({six.view(), divisor.view()}, {out.view()}); }, &code),
              "entry 'main': 'first_divide': integer division by zero");
    EXPECT_EQ(code, SPRIG_RT_BAD_INPUT);
    divisor[5] = 3;
    context.invoke({six.view(), divisor.view()}, {out.view()});
    for (size_t i = 0; i < 8; ++i) ASSERT_EQ(out[i], 8u);
  }
}

// Two lanes that take seconds: a time-out passes, a cancellation ends them at the next piece, and then all is as
// before.
TEST_P(NullDeviceSeeds, TimesOutAndCancels) {
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t cycles = entry.input("cycles", {1}, SPRIG_RT_U64), y = entry.output("y", {64}), z = entry.output("z", {64});
  for (int i = 0; i < 100; ++i) {
    entry.dispatch(0, Slow, {cycles, y}, 64);
    entry.dispatch(1, Slow, {cycles, z}, 64);
  }
  package.program.entries.push_back(entry.entry);
  Context context(package.load(on("null:2")));
  Array count(SPRIG_RT_U64, {1});
  count.as<uint64_t>()[0] = 1'000'000; // a third of a millisecond, of 12800 tiles
  Words first(64), second(64);
  Future future = context.submit({count.view()}, {first.view(), second.view()});
  EXPECT_FALSE(future.waitFor(20ms));
  EXPECT_FALSE(future.ready());
  auto start = std::chrono::steady_clock::now();
  future.cancel();
  sprig_rt_code code = SPRIG_RT_OK;
  EXPECT_NE(errorOf([&] { future.wait(); }, &code), "");
  EXPECT_EQ(code, SPRIG_RT_CANCELLED);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 1s);
  count.as<uint64_t>()[0] = 1;
  context.invoke({count.view()}, {first.view(), second.view()});
  for (size_t i = 0; i < 64; ++i) ASSERT_EQ(second[i], uint32_t(i + 1));
}

// x + x on one lane, used on another.
TestPackage twoLanes() {
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {64}), y = entry.output("y", {64}), t = entry.arena(256);
  uint32_t done = entry.event();
  entry.wait(0, done);
  entry.dispatch(0, Add, {t, x, y}, 64);
  entry.dispatch(1, Add, {x, x, t}, 64);
  entry.record(1, done);
  package.program.entries.push_back(entry.entry);
  return package;
}

TEST(NullDevice, KeepsTimeWhileItComputes) {
  // 1 ms of flops, then 2 ms after it on another lane.
  TestPackage made = twoLanes();
  made.program.entries[0].lanes[1].commands[0].flops = 100'000'000;
  made.program.entries[0].lanes[0].commands[1].flops = 200'000'000;
  Context context(made.load(on("null:0")));
  Words in(64, 7), out(64);
  for (int round = 0; round < 3; ++round) {
    context.invoke({in.view()}, {out.view()});
    EXPECT_EQ(out[0], 21u);
    EXPECT_NEAR(context.lastRun().simulated_seconds, 3e-3, 1e-5);
  }
  Variable mode("SPRIG_NULL_MODE", "time");
  Context timed(made.load(on("null:0")));
  Words untouched(64, 1);
  timed.invoke({in.view()}, {untouched.view()});
  EXPECT_EQ(untouched[0], 1u);
  EXPECT_NEAR(timed.lastRun().simulated_seconds, 3e-3, 1e-5);
}

TEST(NullDevice, RefusesNonsenseAndDevicesThatAreNotThere) {
  auto load = [](const char *devices) { return errorOf([&] { addPackage().load(on(devices)); }); };
  EXPECT_EQ(load("null:0,1"), "test: the program runs on 1 device (cpu:0), given 2 (null:0, null:1)");
  EXPECT_EQ(load("cuda:1023").rfind("test: device cuda:1023 is not there: ", 0), 0u);
  EXPECT_EQ(load("cpu*2"), "test: the program runs on 1 device (cpu:0), given 2 (cpu:0, cpu:1)");
  EXPECT_EQ(load("null:"), "test: devices 'null:': expected null:N with a number from 0 to 1023, found ''");
  Variable seed("SPRIG_NULL_SEED", "many");
  EXPECT_EQ(load("null:0"), "test: SPRIG_NULL_SEED: expected a whole number, found 'many'");
  Variable mode("SPRIG_NULL_MODE", "fast");
  EXPECT_EQ(load("null:0"), "test: SPRIG_NULL_MODE: expected reference or time, found 'fast'");
}

// The device's own interface, without a package: what a loader would refuse can be told to it.
struct Machine {
  explicit Machine(uint64_t seed = 0) : machine(std::make_shared<core::NullMachine>(core::NullOptions{true, seed})) {
    for (core::NullDevice *device : {&zero, &one}) {
      EXPECT_TRUE(device->createLane(nullptr, lanes.emplace_back()).isOk());
      EXPECT_TRUE(device->createEvent(events.emplace_back()).isOk());
    }
  }

  static core::Memory allocate(const core::Device &device, uint64_t bytes) {
    core::Memory memory;
    EXPECT_TRUE(device.allocate({}, bytes, "a test", memory).isOk());
    return memory;
  }
  void copy(int lane, uint8_t *target, const core::Device *to, const uint8_t *source, const core::Device *from,
            uint64_t bytes) {
    lanes[size_t(lane)]->copy({target, source, bytes, to, from, {&control, nullptr, 0, 0}});
  }
  // Until both lanes have ended.
  void finish() {
    std::unique_ptr<core::DeviceLane> last;
    std::unique_ptr<core::DeviceEvent> end;
    ASSERT_TRUE(zero.createLane(nullptr, last).isOk() && zero.createEvent(end).isOk());
    for (size_t lane = 0; lane < 2; ++lane) {
      lanes[lane]->record(*events[lane]);
      last->wait(*events[lane]);
    }
    last->record(*end);
    end->synchronize(end->last(), std::nullopt);
  }

  std::shared_ptr<core::NullMachine> machine;
  core::NullDevice zero{0, machine}, one{1, machine};
  core::RunControl control;
  std::vector<std::unique_ptr<core::DeviceLane>> lanes;
  std::vector<std::unique_ptr<core::DeviceEvent>> events;
};

uint8_t *bytesIn(std::vector<uint32_t> &words) { return reinterpret_cast<uint8_t *>(words.data()); }

// From the host to null:0 on one lane, from there to the host on the other; with a wait in between, or not.
bool arrives(uint64_t seed, int producer, bool waits) {
  Machine machine(seed);
  core::Memory there = Machine::allocate(machine.zero, 64);
  std::vector<uint32_t> in(16, 7), out(16, 0);
  std::unique_ptr<core::DeviceEvent> done;
  EXPECT_TRUE(machine.zero.createEvent(done).isOk());
  machine.copy(producer, there.address, &machine.zero, bytesIn(in), nullptr, 64);
  machine.lanes[size_t(producer)]->record(*done);
  if (waits) machine.lanes[size_t(1 - producer)]->wait(*done);
  machine.copy(1 - producer, bytesIn(out), nullptr, there.address, &machine.zero, 64);
  machine.finish();
  return out == in;
}

TEST(NullDevice, ARemovedWaitShows) {
  for (int producer : {0, 1}) {
    int wrong = 0;
    for (uint64_t seed = 0; seed < 2; ++seed) {
      EXPECT_TRUE(arrives(seed, producer, true));
      wrong += !arrives(seed, producer, false);
    }
    // One of the two lazy orders always has the reader before the writer.
    EXPECT_GE(wrong, 1) << producer;
  }
}

// Copies and dispatches are done in pieces between those of other lanes.
TEST(NullDevice, UnorderedCopiesTear) {
  bool torn = false;
  for (uint64_t seed = 2; seed < 40 && !torn; ++seed) {
    Machine machine(seed);
    core::Memory there = Machine::allocate(machine.zero, 4096);
    std::vector<uint32_t> first(1024, 1), second(1024, 2), out(1024);
    machine.copy(0, there.address, &machine.zero, bytesIn(first), nullptr, 4096);
    machine.copy(1, there.address, &machine.zero, bytesIn(second), nullptr, 4096);
    machine.finish();
    ASSERT_TRUE(core::download(machine.zero, out.data(), there.address, 4096).isOk());
    torn = std::count(out.begin(), out.end(), out[0]) != 1024;
  }
  EXPECT_TRUE(torn);
}

TEST(NullMemory, IsNotTheHosts) {
  Machine machine;
  core::Memory memory = Machine::allocate(machine.zero, 4096);
  EXPECT_DEATH(std::memset(memory.address, 0, 1), "");
  EXPECT_DEATH(std::fprintf(stderr, "%d", *memory.address), "");
}

TEST(NullMemory, StartsPoisonedAndIsRefusedWhereItIsNot) {
  Machine machine;
  core::Memory here = Machine::allocate(machine.zero, 64), there = Machine::allocate(machine.one, 64);
  uint32_t words[16] = {};
  ASSERT_TRUE(core::download(machine.zero, words, here.address, 64).isOk());
  EXPECT_EQ(words[15], 0xffffffffu);
  words[15] = 4;
  ASSERT_TRUE(core::upload(machine.one, there.address, words, 64).isOk());
  words[15] = 0;
  ASSERT_TRUE(core::download(machine.one, words, there.address, 64).isOk());
  EXPECT_EQ(words[15], 4u);
  EXPECT_EQ(core::upload(machine.one, here.address, words, 64).message(),
            "the target of a copy lies on null:0, expected it on null:1");
  EXPECT_EQ(core::upload(machine.one, there.address + 4, words, 64).message(),
            "the target of a copy has 60 bytes on null:1, expected 64");
  uint8_t *address = there.address;
  there = {};
  EXPECT_EQ(core::download(machine.one, words, address, 64).message(),
            "the source of a copy is no memory of null:1: the host's, or given back");
}

TEST(NullDevice, NothingHasHappenedUntilSomebodyWaits) {
  Machine machine;
  core::Memory here = Machine::allocate(machine.zero, 64), there = Machine::allocate(machine.one, 64);
  std::vector<uint32_t> in(16, 1), out(16, 0);
  machine.copy(0, here.address, &machine.zero, bytesIn(in), nullptr, 64);
  machine.copy(0, there.address, &machine.one, here.address, &machine.zero, 64);
  machine.lanes[0]->record(*machine.events[0]);
  machine.lanes[1]->wait(*machine.events[0]);
  machine.copy(1, bytesIn(out), nullptr, there.address, &machine.one, 64);
  machine.lanes[1]->record(*machine.events[1]);
  core::DeviceEvent &copied = *machine.events[0], &done = *machine.events[1];
  in[0] = 2;                                                // the copy from here is yet to come
  EXPECT_FALSE(copied.synchronize(copied.last() + 1, 1ms)); // a record that nobody has made
  EXPECT_TRUE(done.synchronize(done.last(), 10s));
  EXPECT_TRUE(copied.reached(copied.last()));
  EXPECT_EQ(out[0], 2u);
}

TEST(NullDevice, WaitsForTheProcessorAndIsWaitedFor) {
  Machine machine;
  core::CpuDevice cpu;
  core::Memory there = Machine::allocate(machine.zero, 64);
  std::unique_ptr<core::DeviceLane> host, device;
  std::unique_ptr<core::DeviceEvent> ready, uploaded, back, ended;
  ASSERT_TRUE(cpu.createLane(nullptr, host).isOk() && machine.zero.createLane(nullptr, device).isOk());
  ASSERT_TRUE(cpu.createEvent(ready).isOk() && machine.zero.createEvent(uploaded).isOk());
  ASSERT_TRUE(cpu.createEvent(back).isOk() && machine.zero.createEvent(ended).isOk());
  core::RunControl control;
  core::CommandTag tag{&control, nullptr, 0, 0};
  uint32_t in[16] = {}, middle[16] = {}, out[16] = {};
  auto bytes = [](uint32_t *words) { return reinterpret_cast<uint8_t *>(words); };
  for (uint32_t round = 1; round < 20; ++round) {
    in[0] = round;
    host->copy({bytes(middle), bytes(in), 64, nullptr, nullptr, tag});
    host->record(*ready);
    device->wait(*ready);
    device->copy({there.address, bytes(middle), 64, &machine.zero, nullptr, tag});
    device->copy({bytes(middle) + 4, there.address, 60, nullptr, &machine.zero, tag});
    device->record(*uploaded);
    host->wait(*uploaded);
    host->copy({bytes(out), bytes(middle), 64, nullptr, nullptr, tag});
    host->record(*back);
    device->wait(*back);
    device->record(*ended);
    ASSERT_TRUE(ended->synchronize(ended->last(), 10s));
    EXPECT_EQ(out[0], round);
    EXPECT_EQ(out[1], round);
  }
}

} // namespace
} // namespace sprig::rt::test
