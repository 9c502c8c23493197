// Messages to and from another process by Gloo. Short ones come with their header, in buffers that lie ready; the bytes
// of long ones follow from where they are. Each direction has a connection of its own: Gloo reads and writes one under
// one lock, and tells the peer on it that a long message may come.
#include "runtime/comm/gloo/BrokenPipe.h"
#include "runtime/comm/gloo/GlooContext.h"
#include "runtime/comm/process/HeaderFirst.h"
#include "runtime/comm/store/PeerSockets.h"

#include <gloo/transport/unbound_buffer.h>

#include <deque>
#include <mutex>
#include <stdexcept>

namespace sprig::rt::comm {
namespace {

using gloo::transport::UnboundBuffer;

constexpr uint64_t kHeaderSlot = 1;
constexpr size_t kSpare = 2; // buffers of long messages that are kept
// Messages of other sizes never meet: the header, which comes first, says what is wrong.
uint64_t slotOf(size_t bytes) { return kHeaderSlot + 1 + bytes; }

class GlooLink : public Link {
public:
  GlooLink(std::shared_ptr<GlooContext> out, std::shared_ptr<GlooContext> in, int peer);
  ~GlooLink() override;

  bool look(const Goal &goal) override;
  bool wait(const Goal &goal, std::chrono::nanoseconds most) override;
  void interrupt() override;
  bool expects() const override { return true; }
  void expect(size_t bytes) override;
  uint64_t send(const MessageHeader &header, std::span<const Bytes> stretches) override;
  Part take(std::span<const size_t> sizes) override {
    return coming.take(coming.hasRest ? rest.bytes.data() : ready().bytes.data(), sizes);
  }
  void giveBack() override;
  void drop() override { longs.clear(); }

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
  bool await(UnboundBuffer &buffer, bool isSend, std::chrono::nanoseconds most);
  bool awaitOut(Buffer &buffer, std::chrono::nanoseconds most);
  bool awaitLongs(uint64_t number, std::chrono::nanoseconds most);
  bool awaitPart(size_t size, std::chrono::nanoseconds most);
  Buffer &ready() { return incoming[taken % kReady]; }

  std::shared_ptr<GlooContext> out, in;
  int peer;
  std::vector<Buffer> incoming, outgoing;
  uint64_t sent = 0, taken = 0;
  std::deque<Long> longs;
  std::vector<std::vector<std::byte>> spare; // memory of longs that are out
  FirstAndRest coming;
  Buffer rest;      // of a long message that comes
  std::mutex mutex; // what follows
  UnboundBuffer *awaited = nullptr;
  bool isAwaitedSend = false;
};

GlooLink::GlooLink(std::shared_ptr<GlooContext> givenOut, std::shared_ptr<GlooContext> givenIn, int peer)
    : out(std::move(givenOut)), in(std::move(givenIn)), peer(peer) {
  auto prepare = [](std::vector<Buffer> &list, size_t count, GlooContext &context) {
    list.resize(count);
    for (Buffer &buffer : list) {
      buffer.bytes.resize(kFirstBytes);
      buffer.handle = context.buffer(buffer.bytes.data(), buffer.bytes.size());
    }
  };
  prepare(incoming, kReady, *in);
  prepare(outgoing, kDepth, *out);
  for (GlooContext *each : {out.get(), in.get()}) each->pair(peer).onEnd([this] { interrupt(); });
  for (Buffer &buffer : incoming) buffer.handle->recv(peer, kHeaderSlot);
}

GlooLink::~GlooLink() {
  WithoutBrokenPipe signals;
  for (GlooContext *each : {out.get(), in.get()}) each->pair(peer).onEnd(nullptr);
  rest.handle.reset(); // before its bytes, into which Gloo may be writing
  longs.clear();
  incoming.clear();
  outgoing.clear();
  in.reset();
  out.reset();
}

void GlooLink::interrupt() {
  std::lock_guard lock(mutex);
  if (!awaited) return;
  if (isAwaitedSend)
    awaited->abortWaitSend();
  else
    awaited->abortWaitRecv();
}

bool GlooLink::await(UnboundBuffer &buffer, bool isSend, std::chrono::nanoseconds most) {
  struct Awaiting {
    GlooLink &link;
    Awaiting(GlooLink &link, UnboundBuffer &buffer, bool isSend) : link(link) {
      std::lock_guard lock(link.mutex);
      link.awaited = &buffer;
      link.isAwaitedSend = isSend;
    }
    ~Awaiting() {
      std::lock_guard lock(link.mutex);
      link.awaited = nullptr;
    }
  } awaiting(*this, buffer, isSend);
  // Of a connection that has ended what was done before counts; nothing else comes.
  PeerPair &pair = (isSend ? out : in)->pair(peer);
  const bool hasEnded = pair.hasEnded();
  auto time = std::chrono::ceil<std::chrono::milliseconds>(hasEnded ? most.zero() : most);
  try {
    return isSend ? buffer.waitSend(nullptr, time) : buffer.waitRecv(nullptr, time);
  } catch (const std::exception &) {
    if (!hasEnded) throw;
    throw std::runtime_error(pair.whyEnded());
  }
}

bool GlooLink::awaitOut(Buffer &buffer, std::chrono::nanoseconds most) {
  if (buffer.isUnderWay && !await(*buffer.handle, true, most)) return false;
  buffer.isUnderWay = false;
  return true;
}

bool GlooLink::awaitLongs(uint64_t number, std::chrono::nanoseconds most) {
  for (; !longs.empty() && longs.front().number <= number; longs.pop_front()) {
    Buffer &buffer = longs.front().buffer;
    if (!awaitOut(buffer, most)) return false;
    if (!buffer.bytes.empty() && spare.size() < kSpare) spare.push_back(std::move(buffer.bytes));
  }
  return true;
}

// Told before this rank's own long message is on its way, or it would come behind that one, and the directions would be
// used in turn.
void GlooLink::expect(size_t size) {
  if (size <= kShortBytes || rest.isUnderWay) return;
  WithoutBrokenPipe signals;
  if (rest.bytes.size() < size) {
    rest.handle.reset();
    rest.bytes.resize(size);
    rest.handle = in->buffer(rest.bytes.data(), size);
  }
  LoopThread::Behind loop = in->ahead();
  rest.handle->recv(peer, slotOf(size), 0, size);
  rest.isUnderWay = true;
}

bool GlooLink::awaitPart(size_t size, std::chrono::nanoseconds most) {
  if (coming.hasRest) return await(*rest.handle, false, most);
  expect(size);
  return await(*ready().handle, false, most);
}

// What no call of Gloo's is needed for.
bool GlooLink::look(const Goal &goal) {
  if (goal.kind == Goal::Kind::room) return !outgoing[sent % kDepth].isUnderWay;
  return goal.kind == Goal::Kind::out && (longs.empty() || longs.front().number > goal.number);
}

bool GlooLink::wait(const Goal &goal, std::chrono::nanoseconds most) {
  WithoutBrokenPipe signals;
  switch (goal.kind) {
  case Goal::Kind::room: return awaitOut(outgoing[sent % kDepth], most);
  case Goal::Kind::out: return awaitLongs(goal.number, most); // what is short has been copied
  case Goal::Kind::part: return awaitPart(goal.bytes, most);
  case Goal::Kind::done:
    for (Buffer &buffer : outgoing)
      if (!awaitOut(buffer, most)) return false;
    return true;
  }
  return false;
}

uint64_t GlooLink::send(const MessageHeader &message, std::span<const Bytes> from) {
  WithoutBrokenPipe signals;
  Buffer &buffer = outgoing[sent % kDepth];
  LoopThread::Behind loop = out->ahead();
  buffer.handle->send(peer, kHeaderSlot, 0, writeFirst(message, from, buffer.bytes.data()));
  buffer.isUnderWay = true;
  ++sent;
  if (isShort(message)) return sent;
  Long &rest = longs.emplace_back();
  rest.number = sent;
  if (from.size() > 1 && !spare.empty()) {
    rest.buffer.bytes = std::move(spare.back());
    spare.pop_back();
  }
  rest.buffer.handle = out->buffer(placeOfLong(message.size, from, rest.buffer.bytes), message.size);
  rest.buffer.handle->send(peer, slotOf(message.size));
  rest.buffer.isUnderWay = true;
  return sent;
}

void GlooLink::giveBack() {
  WithoutBrokenPipe signals;
  if (coming.hasRest) {
    coming.hasRest = rest.isUnderWay = false;
    return;
  }
  coming.hasRest = rest.isUnderWay;
  LoopThread::Behind loop = in->ahead();
  incoming[taken++ % kReady].handle->recv(peer, kHeaderSlot);
}

} // namespace
} // namespace sprig::rt::comm

extern "C" __attribute__((visibility("default"))) const char *sprig_rt_gloo_version() { return SPRIG_RT_VERSION; }

extern "C" __attribute__((visibility("default"))) void
sprig_rt_gloo_connect(const sprig::rt::comm::LinkRequest &request, sprig::rt::comm::Links &links) {
  using namespace sprig::rt::comm;
  WithoutBrokenPipe signals;
  std::vector<Socket> sockets = connectPeers(*request.store, request.rank, request.peers, 2, request.timeout),
                      halves[2];
  for (size_t i = 0; i < sockets.size(); ++i) halves[i % 2].push_back(std::move(sockets[i]));
  auto up = std::make_shared<GlooContext>(request, std::move(halves[0])),
       down = std::make_shared<GlooContext>(request, std::move(halves[1]));
  for (int peer : request.peers)
    links[size_t(peer)] =
        peer > request.rank ? std::make_unique<GlooLink>(up, down, peer) : std::make_unique<GlooLink>(down, up, peer);
}
