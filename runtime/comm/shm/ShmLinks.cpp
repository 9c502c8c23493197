#include "runtime/comm/shm/ShmLinks.h"
#include "runtime/comm/RankLimits.h"
#include "runtime/comm/shm/SharedMemory.h"
#include "runtime/comm/shm/ShmLink.h"
#include "runtime/comm/store/StoreClient.h"

#include <optional>
#include <stdexcept>

namespace sprig::rt::comm {

using core::concat;

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kRingPages = (sizeof(RingMemory) + kPage - 1) / kPage * kPage;
static_assert(sizeof(ShmHead) <= kPage);

size_t ringAt(int from) { return kPage + size_t(from) * kRingPages; }

std::string valueOf(const LinkRequest &request, const char *key, int peer) {
  std::string value;
  if (Status status = request.store->get(concat("shm/", key, "/", peer).text(), peer, value); !status.isOk())
    throw std::runtime_error(std::string(status.message()));
  return value;
}

// "MACHINE PROCESS FILE TOKEN"; nothing where a rank has none, or where it is of another machine.
std::string textOf(const std::string &machine, const SharedMemory::Name &name) {
  return concat(machine, " ", name.process, " ", name.file, " ", name.token);
}
std::optional<SharedMemory::Name> nameOf(std::string_view text, const std::string &machine) {
  SharedMemory::Name name;
  if (machine.empty() || text.substr(0, machine.size() + 1) != machine + " ") return {};
  std::string rest(text.substr(machine.size()));
  char *at = rest.data();
  name.process = std::strtoll(at, &at, 10);
  name.file = std::strtoll(at, &at, 10);
  name.token = std::strtoull(at, &at, 10);
  return name;
}

} // namespace

void connectShm(const LinkRequest &request, Links &links) {
  size_t bytes = ringAt(request.ranks);
  std::string machine = request.machine.empty() ? ownMachine() : request.machine;
  std::optional<SharedMemory> own;
  try {
    if (!machine.empty()) own.emplace(bytes);
  } catch (const std::runtime_error &) { // then this rank shares none
  }
  request.store->set(concat("shm/memory/", request.rank).text(), own ? textOf(machine, own->name()) : "");
  // Both sides have to find the other's: who has found whose, by rank.
  std::vector<std::unique_ptr<SharedMemory>> others(size_t(request.ranks));
  std::string found(size_t(request.ranks), '0');
  for (int peer : request.peers) {
    std::optional<SharedMemory::Name> name = nameOf(valueOf(request, "memory", peer), machine);
    if (!own || !name) continue;
    try {
      others[size_t(peer)] = std::make_unique<SharedMemory>(*name, bytes);
      found[size_t(peer)] = '1';
    } catch (const std::runtime_error &) {
    }
  }
  request.store->set(concat("shm/found/", request.rank).text(), found);
  std::vector<int> shared;
  for (int peer : request.peers)
    if (others[size_t(peer)])
      if (std::string by = valueOf(request, "found", peer);
          by.size() == found.size() && by[size_t(request.rank)] == '1')
        shared.push_back(peer);
  if (shared.empty()) return;
  bool spins = hasCores(shared.size() + 1);
  auto rank = std::make_shared<ShmRank>(own->map(0, kPage), spins ? kSpinMicroseconds : 0);
  for (int peer : shared) {
    const SharedMemory &other = *others[size_t(peer)];
    links[size_t(peer)] = std::make_unique<ShmLink>(rank, own->map(ringAt(peer), kRingPages),
                                                    other.map(ringAt(request.rank), kRingPages), other.map(0, kPage));
  }
  if (shared.size() < request.peers.size()) rank->startPump();
}

} // namespace sprig::rt::comm
