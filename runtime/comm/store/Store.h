// Where the ranks of a group that are processes find each other, tell each other what ends them, and show that they
// live. A TCP server with a thread of its own; of `sprig launch`, or of rank 0 where nothing else has started them.
//
// Whoever knows the secret may join: it goes over the connection as it is, so the network between machines has to be
// one's own.
#ifndef SPRIG_RUNTIME_COMM_STORE_STORE_H
#define SPRIG_RUNTIME_COMM_STORE_STORE_H

#include "runtime/base/Status.h"

#include <chrono>
#include <memory>

namespace sprig::rt::comm {

using core::Status;

struct StoreOptions {
  int ranks = 1;
  std::string host = "127.0.0.1"; // where it listens: a name or an address of this machine
  uint16_t port = 0;              // 0: a free one
  std::string secret;
  // Without a sign of life for so long a rank has failed.
  std::chrono::nanoseconds heartbeat = std::chrono::seconds(10);
};

// All of it from any thread.
class Store {
public:
  // Listens when it returns.
  static Status start(const StoreOptions &options, std::unique_ptr<Store> &store);
  virtual ~Store() = default;

  virtual uint16_t port() const = 0;
  // What is known of a rank from elsewhere: how its process has ended. The group's failure, if it is the first.
  virtual void fail(int rank, const Status &why) = 0;
  // That a rank's process has ended well: where it has not come, it never will, which others need not wait for.
  virtual void noteEnd(int rank) = 0;
  // Why the group is of no more use, and the rank whose fault it is, or -1; ok while it is of use.
  virtual Status failure(int &rank) const = 0;
  // Until all ranks have left or the group has failed, at most for so long.
  virtual void awaitEnd(std::chrono::nanoseconds timeout) = 0;
};

} // namespace sprig::rt::comm

#endif
