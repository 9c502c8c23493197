#include "test/gpu/driver/AccessHistory.h"

namespace sprig::cuda {
namespace {

bool conflict(Access a, Access b) { return a != b || a == Access::Write; }

// Whether who comes after the new access comes after the old one too, and conflicts with the new one if with the old
// one.
bool outweighs(Access added, Access old) { return added == Access::Write || added == old; }

} // namespace

void AccessHistory::splitAt(uint64_t address) {
  auto it = segments.upper_bound(address);
  if (it == segments.begin()) return;
  --it;
  if (it->first == address || it->second.end <= address) return;
  segments.emplace(address, it->second);
  it->second.end = address;
}

std::vector<AccessHistory::Conflict> AccessHistory::enter(const OperationRef &operation, Interval bytes,
                                                          Access access) {
  std::vector<Conflict> conflicts;
  auto note = [&](const Entry &entry, Interval common) {
    for (Conflict &known : conflicts) {
      if (known.earlier.by != entry.by || known.earlier.access != entry.access) continue;
      if (known.bytes.end == common.begin) known.bytes.end = common.end;
      return;
    }
    conflicts.push_back({entry, common});
  };

  splitAt(bytes.begin);
  splitAt(bytes.end);
  uint64_t at = bytes.begin;
  auto it = segments.lower_bound(at);
  while (at < bytes.end) {
    if (it == segments.end() || it->first > at) {
      // Nobody has touched these yet.
      uint64_t end = it == segments.end() ? bytes.end : std::min(it->first, bytes.end);
      it = std::next(segments.emplace_hint(it, at, Segment{end, {{operation, access}}}));
      at = end;
      continue;
    }
    std::vector<Entry> &entries = it->second.entries;
    bool known = false;
    std::erase_if(entries, [&](const Entry &entry) {
      if (entry.by == operation) {
        known = known || entry.access == access || entry.access == Access::Write;
        return !known && outweighs(access, entry.access);
      }
      bool before = entry.by->happenedBefore(operation->clock);
      if (!before && conflict(entry.access, access)) note(entry, {it->first, it->second.end});
      return before && outweighs(access, entry.access);
    });
    if (!known) entries.push_back({operation, access});
    at = it->second.end;
    ++it;
  }
  // Neighbours that say the same become one, so that what a loop repeats does not grow.
  auto same = [](const Segment &a, const Segment &b) {
    return std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                      [](const Entry &x, const Entry &y) { return x.by == y.by && x.access == y.access; });
  };
  it = segments.upper_bound(bytes.end);
  while (it != segments.begin()) {
    auto right = std::prev(it);
    if (right->first < bytes.begin || right == segments.begin()) break;
    auto left = std::prev(right);
    if (left->second.end == right->first && same(left->second, right->second)) {
      left->second.end = right->second.end;
      segments.erase(right);
    } else {
      it = right;
    }
  }
  return conflicts;
}

} // namespace sprig::cuda
