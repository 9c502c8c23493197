#include "runtime/comm/gloo/GlooContext.h"

#include <gloo/transport/tcp/device.h>

#include <stdexcept>

namespace sprig::rt::comm {
namespace {

// The group's store as Gloo's: rank i's addresses are its value i.
class StoreOfGloo : public gloo::rendezvous::Store {
public:
  explicit StoreOfGloo(StoreClient &client) : client(client) {}

  void set(const std::string &key, const std::vector<char> &data) override {
    client.set("gloo/" + key, {data.data(), data.size()});
  }
  std::vector<char> get(const std::string &key) override {
    std::string value = valueOf(key);
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string> &keys) override {
    for (const std::string &key : keys) valueOf(key);
  }
  void wait(const std::vector<std::string> &keys, const std::chrono::milliseconds &) override { wait(keys); }

private:
  std::string valueOf(const std::string &key) {
    std::string value;
    if (Status status = client.get("gloo/" + key, std::atoi(key.c_str()), value); !status.isOk())
      throw std::runtime_error(std::string(status.message()));
    return value;
  }
  StoreClient &client;
};

} // namespace

GlooContext::GlooContext(StoreClient &client, int rank, int ranks, std::chrono::nanoseconds timeout)
    : context(std::make_unique<gloo::rendezvous::Context>(rank, ranks)) {
  gloo::transport::tcp::attr attributes;
  attributes.hostname = client.ownAddress();
  device = gloo::transport::tcp::CreateDevice(attributes);
  // Connections wait for five times as long as this.
  context->setTimeout(std::chrono::ceil<std::chrono::milliseconds>(timeout) / 5);
  StoreOfGloo store(client);
  context->connectFullMesh(store, device);
}

GlooContext::~GlooContext() = default;

} // namespace sprig::rt::comm
