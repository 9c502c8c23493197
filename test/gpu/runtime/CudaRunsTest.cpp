// What runs on CUDA devices has the processor's results, in every order that streams and events allow, and one graph
// launch a call; what the schedule forgets is named.
#include "runtime/test/RandomGraph.h"
#include "sprig/rt/profile.hpp"
#include "test/gpu/runtime/CudaTest.h"
#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace sprig::rt::test {
namespace {

// A random graph's package with its kernels as PTX, its lanes dealt to so many devices.
CudaPackage onGpus(const RandomGraph &graph) {
  CudaPackage package;
  package.program.entries = graph.package.program.entries;
  return package;
}

std::vector<sprig_rt_profile_event> ofKind(const sprig_rt_profile_data &data, sprig_rt_profile_kind kind) {
  std::vector<sprig_rt_profile_event> found;
  for (uint64_t i = 0; i < data.count; ++i)
    if (data.events[i].kind == kind) found.push_back(data.events[i]);
  return found;
}

struct CudaRuns : CudaTest {
  void expectGraph(const RandomGraph &graph, Context &context, uint32_t rounds) {
    Words in(kWidth), out(kWidth);
    for (uint32_t round = 0; round < rounds; ++round) {
      for (size_t i = 0; i < in.size(); ++i) in[i] = round * 1000003u + uint32_t(i);
      context.invoke({in.view()}, {out.view()});
      std::vector<uint32_t> want = graph.expected(in);
      for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], want[i]) << "word " << i;
    }
  }
};

TEST_F(CudaRuns, GraphsOverLanesEqualASerialRun) {
  for (const char *seed : {"eager", "lazy", "1", "2", "3", "4", "5"}) {
    bool random = seed[1] == 0;
    drive({{"ORDER", random ? "random" : seed}, {"SEED", random ? seed : "1"}});
    for (uint32_t number = 0; number < 5; ++number) {
      RandomGraph graph(number, 1 + number, 3 + int(number) * 5);
      Context context(onGpus(graph).load());
      expectGraph(graph, context, 3);
    }
    expectNoComplaint();
  }
}

TEST_F(CudaRuns, ACallIsOneGraphLaunchAndAllocatesNothing) {
  drive();
  RandomGraph graph(3, 4, 12);
  Context context(onGpus(graph).load());
  expectGraph(graph, context, 2);
  uint64_t launches = count("graph launches"), allocations = count("allocations"), made = count("graphs instantiated"),
           waits = count("host synchronisations"), kernels = count("launches");
  expectGraph(graph, context, 10);
  EXPECT_EQ(count("graph launches"), launches + 10);
  EXPECT_EQ(count("allocations"), allocations);
  EXPECT_EQ(count("graphs instantiated"), made);
  EXPECT_EQ(count("host synchronisations"), waits + 10);
  EXPECT_EQ(count("launches"), kernels); // none beside the graphs'
  expectNoComplaint();
}

// Two lanes that share a value, with and without what orders them. The loader would refuse the latter, were it not told
// that the reader reads nothing.
CudaPackage sharing(bool waits) {
  CudaPackage package;
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {64}), t = entry.arena(256), y = entry.output("y", {64});
  uint32_t done = entry.event();
  entry.dispatch(0, Add, {x, x, t}, 64);
  entry.record(0, done);
  if (waits) entry.wait(1, done);
  entry.dispatch(1, Mix, {t, x, y}, 64);
  if (!waits) package.program.kernels[Mix].access = {0, core::kReads, core::kWrites};
  package.program.entries.push_back(entry.entry);
  return package;
}

TEST_F(CudaRuns, ADroppedWaitIsNamed) {
  for (const char *order : {"eager", "lazy", "random"})
    for (bool waits : {true, false}) {
      drive({{"ORDER", order}});
      {
        Context context(sharing(waits).load());
        Words x(64, 5), y(64);
        context.invoke({x.view()}, {y.view()});
        if (waits) EXPECT_EQ(y[63], 31u * 10 + 5 + 7);
      }
      if (waits)
        expectNoComplaint();
      else
        expectComplaint({"unordered: 'kernel add'", "'kernel mix'", "no stream, event"});
    }
}

// Threads to help with that do nothing before they are told: so that all calls are submitted before the first one
// begins.
struct Later {
  sprig_rt_executor executor = {this, [](void *user, void (*task)(void *), void *argument) {
                                  static_cast<Later *>(user)->tasks.emplace_back(task, argument);
                                }};
  std::vector<std::pair<void (*)(void *), void *>> tasks;
  void begin() {
    for (auto [task, argument] : std::exchange(tasks, {})) task(argument);
  }
};

TEST_F(CudaRuns, SubmittedCallsFollowOneAnother) {
  for (const char *order : {"eager", "lazy", "1", "2", "3", "4"})
    for (bool allAtOnce : {false, true}) {
      bool random = order[1] == 0;
      drive({{"ORDER", random ? "random" : order}, {"SEED", random ? order : "1"}});
      {
        RandomGraph graph(8, 3, 9);
        Package package = onGpus(graph).load();
        Later later;
        Pool pool(1, allAtOnce ? &later.executor : nullptr);
        Context context(package, {&pool, nullptr, 0});
        constexpr size_t calls = 8;
        std::vector<Words> in, out;
        std::vector<Future> futures;
        for (size_t call = 0; call < calls; ++call) {
          in.emplace_back(kWidth, uint32_t(call * 77));
          out.emplace_back(kWidth);
        }
        for (int round = 0; round < 2; ++round) {
          for (size_t call = 0; call < calls; ++call)
            futures.push_back(context.submit({in[call].view()}, {out[call].view()}));
          later.begin();
          for (size_t call = 0; call < calls; ++call) {
            futures[call].wait();
            std::vector<uint32_t> want = graph.expected(in[call]);
            for (size_t i = 0; i < want.size(); ++i) ASSERT_EQ(out[call][i], want[i]) << order << ", call " << call;
          }
          futures.clear();
        }
      }
      expectNoComplaint();
    }
}

// By the driver's made-up clock: what is copied to the device in 5 us, and computed in three times 2 us.
TEST_F(CudaRuns, TheNextUploadLiesBesideTheArithmetic) {
  constexpr int64_t kWords = 25'000, kUpload = 5'000;
  constexpr int kCalls = 10;
  CudaPackage made;
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {kWords}), y = entry.output("y", {16}), s = entry.arena(64), t = entry.arena(64);
  entry.dispatch(0, Add, {x, x, s}, 16);
  entry.dispatch(0, Add, {s, x, t}, 16);
  entry.dispatch(0, Add, {s, t, y}, 16);
  made.program.entries.push_back(entry.entry);
  drive();
  {
    Package package = made.load();
    Later later;
    Pool pool(1, &later.executor);
    Context context(package, {&pool, nullptr, 0});
    std::vector<Words> in, out;
    for (uint32_t call = 0; call < kCalls; ++call) {
      in.emplace_back(size_t(kWords), call);
      out.emplace_back(16);
    }
    auto timeOf = [&](auto calls) {
      uint64_t before = count("virtual nanoseconds");
      calls();
      return count("virtual nanoseconds") - before;
    };
    uint64_t oneByOne = timeOf([&] {
      for (int call = 0; call < kCalls; ++call) context.invoke({in[size_t(call)].view()}, {out[size_t(call)].view()});
    });
    uint64_t submitted = timeOf([&] {
      for (int call = 0; call < kCalls; ++call) context.submit({in[size_t(call)].view()}, {out[size_t(call)].view()});
      later.begin();
    });
    EXPECT_EQ(out[7][3], 5u * 7);
    EXPECT_GT(oneByOne, kCalls * (kUpload + 3 * 2'000ull));
    // Every upload but the first is hidden.
    EXPECT_NEAR(double(oneByOne - submitted), double((kCalls - 1) * kUpload), 100);
    EXPECT_EQ(count("launches"), 0u);
  }
  expectNoComplaint();
}

// Counts up a state, from a constant that is one element in the file; and adds another constant, by way of scratch.
CudaPackage counting() {
  CudaPackage made;
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
  made.program.states.push_back(state);
  EntryBuilder entry("main");
  uint32_t count = entry.state(0, 64), t = entry.arena(64), y = entry.output("y", {16});
  entry.dispatch(0, Count, {count}, 16);
  entry.dispatch(0, Add, {count, entry.constant(constant, 64), t}, 16);
  entry.dispatch(0, Scratch, {t, y}, 16);
  entry.entry.updatesState = true;
  made.program.entries.push_back(entry.entry);
  return made;
}

TEST_F(CudaRuns, StatesConstantsAndScratchLieOnTheDevice) {
  for (const char *order : {"eager", "lazy", "random"}) {
    drive({{"ORDER", order}});
    {
      Package package = counting().load();
      EXPECT_EQ(package.isa(), "compute_80");
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
    }
    expectNoComplaint();
    EXPECT_EQ(count("allocations"), count("frees"));
  }
}

TEST_F(CudaRuns, PartsOfTheTilesAndBatches) {
  drive();
  CudaPackage package;
  for (int64_t batch : {2, 4}) {
    EntryBuilder entry("main");
    uint32_t x = entry.input("x", {batch, 8}), y = entry.output("y", {batch, 8});
    entry.dispatch(0, Add, {x, x, y}, batch * 4);
    entry.dispatch(0, Add, {x, x, y}, batch * 4);
    entry.entry.lanes[0].commands[1].firstTile = batch * 4;
    entry.entry.independentSamples = true;
    package.program.entries.push_back(entry.entry);
  }
  Context context(package.load());
  Words in(200), out(200);
  for (size_t i = 0; i < in.size(); ++i) in[i] = uint32_t(i);
  for (int64_t batch = 1; batch < 12; ++batch) {
    TensorView x(in.data() + 1, std::vector<int64_t>{batch, 8}, {11, 1}), y(out.data() + 3, {batch, 8});
    context.invoke({x}, {y});
    for (int64_t row = 0; row < batch; ++row)
      for (int64_t i = 0; i < 8; ++i) ASSERT_EQ(out[size_t(3 + row * 8 + i)], 2 * in[size_t(1 + row * 11 + i)]);
  }
  expectNoComplaint();
}

// Values go from the first device to the second and back; both have a result for the caller.
CudaPackage crossing(CudaPackage made) {
  EntryBuilder entry("main");
  auto there = [&](uint32_t buffer) {
    entry.entry.buffers[buffer].device = 1;
    return buffer;
  };
  uint32_t x = entry.input("x", {32}), t = entry.arena(128), back = entry.arena(128), y = entry.output("y", {32});
  uint32_t far = there(entry.arena(128)), twice = there(entry.arena(128)), z = there(entry.output("z", {32}));
  uint32_t sent = entry.event(), computed = entry.event();
  entry.dispatch(0, Add, {x, x, t}, 32);
  entry.copy(0, t, far);
  entry.record(0, sent);
  entry.wait(1, sent);
  entry.dispatch(1, Add, {far, far, twice}, 32);
  entry.record(1, computed);
  entry.dispatch(1, Mix, {far, twice, z}, 32);
  entry.wait(0, computed);
  entry.copy(0, twice, back);
  entry.dispatch(0, Add, {back, x, y}, 32);
  entry.entry.lanes[1].device = 1;
  entry.entry.moreArenas = {entry.entry.arenaSize};
  made.program.entries.push_back(entry.entry);
  return made;
}

void expectCrossings(Context &context, const std::string &where) {
  for (uint32_t round = 0; round < 3; ++round) {
    Words x(32, 3 + round), y(32), z(32);
    context.invoke({x.view()}, {y.view(), z.view()});
    for (size_t i = 0; i < 32; ++i) {
      ASSERT_EQ(y[i], 5 * (3 + round)) << where;
      ASSERT_EQ(z[i], 31 * 2 * (3 + round) + 4 * (3 + round) + 7) << where;
    }
  }
}

TEST_F(CudaRuns, TwoDevicesCopyBetweenThem) {
  for (const char *peers : {"all", "none"})
    for (const char *order : {"eager", "lazy", "random"}) {
      drive({{"DEVICES", "sm_90x2"}, {"PEERS", peers}, {"ORDER", order}});
      {
        Context context(crossing(CudaPackage(2)).load());
        expectCrossings(context, std::string(peers) + ", " + order);
        EXPECT_EQ(count("graph launches"), 3u);
        // Directly, where the devices can.
        EXPECT_EQ(count("copies by way of the host"), peers == std::string("all") ? 0u : 6u);
      }
      expectNoComplaint();
    }
}

// Each of the runtime's waits and edges orders something, in calls one by one and submitted ahead.
TEST_F(CudaRuns, EveryOrderingThatIsDroppedIsNamed) {
  auto callAll = [](const Package &package) {
    Later later;
    Pool pool(1, &later.executor);
    Context context(package, {&pool, nullptr, 0});
    std::vector<Words> x, y, z;
    std::vector<Future> futures;
    for (uint32_t call = 0; call < 5; ++call) {
      x.emplace_back(32, call), y.emplace_back(32), z.emplace_back(32);
      if (call == 0)
        context.invoke({x[0].view()}, {y[0].view(), z[0].view()});
      else
        futures.push_back(context.submit({x[call].view()}, {y[call].view(), z[call].view()}));
    }
    later.begin();
    for (const Future &future : futures) future.wait();
  };
  for (std::string kind : {"wait=", "edge=", "sync=", "peer="}) {
    int dropped = 0;
    for (bool some = true; some;) {
      std::string drop = kind + std::to_string(dropped + 1), complaints;
      for (const char *order : {"lazy", "eager"}) {
        drive({{"DEVICES", "sm_90x2"}, {"DROP", drop.c_str()}, {"ORDER", order}});
        callAll(crossing(CudaPackage(2)).load());
        if (kind == "peer=" && count("copies by way of the host")) complaints += "by way of the host";
        complaints += api().complaints();
      }
      some = std::string(api().report()).find("\"dropped\": \"\"") == std::string::npos;
      dropped += some;
      EXPECT_NE(complaints.empty(), some) << drop << ": " << api().report();
    }
    EXPECT_GT(dropped, 0) << kind;
  }
}

TEST_F(CudaRuns, BesideTheProcessor) {
  for (const char *order : {"eager", "lazy", "random"}) {
    drive({{"ORDER", order}});
    {
      CudaPackage made;
      made.addProcessor();
      Context context(crossing(made).load());
      expectCrossings(context, order);
    }
    expectNoComplaint();
  }
}

// A profile sees each command by itself, so nothing is taken down; the results are the same.
TEST_F(CudaRuns, RecordedCallsAreNoGraphs) {
  drive();
  RandomGraph graph(3, 3, 9);
  Context context(onGpus(graph).load());
  expectGraph(graph, context, 2);
  uint64_t launches = count("graph launches");
  Profile profile;
  profile.start(context);
  expectGraph(graph, context, 1);
  profile.stop(context);
  sprig_rt_profile_data data = profile.read();
  std::vector<sprig_rt_profile_event> dispatches = ofKind(data, SPRIG_RT_PROFILE_DISPATCH);
  EXPECT_EQ(dispatches.size(), graph.nodes.size());
  // By the driver's made-up clock: 2 us a kernel, and less than one for what it reads and writes.
  std::vector<double> durations;
  for (const sprig_rt_profile_event &event : dispatches) durations.push_back(double(event.end_ns - event.begin_ns));
  std::sort(durations.begin(), durations.end());
  EXPECT_NEAR(durations.at(durations.size() / 2), 2'500, 600);
  EXPECT_EQ(count("graph launches"), launches);
  expectGraph(graph, context, 1);
  expectNoComplaint();
}

// Lanes are streams: what they did side by side is recorded so, on tracks of their own, with the caller's copies, and
// nobody has waited for a single command.
TEST_F(CudaRuns, AProfileHasStreamsAsTheyRan) {
  for (const char *order : {"eager", "lazy", "random"}) {
    drive({{"ORDER", order}});
    RandomGraph graph(3, 3, 9);
    Context context(onGpus(graph).load());
    expectGraph(graph, context, 1);
    Profile profile;
    profile.start(context);
    uint64_t waits = count("host synchronisations");
    expectGraph(graph, context, 1);
    EXPECT_EQ(count("host synchronisations") - waits, 2u) << "for the clock, and at the end";
    profile.stop(context);
    sprig_rt_profile_data data = profile.read();
    sprig_rt_profile_event call = ofKind(data, SPRIG_RT_PROFILE_CALL).at(0);
    sprig_rt_profile_event upload = ofKind(data, SPRIG_RT_PROFILE_UPLOAD).at(0);
    sprig_rt_profile_event download = ofKind(data, SPRIG_RT_PROFILE_DOWNLOAD).at(0);
    EXPECT_EQ(profile.threadName(upload.thread), "cuda:0 uploads");
    EXPECT_EQ(profile.threadName(download.thread), "cuda:0 downloads");
    EXPECT_FALSE(profile.isStream(call.thread));
    EXPECT_EQ(profile.threadId(upload.thread), -1);
    EXPECT_EQ(upload.command, 0u); // the first input
    EXPECT_EQ(upload.call, call.call);
    EXPECT_GE(upload.begin_ns, call.begin_ns);
    EXPECT_LE(download.end_ns, call.end_ns);
    std::vector<sprig_rt_profile_event> dispatches = ofKind(data, SPRIG_RT_PROFILE_DISPATCH);
    size_t beside = 0;
    for (const sprig_rt_profile_event &event : dispatches) {
      EXPECT_EQ(profile.threadName(event.thread), "cuda:0 lane " + std::to_string(event.lane));
      EXPECT_GE(event.begin_ns, upload.end_ns);
      if (&event == &dispatches.front()) EXPECT_LE(event.end_ns, download.begin_ns); // not all lead to the output
      for (const sprig_rt_profile_event &other : dispatches) {
        bool isBeside = event.begin_ns < other.end_ns && other.begin_ns < event.end_ns;
        if (&event == &other || !isBeside) continue;
        ++beside;
        EXPECT_NE(event.lane, other.lane);
      }
    }
    EXPECT_GT(beside, 0u);
    expectNoComplaint();
  }
}

// Several devices, each by a clock of its own, and one beside the processor, whose commands are on threads.
TEST_F(CudaRuns, AProfileHasTheStreamsOfAllDevices) {
  for (bool processor : {false, true}) {
    drive({{"DEVICES", "sm_90x2"}});
    CudaPackage made(processor ? 1 : 2);
    if (processor) made.addProcessor();
    Context context(crossing(made).load());
    Profile profile;
    profile.start(context);
    expectCrossings(context, "recorded");
    profile.stop(context);
    sprig_rt_profile_data data = profile.read();
    std::map<uint64_t, sprig_rt_profile_event> calls;
    for (const sprig_rt_profile_event &call : ofKind(data, SPRIG_RT_PROFILE_CALL)) calls[call.call] = call;
    std::set<std::string> streams;
    for (uint64_t i = 0; i < data.count; ++i) {
      const sprig_rt_profile_event &event = data.events[i];
      if (!profile.isStream(event.thread)) continue;
      streams.insert(profile.threadName(event.thread));
      EXPECT_GE(event.begin_ns, calls.at(event.call).begin_ns);
      EXPECT_LE(event.end_ns, calls.at(event.call).end_ns);
    }
    EXPECT_TRUE(streams.count("cuda:0 lane 0"));
    EXPECT_EQ(streams.count("cuda:1 lane 1"), processor ? 0u : 1u);
    expectNoComplaint();
  }
}

// The second device gets nothing but what the first one makes; what comes behind that in a lane of the first does not
// wait for it, and neither does the host: the devices' clocks are read before anything is handed over.
TEST_F(CudaRuns, RecordingADeviceThatWaitsHoldsNobodyUp) {
  drive({{"DEVICES", "sm_90x2"}});
  CudaPackage made(2);
  EntryBuilder entry("main");
  auto there = [&](uint32_t buffer) {
    entry.entry.buffers[buffer].device = 1;
    return buffer;
  };
  uint32_t x = entry.input("x", {32}), t = entry.arena(128), y = entry.output("y", {32});
  uint32_t far = there(entry.arena(128)), z = there(entry.output("z", {32}));
  uint32_t sent = entry.event();
  entry.dispatch(0, Add, {x, x, t}, 32);
  entry.copy(0, t, far);
  entry.record(0, sent);
  entry.wait(1, sent);
  entry.dispatch(1, Add, {far, far, z}, 32);
  entry.dispatch(2, Add, {x, x, y}, 32);
  entry.entry.lanes[1].device = 1;
  entry.entry.moreArenas = {entry.entry.arenaSize};
  made.program.entries.push_back(entry.entry);
  Context context(made.load());
  Words in(32, 3), near(32), out(32);
  Profile profile;
  profile.start(context);
  context.invoke({in.view()}, {near.view(), out.view()});
  profile.stop(context);
  EXPECT_EQ(out[31], 12u);
  sprig_rt_profile_data data = profile.read();
  std::map<uint32_t, sprig_rt_profile_event> lanes;
  for (const sprig_rt_profile_event &event : ofKind(data, SPRIG_RT_PROFILE_DISPATCH)) lanes[event.lane] = event;
  EXPECT_LT(lanes.at(2).begin_ns, lanes.at(0).end_ns);
  EXPECT_GE(lanes.at(1).begin_ns, ofKind(data, SPRIG_RT_PROFILE_CALL).at(0).begin_ns);
  expectNoComplaint();
}

// Each call has a moment of its own, also where a profile lies at the place of one that is gone, and its call has the
// same number.
TEST_F(CudaRuns, EachRecordedCallReadsTheClockAnew) {
  drive();
  RandomGraph graph(3, 3, 9);
  Context context(onGpus(graph).load());
  expectGraph(graph, context, 1);
  for (int round = 0; round < 8; ++round) {
    Profile profile;
    profile.start(context);
    uint64_t waits = count("host synchronisations");
    expectGraph(graph, context, 1);
    EXPECT_EQ(count("host synchronisations") - waits, 2u) << round;
    profile.stop(context);
  }
  expectNoComplaint();
}

} // namespace
} // namespace sprig::rt::test
