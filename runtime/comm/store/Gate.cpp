#include "runtime/comm/store/Gate.h"

#include <cerrno>
#include <cstring>

namespace sprig::rt::comm {

using namespace std::chrono_literals;

namespace {

// How many strangers there are at most, how many more come in before they are looked at, and how often that happens in
// one call. A rank's hello is mostly there when its connection is accepted.
constexpr size_t kMostStrangers = 64, kAtOnce = 32, kRounds = 64;
constexpr auto kStrangerTime = 10s;
constexpr size_t kMostHello = 1 << 16; // bytes

} // namespace

void Gate::watch(std::vector<pollfd> &entries) const {
  entries.push_back({listening.number(), short(Clock::now() < acceptsAt ? 0 : POLLIN), 0});
  for (const Stranger &each : strangers) entries.push_back({each.socket.number(), POLLIN, 0});
}

void Gate::serve(const Take &take) {
  bool isMore = true;
  for (size_t round = 0; round < kRounds && isMore; ++round) {
    isMore = accept();
    read(take);
    while (strangers.size() > kMostStrangers) strangers.pop_front();
  }
}

// Whether there may be more.
bool Gate::accept() {
  for (size_t i = 0; i < kAtOnce; ++i) {
    Socket socket = listening.accept();
    if (!socket) {
      // Without a descriptor for it a connection goes on asking: the oldest stranger's is free for it.
      if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return false;
      if (strangers.empty()) {
        acceptsAt = Clock::now() + 100ms;
        if (!fullSince) fullSince = Clock::now();
        error = errno;
        return false;
      }
      strangers.pop_front();
      return true;
    }
    fullSince.reset();
    strangers.emplace_back().socket = std::move(socket);
  }
  return true;
}

Status Gate::failure(std::chrono::nanoseconds least) const {
  if (!fullSince || Clock::now() - *fullSince < least) return {};
  return Status(SPRIG_RT_OUT_OF_MEMORY, core::concat("cannot accept connections: ", std::strerror(error)));
}

void Gate::read(const Take &take) {
  auto now = Clock::now();
  for (Stranger &each : strangers) {
    bool isOpen = each.socket.receive(each.in), isBad = false;
    Frame hello;
    if (Frame::takeFrom(each.in, hello, isBad)) {
      if (hello.kind == Frame::Kind::hello) take(each.socket, hello, each.in);
      each.socket.close();
    } else if (isBad || !isOpen || each.in.size() > kMostHello || now - each.since > kStrangerTime) {
      each.socket.close();
    }
  }
  std::erase_if(strangers, [](const Stranger &each) { return !each.socket; });
}

} // namespace sprig::rt::comm
