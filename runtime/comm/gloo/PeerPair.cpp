#include "runtime/comm/gloo/PeerPair.h"

#include <exception>
#include <unistd.h>
#include <utility>

namespace sprig::rt::comm {

PeerPair::PeerPair(gloo::transport::tcp::Context &context, gloo::transport::tcp::Device &device, int peer)
    : Pair(&context, &device, peer, gloo::kNoTimeout) {
  std::lock_guard lock(m_);
  device_->unregisterDescriptor(fd_, this);
  ::close(std::exchange(fd_, -1));
}

PeerPair::~PeerPair() {
  std::lock_guard lock(m_);
  if (state_ != CLOSED) Pair::changeState(CLOSED);
}

void PeerPair::adopt(Socket socket) {
  std::lock_guard lock(m_);
  throwIfException();
  fd_ = socket.number();
  try {
    handleConnected();
  } catch (...) {
    fd_ = -1;
    throw;
  }
  socket.take();
}

std::string PeerPair::whyEnded() {
  std::lock_guard lock(m_);
  return why;
}

void PeerPair::onEnd(std::function<void()> given) {
  std::lock_guard lock(m_);
  call = std::move(given);
}

void PeerPair::handleEvents(int events) {
  try {
    Pair::handleEvents(events);
  } catch (const std::exception &error) {
    signalExceptionExternal(error.what());
  }
}

void PeerPair::changeState(state next) noexcept {
  Pair::changeState(next);
  if (next != CLOSED || isEnded) return;
  why = "it was closed";
  try {
    throwIfException();
  } catch (const std::exception &error) {
    why = error.what();
  } catch (...) {
  }
  isEnded.store(true, std::memory_order_release);
  if (call) call();
}

} // namespace sprig::rt::comm
