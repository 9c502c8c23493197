// Sets of bytes as sorted intervals that neither touch nor overlap: what an operation reads or writes, what of an
// allocation was ever written.
#ifndef SPRIG_TEST_GPU_DRIVER_INTERVALS_H
#define SPRIG_TEST_GPU_DRIVER_INTERVALS_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace sprig::cuda {

struct Interval {
  uint64_t begin, end;
};

/// Gathers bytes in any order: appended by whoever accesses them, sorted and joined when they are asked for.
class IntervalList {
public:
  void add(uint64_t address, uint64_t bytes) {
    if (bytes == 0) return;
    // Most accesses go on where one of the last ended.
    if (!parts.empty() && address <= parts.back().end && address + bytes >= parts.back().begin) {
      parts.back().begin = std::min(parts.back().begin, address);
      parts.back().end = std::max(parts.back().end, address + bytes);
      return;
    }
    parts.push_back({address, address + bytes});
    if (parts.size() >= joinAt) {
      join();
      joinAt = std::max<size_t>(4096, 2 * parts.size());
    }
  }

  const std::vector<Interval> &intervals() const {
    join();
    return parts;
  }
  bool empty() const { return parts.empty(); }
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (Interval part : intervals()) sum += part.end - part.begin;
    return sum;
  }

private:
  void join() const {
    std::sort(parts.begin(), parts.end(), [](Interval a, Interval b) { return a.begin < b.begin; });
    size_t kept = 0;
    for (Interval part : parts) {
      if (kept && part.begin <= parts[kept - 1].end)
        parts[kept - 1].end = std::max(parts[kept - 1].end, part.end);
      else
        parts[kept++] = part;
    }
    parts.resize(kept);
  }

  mutable std::vector<Interval> parts;
  size_t joinAt = 4096;
};

/// A set that grows and shrinks.
class IntervalSet {
public:
  void insert(Interval added) {
    auto it = parts.upper_bound(added.begin);
    if (it != parts.begin() && std::prev(it)->second >= added.begin) --it;
    while (it != parts.end() && it->first <= added.end) {
      added = {std::min(added.begin, it->first), std::max(added.end, it->second)};
      it = parts.erase(it);
    }
    parts.emplace(added.begin, added.end);
  }

  void erase(Interval removed) {
    auto it = parts.upper_bound(removed.begin);
    if (it != parts.begin() && std::prev(it)->second > removed.begin) --it;
    while (it != parts.end() && it->first < removed.end) {
      Interval part = {it->first, it->second};
      it = parts.erase(it);
      if (part.begin < removed.begin) parts.emplace(part.begin, removed.begin);
      if (part.end > removed.end) parts.emplace(removed.end, part.end);
    }
  }

  /// The parts of `asked` that are not in the set.
  std::vector<Interval> missing(Interval asked) const {
    std::vector<Interval> gaps;
    uint64_t at = asked.begin;
    auto it = parts.upper_bound(asked.begin);
    if (it != parts.begin() && std::prev(it)->second > asked.begin) --it;
    for (; it != parts.end() && it->first < asked.end; ++it) {
      if (it->first > at) gaps.push_back({at, it->first});
      at = it->second;
    }
    if (at < asked.end) gaps.push_back({at, asked.end});
    return gaps;
  }

private:
  std::map<uint64_t, uint64_t> parts; // begin to end
};

} // namespace sprig::cuda

#endif
