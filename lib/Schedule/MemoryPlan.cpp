#include "lib/Schedule/MemoryPlan.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <queue>
#include <random>
#include <set>
#include <tuple>

using namespace llvm;
using namespace sprig;

namespace {

// Searching every order of more buffers than this takes too long.
constexpr size_t kExactBuffers = 9;
// Placements that the search may try: some milliseconds.
constexpr int64_t kSearchSteps = 4'000'000;
// Pairs of buffers alive at the same time that orders are tried with.
constexpr size_t kMostPairs = 2'000'000;

class Planner {
public:
  Planner(ArrayRef<MemoryRequest> requests, MayMeet mayMeet)
      : requests(requests), mayMeet(mayMeet), offsets(requests.size(), 0) {
    best.bytes = INT64_MAX;
    best.lowerBound = peak();
    for (size_t i = 0; i < requests.size(); ++i)
      if (requests[i].bytes > 0) used.push_back(i);
    neighbours.resize(requests.size());
    isCrowded = !findNeighbours();
  }

  MemoryPlan plan() {
    if (used.empty()) {
      best.bytes = 0;
      best.offsets.assign(requests.size(), 0);
      return std::move(best);
    }
    if (isCrowded) {
      for (bool backwards : {false, true}) sweep(backwards);
      return std::move(best);
    }
    auto order = tryOrders();
    if (done()) return std::move(best);
    if (used.size() <= kExactBuffers) {
      placed.assign(requests.size(), false);
      searchAll(0, 0);
    } else {
      searchExchanges(order);
    }
    return std::move(best);
  }

private:
  bool done() const { return best.bytes == best.lowerBound; }

  bool conflict(size_t a, size_t b) const {
    if (requests[a].first <= requests[b].last && requests[b].first <= requests[a].last) return true;
    return mayMeet && mayMeet(a, b);
  }

  // Neighbours in time, so that placing a buffer does not look at all others. False where there are too many pairs.
  bool findNeighbours() {
    if (mayMeet) {
      for (size_t a : used)
        for (size_t b : used)
          if (a != b && conflict(a, b)) neighbours[a].push_back(b);
      return true;
    }
    SmallVector<size_t> byBegin(used), alive;
    llvm::stable_sort(byBegin, [&](size_t a, size_t b) { return requests[a].first < requests[b].first; });
    size_t pairs = 0;
    for (size_t index : byBegin) {
      llvm::erase_if(alive, [&](size_t other) { return requests[other].last < requests[index].first; });
      if ((pairs += alive.size()) > kMostPairs) return false;
      for (size_t other : alive) {
        neighbours[index].push_back(other);
        neighbours[other].push_back(index);
      }
      alive.push_back(index);
    }
    return true;
  }

  // Places buffers as time passes, forwards or backwards, each in the smallest gap that holds it. Takes n log n.
  void sweep(bool backwards) {
    auto begins = [&](size_t index) { return backwards ? -requests[index].last : requests[index].first; };
    auto ends = [&](size_t index) { return backwards ? -requests[index].first : requests[index].last; };
    SmallVector<size_t> order(used);
    llvm::stable_sort(order, [&](size_t a, size_t b) {
      return std::tuple(begins(a), requests[b].bytes) < std::tuple(begins(b), requests[a].bytes);
    });
    std::map<int64_t, int64_t> gaps; // begin to end
    std::set<std::pair<int64_t, int64_t>> gapsBySize;
    auto remove = [&](std::map<int64_t, int64_t>::iterator gap) {
      gapsBySize.erase({gap->second - gap->first, gap->first});
      return gaps.erase(gap);
    };
    auto add = [&](int64_t begin, int64_t end) {
      auto next = gaps.lower_bound(begin);
      if (next != gaps.end() && next->first == end) {
        end = next->second;
        next = remove(next);
      }
      if (next != gaps.begin() && std::prev(next)->second == begin) {
        begin = std::prev(next)->first;
        remove(std::prev(next));
      }
      gaps[begin] = end;
      gapsBySize.insert({end - begin, begin});
    };
    using Alive = std::pair<int64_t, size_t>; // by end
    std::priority_queue<Alive, std::vector<Alive>, std::greater<>> alive;
    int64_t top = 0;
    for (size_t index : order) {
      for (; !alive.empty() && alive.top().first < begins(index); alive.pop()) {
        size_t over = alive.top().second;
        add(offsets[over], offsets[over] + requests[over].bytes);
      }
      int64_t bytes = requests[index].bytes;
      auto fit = gapsBySize.lower_bound({bytes, 0});
      // Without one, the last gap grows.
      auto gap = fit != gapsBySize.end() ? gaps.find(fit->second) : gaps.empty() ? gaps.end() : std::prev(gaps.end());
      if (gap != gaps.end() && fit == gapsBySize.end() && gap->second < top) gap = gaps.end();
      int64_t begin = top, end = top;
      if (gap != gaps.end()) {
        std::tie(begin, end) = *gap;
        remove(gap);
      }
      if (begin + bytes < end) add(begin + bytes, end);
      offsets[index] = begin;
      top = std::max(top, begin + bytes);
      alive.push({ends(index), index});
    }
    keep(top);
  }

  // The most bytes alive at one time in the one order.
  int64_t peak() const {
    std::map<int64_t, int64_t> changes; // by time
    for (const MemoryRequest &request : requests) {
      changes[request.first] += request.bytes;
      changes[request.last + 1] -= request.bytes;
    }
    int64_t alive = 0, most = 0;
    for (auto &[time, change] : changes) most = std::max(most, alive += change);
    return most;
  }

  // The lowest gap between the neighbours that are placed already which holds the buffer; of all gaps the one that it
  // fills best, if asked for.
  int64_t lowestPlace(size_t index, bool bestFit) {
    ranges.clear();
    for (size_t other : neighbours[index])
      if (placed[other]) ranges.push_back({offsets[other], offsets[other] + requests[other].bytes});
    llvm::sort(ranges);
    int64_t end = 0, place = -1, smallest = INT64_MAX, bytes = requests[index].bytes;
    for (auto [from, to] : ranges) {
      int64_t gap = from - end;
      if (gap >= bytes && gap < smallest) {
        if (!bestFit) return end;
        place = end;
        smallest = gap;
      }
      end = std::max(end, to);
    }
    return place >= 0 ? place : end;
  }

  void keep(int64_t bytes) {
    if (bytes >= best.bytes) return;
    best.bytes = bytes;
    best.offsets = offsets;
  }

  // Gives up on reaching `limit`, which is then the result.
  int64_t placeInOrder(ArrayRef<size_t> order, bool bestFit, int64_t limit) {
    placed.assign(requests.size(), false);
    int64_t bytes = 0;
    for (size_t index : order) {
      offsets[index] = lowestPlace(index, bestFit);
      placed[index] = true;
      bytes = std::max(bytes, offsets[index] + requests[index].bytes);
      steps += int64_t(neighbours[index].size()) + 1;
      if (bytes >= limit) return limit;
    }
    keep(bytes);
    return bytes;
  }

  // Returns the best of the orders.
  SmallVector<size_t> tryOrders() {
    auto length = [](const MemoryRequest &r) { return r.last - r.first + 1; };
    auto sorted = [&](auto key) {
      SmallVector<size_t> order(used);
      // Ties by index: the plan must not depend on the sorting algorithm.
      llvm::sort(order, [&](size_t a, size_t b) {
        return std::tuple_cat(key(requests[b]), std::tuple(a)) < std::tuple_cat(key(requests[a]), std::tuple(b));
      });
      return order;
    };
    SmallVector<SmallVector<size_t>> orders = {
        sorted([&](const MemoryRequest &r) { return std::tuple(r.bytes, length(r)); }),
        sorted([&](const MemoryRequest &r) { return std::tuple(double(r.bytes) * double(length(r)), r.bytes); }),
        sorted([&](const MemoryRequest &r) { return std::tuple(length(r), r.bytes); }),
        sorted([&](const MemoryRequest &r) { return std::tuple(-r.first, r.bytes); }),
        sorted([&](const MemoryRequest &r) { return std::tuple(r.last, r.bytes); }),
    };
    SmallVector<size_t> chosen = orders[0];
    for (auto &order : orders)
      for (bool bestFit : {true, false}) {
        if (done()) return chosen;
        int64_t before = best.bytes;
        if (placeInOrder(order, bestFit, best.bytes) < before) chosen = order;
      }
    return chosen;
  }

  // Any plan can be pushed down until each buffer lies on another or on the ground; placing in the order of those
  // offsets finds it or a better one. So the best over all orders is the optimum.
  void searchAll(size_t count, int64_t bytes) {
    if (done() || bytes >= best.bytes) return;
    if (count == used.size()) return keep(bytes);
    for (size_t index : used) {
      if (placed[index]) continue;
      offsets[index] = lowestPlace(index, /*bestFit=*/false);
      int64_t top = offsets[index] + requests[index].bytes;
      placed[index] = true;
      searchAll(count + 1, std::max(bytes, top));
      placed[index] = false;
    }
  }

  // Moves a buffer to an earlier turn or swaps two, and stays with what is not worse.
  void searchExchanges(SmallVector<size_t> order) {
    std::mt19937_64 random(1);
    auto below = [&](size_t n) { return size_t(random() % n); };
    SmallVector<size_t> next;
    // Equal arenas count as not worse, so that the search does not stand still.
    int64_t current = best.bytes;
    for (steps = 0; !done() && steps < kSearchSteps;) {
      next = order;
      size_t a = below(next.size()), b = below(next.size());
      if (a == b) continue;
      if (below(2))
        std::swap(next[a], next[b]);
      else
        std::rotate(next.begin() + std::min(a, b), next.begin() + std::max(a, b), next.begin() + std::max(a, b) + 1);
      int64_t bytes = placeInOrder(next, /*bestFit=*/false, current + 1);
      if (bytes > current) continue;
      current = bytes;
      order = next;
    }
  }

  ArrayRef<MemoryRequest> requests;
  MayMeet mayMeet;
  SmallVector<size_t> used;
  SmallVector<SmallVector<size_t>> neighbours;
  bool isCrowded = false;
  SmallVector<int64_t> offsets;
  SmallVector<bool> placed;
  SmallVector<std::pair<int64_t, int64_t>> ranges;
  int64_t steps = 0;
  MemoryPlan best;
};

} // namespace

MemoryPlan sprig::planMemory(ArrayRef<MemoryRequest> given, int64_t alignment, MayMeet mayMeet) {
  SmallVector<MemoryRequest> requests(given);
  for (MemoryRequest &request : requests) request.bytes = (request.bytes + alignment - 1) / alignment * alignment;
  return Planner(requests, mayMeet).plan();
}
