// Compiled functions over several devices: what they run behind and before on each of them, alone and beside others.
#include "lib/Frontend/Base/DeviceThreads.h"
#include "lib/Frontend/Engine/MeetingTask.h"
#include "sprig/sprig.h"
#include "test/unit/Frontend/Devices/Gate.h"
#include "test/unit/Frontend/Devices/Threads.h"
#include "test/unit/Frontend/Devices/TwoDevices.h"
#include <atomic>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace sprig;
using namespace sprig::frontend;

namespace {

const Device kThird("cpu:2");

/// a on one device, b on the other; a result on each.
std::pair<Tensor, Tensor> exchange(Tensor a, Tensor b) {
  Device one = a.device(), two = b.device();
  return {a * 2 + b.to(one, true), b * 2 + a.to(two, true)};
}

struct Count : Task {
  std::atomic<int> &count;
  explicit Count(std::atomic<int> &count) : count(count) {}
  void run() override { ++count; }
};

} // namespace

TEST(Meeting, RunsBehindWhatEachDeviceHasAndBeforeWhatComesLater) {
  for (const Device &held : {kFirst, kSecond}) {
    Tensor a = full({8}, 1), b = full({8}, 10).to(kSecond);
    auto f = compile(exchange);
    f(a, b);
    synchronize();
    Gate gate(laneOf(held));
    auto [x, y] = f(a, b);
    Tensor here = a + 1, there = b + 1; // need nothing of the call
    EXPECT_EQ(x.device(), kFirst);
    EXPECT_EQ(y.device(), kSecond);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (const Tensor &each : {x, y, here, there}) EXPECT_FALSE(each.ready()) << held;
    gate.open();
    synchronize(held == kFirst ? kSecond : kFirst); // the call is among what either waits for
    EXPECT_TRUE(x.ready() && y.ready());
    EXPECT_EQ(x.text(), full({8}, 12).text());
    EXPECT_EQ(y.text(), full({8}, 21).text());
    EXPECT_EQ((here + there.to(kFirst)).text(), full({8}, 13).text());
  }
}

TEST(Meeting, LeavesOtherDevicesAlone) {
  Tensor a = ones({8}), b = a.to(kSecond), c = a.to(kThird);
  auto f = compile(exchange);
  Gate gate(laneOf(kThird));
  EXPECT_EQ(f(a, b).second.text(), full({8}, 3).text());
  Gate other(laneOf(kFirst));
  auto [x, y] = f(a, b);
  gate.open();
  EXPECT_EQ((c + 1).text(), "[2, 2, 2, 2, 2, 2, 2, 2]");
  EXPECT_FALSE(x.ready());
}

TEST(Meeting, WhoReadsRunsAllOfIt) {
  // Held by nobody but its reader, who has to bring each lane there, however the lanes stand.
  std::atomic<int> before = 0, met = 0;
  LaneId lanes[] = {laneOf(kThird), laneOf(kFirst), laneOf(kSecond)};
  for (int round = 0; round < 100; ++round) {
    for (LaneId lane : lanes) Engine::of(lane).push(std::make_unique<Count>(before), /*wake=*/false);
    pushToAll(lanes, std::make_unique<Count>(met), /*wake=*/round % 2);
    std::rotate(lanes, lanes + 1, lanes + 3);
    if (round % 3 == 0) Engine::of(lanes[0]).drain();
    if (round % 3 == 0) EXPECT_EQ(met, round + 1);
  }
  synchronize();
  EXPECT_EQ(before, 300);
  EXPECT_EQ(met, 100);
}

TEST(Meeting, ManyAtOnceInAllOrders) {
  int wrong = wrongOnFourThreads([](const Device &here, const Device &there, int t, std::atomic<int> &wrong) {
    auto f = compile(exchange);
    Tensor a = full({16}, 1 + t), b = full({16}, 2).to(there);
    Tensor x = a, y = b;
    for (int i = 0; i < 40; ++i) {
      auto [p, q] = f(x, y);
      x = p * 0.25 + (a - a);
      y = q * 0.25 + x.to(there, true) * 0;
      if (i % 5 == 0) synchronize(i % 2 ? here : there);
      if (i % 3 == 0) wrong += x.toVector<float>()[3] != x.toVector<float>()[4];
    }
    // Each round is (x, y) <- (x/2 + y/4, y/2 + x/4): the sum shrinks by 3/4, the difference by 1/4.
    float sum = float(3 + t), difference = float(t - 1);
    for (int i = 0; i < 40; ++i) sum *= 0.75f, difference *= 0.25f;
    wrong += std::abs(x.toVector<float>()[7] - (sum + difference) / 2) > 1e-6f;
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Meeting, ItsFailureIsReadOnce) {
  auto f = compile([](Tensor table, Tensor index, Tensor b) {
    return std::pair(indexSelect(table, 0, index), b + sum(table).to(kSecond, true));
  });
  Tensor table = ones({4, 2}), b = ones({3}).to(kSecond);
  f(table, Tensor({2}), b);
  synchronize();
  for (const Device &asked : {kFirst, kSecond}) {
    f(table, Tensor({7}), b);
    EXPECT_THROW(synchronize(asked), Error);
    EXPECT_NO_THROW(synchronize());
  }
  auto [bad, also] = f(table, Tensor({7}), b);
  EXPECT_THROW(also.wait(), Error);
  EXPECT_NO_THROW(synchronize());
}

TEST(Meeting, TheThreadsOfItsDevices) {
  openDevice(kThird, "test", {});
  auto threads = [](std::vector<DeviceId> devices) { return threadsOf(devices); };
  std::vector<DeviceId> all;
  for (size_t i = 0; i < openDevices(); ++i) all.push_back(DeviceId(i));
  EXPECT_EQ(threads(all), 0); // the process's
  EXPECT_EQ(threads({}), 0);
  EXPECT_LE(threads({0, 1}), std::max(2, threads({0}) + threads({1})));
  EXPECT_GE(threads({0, 1}), threads({0}));
}

TEST(Meeting, PackagesOverTwo) {
  std::string path =
      (std::filesystem::temp_directory_path() / ("meeting-" + std::to_string(getpid()) + ".sprig")).string();
  nn::Linear front(4, 8), back(8, 2);
  back.to(kSecond);
  auto net = [=](Tensor x) { return back(front(x).to(kSecond, true)); };
  save(path, net, {{DType::f32, {3, 4}}});
  Package package = load(path);
  Tensor x = ones({3, 4}), there = x.to(kSecond);
  package(x).wait();
  Gate gate(laneOf(kSecond));
  Tensor y = package(x), later = there + 1;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(y.ready() || later.ready());
  gate.open();
  synchronize(kSecond);
  EXPECT_TRUE(y.ready() && later.ready());
  std::filesystem::remove(path);
}
