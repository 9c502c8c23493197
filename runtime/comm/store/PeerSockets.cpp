#include "runtime/comm/store/PeerSockets.h"
#include "runtime/comm/store/Gate.h"
#include "runtime/comm/store/Secret.h"

#include <algorithm>
#include <poll.h>
#include <stdexcept>
#include <thread>

namespace sprig::rt::comm {

using core::concat;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds kTick = 50ms, kConnectTime = 1s; // in which news of the group are heard
constexpr uint64_t kPeerMagic = 0x52505053;                          // "SPPR"

struct PeerAddress {
  std::string host, key;
  uint16_t port = 0;
};

class PeerMeeting {
public:
  PeerMeeting(StoreClient &store, int rank, std::span<const int> peers, size_t count, std::chrono::nanoseconds timeout)
      : store(store), rank(rank), peers(peers), count(count), timeout(timeout), addresses(peers.size()),
        sockets(peers.size() * count) {}

  std::vector<Socket> run() {
    Socket listening;
    own.host = store.ownAddress();
    own.key = randomSecret();
    if (own.key.empty()) throw std::runtime_error("no random numbers for the connections between ranks");
    check(Socket::listen(own.host, own.port, listening));
    store.set(keyOf(rank), Frame().number(own.port).text(own.host).text(own.key).body);
    for (size_t i = 0; i < peers.size(); ++i) addresses[i] = find(peers[i]);
    for (size_t i = 0; i < peers.size() && peers[i] < rank; ++i)
      for (size_t which = 0; which < count; ++which) sockets[i * count + which] = call(i, which);
    Gate gate(std::move(listening));
    for (int missing; (missing = firstMissing()) >= 0;) {
      checkGroup(missing);
      std::vector<pollfd> entries;
      gate.watch(entries);
      ::poll(entries.data(), entries.size(), int(kTick / 1ms));
      gate.serve([this](Socket &socket, const Frame &hello, std::string &rest) { answer(socket, hello, rest); });
      check(gate.failure(kConnectTime));
    }
    return std::move(sockets);
  }

private:
  static std::string keyOf(int rank) { return concat("peers/", rank); }

  static void check(Status status) {
    if (!status.isOk()) throw std::runtime_error(std::string(status.message()));
  }
  // Whether there is still somebody to wait for.
  void checkGroup(int peer) {
    if (!store.hasFailed() && Clock::now() - begin >= timeout) store.failWaiting(peer, timeout);
    check(store.failure());
  }

  PeerAddress find(int peer) {
    Frame frame;
    check(store.get(keyOf(peer), peer, frame.body));
    FrameFields fields(frame);
    PeerAddress found;
    found.port = uint16_t(fields.number());
    found.host = fields.text();
    found.key = fields.text();
    if (!fields.isGood()) throw std::runtime_error(concat("rank ", peer, " has left no address in the store"));
    return found;
  }

  // The key is that of who reads it.
  static std::string helloOf(const PeerAddress &to, int from, size_t which) {
    return Frame(Frame::Kind::hello).number(kPeerMagic).text(to.key).number(uint64_t(from)).number(which).bytes();
  }
  static std::string welcomeOf(const PeerAddress &to) { return Frame(Frame::Kind::welcome).text(to.key).bytes(); }

  Socket call(size_t peer, size_t which) {
    const PeerAddress &address = addresses[peer];
    const std::string expected = welcomeOf(own);
    for (;; std::this_thread::sleep_for(10ms)) {
      checkGroup(peers[peer]);
      Socket socket;
      if (Status status = Socket::connect(address.host, address.port, kConnectTime, socket); !status.isOk()) {
        if (status.code() == SPRIG_RT_OUT_OF_MEMORY) check(std::move(status));
        continue;
      }
      // No byte after the answer is read: it is the carrier's.
      std::string out = helloOf(address, rank, which), in;
      while (socket.send(out) && socket.receive(in, expected.size() - in.size())) {
        if (in == expected) return socket;
        if (in.size() == expected.size()) break;
        checkGroup(peers[peer]);
        pollfd entry = {socket.number(), short(POLLIN | (out.empty() ? 0 : POLLOUT)), 0};
        ::poll(&entry, 1, int(kTick / 1ms));
      }
    }
  }

  // Who has come before and calls again has not heard the answer.
  void answer(Socket &socket, const Frame &hello, std::string &rest) {
    FrameFields fields(hello);
    uint64_t magic = fields.number();
    std::string key = fields.text();
    uint64_t from = fields.number(), which = fields.number();
    if (!fields.isGood() || !rest.empty() || magic != kPeerMagic || !isSecret(key, own.key) || which >= count ||
        from <= uint64_t(rank))
      return;
    auto found = std::find(peers.begin(), peers.end(), int(from));
    if (found == peers.end()) return;
    auto peer = size_t(found - peers.begin());
    std::string out = welcomeOf(addresses[peer]);
    if (socket.send(out) && out.empty()) sockets[peer * count + which] = std::move(socket);
  }

  int firstMissing() const {
    auto found = std::find_if(sockets.begin(), sockets.end(), [](const Socket &each) { return !each; });
    return found == sockets.end() ? -1 : peers[size_t(found - sockets.begin()) / count];
  }

  StoreClient &store;
  const int rank;
  const std::span<const int> peers;
  const size_t count;
  const std::chrono::nanoseconds timeout;
  const Clock::time_point begin = Clock::now();
  PeerAddress own;
  std::vector<PeerAddress> addresses; // by place in peers, as sockets are
  std::vector<Socket> sockets;
};

} // namespace

std::vector<Socket> connectPeers(StoreClient &store, int rank, std::span<const int> peers, size_t count,
                                 std::chrono::nanoseconds timeout) {
  return PeerMeeting(store, rank, peers, count, timeout).run();
}

} // namespace sprig::rt::comm
