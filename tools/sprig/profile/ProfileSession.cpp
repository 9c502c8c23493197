#include "tools/sprig/profile/ProfileSession.h"
#include "tools/sprig/Timing.h"
#include <algorithm>
#include <cmath>

namespace sprig::cli {
namespace {

// Events that a ring holds; more only where one call makes more.
constexpr uint64_t kEvents = 1 << 16;
constexpr uint64_t kMostBatch = 1000;
// Batches stay short, so that both kinds of calls see the same machine.
constexpr double kBatchNs = 50e6;
// Beside this, reading the clock takes no time.
constexpr double kClockNs = 5e3;

} // namespace

ProfileSession::ProfileSession(const Runner &runner, PreparedCall &call, const SessionOptions &options,
                               const std::map<std::string, data::Array> &arrays)
    : runner(runner), call(call), options(options) {
  for (int i = 0; i < 3; ++i) call.invoke();
  entryIndex = runner.lastRun().entry;
  if (options.loader.wanted()) loader.emplace(options.loader, arrays);
}

// The most that one call can make on one thread.
uint64_t ProfileSession::eventsPerCall() const {
  sprig_rt_entry_info info = runner.entryInfo(entryIndex);
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

// Of the process: the loader's threads belong to no context. Goes on from where the loader has nothing in store that it
// had time for while nobody asked.
uint64_t ProfileSession::recordSteps(rt::Profile &profile, uint64_t count, double seconds) {
  auto step = [&] {
    loader->next(call);
    call.invoke();
  };
  for (int64_t i = 0; i < loader->ahead(); ++i) step();
  profile.start();
  auto start = Clock::now();
  uint64_t done = 0;
  while (done < count && (done == 0 || nsSince(start) < seconds * 1e9)) step(), ++done;
  profile.stop();
  return done;
}

ProfileResult ProfileSession::run() {
  ProfileCollector collector(runner);
  uint64_t perCall = eventsPerCall();
  rt::Profile profile(uint32_t(std::clamp<uint64_t>(perCall, kEvents, 1 << 26)));
  uint64_t batch = std::clamp<uint64_t>(kEvents / perCall, 1, kMostBatch);
  std::vector<float> plain;
  auto start = Clock::now();
  if (loader) {
    runLoaded(profile, kEvents / perCall, collector, plain);
    return finish(collector, std::move(plain));
  }
  // Makes the threads' rings.
  record(profile, 1);
  profile.read();
  uint64_t done = 0;
  while (options.calls ? done < options.calls : nsSince(start) < options.seconds * 1e9 || done == 0) {
    uint64_t now = options.calls ? std::min(batch, options.calls - done) : batch;
    auto batchStart = Clock::now();
    record(profile, now);
    double ns = nsSince(batchStart);
    if (ns > kBatchNs && batch > 1) batch = std::max<uint64_t>(1, uint64_t(double(batch) * kBatchNs / ns));
    collector.add(profile, profile.read());
    // Single calls, or as many as the clock needs: what else the machine does then spoils few samples.
    uint64_t chunk = options.submit ? now : std::clamp<uint64_t>(uint64_t(kClockNs * double(now) / ns), 1, now);
    for (uint64_t i = 0; i < now; i += chunk) {
      auto plainStart = Clock::now();
      callMany(chunk);
      plain.push_back(float(nsSince(plainStart) / double(chunk)));
    }
    done += now;
  }
  return finish(collector, std::move(plain));
}

// Steps that wait for their data are recorded all in a row: a pause would give the loader time.
void ProfileSession::runLoaded(rt::Profile &profile, uint64_t most, ProfileCollector &collector,
                               std::vector<float> &plain) {
  constexpr int kPlainCalls = 3;
  auto start = Clock::now();
  for (int i = 0; i < kPlainCalls; ++i) {
    auto plainStart = Clock::now();
    call.invoke();
    plain.push_back(float(nsSince(plainStart)));
  }
  uint64_t done = 0;
  while (options.calls ? done < options.calls : done == 0 || nsSince(start) < options.seconds * 1e9) {
    double left = options.calls ? INFINITY : options.seconds - nsSince(start) / 1e9;
    done +=
        recordSteps(profile, std::max<uint64_t>(options.calls ? std::min(options.calls - done, most) : most, 1), left);
    collector.add(profile, profile.read());
  }
}

ProfileResult ProfileSession::finish(ProfileCollector &collector, std::vector<float> plain) const {
  ProfileResult result = collector.take();
  std::sort(plain.begin(), plain.end());
  for (double quartile : {0.25, 0.5, 0.75})
    result.plainQuartilesNs.push_back(plain[size_t(double(plain.size() - 1) * quartile)]);
  result.threads = runner.threads();
  result.busy.hasLoader = loader.has_value();
  if (loader) result.loader = loader->describe();
  sprig_rt_entry_info info = runner.entryInfo(entryIndex);
  result.entry = info.name;
  return result;
}

RecordedCalls ProfileSession::recordSome() {
  constexpr uint64_t kCalls = 32;
  uint64_t perCall = eventsPerCall();
  uint64_t count = std::clamp<uint64_t>(kEvents / perCall, 1, options.calls ? std::min(options.calls, kCalls) : kCalls);
  RecordedCalls calls{rt::Profile(uint32_t(std::clamp<uint64_t>(perCall, kEvents, 1 << 26))), {}};
  if (loader)
    recordSteps(calls.profile, count, INFINITY);
  else
    record(calls.profile, count);
  calls.data = calls.profile.read();
  return calls;
}

} // namespace sprig::cli
