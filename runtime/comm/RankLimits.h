// How many ranks a group may have. For all who take such a number.
#ifndef SPRIG_RUNTIME_COMM_RANKLIMITS_H
#define SPRIG_RUNTIME_COMM_RANKLIMITS_H

namespace sprig::rt::comm {

// Each thread has a queue to each other, each process a connection.
constexpr int kMostThreadRanks = 256, kMostProcessRanks = 1024;

} // namespace sprig::rt::comm

#endif
