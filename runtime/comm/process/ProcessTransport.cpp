#include "runtime/comm/process/ProcessTransport.h"
#include "runtime/comm/RankLimits.h"
#include "runtime/comm/process/Engines.h"

#include <algorithm>
#include <optional>
#include <thread>

namespace sprig::rt::comm {

using core::concat;
using namespace std::chrono_literals;

namespace {

constexpr auto kNoLimit = std::chrono::hours(24 * 365);
// In which a neighbour's end is heard of from the store, which knows more.
constexpr std::chrono::seconds kNewsTime = 3s;
// The same where this rank cannot connect, which it knows better than those who find it gone.
constexpr std::chrono::seconds kOwnNewsTime = 1s;

// What engines throw becomes a status here, and nowhere else.
template <typename F> Status guarded(F body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return Status(SPRIG_RT_OUT_OF_MEMORY, "no memory for messages between ranks");
  } catch (const std::exception &error) {
    return Status(SPRIG_RT_IO_ERROR, error.what());
  }
}

} // namespace

ProcessTransport::ProcessTransport(const ProcessRanksOptions &given) : options(given) {
  if (options.timeout <= 0ns || options.timeout > kNoLimit) options.timeout = kNoLimit;
  links.resize(size_t(options.ranks));
}

Status ProcessTransport::join() {
  if (options.engine == Engine::mpi) SPRIG_RETURN_IF_ERROR(guarded([&] { return meetByMpi(options, store); }));
  if (options.firstHasStore && options.rank == 0 && !store)
    SPRIG_RETURN_IF_ERROR(
        Store::start({options.ranks, options.host, options.port, options.secret, options.heartbeat}, store));
  SPRIG_RETURN_IF_ERROR(StoreClient::connect({.rank = options.rank,
                                              .ranks = options.ranks,
                                              .host = options.host,
                                              .port = options.port,
                                              .secret = options.secret,
                                              .timeout = options.timeout,
                                              .firstHasStore = options.firstHasStore,
                                              .place = [this] { return place(); },
                                              .news = [this] { interrupt(); }},
                                             client));
  if (options.ranks == 1) return {};
  Status status = connect();
  if (status.isOk()) return {};
  if (client->hasFailed()) return client->failure();
  // What all ranks find out for themselves needs no more words.
  if (status.code() == SPRIG_RT_IO_ERROR) {
    // The store's word, which says more than that a connection has ended, may come a little later.
    for (auto until = Clock::now() + kOwnNewsTime; !client->hasFailed() && Clock::now() < until;)
      std::this_thread::sleep_for(1ms);
    status =
        Status(status.code(), concat("rank ", options.rank, ": cannot connect with the others: ", status.message()));
  }
  if (!client->hasFailed()) client->fail(status);
  return client->failure();
}

// Ranks that look for one another in different ways would wait until their time is over.
Status ProcessTransport::checkEngine() {
  constexpr const char *names[] = {"auto", "shm", "gloo", "mpi"}; // of Engine
  const char *own = names[size_t(options.engine)];
  if (options.rank == 0) {
    client->set("transport", own);
    return {};
  }
  std::string first;
  SPRIG_RETURN_IF_ERROR(client->get("transport", 0, first));
  if (first == own) return {};
  return Status(SPRIG_RT_INVALID_ARGUMENT, concat("SPRIG_TRANSPORT is ", own, " on rank ", options.rank, ", ", first,
                                                  " on rank 0: all ranks need the same"));
}

Status ProcessTransport::connect() {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(checkEngine());
    return makeLinks(options.engine, {options.rank, options.ranks, client.get(), options.timeout, options.machine, {}},
                     links);
  });
}

ProcessTransport::~ProcessTransport() {
  leave();
  if (client && client->hasFailed())
    for (auto &link : links)
      if (link) link->drop();
  (void)guarded([&]() -> Status {
    links.clear();
    if (options.engine == Engine::mpi) leaveMpi(client && !client->hasFailed());
    return {};
  });
  client.reset();
  if (store) store->awaitEnd(options.timeout);
}

// What is on its way comes first.
void ProcessTransport::leave() {
  if (hasLeft || !client) return;
  hasLeft = true;
  for (size_t peer = 0; peer < links.size() && !client->hasFailed(); ++peer) {
    uint64_t collectives = 0;
    // Who has left takes nothing any more.
    if (links[peer] && !client->hasLeft(int(peer), collectives)) (void)await(int(peer), {Goal::Kind::done});
  }
  uint64_t counted;
  {
    std::lock_guard lock(mutex);
    position.hasLeft = true;
    counted = position.counted;
  }
  client->leave(counted);
}

std::string ProcessTransport::place() const {
  std::lock_guard lock(mutex);
  return position.text(options.rank);
}

void ProcessTransport::interrupt() {
  std::lock_guard lock(mutex);
  if (awaited) awaited->interrupt();
}

bool ProcessTransport::hasCoreBeside(uint32_t threads) const {
  auto beside = std::count_if(links.begin(), links.end(), [](auto &link) { return link && link->needsCore(); });
  return !beside || hasCores(uint64_t(beside + 1) * (threads + 1));
}

Status ProcessTransport::begin(const Call &call) {
  if (client->hasFailed()) return client->failure();
  std::lock_guard lock(mutex);
  position.enter(call);
  header = headerOf(position, 0);
  return {};
}

void ProcessTransport::end() {
  // Of a call that has failed, nothing reads the caller's memory any more.
  if (client->hasFailed())
    for (auto &link : links)
      if (link) link->drop();
  std::lock_guard lock(mutex);
  position.isInside = false;
}

Status ProcessTransport::await(int peer, const Goal &goal) {
  Link &link = *links[size_t(peer)];
  auto begin = Clock::now();
  std::optional<Clock::time_point> leftAt;
  for (;;) {
    {
      std::lock_guard lock(mutex);
      awaited = &link;
    }
    // Asked after it was said who waits: who fails the group says so, and then looks who waits.
    std::string why;
    bool isReached = false, isLost = false;
    uint64_t collectives = 0;
    bool isGone = client->hasLeft(peer, collectives);
    if (isGone && !leftAt) leftAt = Clock::now();
    std::chrono::nanoseconds left = options.timeout - (Clock::now() - begin);
    if (isGone) left = std::min<std::chrono::nanoseconds>(left, link.lastWords() - (Clock::now() - *leftAt));
    if (!client->hasFailed() && left > 0ns) {
      try {
        isReached = link.wait(goal, left);
      } catch (const std::exception &error) {
        isLost = true;
        why = error.what();
      }
    }
    {
      std::lock_guard lock(mutex);
      awaited = nullptr;
    }
    if (isReached) return {};
    if (client->hasFailed()) return client->failure();
    if (isGone && (isLost || Clock::now() - *leftAt >= link.lastWords())) return ended(peer, collectives);
    if (Clock::now() - begin >= options.timeout) {
      client->failWaiting(peer, options.timeout);
      return client->failure();
    }
    if (isLost) return lost(peer, why.c_str());
  }
}

Status ProcessTransport::ended(int peer, uint64_t collectives) {
  Position own;
  {
    std::lock_guard lock(mutex);
    own = position;
  }
  client->fail(hasEnded(options.rank, own, peer, collectives));
  return client->failure();
}

// The connection to a rank has ended. The store knows more, sooner or later.
Status ProcessTransport::lost(int peer, const char *why) {
  uint64_t collectives = 0;
  for (auto until = Clock::now() + kNewsTime; Clock::now() < until; std::this_thread::sleep_for(1ms)) {
    if (client->hasFailed()) return client->failure();
    if (client->hasLeft(peer, collectives)) return ended(peer, collectives);
  }
  client->fail(
      Status(SPRIG_RT_IO_ERROR, concat("rank ", options.rank, ": the connection to rank ", peer, " has ended: ", why)));
  return client->failure();
}

template <typename F> Status ProcessTransport::with(int peer, F body) {
  try {
    return body(*links[size_t(peer)]);
  } catch (const std::bad_alloc &) {
    return Status(SPRIG_RT_OUT_OF_MEMORY, "no memory for messages between ranks");
  } catch (const std::exception &error) {
    return lost(peer, error.what());
  }
}

Status ProcessTransport::send(int peer, std::span<const Bytes> stretches, uint64_t &number) {
  if (client->hasFailed()) return client->failure();
  return with(peer, [&](Link &link) -> Status {
    if (Goal room{Goal::Kind::room}; !link.look(room)) SPRIG_RETURN_IF_ERROR(await(peer, room));
    header.size = 0;
    for (const Bytes &stretch : stretches) header.size += stretch.size;
    number = link.send(header, stretches);
    return {};
  });
}

Status ProcessTransport::awaitTaken(int peer, uint64_t number) {
  return with(peer, [&](Link &link) -> Status {
    Goal out{Goal::Kind::out, number};
    return link.look(out) ? Status() : await(peer, out);
  });
}

Status ProcessTransport::expect(int peer, size_t bytes) {
  if (client->hasFailed()) return client->failure();
  return with(peer, [&](Link &link) -> Status {
    link.expect(bytes);
    return {};
  });
}

Status ProcessTransport::take(int peer, std::span<const size_t> sizes, std::span<const Bytes> &stretches,
                              bool &isLast) {
  size_t size = 0;
  for (size_t each : sizes) size += each;
  if (client->hasFailed()) return client->failure();
  return with(peer, [&](Link &link) -> Status {
    if (Goal message{Goal::Kind::part, 0, size}; !link.look(message)) SPRIG_RETURN_IF_ERROR(await(peer, message));
    Part part = link.take(sizes);
    if (part.header) SPRIG_RETURN_IF_ERROR(check(peer, *part.header, size));
    stretches = part.stretches;
    isLast = part.isLast;
    return {};
  });
}

Status ProcessTransport::check(int peer, const MessageHeader &other, size_t size) {
  if (other.magic != MessageHeader::kMagic)
    return Status(SPRIG_RT_IO_ERROR, concat("rank ", peer, " sends what is no message of Sprig"));
  if (isSameCall(other, header) && other.size == size) return {};
  Position sent = positionOf(other);
  if (isSameCall(other, header))
    return Status(SPRIG_RT_INVALID_ARGUMENT, concat("rank ", peer, " sends ", other.size, " bytes for ",
                                                    position.callText(), ", expected ", size));
  if (sent.number == position.number) return differ(options.rank, position, peer, sent);
  return Status(SPRIG_RT_INVALID_ARGUMENT,
                concat("collectives differ: ", position.text(options.rank), "; ", sent.text(peer)));
}

void ProcessTransport::giveBack(int peer) {
  // That it cannot be is told by the next message of this rank.
  (void)guarded([&]() -> Status {
    links[size_t(peer)]->giveBack();
    return {};
  });
}

} // namespace sprig::rt::comm
