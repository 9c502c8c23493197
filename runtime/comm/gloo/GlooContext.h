// Gloo's connections of a rank with others: one with each, of which messages go one way.
#ifndef SPRIG_RUNTIME_COMM_GLOO_GLOOCONTEXT_H
#define SPRIG_RUNTIME_COMM_GLOO_GLOOCONTEXT_H

#include "runtime/comm/gloo/LoopThread.h"
#include "runtime/comm/gloo/PeerPair.h"
#include "runtime/comm/process/Link.h"

#include <gloo/transport/context.h>
#include <gloo/transport/device.h>

#include <optional>

namespace sprig::rt::comm {

// Throws what Gloo throws.
class GlooContext {
public:
  // With a connection for each of the request's peers.
  GlooContext(const LinkRequest &request, std::vector<Socket> sockets);
  ~GlooContext();

  std::unique_ptr<gloo::transport::UnboundBuffer> buffer(void *begin, size_t size) {
    return context->createUnboundBuffer(begin, size);
  }
  PeerPair &pair(int peer) { return static_cast<PeerPair &>(*context->getPair(peer)); }

  // Around what takes a connection's lock.
  LoopThread::Behind ahead() { return LoopThread::Behind(*loop); }

private:
  std::shared_ptr<gloo::transport::Device> device;
  std::optional<LoopThread> loop;
  std::shared_ptr<gloo::transport::Context> context;
};

} // namespace sprig::rt::comm

#endif
