// How many ranks a group may have, and how many threads the cores. For all who take such a number.
#ifndef SPRIG_RUNTIME_COMM_RANKLIMITS_H
#define SPRIG_RUNTIME_COMM_RANKLIMITS_H

#include <cstdint>
#include <thread>

namespace sprig::rt::comm {

// Each thread has a queue to each other, each process a connection.
constexpr int kMostThreadRanks = 256, kMostProcessRanks = 1024;

// Whether so many threads of this machine may each have a core. Asked once: the system is asked otherwise at each call.
inline bool hasCores(uint64_t threads) {
  static const uint64_t cores = std::thread::hardware_concurrency();
  return threads <= cores;
}

} // namespace sprig::rt::comm

#endif
