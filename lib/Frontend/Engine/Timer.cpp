#include "sprig/timer.h"
#include "lib/Frontend/Engine/Engine.h"
#include "lib/Frontend/Engine/ProfileSpan.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Record.h"
#include "runtime/base/Decimal.h"
#include <atomic>
#include <cstdio>

namespace sprig {

using namespace frontend;
using Clock = std::chrono::steady_clock;

void Timer::start() {
  synchronize();
  began = Clock::now();
}

double Timer::stop() {
  synchronize();
  double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  total += seconds;
  ++count;
  return seconds;
}

struct Event::Impl {
  std::atomic<bool> recorded{false}, reached{false};
  std::atomic<size_t> missing{0}; // lanes that have not come to it
  Clock::time_point time;         // when the last one did
};

Event::Event() : impl(std::make_shared<Impl>()) {}

void Event::record() {
  struct EventTask : Task {
    std::shared_ptr<Impl> event;
    void run() override {
      if (event->missing.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
      event->time = Clock::now();
      event->reached.store(true, std::memory_order_release);
    }
  };
  requireNotRecording("Event::record", {});
  impl = std::make_shared<Impl>();
  impl->recorded = true;
  flush();
  Engine::instance(); // there is one at least
  std::vector<Engine *> lanes = Engine::ofThisRank();
  impl->missing = lanes.size();
  for (Engine *lane : lanes) {
    auto task = std::make_unique<EventTask>();
    task->event = impl;
    lane->push(std::move(task));
  }
}

bool Event::reached() const { return impl->reached.load(std::memory_order_acquire); }

void Event::synchronize(Source at) const {
  if (!impl->recorded) fail(at, "Event", "waits for an event that was not recorded");
  if (reached()) return;
  ProfileSpan span(kWaitKind, [&] { return placeText(at) + kEventWait; });
  Engine::drainAll();
}

double Event::elapsed(const Event &later, Source at) const {
  synchronize(at);
  later.synchronize(at);
  return std::chrono::duration<double, std::milli>(later.impl->time - impl->time).count();
}

Benchmark::Benchmark(std::string description) : description(std::move(description)) {}

Benchmark::~Benchmark() {
  double seconds;
  try {
    seconds = timer.stop();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: failed: %s\n", description.c_str(), error.what());
    return;
  }
  std::printf("%s: %s sec\n", description.c_str(), decimal::fixed(seconds, 4).c_str());
}

} // namespace sprig
