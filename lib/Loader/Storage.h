// When a simulated device would have read what was asked for.
// For the loader. All workers share one device: its requests queue up, its bytes share one link.
#pragma once
#include "sprig/data/storage.h"
#include <chrono>
#include <mutex>
#include <span>
#include <vector>

namespace sprig::data {

class Storage {
public:
  using Clock = std::chrono::steady_clock;
  /// Throws Error (usage) for times and rates that make no sense.
  explicit Storage(const IoDelay &delay);

  /// The time at which samples of so many bytes are there when they are asked for now. Samples that lie side by side
  /// are read together, and one that follows the last read needs no seek.
  Clock::time_point read(std::span<const int64_t> samples, int64_t bytesEach, Clock::time_point now);

private:
  struct Channel {
    Clock::time_point free;
    int64_t position = -1; ///< where its last read ended
  };
  Clock::time_point request(int64_t position, int64_t bytes, Clock::time_point now);

  const IoDelay delay;
  std::mutex mutex;
  std::vector<Channel> channels;
  Clock::time_point linkFree;
};

} // namespace sprig::data
