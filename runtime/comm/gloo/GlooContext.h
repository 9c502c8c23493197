// Gloo's connections of all ranks with each other, made by the group's store.
#ifndef SPRIG_RUNTIME_COMM_GLOO_GLOOCONTEXT_H
#define SPRIG_RUNTIME_COMM_GLOO_GLOOCONTEXT_H

#include "runtime/comm/store/StoreClient.h"

#include <gloo/rendezvous/context.h>

namespace sprig::rt::comm {

// Throws what Gloo throws.
class GlooContext {
public:
  // Connected when it returns. At the address by which the store is reached: nobody is listened to elsewhere.
  GlooContext(StoreClient &client, int rank, int ranks, std::chrono::nanoseconds timeout);
  ~GlooContext();

  std::unique_ptr<gloo::transport::UnboundBuffer> buffer(void *begin, size_t size) {
    return context->createUnboundBuffer(begin, size);
  }

private:
  std::shared_ptr<gloo::transport::Device> device;
  std::unique_ptr<gloo::rendezvous::Context> context;
};

} // namespace sprig::rt::comm

#endif
