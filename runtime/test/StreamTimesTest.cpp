// Times of streams come to lie inside of their call, whatever the host and the device's clock did.
#include "runtime/profile/StreamTimes.h"

#include <gtest/gtest.h>

namespace sprig::rt::core {
namespace {

StreamTimes stream(std::vector<std::pair<uint64_t, uint64_t>> times) {
  StreamTimes made{"cuda:0 lane 0", {}};
  for (auto [begin, end] : times) made.spans.push_back({SPRIG_RT_PROFILE_DISPATCH, 0, 0, begin, end});
  return made;
}

std::vector<uint64_t> timesOf(const std::vector<StreamTimes> &streams) {
  std::vector<uint64_t> times;
  for (const StreamTimes &each : streams)
    for (const StreamSpan &span : each.spans) times.insert(times.end(), {span.begin, span.end});
  return times;
}

std::vector<uint64_t> ended(uint64_t now, uint64_t origin, std::vector<StreamTimes> streams) {
  endBy(now, origin, streams);
  return timesOf(streams);
}

using Times = std::vector<uint64_t>;

TEST(StreamTimes, WhatEndsInTimeStays) {
  EXPECT_EQ(ended(1000, 100, {stream({{110, 500}, {500, 1000}}), stream({})}), (Times{110, 500, 500, 1000}));
  EXPECT_EQ(ended(1000, 100, {}), Times{});
}

TEST(StreamTimes, AllAreScaledAboutTheOrigin) {
  EXPECT_EQ(ended(1000, 200, {stream({{200, 1000}, {1400, 1800}}), stream({{1000, 1400}})}),
            (Times{200, 600, 800, 1000, 600, 800}));
}

// The host was held up after it had seen the origin pass, and the call was short: everything seems to begin after now.
TEST(StreamTimes, WhatSeemsToBeginAfterNowLiesBeforeIt) {
  EXPECT_EQ(ended(1010, 1000, {stream({{1020, 1030}, {1030, 1040}})}), (Times{1005, 1007, 1007, 1010}));
  EXPECT_EQ(ended(1010, 1000, {stream({{1040, 1040}})}), (Times{1010, 1010})); // of no length
}

TEST(StreamTimes, NoTimeHasPassed) {
  EXPECT_EQ(ended(1000, 1000, {stream({{1000, 1000}})}), (Times{1000, 1000}));
  EXPECT_EQ(ended(1000, 1000, {stream({{1020, 1030}})}), (Times{1000, 1000}));
  EXPECT_EQ(ended(990, 1000, {stream({{1020, 1030}})}), (Times{1000, 1000}));
}

// Of long calls, whose ticks are many.
TEST(StreamTimes, NothingEndsLaterByRounding) {
  for (uint64_t last = (1ull << 44) + 1; last < (1ull << 44) + 2000; last += 7) {
    const uint64_t origin = 1ull << 60, now = origin + (1ull << 44);
    for (uint64_t time :
         ended(now, origin, {stream({{origin, origin + last - 5}, {origin + last - 5, origin + last}})}))
      ASSERT_LE(time, now) << last;
  }
}

} // namespace
} // namespace sprig::rt::core
