#include "test/gpu/emulator/Requests.h"
#include <algorithm>

using namespace sprig::gpu;

// Passes that some lanes' accesses need: of each bank as many as it has different words; the busiest bank decides.
// `fewest`: of as many words that lie well.
static unsigned passes(const uint64_t *offsets, unsigned count, unsigned bytes, unsigned &fewest) {
  std::vector<uint64_t> words;
  for (unsigned i = 0; i < count; ++i)
    for (uint64_t word = offsets[i] / 4; word <= (offsets[i] + bytes - 1) / 4; ++word) words.push_back(word);
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  fewest = unsigned(words.size() + 31) / 32;
  unsigned perBank[32] = {}, most = 0;
  for (uint64_t word : words) most = std::max(most, ++perBank[word % 32]);
  return most;
}

void TrafficCounts::add(uint32_t line, bool isShared, bool isWrite, const Request &request) {
  Traffic &traffic =
      counts.try_emplace({line, isShared, isWrite}, Traffic{line, isShared, isWrite, 0, 0, 0}).first->second;
  ++traffic.requests;
  // Different bytes that the lanes want: what one and the same word for all needs is one word.
  std::vector<uint64_t> units, words;
  uint64_t lanes[32];
  unsigned count = 0;
  for (uint32_t mask = request.mask; mask; mask &= mask - 1) lanes[count++] = request.addresses[__builtin_ctz(mask)];
  for (unsigned i = 0; i < count; ++i) {
    for (uint64_t word = lanes[i] / 4; word <= (lanes[i] + request.bytes - 1) / 4; ++word) words.push_back(word);
    for (uint64_t unit = lanes[i] / 32; unit <= (lanes[i] + request.bytes - 1) / 32; ++unit) units.push_back(unit);
  }
  auto distinct = [](std::vector<uint64_t> &values) {
    std::sort(values.begin(), values.end());
    return uint64_t(std::unique(values.begin(), values.end()) - values.begin());
  };
  if (!isShared) {
    traffic.units += distinct(units);
    traffic.ideal += (distinct(words) + 7) / 8;
    return;
  }
  // A pass carries 128 bytes: lanes with wide accesses take turns, 16 of 8 bytes, 8 of 16.
  unsigned together = request.bytes == 16 ? 8 : request.bytes == 8 ? 16 : 32;
  for (unsigned first = 0; first < 32; first += together) {
    uint64_t group[32];
    unsigned size = 0;
    for (unsigned lane = first; lane < first + together; ++lane)
      if (request.mask >> lane & 1) group[size++] = request.addresses[lane];
    unsigned fewest = 0;
    traffic.units += passes(group, size, request.bytes, fewest);
    traffic.ideal += fewest;
  }
}

std::vector<Traffic> TrafficCounts::all() const {
  std::vector<Traffic> result;
  for (const auto &[key, traffic] : counts) result.push_back(traffic);
  return result;
}

void PendingRequests::add(unsigned lane, uint32_t visit, uint32_t aliveLanes, uint32_t line, bool isShared,
                          bool isWrite, uint64_t address, uint32_t bytes, TrafficCounts &counts) {
  Key key{line, visit, isShared, isWrite};
  Request &request = pending[key];
  request.addresses[lane] = address;
  request.mask |= 1u << lane;
  request.bytes = bytes;
  if (request.mask != aliveLanes) return;
  counts.add(line, isShared, isWrite, request);
  pending.erase(key);
}
void PendingRequests::flush(TrafficCounts &counts) {
  for (const auto &[key, request] : pending) counts.add(key.line, key.isShared, key.isWrite, request);
  pending.clear();
}
