// Times of simulated devices: computed, not waited for.
#include "lib/Loader/Storage.h"
#include "test/unit/Loader/Support.h"
#include <numeric>

using namespace sprig;
using namespace sprig::data;

namespace {

using Clock = Storage::Clock;

double secondsOf(const IoDelay &delay, const std::vector<int64_t> &samples, int64_t bytes) {
  Storage storage(delay);
  auto now = Clock::now();
  return std::chrono::duration<double>(storage.read(samples, bytes, now) - now).count();
}

std::vector<int64_t> scattered(int64_t count) {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < count; ++i) result.push_back(i * 7919 % 100003 * 2);
  return result;
}
std::vector<int64_t> inOrder(int64_t count) {
  std::vector<int64_t> result(size_t(count), 0);
  std::iota(result.begin(), result.end(), int64_t(0));
  return result;
}

TEST(Storage, ADiskTurns) {
  // One turn of 10000 a minute takes 6 ms, half of one 3 ms.
  EXPECT_NEAR(hdd(10000).latency - hdd(1e12).latency, 3e-3, 1e-9);
  double reads = 100 / secondsOf(hdd(), scattered(100), 4096);
  EXPECT_GT(reads, 90);
  EXPECT_LT(reads, 110);
  // Neighbours are read in one go, at the disk's rate.
  double rate = 1024 * (256 << 10) / secondsOf(hdd(), inOrder(1024), 256 << 10);
  EXPECT_GT(rate, 100e6);
  EXPECT_LT(rate, 200e6);
}

TEST(Storage, ADiskGoesOnWhereItWas) {
  Storage storage(hdd());
  auto now = Clock::now();
  std::vector<int64_t> first = {10, 11}, next = {12, 13}, back = {11};
  auto a = storage.read(first, 1 << 20, now), b = storage.read(next, 1 << 20, now);
  auto c = storage.read(back, 1 << 20, now);
  auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  EXPECT_NEAR(seconds(b - a), 2 * (1 << 20) / 150e6, 1e-6);
  EXPECT_NEAR(seconds(c - b), hdd().latency + (1 << 20) / 150e6, 1e-6);
}

TEST(Storage, SolidStateServesManyAtOnce) {
  double reads = 100000 / secondsOf(ssd(), scattered(100000), 4096);
  EXPECT_GT(reads, 100e3);
  EXPECT_LT(reads, 500e3);
  double rate = 1024 * (256 << 10) / secondsOf(ssd(), inOrder(1024), 256 << 10);
  EXPECT_GT(rate, 1e9);
  EXPECT_LT(rate, 3e9);
  EXPECT_GT(1024 * (256 << 10) / secondsOf(nvme(), inOrder(1024), 256 << 10), 7e9);
  EXPECT_LT(secondsOf(nvme(), {5}, 4096), secondsOf(ssd(), {5}, 4096));
}

TEST(Storage, AFixedTimeForEachSample) { EXPECT_NEAR(secondsOf({.perItem = 0.02}, inOrder(16), 4096), 0.32, 1e-9); }

TEST(Storage, ReadsItsDescription) {
  EXPECT_EQ(parseIoDelay("20ms").perItem, 0.02);
  EXPECT_DOUBLE_EQ(parseIoDelay("50us").perItem, 50e-6);
  EXPECT_EQ(parseIoDelay("hdd").latency, hdd().latency);
  EXPECT_EQ(parseIoDelay("hdd:10000").latency, hdd(10000).latency);
  EXPECT_EQ(parseIoDelay("ssd").channels, 32);
  EXPECT_EQ(parseIoDelay("nvme").bandwidth, 8e9);
  for (const char *text : {"", "tape", "hdd:", "hdd:0", "20", "-1ms", "20 ms", "1e9s", "hdd:7200x", "nanms"})
    expectHas(refusal([&] { parseIoDelay(text); }), "expected hdd, hdd:RPM, ssd, nvme or a time");
  expectHas(refusal([] { Storage storage({.perItem = -1}); }), "ioDelay.perItem");
}

} // namespace
