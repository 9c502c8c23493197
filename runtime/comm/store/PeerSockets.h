// Connections between ranks that nobody else gets into: a carrier of bytes that knows no secret of its own is given
// them ready.
#ifndef SPRIG_RUNTIME_COMM_STORE_PEERSOCKETS_H
#define SPRIG_RUNTIME_COMM_STORE_PEERSOCKETS_H

#include "runtime/comm/store/Sockets.h"
#include "runtime/comm/store/StoreClient.h"

#include <span>
#include <vector>

namespace sprig::rt::comm {

// `count` connections with each of the peers, in their order: [peer * count + i] is the i-th on both sides. All ranks
// of a group call it, once.
//
// Each rank listens for higher ones, at the address by which it reaches the store, until they have come. The store has
// each rank's port and a random key, which the other end has to know; a connection that ends before both ends have said
// theirs is made again. Throws std::runtime_error with the group's failure, which the store knows then.
std::vector<Socket> connectPeers(StoreClient &store, int rank, std::span<const int> peers, size_t count,
                                 std::chrono::nanoseconds timeout);

} // namespace sprig::rt::comm

#endif
