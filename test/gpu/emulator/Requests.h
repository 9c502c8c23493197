// Memory traffic as a GPU would have it: the k-th accesses at one line by the lanes of a warp are one request. Of
// global memory it takes 32-byte sectors; of shared memory passes, in each of which each of 32 banks gives 4 bytes.
#ifndef SPRIG_TEST_GPU_EMULATOR_REQUESTS_H
#define SPRIG_TEST_GPU_EMULATOR_REQUESTS_H

#include "test/gpu/emulator/Emulator.h"
#include <array>
#include <map>
#include <unordered_map>

namespace sprig::gpu {

struct Request {
  uint64_t addresses[32];
  uint32_t mask = 0, bytes = 0;
};

class TrafficCounts {
public:
  void add(uint32_t line, bool isShared, bool isWrite, const Request &request);
  std::vector<Traffic> all() const;

private:
  std::map<std::tuple<uint32_t, bool, bool>, Traffic> counts;
};

// Requests of a warp that not all lanes have made yet.
class PendingRequests {
public:
  // `visit` counts the lane's accesses at this line.
  void add(unsigned lane, uint32_t visit, uint32_t aliveLanes, uint32_t line, bool isShared, bool isWrite,
           uint64_t address, uint32_t bytes, TrafficCounts &counts);
  void flush(TrafficCounts &counts);

private:
  struct Key {
    uint32_t line, visit;
    bool isShared, isWrite;
    auto operator<=>(const Key &) const = default;
  };
  struct Hash {
    size_t operator()(const Key &key) const {
      return (size_t(key.line) << 32 | key.visit) * 0x9e3779b97f4a7c15 + key.isShared * 2 + key.isWrite;
    }
  };
  std::unordered_map<Key, Request, Hash> pending;
};

} // namespace sprig::gpu
#endif
