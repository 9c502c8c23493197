// Messages between processes by Gloo. Short ones come with their header, in buffers that lie ready; the bytes of long
// ones follow from where they are. What ends a rank is heard from the store, and interrupts every wait.
#include "runtime/comm/gloo/BrokenPipe.h"
#include "runtime/comm/gloo/GlooContext.h"
#include "runtime/comm/gloo/MessageHeader.h"
#include "runtime/comm/Position.h"
#include "runtime/comm/ProcessRanks.h"
#include "runtime/comm/store/Store.h"

#include <gloo/transport/unbound_buffer.h>

#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

namespace sprig::rt::comm {
namespace {

using core::concat;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using gloo::transport::UnboundBuffer;

constexpr size_t kShortBytes = 8192; // that come with their header
constexpr size_t kReady = 4;         // buffers in which messages of a rank may come
constexpr size_t kDepth = 16;        // messages that a rank may be ahead of another
constexpr uint64_t kHeaderSlot = 1;
// Messages of other sizes never meet: the header, which comes first, says what is wrong.
uint64_t slotOf(size_t bytes) { return kHeaderSlot + 1 + bytes; }
constexpr auto kNoLimit = std::chrono::hours(24 * 365);
// In which a neighbour's end is heard of from the store, which knows more; and what a rank has sent before it left
// comes.
constexpr std::chrono::seconds kNewsTime = 3s, kLastWords = 2s;

class GlooRanks : public Transport {
public:
  explicit GlooRanks(const ProcessRanksOptions &options) : options(options), peers(size_t(options.ranks)) {
    if (options.timeout <= 0ns || options.timeout > kNoLimit) this->options.timeout = kNoLimit;
  }
  ~GlooRanks() override;
  Status join();

  int rank() const override { return options.rank; }
  int ranks() const override { return options.ranks; }
  Status begin(const Call &call) override;
  void end() override;
  Status send(int peer, std::span<const Bytes> stretches, uint64_t &number) override;
  Status awaitTaken(int peer, uint64_t number) override;
  Status take(int peer, std::span<const size_t> sizes, std::span<const Bytes> &stretches) override;
  void giveBack(int peer) override;
  void fail(const Status &why) override;
  Status failure() const override { return client->failure(); }
  void leave() override;

private:
  // Memory, and Gloo's handle of it, which goes first.
  struct Buffer {
    std::vector<std::byte> bytes;
    std::unique_ptr<UnboundBuffer> handle;
    bool isUnderWay = false;
  };
  struct Long {
    uint64_t number;
    Buffer buffer; // without bytes where the sender's own memory goes out
  };
  struct Peer {
    std::vector<Buffer> incoming, outgoing;
    uint64_t sent = 0, taken = 0;
    std::deque<Long> longs;
    Buffer longIncoming;
    std::vector<Bytes> stretches;
  };

  Status await(UnboundBuffer &buffer, bool isSend, int peer);
  // Does what Gloo throws at where the connection to a rank has ended.
  template <typename F> Status with(int peer, F body);
  Status ended(int peer, uint64_t collectives);
  Status lost(int peer, const char *why);
  Status check(int peer, const MessageHeader &header, size_t size);
  void interrupt();
  std::string place() const;

  ProcessRanksOptions options;
  std::unique_ptr<Store> store;
  std::unique_ptr<StoreClient> client;
  std::unique_ptr<GlooContext> context;
  std::vector<Peer> peers;
  bool hasLeft = false;
  mutable std::mutex mutex; // what follows
  Position position;
  UnboundBuffer *awaited = nullptr;
  bool isAwaitedSend = false;
};

// What Gloo throws becomes a status here, and nowhere else.
template <typename F> Status guarded(F body) {
  WithoutBrokenPipe signals;
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return Status(SPRIG_RT_OUT_OF_MEMORY, "no memory for messages between ranks");
  } catch (const std::exception &error) {
    return Status(SPRIG_RT_IO_ERROR, error.what());
  }
}

Status GlooRanks::join() {
  if (options.firstHasStore && options.rank == 0)
    SPRIG_RETURN_IF_ERROR(
        Store::start({options.ranks, options.host, options.port, options.secret, options.heartbeat}, store));
  SPRIG_RETURN_IF_ERROR(StoreClient::connect({.rank = options.rank,
                                              .ranks = options.ranks,
                                              .host = options.host,
                                              .port = options.port,
                                              .secret = options.secret,
                                              .timeout = options.timeout,
                                              .firstHasStore = options.firstHasStore,
                                              .place = [this] { return place(); },
                                              .news = [this] { interrupt(); }},
                                             client));
  if (options.ranks == 1) return {};
  Status status = guarded([&]() -> Status {
    context = std::make_unique<GlooContext>(*client, options.rank, options.ranks, options.timeout);
    for (int peer = 0; peer < options.ranks; ++peer) {
      if (peer == options.rank) continue;
      Peer &own = peers[size_t(peer)];
      for (auto [list, count] : {std::pair(&own.incoming, kReady), {&own.outgoing, kDepth}}) {
        list->resize(count);
        for (Buffer &buffer : *list) {
          buffer.bytes.resize(sizeof(MessageHeader) + kShortBytes);
          buffer.handle = context->buffer(buffer.bytes.data(), buffer.bytes.size());
        }
      }
      for (Buffer &buffer : own.incoming) buffer.handle->recv(peer, kHeaderSlot);
    }
    return {};
  });
  if (status.isOk()) return {};
  // The store's word, which says more than that a connection has ended, may come a little later.
  for (auto until = Clock::now() + kNewsTime; !client->hasFailed() && Clock::now() < until;)
    std::this_thread::sleep_for(1ms);
  if (client->hasFailed()) return client->failure();
  client->fail(
      Status(status.code(), concat("rank ", options.rank, ": cannot connect with the others: ", status.message())));
  return client->failure();
}

GlooRanks::~GlooRanks() {
  leave();
  (void)guarded([&]() -> Status {
    peers.clear();
    context.reset();
    return {};
  });
  client.reset();
  if (store) store->awaitEnd(options.timeout);
}

// What is on its way comes first.
void GlooRanks::leave() {
  if (hasLeft || !client) return;
  hasLeft = true;
  for (size_t peer = 0; peer < peers.size() && !client->hasFailed(); ++peer)
    for (Buffer &buffer : peers[peer].outgoing)
      if (buffer.isUnderWay && !client->hasFailed()) {
        uint64_t collectives = 0;
        if (client->hasLeft(int(peer), collectives)) break; // it takes nothing any more
        (void)await(*buffer.handle, true, int(peer));
      }
  uint64_t counted;
  {
    std::lock_guard lock(mutex);
    position.hasLeft = true;
    counted = position.counted;
  }
  client->leave(counted);
}

std::string GlooRanks::place() const {
  std::lock_guard lock(mutex);
  return position.text(options.rank);
}

void GlooRanks::interrupt() {
  std::lock_guard lock(mutex);
  if (!awaited) return;
  if (isAwaitedSend)
    awaited->abortWaitSend();
  else
    awaited->abortWaitRecv();
}

Status GlooRanks::begin(const Call &call) {
  if (client->hasFailed()) return client->failure();
  std::lock_guard lock(mutex);
  position.enter(call);
  return {};
}

void GlooRanks::end() {
  // Of a call that has failed, nothing reads the caller's memory any more.
  if (client->hasFailed())
    for (Peer &peer : peers) peer.longs.clear();
  std::lock_guard lock(mutex);
  position.isInside = false;
}

Status GlooRanks::await(UnboundBuffer &buffer, bool isSend, int peer) {
  auto begin = Clock::now();
  std::optional<Clock::time_point> leftAt;
  for (;;) {
    {
      std::lock_guard lock(mutex);
      awaited = &buffer;
      isAwaitedSend = isSend;
    }
    // Asked after it was said who waits: who fails the group says so, and then looks who waits.
    std::string why;
    bool isDone = false, isLost = false;
    auto waited = Clock::now() - begin;
    uint64_t collectives = 0;
    bool isGone = client->hasLeft(peer, collectives);
    if (isGone && !leftAt) leftAt = Clock::now();
    std::chrono::nanoseconds left = options.timeout - waited;
    if (isGone) left = std::min<std::chrono::nanoseconds>(left, kLastWords - (Clock::now() - *leftAt));
    if (!client->hasFailed() && left > 0ns) {
      auto time = std::chrono::ceil<std::chrono::milliseconds>(left);
      try {
        isDone = isSend ? buffer.waitSend(nullptr, time) : buffer.waitRecv(nullptr, time);
      } catch (const std::exception &error) {
        isLost = true;
        why = error.what();
      }
    }
    {
      std::lock_guard lock(mutex);
      awaited = nullptr;
    }
    if (isDone) return {};
    if (client->hasFailed()) return client->failure();
    if (isGone && (isLost || Clock::now() - *leftAt >= kLastWords)) return ended(peer, collectives);
    if (Clock::now() - begin >= options.timeout) {
      client->failWaiting(peer, options.timeout);
      return client->failure();
    }
    if (isLost) return lost(peer, why.c_str());
  }
}

Status GlooRanks::ended(int peer, uint64_t collectives) {
  Position own;
  {
    std::lock_guard lock(mutex);
    own = position;
  }
  client->fail(hasEnded(options.rank, own, peer, collectives));
  return client->failure();
}

// The connection to a rank has ended. The store knows more, sooner or later.
Status GlooRanks::lost(int peer, const char *why) {
  uint64_t collectives = 0;
  for (auto until = Clock::now() + kNewsTime; Clock::now() < until; std::this_thread::sleep_for(1ms)) {
    if (client->hasFailed()) return client->failure();
    if (client->hasLeft(peer, collectives)) return ended(peer, collectives);
  }
  client->fail(
      Status(SPRIG_RT_IO_ERROR, concat("rank ", options.rank, ": the connection to rank ", peer, " has ended: ", why)));
  return client->failure();
}

template <typename F> Status GlooRanks::with(int peer, F body) {
  if (client->hasFailed()) return client->failure();
  WithoutBrokenPipe signals;
  try {
    return body(peers[size_t(peer)]);
  } catch (const std::bad_alloc &) {
    return Status(SPRIG_RT_OUT_OF_MEMORY, "no memory for messages between ranks");
  } catch (const std::exception &error) {
    return lost(peer, error.what());
  }
}

Status GlooRanks::send(int peer, std::span<const Bytes> stretches, uint64_t &number) {
  return with(peer, [&](Peer &to) -> Status {
    size_t size = 0;
    for (const Bytes &stretch : stretches) size += stretch.size;
    auto gather = [&](std::byte *at) {
      for (const Bytes &stretch : stretches) {
        if (stretch.size) std::memcpy(at, stretch.begin, stretch.size);
        at += stretch.size;
      }
    };
    Buffer &buffer = to.outgoing[to.sent % kDepth];
    if (buffer.isUnderWay) SPRIG_RETURN_IF_ERROR(await(*buffer.handle, true, peer));
    buffer.isUnderWay = false;
    MessageHeader header = headerOf(position, size); // of this thread alone while it is inside
    std::memcpy(buffer.bytes.data(), &header, sizeof header);
    bool isShort = size <= kShortBytes;
    if (isShort) gather(buffer.bytes.data() + sizeof header);
    buffer.handle->send(peer, kHeaderSlot, 0, sizeof header + (isShort ? size : 0));
    buffer.isUnderWay = true;
    number = ++to.sent;
    if (isShort) return {};
    Long &message = to.longs.emplace_back();
    message.number = number;
    // Gloo only reads what it sends.
    auto *from = const_cast<std::byte *>(stretches.front().begin);
    if (stretches.size() > 1) {
      message.buffer.bytes.resize(size);
      from = message.buffer.bytes.data();
      gather(from);
    }
    message.buffer.handle = context->buffer(from, size);
    message.buffer.handle->send(peer, slotOf(size));
    return {};
  });
}

// What is short has been copied.
Status GlooRanks::awaitTaken(int peer, uint64_t number) {
  std::deque<Long> &longs = peers[size_t(peer)].longs;
  while (!longs.empty() && longs.front().number <= number) {
    SPRIG_RETURN_IF_ERROR(await(*longs.front().buffer.handle, true, peer));
    longs.pop_front();
  }
  return {};
}

Status GlooRanks::take(int peer, std::span<const size_t> sizes, std::span<const Bytes> &stretches) {
  return with(peer, [&](Peer &from) -> Status {
    size_t size = 0;
    for (size_t each : sizes) size += each;
    Buffer &buffer = from.incoming[from.taken % kReady], &rest = from.longIncoming;
    const std::byte *at = buffer.bytes.data() + sizeof(MessageHeader);
    if (size > kShortBytes) {
      if (rest.bytes.size() < size) {
        rest.handle.reset();
        rest.bytes.resize(size);
        rest.handle = context->buffer(rest.bytes.data(), size);
      }
      rest.handle->recv(peer, slotOf(size), 0, size);
      at = rest.bytes.data();
    }
    SPRIG_RETURN_IF_ERROR(await(*buffer.handle, false, peer));
    MessageHeader header;
    std::memcpy(&header, buffer.bytes.data(), sizeof header);
    SPRIG_RETURN_IF_ERROR(check(peer, header, size));
    if (size > kShortBytes) SPRIG_RETURN_IF_ERROR(await(*rest.handle, false, peer));
    from.stretches.clear();
    for (size_t each : sizes) {
      from.stretches.push_back({at, each});
      at += each;
    }
    stretches = from.stretches;
    return {};
  });
}

Status GlooRanks::check(int peer, const MessageHeader &header, size_t size) {
  if (header.magic != MessageHeader::kMagic)
    return Status(SPRIG_RT_IO_ERROR, concat("rank ", peer, " sends what is no message of Sprig"));
  std::string file;
  Position other = positionOf(header, file);
  if (other.number == position.number && other.call.matches(position.call)) {
    if (header.size == size) return {};
    return Status(SPRIG_RT_INVALID_ARGUMENT, concat("rank ", peer, " sends ", header.size, " bytes for ",
                                                    position.call.text(), ", expected ", size));
  }
  if (other.number == position.number) return differ(options.rank, position, peer, other);
  return Status(SPRIG_RT_INVALID_ARGUMENT,
                concat("collectives differ: ", position.text(options.rank), "; ", other.text(peer)));
}

void GlooRanks::giveBack(int peer) {
  // That it cannot be is told by the next message of this rank.
  (void)guarded([&]() -> Status {
    Peer &from = peers[size_t(peer)];
    from.incoming[from.taken++ % kReady].handle->recv(peer, kHeaderSlot);
    return {};
  });
}

void GlooRanks::fail(const Status &why) { client->fail(why); }

} // namespace
} // namespace sprig::rt::comm

extern "C" __attribute__((visibility("default"))) const char *sprig_rt_gloo_version() { return SPRIG_RT_VERSION; }

extern "C" __attribute__((visibility("default"))) void
sprig_rt_gloo_join(const sprig::rt::comm::ProcessRanksOptions &options,
                   std::unique_ptr<sprig::rt::comm::Transport> &transport, sprig::rt::comm::Status &status) {
  status = sprig::rt::comm::guarded([&]() -> sprig::rt::comm::Status {
    auto ranks = std::make_unique<sprig::rt::comm::GlooRanks>(options);
    SPRIG_RETURN_IF_ERROR(ranks->join());
    transport = std::move(ranks);
    return {};
  });
}
