#include "tools/sprig/profile/ProfileSession.h"
#include "sprig/rt/trace.hpp"
#include <algorithm>
#include <chrono>

namespace sprig::cli {
namespace {

using Clock = std::chrono::steady_clock;
double nsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// Events that a ring holds; more only where one call makes more.
constexpr uint64_t kEvents = 1 << 16;
constexpr uint64_t kMostBatch = 1000;
// Batches stay short, so that both kinds of calls see the same machine.
constexpr double kBatchNs = 50e6;
// Beside this, reading the clock takes no time.
constexpr double kClockNs = 5e3;

} // namespace

ProfileSession::ProfileSession(const Runner &runner, PreparedCall &call, const SessionOptions &options)
    : runner(runner), call(call), options(options) {
  for (int i = 0; i < 3; ++i) call.invoke();
  entryIndex = runner.lastRun().entry;
}

// The most that one call can make on one thread.
uint64_t ProfileSession::eventsPerCall() const {
  sprig_rt_entry_info info;
  check(sprig_rt_package_entry(runner.package(), entryIndex, &info));
  constexpr uint64_t kSlicesPerThread = 4, kOverhead = 8;
  uint64_t once = kOverhead + uint64_t(info.command_count) * (1 + kSlicesPerThread * uint64_t(runner.threads()));
  return once * std::max(1u, runner.lastRun().runs);
}

void ProfileSession::callMany(uint64_t count) {
  if (!options.submit) {
    for (uint64_t i = 0; i < count; ++i) call.invoke();
    return;
  }
  // All write to the same outputs, one after the other.
  std::vector<rt::Future> futures;
  for (uint64_t i = 0; i < count; ++i) futures.emplace_back(call.submit());
  for (rt::Future &future : futures) future.wait();
}

void ProfileSession::record(rt::Profile &profile, uint64_t count) {
  check(sprig_rt_profile_start(profile.raw(), runner.runContext()));
  callMany(count);
  sprig_rt_profile_stop(profile.raw(), runner.runContext());
}

ProfileResult ProfileSession::run() {
  ProfileCollector collector(runner);
  uint64_t perCall = eventsPerCall();
  rt::Profile profile(uint32_t(std::clamp<uint64_t>(perCall, kEvents, 1 << 26)));
  uint64_t batch = std::clamp<uint64_t>(kEvents / perCall, 1, kMostBatch);
  // Makes the threads' rings.
  record(profile, 1);
  profile.read();
  std::vector<float> plain;
  auto start = Clock::now();
  uint64_t done = 0;
  while (options.calls ? done < options.calls : nsSince(start) < options.seconds * 1e9 || done == 0) {
    uint64_t now = options.calls ? std::min(batch, options.calls - done) : batch;
    auto batchStart = Clock::now();
    record(profile, now);
    double ns = nsSince(batchStart);
    if (ns > kBatchNs && batch > 1) batch = std::max<uint64_t>(1, uint64_t(double(batch) * kBatchNs / ns));
    collector.add(profile.read());
    // Single calls, or as many as the clock needs: what else the machine does then spoils few samples.
    uint64_t chunk = options.submit ? now : std::clamp<uint64_t>(uint64_t(kClockNs * double(now) / ns), 1, now);
    for (uint64_t i = 0; i < now; i += chunk) {
      auto plainStart = Clock::now();
      callMany(chunk);
      plain.push_back(float(nsSince(plainStart) / double(chunk)));
    }
    done += now;
  }
  ProfileResult result = collector.take();
  std::sort(plain.begin(), plain.end());
  for (double quartile : {0.25, 0.5, 0.75})
    result.plainQuartilesNs.push_back(plain[size_t(double(plain.size() - 1) * quartile)]);
  result.threads = runner.threads();
  sprig_rt_entry_info info;
  check(sprig_rt_package_entry(runner.package(), entryIndex, &info));
  result.entry = info.name;
  return result;
}

void ProfileSession::writeTrace(std::ostream &out) {
  constexpr uint64_t kCalls = 32;
  uint64_t perCall = eventsPerCall();
  uint64_t count = std::clamp<uint64_t>(kEvents / perCall, 1, options.calls ? std::min(options.calls, kCalls) : kCalls);
  rt::Profile profile(uint32_t(std::clamp<uint64_t>(perCall, kEvents, 1 << 26)));
  record(profile, count);
  rt::writeTrace(out, profile, profile.read(), rt::TraceNames(runner.package()));
}

} // namespace sprig::cli
