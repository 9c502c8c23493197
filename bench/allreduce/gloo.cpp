// Gloo's own all-reduce over TCP on the loopback device. RANK, WORLD_SIZE; the argument is a folder where ranks meet.
#include "Timing.h"
#include <cstdlib>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

int main(int, char **arguments) {
  int rank = std::atoi(std::getenv("RANK")), ranks = std::atoi(std::getenv("WORLD_SIZE"));
  gloo::transport::tcp::attr attributes;
  attributes.hostname = "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  gloo::rendezvous::FileStore store(arguments[1]);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  context->connectFullMesh(store, device);
  timeSums(
      rank,
      [&](float *numbers, size_t count) {
        gloo::AllreduceOptions options(context);
        options.setOutput(numbers, count);
        options.setReduceFunction(
            [](void *to, const void *a, const void *b, size_t n) { gloo::sum<float>(to, a, b, n); });
        gloo::allreduce(options);
      },
      [&] {
        gloo::BarrierOptions options(context);
        gloo::barrier(options);
      });
}
