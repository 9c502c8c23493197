#include "runtime/comm/process/Engines.h"
#include "runtime/comm/Library.h"
#include "runtime/comm/mpi/MpiLibrary.h"
#include "runtime/comm/shm/ShmLinks.h"
#include "runtime/comm/store/Secret.h"

#include <arpa/inet.h>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>

namespace sprig::rt::comm {

using core::concat;

namespace {

constexpr const char *kNeedsMpi = "messages by MPI";

// Where others reach this machine.
std::string ownAddress() {
  ifaddrs *all = nullptr;
  std::string found;
  if (::getifaddrs(&all)) return "";
  for (ifaddrs *each = all; each && found.empty(); each = each->ifa_next) {
    char text[INET_ADDRSTRLEN] = "";
    if (each->ifa_addr && each->ifa_addr->sa_family == AF_INET && (each->ifa_flags & IFF_UP) &&
        !(each->ifa_flags & IFF_LOOPBACK))
      found = ::inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in *>(each->ifa_addr)->sin_addr, text, sizeof text);
  }
  ::freeifaddrs(all);
  return found;
}

// What rank 0 tells.
struct MpiMeeting {
  char host[256] = "", secret[256] = "";
  uint32_t port = 0; // 0: it has no store
};

Status startStore(const ProcessRanksOptions &options, const MpiPlace &place, MpiMeeting &meeting,
                  std::unique_ptr<Store> &store) {
  std::string host = place.isOneMachine ? options.host : ownAddress(), secret = options.secret;
  if (host.empty()) return Status(SPRIG_RT_IO_ERROR, "this machine has no address: set MASTER_ADDR");
  if (secret.empty()) secret = randomSecret();
  if (secret.size() >= sizeof meeting.secret || host.size() >= sizeof meeting.host)
    return Status(SPRIG_RT_INVALID_ARGUMENT, "SPRIG_LAUNCH_SECRET or the host's name is longer than 255 characters");
  SPRIG_RETURN_IF_ERROR(Store::start({options.ranks, host, 0, secret, options.heartbeat}, store));
  std::memcpy(meeting.host, host.c_str(), host.size() + 1);
  std::memcpy(meeting.secret, secret.c_str(), secret.size() + 1);
  meeting.port = store->port();
  return {};
}

} // namespace

Status meetByMpi(ProcessRanksOptions &options, std::unique_ptr<Store> &store) {
  void *findPlace = nullptr, *tell = nullptr;
  SPRIG_RETURN_IF_ERROR(findFunction("sprig_rt_mpi", "place", kNeedsMpi, findPlace));
  SPRIG_RETURN_IF_ERROR(findFunction("sprig_rt_mpi", "tell", kNeedsMpi, tell));
  MpiPlace place;
  reinterpret_cast<MpiPlaceFunction *>(findPlace)(place);
  if (place.rank != options.rank || place.ranks != options.ranks)
    return Status(SPRIG_RT_INVALID_ARGUMENT, concat("SPRIG_TRANSPORT=mpi: this process is rank ", options.rank, " of ",
                                                    options.ranks, " by its environment, and rank ", place.rank, " of ",
                                                    place.ranks, " for MPI: 'mpirun -n N PROGRAM' starts such ranks"));
  if (options.isPlaceGiven) return {};
  MpiMeeting meeting;
  Status status;
  if (place.rank == 0) status = startStore(options, place, meeting, store);
  reinterpret_cast<MpiTellFunction *>(tell)(&meeting, sizeof meeting);
  SPRIG_RETURN_IF_ERROR(std::move(status));
  if (!meeting.port) return Status(SPRIG_RT_IO_ERROR, "rank 0 has no store where ranks could meet");
  options.host = meeting.host;
  options.port = uint16_t(meeting.port);
  options.secret = meeting.secret;
  return {};
}

void leaveMpi(bool isWhole) {
  void *leave = nullptr;
  if (findFunction("sprig_rt_mpi", "leave", kNeedsMpi, leave).isOk())
    reinterpret_cast<MpiLeaveFunction *>(leave)(isWhole);
}

Status makeLinks(Engine engine, LinkRequest request, Links &links) {
  std::vector<int> peers;
  auto findPeers = [&] {
    peers.clear();
    for (int rank = 0; rank < request.ranks; ++rank)
      if (rank != request.rank && !links[size_t(rank)]) peers.push_back(rank);
    request.peers = peers;
  };
  findPeers();
  void *connect = nullptr;
  if (engine == Engine::mpi) {
    SPRIG_RETURN_IF_ERROR(findFunction("sprig_rt_mpi", "connect", kNeedsMpi, connect));
    reinterpret_cast<ConnectFunction *>(connect)(request, links);
    return {};
  }
  if (engine != Engine::gloo) {
    connectShm(request, links);
    findPeers();
    if (peers.empty()) return {};
  }
  if (engine == Engine::sharedMemory)
    return Status(SPRIG_RT_UNSUPPORTED,
                  concat("SPRIG_TRANSPORT=shm: ranks ", std::min(request.rank, peers[0]), " and ",
                         std::max(request.rank, peers[0]),
                         " share no memory: they are on two machines, or may not see each other"));
  SPRIG_RETURN_IF_ERROR(findFunction("sprig_rt_gloo", "connect", "ranks of several machines", connect));
  reinterpret_cast<ConnectFunction *>(connect)(request, links);
  return {};
}

} // namespace sprig::rt::comm
