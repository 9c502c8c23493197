// Gloo's connections of a rank with others, made by the group's store: one with each, of which messages go one way.
#ifndef SPRIG_RUNTIME_COMM_GLOO_GLOOCONTEXT_H
#define SPRIG_RUNTIME_COMM_GLOO_GLOOCONTEXT_H

#include "runtime/comm/gloo/LoopThread.h"
#include "runtime/comm/process/Link.h"

#include <gloo/transport/context.h>
#include <gloo/transport/device.h>

#include <optional>

namespace sprig::rt::comm {

// Throws what Gloo throws.
class GlooContext {
public:
  // Of that name, a literal: it meets those of the same. Connected when it returns. At the address by which the store
  // is reached: nobody is listened to elsewhere. News end it, as a failure of the group, which the store then knows.
  GlooContext(const LinkRequest &request, const char *name);
  ~GlooContext();

  std::unique_ptr<gloo::transport::UnboundBuffer> buffer(void *begin, size_t size) {
    return context->createUnboundBuffer(begin, size);
  }

  // Around what takes a connection's lock.
  LoopThread::Behind ahead() { return LoopThread::Behind(*loop); }

private:
  void connect(const LinkRequest &request);
  std::string keyOf(int from, int to) const;
  const char *name;
  std::shared_ptr<gloo::transport::Device> device;
  std::optional<LoopThread> loop;
  std::shared_ptr<gloo::transport::Context> context;
};

} // namespace sprig::rt::comm

#endif
