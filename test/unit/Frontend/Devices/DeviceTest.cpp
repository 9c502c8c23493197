// Devices of tensors: names, where results are, copies and their order, waiting for one device, errors.
#include "lib/Frontend/Engine/PlanCache.h"
#include "lib/Frontend/Record.h"
#include "sprig/sprig.h"
#include "test/unit/Frontend/Devices/Gate.h"
#include "test/unit/Frontend/Devices/Threads.h"
#include "test/unit/Frontend/Devices/TwoDevices.h"
#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <latch>
#include <sstream>
#include <thread>

using namespace sprig;
using namespace sprig::frontend;

namespace {

template <typename F> Error errorOf(F f) {
  try {
    f();
  } catch (const Error &error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorKind::internal, "");
}

} // namespace

TEST(Device, Names) {
  EXPECT_EQ(Device().name(), "cpu:0");
  EXPECT_EQ(Device("cpu"), Device(Device::Kind::cpu, 0));
  EXPECT_EQ(Device("null:3").name(), "null:3");
  EXPECT_EQ(Device("cuda:1").kind(), Device::Kind::cuda);
  EXPECT_LT(kFirst, kSecond);
  EXPECT_NE(kFirst, Device("null:0"));
  std::ostringstream out;
  out << kSecond;
  EXPECT_EQ(out.str(), "cpu:1");
  for (const char *wrong :
       {"", "tpu:0", "cpu:", "cpu:x", "cpu:1x", "cpu:-1", "cpu:1024", "cpu*2", "CPU:0", "cpu:0,cpu:1"})
    EXPECT_EQ(int(errorOf([&] { Device device(wrong); }).kind()), int(ErrorKind::usage)) << wrong;
  std::string text = errorOf([] { Device device("tpu:0"); }).what();
  EXPECT_NE(text.find("DeviceTest.cpp:"), std::string::npos) << text;
  EXPECT_NE(text.find("device 'tpu:0': expected a kind of device (cpu, cuda, null), found 'tpu'"), std::string::npos);
}

TEST(Device, RefusesWhatTensorsCannotBeOn) {
  Tensor x = ones({2});
  int line = __LINE__ + 1;
  Error absent = errorOf([&] { x.to("cuda:0"); });
  EXPECT_EQ(int(absent.kind()), int(ErrorKind::unsupported));
  EXPECT_NE(
      std::string(absent.what()).find("DeviceTest.cpp:" + std::to_string(line) + ": to: device cuda:0 is not there"),
      std::string::npos)
      << absent.what();
  for (auto f : std::vector<std::function<void()>>{[&] { x.to("null:0"); }, [] { DeviceScope scope("null:0"); },
                                                   [] { synchronize(Device("null:0")); },
                                                   [] { nn::Linear(2, 2).to("null:1"); }}) {
    Error error = errorOf(f);
    EXPECT_EQ(int(error.kind()), int(ErrorKind::unsupported));
    EXPECT_NE(std::string(error.what()).find("null devices run compiled programs alone"), std::string::npos);
  }
}

TEST(Device, ResultsAreWhereTheirOperandsAre) {
  Tensor a = ones({2, 3}), b = a.to(kSecond);
  EXPECT_EQ(a.device(), kFirst);
  EXPECT_EQ(b.device(), kSecond);
  EXPECT_EQ((b * 2 + 1).device(), kSecond);
  EXPECT_EQ(sum(b).device(), kSecond);
  EXPECT_EQ(b[1].device(), kSecond);
  EXPECT_EQ(zerosLike(b).device(), kSecond);
  EXPECT_EQ(randLike(b).device(), kSecond);
  EXPECT_EQ(b.detach().device(), kSecond);
  EXPECT_EQ(b.to(kSecond).raw(), b.raw()); // there already
  EXPECT_EQ((b * 2 + 1).text(), "[[3, 3, 3],\n [3, 3, 3]]");
  expectSame(b.to(kFirst) + a, a + a);
}

TEST(Device, ScalarsAreOnAny) {
  Tensor b = ones({3}).to(kSecond), scalar = sum(ones({4}));
  EXPECT_EQ((b * scalar).device(), kSecond);
  EXPECT_EQ((b * scalar).text(), "[4, 4, 4]");
  EXPECT_EQ((scalar + sum(b)).item<float>(), 7);
  EXPECT_EQ((scalar + sum(b)).device(), kFirst); // of the first
  EXPECT_EQ((b + Tensor(0.5f)).text(), "[1.5, 1.5, 1.5]");
}

TEST(Device, WhatOperationsMakeForThemselvesIsWhereTheyRun) {
  DeviceScope elsewhere(kFirst);
  Tensor b = rand({4, 4}).to(kSecond), first = b.to(kFirst);
  manualSeed(3);
  Tensor dropped = dropout(b, 0.5, true);
  EXPECT_EQ(dropped.device(), kSecond);
  expectSame(tril(b), tril(first));
  expectSame(cumsum(b, 1), cumsum(first, 1));
  expectSame(index(b, {Tensor({1, 3}).to(kSecond)}), index(first, {Tensor({1, 3})}));
  expectSame(interpolate(reshape(b, {1, 1, 4, 4}), {.size = {7, 7}, .mode = Interpolation::bilinear}),
             interpolate(reshape(first, {1, 1, 4, 4}), {.size = {7, 7}, .mode = Interpolation::bilinear}));
  nn::LSTM lstm(4, 3);
  Tensor alone = lstm(unsqueeze(first, 0)).output;
  lstm.to(kSecond);
  Tensor moved = lstm(unsqueeze(b, 0)).output;
  EXPECT_EQ(moved.device(), kSecond);
  expectSame(moved, alone);
}

TEST(Device, ScopeOfNewTensors) {
  EXPECT_EQ(defaultDevice(), kFirst);
  {
    DeviceScope scope(kSecond);
    EXPECT_EQ(defaultDevice(), kSecond);
    for (const Tensor &t :
         {zeros({2}), full({2}, 3), arange(4), arange(0.0, 1.0, 0.25), linspace(0, 1, 3), eye(2), rand({2}), randn({2}),
          randint(0, 5, {3}), randperm(4), Tensor({1, 2}), Tensor::from(std::vector<float>{1, 2}, {2})})
      EXPECT_EQ(t.device(), kSecond);
    EXPECT_EQ(nn::Linear(2, 2).weight.device(), kSecond);
    {
      DeviceScope inner(kFirst);
      EXPECT_EQ(ones({2}).device(), kFirst);
      std::thread([] { EXPECT_EQ(ones({2}).device(), Device()); }).join();
    }
    EXPECT_EQ(ones({2}).device(), kSecond);
  }
  EXPECT_EQ(ones({2}).device(), kFirst);
}

TEST(Device, OperandsOnTwoAreOneError) {
  Tensor a = ones({8, 16}), b = ones({16, 4}).to(kSecond);
  int line = __LINE__ + 1;
  Error error = errorOf([&] { matmul(a, b); });
  EXPECT_EQ(int(error.kind()), int(ErrorKind::usage));
  std::string text = error.what(),
              expected = "DeviceTest.cpp:" + std::to_string(line) +
                         ": matmul: has operands on two devices: 8x16xf32 on cpu:0 and 16x4xf32 on "
                         "cpu:1; copy one of them, as by .to(\"cpu:0\")";
  EXPECT_NE(text.find(expected), std::string::npos) << text;
  EXPECT_EQ(matmul(a, b.to(kFirst)).text(), full({8, 4}, 16).text());
}

TEST(Device, CopiesComeBehindWhatComputesThem) {
  Gate gate(laneOf(kFirst));
  Tensor x = ones({64}) * 3; // behind the gate
  Tensor copy = x.to(kSecond, /*nonBlocking=*/true), used = copy + 1;
  EXPECT_FALSE(copy.ready());
  EXPECT_FALSE(used.ready());
  gate.open();
  EXPECT_EQ(used[5].item<float>(), 4); // waits for all of it
  EXPECT_TRUE(copy.ready());
}

TEST(Device, ABlockingCopyIsThereWhenItReturns) {
  Tensor copy = (ones({64}) * 3).to(kSecond);
  EXPECT_TRUE(copy.ready());
}

TEST(Device, CopiesAreNotHeldUpByWhatTheTargetComputes) {
  Tensor x = ones({64});
  Gate gate(laneOf(kSecond));
  Tensor copy = x.to(kSecond); // returns, though the device is busy
  EXPECT_TRUE(copy.ready());
  Tensor used = copy + 1;
  EXPECT_FALSE(used.ready());
}

TEST(Device, SynchronizeWaitsForOne) {
  Tensor slow = ones({16}).to(kSecond);
  Gate gate(laneOf(kSecond));
  slow = slow + 1;
  Tensor quick = ones({16}) + 1;
  synchronize(kFirst);
  EXPECT_TRUE(quick.ready());
  EXPECT_FALSE(slow.ready());
  gate.open();
  synchronize(kSecond);
  EXPECT_TRUE(slow.ready());
  Tensor both[] = {ones({16}) * 2, slow * 2};
  synchronize();
  EXPECT_TRUE(both[0].ready() && both[1].ready());
}

TEST(Device, TwoGoOnSideBySide) {
  // Each waits within its lane for the other: one after the other, they never would end.
  static std::latch *meeting;
  std::latch both(2);
  meeting = &both;
  struct Meet : Task {
    void run() override { meeting->arrive_and_wait(); }
  };
  for (const Device &device : {kFirst, kSecond}) Engine::of(laneOf(device)).push(std::make_unique<Meet>());
  synchronize();
  EXPECT_TRUE(both.try_wait());
}

TEST(Device, FailuresGoThroughCopies) {
  Tensor table = ones({4, 2}).to(kSecond), index = Tensor({7}).to(kSecond);
  int line = __LINE__ + 1;
  Tensor bad = indexSelect(table, 0, index);
  Tensor other = table + 1, copy = bad.to(kFirst, true);
  EXPECT_EQ(other.text(), ones({4, 2}).text().empty() ? "" : (ones({4, 2}) + 1).text());
  EXPECT_NO_THROW(synchronize(kFirst));
  EXPECT_THROW(synchronize(kSecond), Error);
  EXPECT_NO_THROW(synchronize());
  Error error = errorOf([&] { copy.wait(); });
  EXPECT_NE(std::string(error.what()).find("DeviceTest.cpp:" + std::to_string(line)), std::string::npos)
      << error.what();
  Tensor again = indexSelect(table, 0, index).to(kFirst, true);
  EXPECT_THROW(again.wait(), Error); // read here, it is not told again there
  EXPECT_NO_THROW(synchronize(kSecond));
}

TEST(Device, EventsStandBehindAllDevices) {
  Tensor slow = ones({16}).to(kSecond);
  Gate gate(laneOf(kSecond));
  slow = slow + 1;
  Event event;
  event.record();
  synchronize(kFirst);
  EXPECT_FALSE(event.reached());
  gate.open();
  event.synchronize();
  EXPECT_TRUE(event.reached());
}

TEST(Device, CompiledSegmentsOfEachHaveTheSameBits) {
  Tensor x = rand({32, 32}), y = x.to(kSecond), first, second;
  static int round = 0; // other numbers each time, so that nothing is compiled yet
  double factor = 0.1 + 0.001 * ++round;
  auto chain = [=](Tensor t) {
    for (int i = 0; i < 5; ++i) t = tanh(matmul(t, t) * factor) + t;
    return t;
  };
  synchronize();
  int compiled = PlanCache::instance().compiled();
  for (int time = 0; time < 4; ++time) {
    first = chain(x), second = chain(y);
    synchronize();
    PlanCache::instance().wait();
    expectSame(first, second);
  }
  EXPECT_GT(PlanCache::instance().compiled(), compiled);
}

TEST(Device, InterleavedRecordingIsRecognised) {
  // Both recordings use the same scalar and the same constants, one operation here, one there.
  static int round = 0; // other numbers each time, so that nothing is compiled yet
  double factor = 1.25 + 0.001 * ++round;
  Tensor x = rand({16}), y = x.to(kSecond), scale = sum(x);
  scale.wait();
  auto both = [&] {
    Tensor a = x, b = y;
    for (int i = 0; i < 10; ++i) {
      a = a * factor + scale;
      b = b * factor + scale;
    }
    synchronize();
    expectSame(a, b);
  };
  both();
  int compiled = PlanCache::instance().compiled();
  both();
  PlanCache::instance().wait();
  EXPECT_GE(PlanCache::instance().compiled(), compiled + 1);
  both();
}

TEST(Device, ManyDevicesOfFewCores) {
  std::vector<Tensor> parts;
  for (int i = 0; i < 8; ++i) {
    DeviceScope scope(Device(Device::Kind::cpu, uint16_t(i)));
    parts.push_back(matmul(ones({16, 16}), full({16, 16}, i)));
  }
  Tensor total = parts[0];
  for (int i = 1; i < 8; ++i) total = total + parts[size_t(i)].to(kFirst, true);
  expectSame(total, full({16, 16}, 16 * 28));
}

TEST(Device, ThreadsRecordForAllAtOnce) {
  int wrong = wrongOnFourThreads([](const Device &here, const Device &there, int t, std::atomic<int> &wrong) {
    auto f = compile([](Tensor v) { return tanh(v * 0.5) + v; });
    for (int i = 0; i < 60; ++i) {
      Tensor a = full({64}, 1 + t), b = a.to(there, true) * 2, c = b.to(here, true) + a;
      for (int k = 0; k < 6; ++k) {
        b = b + 1;
        c = c + b.to(here, true);
      }
      c = c + f(a) - f(a);
      if (i % 7 == 0) synchronize(here);
      if (i % 11 == 0) synchronize();
      if (i % 3 == 0) wrong += c.toVector<float>()[5] != float(15 * (1 + t) + 21);
    }
  });
  EXPECT_EQ(wrong, 0);
}
