// A process as a rank: its store and what it hears from it, its place, its waits, and a link to every other rank.
#ifndef SPRIG_RUNTIME_COMM_PROCESS_PROCESSTRANSPORT_H
#define SPRIG_RUNTIME_COMM_PROCESS_PROCESSTRANSPORT_H

#include "runtime/comm/Position.h"
#include "runtime/comm/ProcessRanks.h"
#include "runtime/comm/process/Link.h"
#include "runtime/comm/store/Store.h"
#include "runtime/comm/store/StoreClient.h"

#include <mutex>

namespace sprig::rt::comm {

// What ends a rank is heard from the store, and interrupts every wait.
class ProcessTransport : public Transport {
public:
  explicit ProcessTransport(const ProcessRanksOptions &options);
  ~ProcessTransport() override;
  // Returns when all ranks have come and there are links to them.
  Status join();

  int rank() const override { return options.rank; }
  int ranks() const override { return options.ranks; }
  bool hasCoreBeside(uint32_t threads) const override;
  Status begin(const Call &call) override;
  void end() override;
  Status send(int peer, std::span<const Bytes> stretches, uint64_t &number) override;
  Status awaitTaken(int peer, uint64_t number) override;
  bool expects(int peer) const override { return links[size_t(peer)]->expects(); }
  Status expect(int peer, size_t bytes) override;
  Status take(int peer, std::span<const size_t> sizes, std::span<const Bytes> &stretches, bool &isLast) override;
  void giveBack(int peer) override;
  void fail(const Status &why) override { client->fail(why); }
  Status failure() const override { return client->failure(); }
  void leave() override;

private:
  using Clock = std::chrono::steady_clock;

  Status checkEngine();
  Status connect();
  Status await(int peer, const Goal &goal);
  // Does what a link throws at where the connection to a rank has ended.
  template <typename F> Status with(int peer, F body);
  Status ended(int peer, uint64_t collectives);
  Status lost(int peer, const char *why);
  Status check(int peer, const MessageHeader &header, size_t size);
  void interrupt();
  std::string place() const;

  ProcessRanksOptions options;
  std::unique_ptr<Store> store;
  std::unique_ptr<StoreClient> client;
  Links links;
  MessageHeader header = {}; // of this rank's call
  bool hasLeft = false;
  mutable std::mutex mutex; // what follows
  Position position;
  Link *awaited = nullptr;
};

} // namespace sprig::rt::comm

#endif
