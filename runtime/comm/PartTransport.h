// Some ranks of a group as a group of their own, over the transport that all have: its calls are numbered by
// themselves, and a message of one that meets another call is told, never taken for another.
#ifndef SPRIG_RUNTIME_COMM_PARTTRANSPORT_H
#define SPRIG_RUNTIME_COMM_PARTTRANSPORT_H

#include "runtime/comm/Transport.h"

#include <string>
#include <vector>

namespace sprig::rt::comm {

class PartTransport : public Transport {
public:
  // Of the transport's ranks those, in that order, its own among them. `number`: of the part, the same on all of them,
  // and another one than that of any other part. The transport outlives it.
  PartTransport(Transport &whole, std::vector<int> members, uint64_t number);

  int rank() const override { return own; }
  int ranks() const override { return int(members.size()); }
  uint64_t partNumber() const override { return number; }
  bool hasCoreBeside(uint32_t threads) const override { return whole.hasCoreBeside(threads); }
  bool isWithinProcess() const override { return whole.isWithinProcess(); }

  Status begin(const Call &call) override;
  void end() override { whole.end(); }
  Status send(int peer, std::span<const Bytes> stretches, uint64_t &message) override {
    return whole.send(members[size_t(peer)], stretches, message);
  }
  Status awaitTaken(int peer, uint64_t message) override { return whole.awaitTaken(members[size_t(peer)], message); }
  bool expects(int peer) const override { return whole.expects(members[size_t(peer)]); }
  Status expect(int peer, size_t bytes) override { return whole.expect(members[size_t(peer)], bytes); }
  Status take(int peer, std::span<const size_t> sizes, std::span<const Bytes> &stretches, bool &isLast) override {
    return whole.take(members[size_t(peer)], sizes, stretches, isLast);
  }
  void giveBack(int peer) override { whole.giveBack(members[size_t(peer)]); }
  void fail(const Status &why) override { whole.fail(why); }
  Status failure() const override { return whole.failure(); }
  void leave() override {} // the rank is in the whole group still

private:
  Transport &whole;
  std::vector<int> members; // by their ranks in the whole
  int own = 0;
  uint64_t number, calls = 0;
  std::string text;
};

} // namespace sprig::rt::comm

#endif
