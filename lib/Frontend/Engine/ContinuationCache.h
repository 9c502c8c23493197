// What was derived of graphs, by their structure: differentiating costs more than recording the result.
// For the chain rule.
#pragma once
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Engine/Hash.h"
#include <memory>
#include <mutex>
#include <unordered_map>

namespace sprig::frontend {

class ContinuationCache {
public:
  static ContinuationCache &instance() {
    static auto &cache = *new ContinuationCache;
    return cache;
  }

  /// `make` is called without a lock.
  template <typename Make> std::shared_ptr<const Continuation> get(const Hash &key, Make make) {
    {
      std::lock_guard lock(mutex);
      if (auto found = rows.find(key); found != rows.end()) return found->second;
    }
    auto made = std::make_shared<const Continuation>(make());
    std::lock_guard lock(mutex);
    if (rows.size() >= kMostRows) rows.clear();
    return rows.try_emplace(key, std::move(made)).first->second;
  }

private:
  static constexpr size_t kMostRows = 1024;
  std::mutex mutex;
  std::unordered_map<Hash, std::shared_ptr<const Continuation>> rows;
};

} // namespace sprig::frontend
