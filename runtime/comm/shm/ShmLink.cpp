#include "runtime/comm/shm/ShmLink.h"

namespace sprig::rt::comm {
namespace {

RingMemory &ringIn(const std::shared_ptr<std::byte> &memory) { return *reinterpret_cast<RingMemory *>(memory.get()); }

} // namespace

ShmLink::ShmLink(std::shared_ptr<ShmRank> rank, std::shared_ptr<std::byte> incoming,
                 std::shared_ptr<std::byte> outgoing, std::shared_ptr<std::byte> peer)
    : rank(std::move(rank)), incoming(std::move(incoming)), outgoing(std::move(outgoing)), peer(std::move(peer)),
      reader(ringIn(this->incoming)), writer(ringIn(this->outgoing)) {}

bool ShmLink::isReached(const Goal &goal) {
  auto lock = rank->lock();
  rank->pumpAll();
  switch (goal.kind) {
  case Goal::Kind::room: return sent - out < kDepth;
  case Goal::Kind::out: return out >= goal.number;
  case Goal::Kind::part: return reader.hasPart();
  case Goal::Kind::done: return out == sent;
  }
  return false;
}

bool ShmLink::look(const Goal &goal) {
  return rank->look([&] { return isReached(goal); });
}

bool ShmLink::wait(const Goal &goal, std::chrono::nanoseconds most) {
  return rank->wait([&] { return isReached(goal); }, most);
}

uint64_t ShmLink::send(const MessageHeader &header, std::span<const Bytes> stretches) {
  auto lock = rank->lock();
  Message &message = messages[sent % kDepth];
  message.header = header;
  message.stretches.assign(stretches.begin(), stretches.end());
  message.total = header.size;
  message.from = 0;
  message.isBegun = false;
  ++sent;
  if (!pump()) rank->addWaiting(*this);
  return sent;
}

bool ShmLink::pump() {
  for (; out != sent; ++out) {
    Message &message = messages[out % kDepth];
    while (!message.isBegun || message.from < message.total) {
      if (!writer.write(message.isBegun ? nullptr : &message.header, message.stretches, message.total, message.from))
        return false;
      message.isBegun = true;
      peerBell().ringSleepers();
    }
  }
  return true;
}

void ShmLink::drop() {
  auto lock = rank->lock();
  out = sent;
  rank->pumpAll(); // which forgets this link
}

} // namespace sprig::rt::comm
