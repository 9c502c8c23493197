// Four threads, each of which goes between two of three devices, with few calls in flight: who pushes waits, and helps.
// For tests of what threads do with devices at the same time.
#pragma once
#include "sprig/sprig.h"
#include <atomic>
#include <thread>
#include <vector>

namespace sprig::frontend {

/// Runs body(here, there, number, wrong) on each, new tensors being on `here`; returns how much it has counted as
/// wrong.
template <typename Body> int wrongOnFourThreads(Body body) {
  int before = maxInFlight();
  setMaxInFlight(3);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&body, &wrong, t] {
      Device here(Device::Kind::cpu, uint16_t(t % 3)), there(Device::Kind::cpu, uint16_t((t + 1) % 3));
      DeviceScope scope(here);
      body(here, there, t, wrong);
    });
  for (std::thread &thread : threads) thread.join();
  synchronize();
  setMaxInFlight(before);
  return wrong;
}

} // namespace sprig::frontend
