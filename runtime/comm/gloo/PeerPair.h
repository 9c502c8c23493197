// A connection of Gloo's that this project has made. Gloo's own would let in whoever comes first, and end the process
// where that one has gone again.
#ifndef SPRIG_RUNTIME_COMM_GLOO_PEERPAIR_H
#define SPRIG_RUNTIME_COMM_GLOO_PEERPAIR_H

#include "runtime/comm/store/Sockets.h"

#include <gloo/transport/tcp/context.h>
#include <gloo/transport/tcp/pair.h>

#include <atomic>
#include <functional>
#include <string>

namespace sprig::rt::comm {

class PeerPair final : public gloo::transport::tcp::Pair {
public:
  // Gloo's connections listen from the beginning; this one listens no more when it is made. By the device's thread
  // (LoopThread::run), which would let in who comes.
  PeerPair(gloo::transport::tcp::Context &context, gloo::transport::tcp::Device &device, int peer);
  // Ends it before its own parts go, which the device's thread may be using.
  ~PeerPair() override;
  // Messages go over this connection from now on. Throws what Gloo throws.
  void adopt(Socket socket);

  // Whether the connection has ended, which takes no lock, and why. Gloo tells it only to those whose message has not
  // begun.
  bool hasEnded() const { return isEnded.load(std::memory_order_acquire); }
  std::string whyEnded();
  // Called when it ends, by any thread; null: no more.
  void onEnd(std::function<void()> call);

  // Of the device's thread, in which an exception would end the process.
  void handleEvents(int events) override;

private:
  void changeState(state next) noexcept override;

  std::atomic<bool> isEnded = false;
  std::string why;            // under Gloo's mutex, as what follows
  std::function<void()> call; // that it has ended
};

} // namespace sprig::rt::comm

#endif
