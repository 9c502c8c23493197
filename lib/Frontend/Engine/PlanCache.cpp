#include "lib/Frontend/Engine/PlanCache.h"
#include "lib/Cache/FileCache.h"
#include "sprig/error.h"
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <system_error>

namespace sprig::frontend {

namespace {
/// A program whose segments are ever new ones must not keep them all.
constexpr size_t kMostRows = 4096;

/// The default cache; empty, after one note, where others could have put code into it.
std::string trustedCacheFolder() {
  static std::mutex mutex;
  static auto &checked = *new std::map<std::string, bool>;
  std::string folder = defaultCacheFolder();
  std::lock_guard lock(mutex);
  auto [known, isNew] = checked.try_emplace(folder, true);
  if (isNew)
    if (std::string why = cacheDistrust(folder); !why.empty()) {
      known->second = false;
      std::cerr << "note: cache: " << why << "; compiling without it\n";
    }
  return known->second ? folder : "";
}
} // namespace

CompileOptions segmentOptions() {
  CompileOptions options;
  options.math = MathMode::strict;
  options.freeze = false;
  // Set and empty, it asks for none.
  if (const char *folder = std::getenv("SPRIG_CACHE"); !folder || *folder) {
    options.cacheFolder = trustedCacheFolder();
    options.cacheBytes = defaultCacheSize();
  }
  return options;
}

PlanCache &PlanCache::instance() {
  static auto &cache = *new PlanCache;
  return cache;
}

std::shared_ptr<Plan> PlanCache::find(const Hash &key, DeviceId device, const std::function<Graph()> &graph) {
  std::unique_lock lock(mutex);
  if (!on) return nullptr;
  if (rows.size() >= kMostRows && requests.empty() && !busy) rows.clear();
  Row &row = rows[key];
  if (!row.plans.empty()) {
    if (row.plans.size() <= device) row.plans.resize(device + 1);
    std::shared_ptr<Plan> &own = row.plans[device];
    if (!own) own = row.plans[0]->on(device);
    return own;
  }
  if (++row.seen < 2 || row.asked || stopping) return nullptr;
  row.asked = true;
  requests.push_back({key, graph()});
  if (!thread.joinable()) {
    try {
      thread = std::thread([this] { loop(); });
    } catch (const std::system_error &) {
      requests.clear(); // it goes on operation by operation
      on = false;
      return nullptr;
    }
  }
  changed.notify_all();
  return nullptr;
}

void PlanCache::loop() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return stopping || !requests.empty(); });
    if (stopping) return;
    Request request = std::move(requests.front());
    requests.pop_front();
    busy = true;
    lock.unlock();
    std::unique_ptr<Plan> plan;
    try {
      plan = compilePlan(request.graph, {}, segmentOptions(), "segment");
    } catch (const Error &) {
      // It goes on operation by operation, where an error names its operation.
    }
    lock.lock();
    busy = false;
    if (plan) {
      rows[request.key].plans.assign(1, std::move(plan));
      ++count;
    }
    changed.notify_all();
  }
}

void PlanCache::stop() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
    requests.clear();
  }
  changed.notify_all();
  if (thread.joinable()) thread.join();
}

int PlanCache::compiled() const {
  std::lock_guard lock(mutex);
  return count;
}

void PlanCache::wait() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return stopping || (requests.empty() && !busy); });
}

void PlanCache::enable(bool enabled) {
  std::lock_guard lock(mutex);
  on = enabled;
}

} // namespace sprig::frontend
