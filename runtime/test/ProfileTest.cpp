// Profiles: what is recorded, how spans nest and add up, what happens when rings are full, starting and stopping while
// others run.
#include "runtime/test/TestPackage.h"
#include "sprig/rt/profile.hpp"
#include "sprig/rt/trace.hpp"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <map>
#include <locale>
#include <sstream>
#include <thread>

namespace sprig::rt::test {
namespace {

TestPackage chain(int commands, int64_t tiles, int64_t grain) {
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {tiles}), y = entry.output("y", {tiles});
  for (int i = 0; i < commands; ++i) entry.dispatch(0, Add, {x, x, y}, tiles, grain);
  package.program.entries.push_back(entry.entry);
  return package;
}

// A context with arrays for chain().
struct Runner {
  Runner(const TestPackage &package, int64_t tiles, const Pool *pool = nullptr)
      : x(size_t(tiles), 1), y(size_t(tiles)), context(package.load(), {pool, nullptr, 0}) {}
  void invoke() { context.invoke({x.view()}, {y.view()}); }
  Words x, y;
  Context context;
};

// Every span is its own time plus that of the spans directly inside, recomputed here from begin and end alone.
void expectTimesAddUp(const sprig_rt_profile_data &data) {
  std::vector<ProfileSpan> spans = nest(data);
  ASSERT_EQ(spans.size(), data.count);
  std::vector<uint64_t> inside(spans.size(), 0);
  for (const ProfileSpan &span : spans) {
    EXPECT_LE(span.event->begin_ns, span.event->end_ns);
    EXPECT_EQ(span.totalNs, span.event->end_ns - span.event->begin_ns);
    if (span.parent == ProfileSpan::kNone) continue;
    const sprig_rt_profile_event &outer = *spans[span.parent].event;
    EXPECT_EQ(outer.thread, span.event->thread);
    EXPECT_LE(outer.begin_ns, span.event->begin_ns);
    EXPECT_GE(outer.end_ns, span.event->end_ns);
    inside[span.parent] += span.totalNs;
  }
  for (size_t i = 0; i < spans.size(); ++i) {
    EXPECT_LE(inside[i], spans[i].totalNs) << "spans inside of one overlap";
    EXPECT_EQ(spans[i].selfNs + inside[i], spans[i].totalNs);
  }
}

std::vector<sprig_rt_profile_event> ofKind(const sprig_rt_profile_data &data, int kind) {
  std::vector<sprig_rt_profile_event> found;
  std::copy_if(data.events, data.events + data.count, std::back_inserter(found),
               [kind](auto &event) { return event.kind == kind; });
  return found;
}

TEST(Profile, RecordsNothingUnlessStarted) {
  Runner runner(chain(3, 4, 4), 4);
  Profile profile;
  runner.invoke();
  EXPECT_EQ(profile.read().count, 0u);
  profile.start(runner.context);
  profile.stop(runner.context);
  runner.invoke();
  {
    ProfileScope scope("unseen");
  }
  EXPECT_EQ(profile.read().count, 0u);
  EXPECT_EQ(profile.threadCount(), 0u);
}

TEST(Profile, CommandsLieInTheirCall) {
  Runner runner(chain(3, 4, 4), 4);
  Profile profile;
  profile.start(runner.context);
  runner.invoke();
  runner.invoke();
  sprig_rt_profile_data data = profile.read();
  expectTimesAddUp(data);
  EXPECT_EQ(data.dropped, 0u);
  std::vector<ProfileSpan> spans = nest(data);
  std::map<uint64_t, std::vector<uint32_t>> commands; // by call
  for (const ProfileSpan &span : spans) {
    EXPECT_EQ(span.event->context, sprig_rt_context_number(runner.context.raw()));
    if (span.event->kind == SPRIG_RT_PROFILE_CALL) {
      EXPECT_EQ(span.parent, ProfileSpan::kNone);
      continue;
    }
    ASSERT_NE(span.parent, ProfileSpan::kNone);
    EXPECT_EQ(spans[span.parent].event->kind, SPRIG_RT_PROFILE_CALL);
    EXPECT_EQ(spans[span.parent].event->call, span.event->call);
    if (span.event->kind == SPRIG_RT_PROFILE_DISPATCH) commands[span.event->call].push_back(span.event->command);
  }
  ASSERT_EQ(commands.size(), 2u);
  for (auto &[call, list] : commands) EXPECT_EQ(list, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(ofKind(data, SPRIG_RT_PROFILE_BIND).size(), 2u);
  // Only calls with arrays that a context has not seen look at their outputs afterwards.
  EXPECT_LE(ofKind(data, SPRIG_RT_PROFILE_FINISH).size(), 2u);
  // Recording goes on after a read.
  runner.invoke();
  EXPECT_EQ(ofKind(profile.read(), SPRIG_RT_PROFILE_CALL).size(), 1u);
}

TEST(Profile, TimesAreThoseOfTheSystem) {
  TestPackage package;
  EntryBuilder entry("slow");
  uint32_t cycles = entry.input("cycles", {1}, SPRIG_RT_U64), out = entry.output("out", {1});
  entry.dispatch(0, Slow, {cycles, out}, 1);
  package.program.entries.push_back(entry.entry);
  Array count(SPRIG_RT_U64, {1});
  count.as<uint64_t>()[0] = 20'000'000;
  Words result(1);
  Context context(package.load());
  Profile profile;
  profile.start(context);
  auto now = [] { return uint64_t(std::chrono::steady_clock::now().time_since_epoch().count()); };
  // Clocks are compared at two moments, so a little is allowed; a machine that stops between them is no failure.
  constexpr uint64_t slack = 100'000;
  bool isAllOfIt = false;
  for (int round = 0; round < 20 && !isAllOfIt; ++round) {
    uint64_t before = now();
    context.invoke({count.view()}, {result.view()});
    uint64_t after = now();
    auto call = ofKind(profile.read(), SPRIG_RT_PROFILE_CALL).at(0);
    EXPECT_GE(call.begin_ns + slack, before);
    EXPECT_LE(call.end_ns, after + slack);
    isAllOfIt = (call.end_ns - call.begin_ns) * 10 >= (after - before) * 9 - slack;
  }
  EXPECT_TRUE(isAllOfIt) << "a call's span misses a tenth of it";
}

TEST(Profile, RangesNestOnSeveralThreads) {
  Profile profile;
  profile.start();
  constexpr int threads = 4, rounds = 50;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([i] {
      Runner runner(chain(2, 4, 4), 4);
      for (int round = 0; round < rounds; ++round) {
        ProfileScope outer("outer " + std::to_string(i));
        runner.invoke();
        {
          ProfileScope middle("middle");
          ProfileScope inner("inner");
          runner.invoke();
        }
        ProfileScope sibling("sibling");
      }
    });
  for (std::thread &thread : all) thread.join();
  profile.stop();
  sprig_rt_profile_data data = profile.read();
  expectTimesAddUp(data);
  EXPECT_EQ(profile.threadCount(), uint32_t(threads));
  std::vector<ProfileSpan> spans = nest(data);
  std::map<std::string, int> counts;
  for (const ProfileSpan &span : spans) {
    if (span.event->kind != SPRIG_RT_PROFILE_RANGE) {
      EXPECT_NE(span.parent, ProfileSpan::kNone);
      continue;
    }
    std::string name = span.event->name;
    ++counts[name];
    std::string around = span.parent == ProfileSpan::kNone ? "" : spans[span.parent].event->name;
    std::string expected = name.starts_with("outer") ? "" : name == "inner" ? "middle" : "outer";
    EXPECT_TRUE(around.starts_with(expected)) << name << " lies in " << around;
  }
  EXPECT_EQ(counts["inner"], threads * rounds);
  EXPECT_EQ(counts["outer 3"], rounds);
}

// On the processor alone, and on a lane of it beside another device.
class Slices : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(BesideADevice, Slices, testing::Bool());

TEST_P(Slices, CoverEveryTileOnce) {
  constexpr int64_t tiles = 64;
  TestPackage package;
  if (GetParam()) package.program.devices.push_back({"null"});
  EntryBuilder entry("main");
  uint32_t cycles = entry.input("cycles", {1}, SPRIG_RT_U64), out = entry.output("out", {tiles});
  entry.dispatch(0, Slow, {cycles, out}, tiles, 1);
  package.program.entries.push_back(entry.entry);
  Array count(SPRIG_RT_U64, {1});
  count.as<uint64_t>()[0] = 20000;
  Words result(tiles);
  Pool pool(3);
  Context context(package.load(), {&pool, nullptr, 0});
  Profile profile;
  profile.start(context);
  // A busy machine may give the pool's threads no time in many rounds.
  bool helped = false;
  for (int round = 0; round < 20 || (!helped && round < 2000); ++round) {
    context.invoke({count.view()}, {result.view()});
    for (int64_t i = 0; i < tiles; ++i) ASSERT_EQ(result[size_t(i)], uint32_t(i) + 1);
    sprig_rt_profile_data data = profile.read();
    expectTimesAddUp(data);
    auto dispatch = ofKind(data, SPRIG_RT_PROFILE_DISPATCH).at(0);
    std::vector<int> seen(tiles, 0);
    for (auto &slice : ofKind(data, SPRIG_RT_PROFILE_SLICE)) {
      EXPECT_LT(slice.participant, 3u);
      helped |= slice.participant != 0;
      EXPECT_EQ(slice.participant == 0, slice.thread == dispatch.thread);
      EXPECT_GE(slice.begin_ns, dispatch.begin_ns);
      EXPECT_LE(slice.end_ns, dispatch.end_ns);
      for (int64_t tile = slice.tile_begin; tile < slice.tile_end; ++tile) ++seen[size_t(tile)];
    }
    EXPECT_EQ(seen, std::vector<int>(tiles, 1));
  }
  EXPECT_TRUE(helped);
}

TEST(Profile, LanesAndEventsAreInOrder) {
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {4}), y = entry.output("y", {4}), z = entry.output("z", {4});
  uint32_t event = entry.event();
  entry.dispatch(0, Add, {x, x, y}, 4, 4);
  entry.record(0, event);
  entry.wait(1, event);
  entry.dispatch(1, Add, {y, x, z}, 4, 4);
  package.program.entries.push_back(entry.entry);
  Words a(4, 1), b(4), c(4);
  Pool pool(2);
  Context context(package.load(), {&pool, nullptr, 0});
  Profile profile;
  profile.start(context);
  for (int round = 0; round < 50; ++round) context.invoke({a.view()}, {b.view(), c.view()});
  sprig_rt_profile_data data = profile.read();
  expectTimesAddUp(data);
  auto records = ofKind(data, SPRIG_RT_PROFILE_RECORD), waits = ofKind(data, SPRIG_RT_PROFILE_WAIT);
  ASSERT_EQ(records.size(), 50u);
  ASSERT_EQ(waits.size(), 50u);
  for (auto &record : records)
    for (auto &wait : waits)
      if (wait.call == record.call) EXPECT_LE(record.begin_ns, wait.end_ns);
  for (auto &dispatch : ofKind(data, SPRIG_RT_PROFILE_DISPATCH)) EXPECT_EQ(dispatch.command, dispatch.lane);
}

TEST(Profile, SubmissionsLeadToTheirCalls) {
  Runner runner(chain(2, 4, 4), 4);
  Profile profile;
  profile.start(runner.context);
  std::vector<Future> futures;
  for (int i = 0; i < 10; ++i) futures.push_back(runner.context.submit({runner.x.view()}, {runner.y.view()}));
  for (Future &future : futures) future.wait();
  sprig_rt_profile_data data = profile.read();
  expectTimesAddUp(data);
  auto submits = ofKind(data, SPRIG_RT_PROFILE_SUBMIT), calls = ofKind(data, SPRIG_RT_PROFILE_CALL);
  ASSERT_EQ(submits.size(), 10u);
  ASSERT_EQ(calls.size(), 10u);
  for (auto &submit : submits) {
    auto call = std::find_if(calls.begin(), calls.end(), [&](auto &each) { return each.call == submit.call; });
    ASSERT_NE(call, calls.end());
    EXPECT_NE(call->thread, submit.thread);
    EXPECT_GE(call->begin_ns, submit.begin_ns);
  }
}

TEST(Profile, FullRingsKeepTheNewest) {
  Runner runner(chain(2, 4, 4), 4);
  Profile profile(16);
  runner.invoke();
  profile.start(runner.context);
  for (int i = 0; i < 100; ++i) runner.invoke();
  constexpr int64_t perCall = 4; // the call, binding, two dispatches
  sprig_rt_profile_data data = profile.read();
  EXPECT_EQ(data.count, 16u);
  EXPECT_EQ(data.dropped, 100u * perCall - 16);
  uint64_t last = 0;
  int complete = 0;
  for (auto &call : ofKind(data, SPRIG_RT_PROFILE_CALL)) {
    last = std::max(last, call.call);
    if (call.begin_ns < data.complete_since_ns) continue;
    ++complete;
    auto inside =
        std::count_if(data.events, data.events + data.count, [&](auto &each) { return each.call == call.call; });
    EXPECT_EQ(inside, perCall);
  }
  EXPECT_EQ(last, 100u);
  EXPECT_GE(complete, 2);
}

TEST(Profile, FailedCallsAreRecorded) {
  Runner runner(chain(1, 4, 4), 4);
  Profile profile;
  profile.start(runner.context);
  Words wrong(8);
  EXPECT_NE(errorOf([&] { runner.context.invoke({wrong.view()}, {runner.y.view()}); }), "");
  sprig_rt_profile_data data = profile.read();
  EXPECT_EQ(ofKind(data, SPRIG_RT_PROFILE_CALL).size(), 1u);
  EXPECT_EQ(ofKind(data, SPRIG_RT_PROFILE_DISPATCH).size(), 0u);
}

TEST(Profile, OneProfileAtATime) {
  Runner runner(chain(1, 4, 4), 4);
  Profile first, second;
  sprig_rt_code code = SPRIG_RT_OK;
  first.start(runner.context);
  first.start(runner.context);
  EXPECT_NE(errorOf([&] { second.start(runner.context); }, &code), "");
  EXPECT_EQ(code, SPRIG_RT_BUSY);
  EXPECT_NE(errorOf([&] { second.start(); }, &code), "");
  EXPECT_EQ(code, SPRIG_RT_BUSY);
  first.stop();
  second.start();
  EXPECT_NE(errorOf([&] { first.start(); }, &code), "");
  // A context of later joins what is started on the process.
  Runner later(chain(1, 4, 4), 4);
  later.invoke();
  second.stop();
  EXPECT_EQ(ofKind(second.read(), SPRIG_RT_PROFILE_CALL).size(), 1u);
}

TEST(Profile, WrongUseIsTold) {
  sprig_rt_code code = SPRIG_RT_OK;
  EXPECT_NE(errorOf([] { check(sprig_rt_profile_create(nullptr, nullptr)); }, &code), "");
  EXPECT_EQ(code, SPRIG_RT_INVALID_ARGUMENT);
  sprig_rt_profile_options options = {1, 0};
  sprig_rt_profile *none = nullptr;
  EXPECT_NE(errorOf([&] { check(sprig_rt_profile_create(&options, &none)); }, &code), "");
  EXPECT_EQ(code, SPRIG_RT_INVALID_ARGUMENT);
  EXPECT_NE(errorOf([] { check(sprig_rt_profile_start(nullptr, nullptr)); }), "");
  EXPECT_NE(errorOf([] { check(sprig_rt_profile_read(nullptr, nullptr)); }), "");
  sprig_rt_profile_stop(nullptr, nullptr);
  sprig_rt_profile_release(nullptr);
  EXPECT_EQ(sprig_rt_profile_thread_id(nullptr, 0), -1);
  EXPECT_EQ(sprig_rt_profile_stream_name(nullptr, 0), nullptr);
  EXPECT_EQ(sprig_rt_context_number(nullptr), 0u);
}

TEST(Profile, RangesThatDoNotMatchAreDropped) {
  Profile profile;
  EXPECT_FALSE(sprig_rt_profile_recording());
  profile.start();
  EXPECT_TRUE(sprig_rt_profile_recording());
  uint64_t outer = sprig_rt_profile_push("outer"), open = sprig_rt_profile_push("open");
  EXPECT_NE(open, 0u);
  sprig_rt_profile_pop(outer); // takes "open" with it
  sprig_rt_profile_pop(open);
  sprig_rt_profile_pop(12345);
  uint64_t unnamed = sprig_rt_profile_push(nullptr);
  sprig_rt_profile_pop(unnamed);
  uint64_t late = sprig_rt_profile_push("late");
  profile.stop();
  EXPECT_FALSE(sprig_rt_profile_recording());
  sprig_rt_profile_pop(late);
  sprig_rt_profile_data data = profile.read();
  ASSERT_EQ(data.count, 2u);
  EXPECT_STREQ(data.events[0].name, "outer");
  EXPECT_STREQ(data.events[1].name, "");
}

// Objects and lists of a JSON text close in the order that they open, and strings end.
bool isBalanced(const std::string &json) {
  std::string open;
  bool inString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return false;
    if (inString) {
      if (c == '\\') ++i;
      if (c == '"') inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != c) return false;
      open.pop_back();
    }
  }
  return open.empty() && !inString;
}

TEST(Profile, TracesNameCommandsAndScopes) {
  Runner runner(chain(2, 4, 4), 4);
  Profile profile;
  profile.start();
  {
    ProfileScope scope("a \"quoted\"\nname \\");
    runner.invoke();
  }
  runner.context.submit({runner.x.view()}, {runner.y.view()}).wait();
  profile.stop();
  std::ostringstream out;
  writeTrace(out, profile, profile.read(), TraceNames(runner.context.package().raw()));
  std::string text = out.str();
  EXPECT_TRUE(isBalanced(text)) << text;
  auto count = [&](const std::string &part) {
    int found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("a \\\"quoted\\\"\\u000aname \\\\"), 1);
  EXPECT_EQ(count("\"name\":\"c0\""), 4); // on a thread and on a lane, in both calls
  EXPECT_EQ(count("\"name\":\"call main\""), 2);
  EXPECT_EQ(count("\"ph\":\"s\""), 1);
  EXPECT_EQ(count("\"ph\":\"f\""), 1);
  // Commands of contexts that nobody names have numbers.
  std::ostringstream plain;
  TraceWriter(plain, [](uint32_t) { return nullptr; }).write(profile, profile.read());
  EXPECT_TRUE(isBalanced(plain.str()));
}

namespace {
struct Grouped : std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\1"; }
};
} // namespace

TEST(Profile, TracesAreTheSameInEveryLocale) {
  Runner runner(chain(2, 4, 4), 4);
  Profile profile;
  profile.start();
  for (int call = 0; call < 12; ++call) runner.context.submit({runner.x.view()}, {runner.y.view()}).wait();
  profile.stop();
  auto events = profile.read();
  auto traceIn = [&](const std::locale &locale) {
    std::ostringstream out;
    out.imbue(locale);
    writeTrace(out, profile, events, TraceNames(runner.context.package().raw()));
    EXPECT_EQ(out.getloc(), locale);
    return out.str();
  };
  std::string plain = traceIn(std::locale::classic());
  EXPECT_NE(plain.find("\"id\":12,"), std::string::npos);
  EXPECT_EQ(traceIn(std::locale(std::locale::classic(), new Grouped)), plain);
}

// For the thread sanitizer: who runs and who starts, reads and stops do not meet.
TEST(Profile, StartsAndStopsBesideRunningCalls) {
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  Pool pool(2);
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      Runner runner(chain(3, 16, 1), 16, &pool);
      while (!over.load()) {
        ProfileScope scope("round");
        runner.invoke();
        if (runner.y[15] != 2) ADD_FAILURE() << "wrong result";
      }
    });
  uint64_t events = 0;
  for (int round = 0; round < 100; ++round) {
    Profile profile(256);
    profile.start();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    sprig_rt_profile_data data = profile.read();
    events += data.count;
    if (round % 2) profile.stop();
  }
  over.store(true);
  for (std::thread &thread : threads) thread.join();
  EXPECT_GT(events, 0u);
}

} // namespace
} // namespace sprig::rt::test
