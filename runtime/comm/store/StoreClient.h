// A rank's connection to its group's store. A thread of its own shows that the rank lives, hears of the others, and
// says where the rank is, whatever the rank itself is doing.
#ifndef SPRIG_RUNTIME_COMM_STORE_STORECLIENT_H
#define SPRIG_RUNTIME_COMM_STORE_STORECLIENT_H

#include "runtime/base/Status.h"

#include <chrono>
#include <functional>
#include <memory>

namespace sprig::rt::comm {

using core::Status;

struct StoreClientOptions {
  int rank = 0, ranks = 1;
  std::string host;
  uint16_t port = 0;
  std::string secret;
  std::chrono::nanoseconds timeout = std::chrono::minutes(5); // for the store, and for values; zero: no limit
  bool firstHasStore = false;                                 // the first rank, rather than what has started the ranks
  // Of the client's thread, at any time: where the rank is, and that the group has failed or a rank has left.
  std::function<std::string()> place;
  std::function<void()> news;
};

// All of it from any thread.
class StoreClient {
public:
  static Status connect(const StoreClientOptions &options, std::unique_ptr<StoreClient> &client);
  virtual ~StoreClient() = default;

  virtual void set(std::string_view key, std::string_view value) = 0;
  // Waits until the key has a value, which rank `peer` sets.
  virtual Status get(std::string_view key, int peer, std::string &value) = 0;
  // Tells all, and returns when they have been told; the first failure counts.
  virtual void fail(const Status &why) = 0;
  // The same where another rank has not come in time; the store says where all are.
  virtual void failWaiting(int peer, std::chrono::nanoseconds waited) = 0;
  virtual bool hasFailed() const = 0;
  virtual Status failure() const = 0;
  // Whether a rank makes no more calls, and after how many.
  virtual bool hasLeft(int rank, uint64_t &collectives) const = 0;
  virtual void leave(uint64_t collectives) = 0;
  // Of this machine, by which the store is reached: where others reach this rank.
  virtual std::string ownAddress() const = 0;
};

} // namespace sprig::rt::comm

#endif
