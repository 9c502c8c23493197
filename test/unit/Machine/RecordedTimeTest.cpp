#include "lib/Machine/RecordedTime.h"
#include "sprig/rt/sprig_rt.h"
#include <gtest/gtest.h>

using namespace sprig::machine;

namespace {

constexpr uint64_t kStart = 5'000'000'000'000;

// Events as the runtime would record them, of set times: by thread, in order.
struct Recorded {
  std::vector<sprig_rt_profile_event> events;
  uint64_t completeSince = 0;

  sprig_rt_profile_event &add(int32_t kind, uint64_t begin, uint64_t end, uint32_t thread = 0) {
    sprig_rt_profile_event event = {};
    event.kind = kind;
    event.thread = thread;
    event.begin_ns = kStart + begin;
    event.end_ns = kStart + end;
    event.call = 1;
    return events.emplace_back(event);
  }
  void command(int32_t kind, uint32_t lane, uint32_t index, uint64_t begin, uint64_t end, uint32_t thread = 0) {
    sprig_rt_profile_event &event = add(kind, begin, end, thread);
    event.lane = lane;
    event.command = index;
  }
  void range(const char *name, uint64_t begin, uint64_t end, uint32_t thread = 0) {
    add(SPRIG_RT_PROFILE_RANGE, begin, end, thread).name = name;
  }
  // Lanes are devices; the copies of lane 1 go from device 1 to device 0, those of lane 0 stay.
  RecordedTime read() const {
    return recordedTime({events.data(), events.size(), 0, completeSince}, [](const sprig_rt_profile_event &event) {
      if (event.kind == SPRIG_RT_PROFILE_UPLOAD) return CommandPlace{event.lane, kHost, event.lane};
      return CommandPlace{event.lane, event.lane,
                          event.lane == 1 && event.kind == SPRIG_RT_PROFILE_COPY ? 0 : event.lane};
    });
  }
};

// On a lane of its own: what computation hides does not count.
TEST(RecordedTime, SumsOverRanksAreCommunication) {
  Recorded recorded;
  recorded.add(SPRIG_RT_PROFILE_CALL, 0, 1000);
  recorded.command(SPRIG_RT_PROFILE_DISPATCH, 0, 0, 0, 400);
  recorded.command(SPRIG_RT_PROFILE_ALL_REDUCE, 1, 0, 200, 900);
  RecordedTime time = recorded.read();
  ASSERT_EQ(time.meetings.size(), 1u);
  EXPECT_EQ(time.meetings[0].begin, 200);
  TimeShares shares = time.shares();
  EXPECT_EQ(shares.computation, 400);
  EXPECT_EQ(shares.communication, 500);
  EXPECT_EQ(shares.handOff, 100);
  EXPECT_EQ(boundBy(shares), Bound::communication);
}

TEST(RecordedTime, ASlowLoaderBindsByData) {
  Recorded recorded;
  for (uint64_t i = 0; i < 5; ++i) {
    uint64_t at = i * 1000;
    recorded.range(kWaitRange, at, at + 900);
    recorded.add(SPRIG_RT_PROFILE_CALL, at + 900, at + 1000).call = i + 1;
    recorded.command(SPRIG_RT_PROFILE_DISPATCH, 0, 0, at + 910, at + 990);
  }
  for (uint64_t i = 0; i < 5; ++i) recorded.range(kLoadRange, i * 1000, i * 1000 + 890, 1);
  RecordedTime time = recorded.read();
  EXPECT_EQ(time.ns, 5000);
  ASSERT_EQ(time.steps.size(), 5u);
  for (const RecordedStep &step : time.steps) {
    EXPECT_EQ(step.waitNs, 900);
    EXPECT_EQ(step.callNs, 100);
  }
  EXPECT_EQ(covered(time.devices.at(0)), 400);
  EXPECT_EQ(time.loaders.at(1).size(), 5u);
  EXPECT_EQ(time.shares().data, 4500);
  EXPECT_EQ(boundBy(time.shares()), Bound::data);
}

TEST(RecordedTime, ALargeProductBindsByComputation) {
  Recorded recorded;
  recorded.add(SPRIG_RT_PROFILE_CALL, 0, 10000);
  recorded.command(SPRIG_RT_PROFILE_DISPATCH, 0, 0, 100, 9900);
  // Cut over two threads: where its time went is in the slices.
  recorded.command(SPRIG_RT_PROFILE_SLICE, 0, 0, 200, 9800);
  recorded.command(SPRIG_RT_PROFILE_SLICE, 0, 0, 300, 9500, 1);
  RecordedTime time = recorded.read();
  EXPECT_EQ(covered(time.devices.at(0)), 9600);
  EXPECT_EQ(time.deviceThreadNs.at(0), 9600 + 9200);
  EXPECT_EQ(covered(time.threads.at(1)), 9200);
  EXPECT_EQ(boundBy(time.shares()), Bound::computation);
  EXPECT_EQ(pressureOf(covered(time.devices.at(0)) / time.ns), Pressure::saturated);
}

TEST(RecordedTime, ASlowLinkBindsByCopies) {
  Recorded recorded;
  recorded.add(SPRIG_RT_PROFILE_CALL, 0, 1000);
  recorded.command(SPRIG_RT_PROFILE_DISPATCH, 0, 0, 10, 110);
  recorded.command(SPRIG_RT_PROFILE_COPY, 0, 1, 110, 160); // within a device: work
  recorded.command(SPRIG_RT_PROFILE_WAIT, 0, 2, 990, 990);
  recorded.command(SPRIG_RT_PROFILE_COPY, 1, 0, 100, 985, 1); // 60 of it hidden
  RecordedTime time = recorded.read();
  EXPECT_EQ(covered(time.links.at({1, 0})), 885);
  EXPECT_EQ(covered(time.devices.at(0)), 150);
  EXPECT_EQ(time.shares().copies, 825);
  EXPECT_EQ(boundBy(time.shares()), Bound::copies);
  // The wait began when the lane came to it.
  EXPECT_EQ(time.lanes.at(0)[2].span.begin, 160);
  EXPECT_EQ(time.lanes.at(0)[2].span.end, 990);
}

// Of a GPU: streams are rows as threads are, and the caller's arrays go over a link from the host.
TEST(RecordedTime, UploadsAreCopiesAndStreamsLieSideBySide) {
  Recorded recorded;
  recorded.add(SPRIG_RT_PROFILE_CALL, 0, 1000);
  recorded.command(SPRIG_RT_PROFILE_UPLOAD, 0, 0, 100, 700, 1);
  recorded.command(SPRIG_RT_PROFILE_DISPATCH, 0, 0, 700, 900, 2);
  recorded.command(SPRIG_RT_PROFILE_DISPATCH, 2, 0, 650, 800, 3);
  RecordedTime time = recorded.read();
  EXPECT_EQ(covered(time.links.at({kHost, 0})), 600);
  EXPECT_EQ(covered(time.threads.at(2)), 200);
  EXPECT_EQ(covered(time.devices.at(0)), 200);
  EXPECT_EQ(time.lanes.at(0).size(), 1u); // an upload is in no lane of the program
  EXPECT_EQ(time.shares().copies, 550);
  EXPECT_EQ(boundBy(time.shares()), Bound::copies);
}

TEST(RecordedTime, TinyCommandsBindByHandOff) {
  Recorded recorded;
  recorded.add(SPRIG_RT_PROFILE_CALL, 0, 1000);
  for (uint32_t i = 0; i < 10; ++i) recorded.command(SPRIG_RT_PROFILE_DISPATCH, 0, i, i * 100, i * 100 + 20);
  EXPECT_EQ(recorded.read().shares().handOff, 800);
  EXPECT_EQ(boundBy(recorded.read().shares()), Bound::handOff);
}

TEST(RecordedTime, AWaitInALaneBeginsWithItsOwnCall) {
  Recorded recorded;
  recorded.add(SPRIG_RT_PROFILE_CALL, 0, 100);
  recorded.command(SPRIG_RT_PROFILE_DISPATCH, 1, 1, 50, 90);
  recorded.add(SPRIG_RT_PROFILE_CALL, 500, 600).call = 2;
  recorded.command(SPRIG_RT_PROFILE_WAIT, 1, 0, 540, 540);
  EXPECT_EQ(recorded.read().lanes.at(1)[1].span.begin, 500);
}

TEST(RecordedTime, CallsWaitInTheQueue) {
  Recorded recorded;
  recorded.add(SPRIG_RT_PROFILE_SUBMIT, 0, 10);
  recorded.add(SPRIG_RT_PROFILE_CALL, 300, 400, 1);
  RecordedTime time = recorded.read();
  // The wall time is that of calls; what was queued in front of it is clipped.
  EXPECT_EQ(time.ns, 100);
  EXPECT_TRUE(time.queued.empty());
  recorded.add(SPRIG_RT_PROFILE_SUBMIT, 310, 320).call = 2;
  recorded.add(SPRIG_RT_PROFILE_CALL, 400, 500, 1).call = 2;
  time = recorded.read();
  ASSERT_EQ(time.queued.size(), 1u);
  EXPECT_EQ(time.queued[0].begin, 20);
  EXPECT_EQ(time.queued[0].end, 100);
}

TEST(RecordedTime, WhatLostEventsIsLeftOut) {
  Recorded recorded;
  recorded.add(SPRIG_RT_PROFILE_CALL, 0, 100);
  recorded.add(SPRIG_RT_PROFILE_CALL, 200, 260).call = 2;
  recorded.completeSince = kStart + 150;
  EXPECT_EQ(recorded.read().ns, 60);
  recorded.completeSince = kStart + 1000;
  EXPECT_EQ(recorded.read().ns, 0);
  EXPECT_TRUE(recorded.read().steps.empty());
}

} // namespace
