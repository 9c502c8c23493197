#include "lib/Machine/StreamShares.h"
#include <gtest/gtest.h>

using namespace sprig;

namespace {

// Thread 0 calls, the others are streams.
struct RecordedStreams {
  std::vector<sprig_rt_profile_event> events;

  void add(int32_t kind, uint32_t thread, uint64_t begin, uint64_t end, uint64_t call = 1) {
    sprig_rt_profile_event event = {};
    event.kind = kind;
    event.thread = thread;
    event.begin_ns = begin;
    event.end_ns = end;
    event.call = call;
    events.push_back(event);
  }
  // What each span has for itself, in the order of the events.
  std::vector<uint64_t> shares() const {
    std::vector<rt::ProfileSpan> spans = rt::nest({events.data(), events.size(), 0, 0});
    machine::shareStreams(spans, [](uint32_t thread) { return thread > 0; });
    std::vector<uint64_t> list;
    for (const rt::ProfileSpan &span : spans) list.push_back(span.selfNs);
    return list;
  }
};

using Shares = std::vector<uint64_t>;

TEST(StreamShares, MomentsAreDividedAmongStreams) {
  RecordedStreams recorded;
  recorded.add(SPRIG_RT_PROFILE_CALL, 0, 0, 1000);
  recorded.add(SPRIG_RT_PROFILE_UPLOAD, 1, 100, 300);
  recorded.add(SPRIG_RT_PROFILE_DISPATCH, 2, 300, 700);
  recorded.add(SPRIG_RT_PROFILE_DISPATCH, 2, 700, 800);
  recorded.add(SPRIG_RT_PROFILE_DISPATCH, 3, 500, 900);
  // 300 to 500 alone, 500 to 700 beside the other stream.
  EXPECT_EQ(recorded.shares(), (Shares{200, 200, 300, 50, 250}));
}

TEST(StreamShares, WhatTheThreadDoesKeepsItsTime) {
  RecordedStreams recorded;
  recorded.add(SPRIG_RT_PROFILE_CALL, 0, 0, 1000);
  recorded.add(SPRIG_RT_PROFILE_BIND, 0, 0, 100);
  recorded.add(SPRIG_RT_PROFILE_DISPATCH, 0, 400, 600); // on the processor
  recorded.add(SPRIG_RT_PROFILE_DISPATCH, 1, 500, 900);
  EXPECT_EQ(recorded.shares(), (Shares{400, 100, 200, 300}));
}

TEST(StreamShares, EachCallHasItsOwn) {
  RecordedStreams recorded;
  recorded.add(SPRIG_RT_PROFILE_CALL, 0, 0, 100);
  recorded.add(SPRIG_RT_PROFILE_CALL, 0, 200, 300, 2);
  recorded.add(SPRIG_RT_PROFILE_DISPATCH, 1, 10, 40);
  recorded.add(SPRIG_RT_PROFILE_DISPATCH, 1, 40, 40); // by the device's clock it took no time
  recorded.add(SPRIG_RT_PROFILE_DISPATCH, 1, 210, 290, 2);
  EXPECT_EQ(recorded.shares(), (Shares{70, 20, 30, 0, 80}));
}

TEST(StreamShares, WithoutStreamsNothingChanges) {
  RecordedStreams recorded;
  recorded.add(SPRIG_RT_PROFILE_CALL, 0, 0, 100);
  recorded.add(SPRIG_RT_PROFILE_DISPATCH, 0, 20, 50);
  EXPECT_EQ(recorded.shares(), (Shares{70, 30}));
}

} // namespace
