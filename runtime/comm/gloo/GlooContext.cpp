#include "runtime/comm/gloo/GlooContext.h"
#include "runtime/comm/store/StoreClient.h"

#include <gloo/common/error.h>
#include <gloo/transport/tcp/device.h>

namespace sprig::rt::comm {

// A call that a signal interrupts is an error to Gloo: what it is of is made again, a few times.
template <typename F> static auto madeByGloo(const F &make) {
  for (int tries = 3;; --tries) try {
      return make();
    } catch (const gloo::Exception &) {
      if (tries == 1) throw;
    }
}

GlooContext::GlooContext(const LinkRequest &request, std::vector<Socket> sockets) {
  gloo::transport::tcp::attr attributes;
  attributes.hostname = request.store->ownAddress();
  device = madeByGloo([&] { return gloo::transport::tcp::CreateDevice(attributes); });
  loop.emplace(device);
  context = device->createContext(request.rank, request.ranks);
  loop->run([&] {
    for (int peer : request.peers)
      context->getPair(peer) = madeByGloo([&] {
        return std::make_unique<PeerPair>(dynamic_cast<gloo::transport::tcp::Context &>(*context),
                                          dynamic_cast<gloo::transport::tcp::Device &>(*device), peer);
      });
  });
  for (size_t i = 0; i < sockets.size(); ++i) pair(request.peers[i]).adopt(std::move(sockets[i]));
}

GlooContext::~GlooContext() = default;

} // namespace sprig::rt::comm
