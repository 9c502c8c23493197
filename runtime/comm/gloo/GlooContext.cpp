#include "runtime/comm/gloo/GlooContext.h"
#include "runtime/base/Status.h"
#include "runtime/comm/store/StoreClient.h"

#include <gloo/transport/address.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>

#include <stdexcept>

namespace sprig::rt::comm {

using core::concat;

std::string GlooContext::keyOf(int from, int to) const { return concat("gloo/", name, "/", from, "/", to); }

GlooContext::GlooContext(const LinkRequest &request, const char *name) : name(name) {
  gloo::transport::tcp::attr attributes;
  attributes.hostname = request.store->ownAddress();
  device = gloo::transport::tcp::CreateDevice(attributes);
  loop.emplace(device);
  context = device->createContext(request.rank, request.ranks);
  // Connections wait for five times as long as this.
  context->setTimeout(std::chrono::ceil<std::chrono::milliseconds>(request.timeout) / 5);
  // One address for each peer, which connects there.
  for (int peer : request.peers) {
    std::vector<char> bytes = context->createPair(peer)->address().bytes();
    request.store->set(keyOf(request.rank, peer), {bytes.data(), bytes.size()});
  }
  // Whoever waits for a connection wakes up where it is closed.
  request.onNews([this, peers = std::vector<int>(request.peers.begin(), request.peers.end()), store = request.store] {
    if (store->hasFailed())
      for (int peer : peers) context->getPair(peer)->close();
  });
  try {
    connect(request);
  } catch (...) {
    request.onNews(nullptr);
    throw;
  }
  request.onNews(nullptr);
}

void GlooContext::connect(const LinkRequest &request) {
  for (int peer : request.peers) {
    std::string address;
    Status status = request.store->get(keyOf(peer, request.rank), peer, address);
    if (status.isOk()) context->getPair(peer)->connect({address.begin(), address.end()});
    if (status.isOk()) status = request.store->failure();
    if (!status.isOk()) throw std::runtime_error(std::string(status.message()));
  }
}

GlooContext::~GlooContext() = default;

} // namespace sprig::rt::comm
