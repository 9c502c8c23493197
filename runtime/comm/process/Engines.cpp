#include "runtime/comm/process/Engines.h"
#include "runtime/comm/Library.h"
#include "runtime/comm/shm/ShmLinks.h"

namespace sprig::rt::comm {

using core::concat;

Status makeLinks(Engine engine, LinkRequest request, Links &links) {
  std::vector<int> peers;
  auto findPeers = [&] {
    peers.clear();
    for (int rank = 0; rank < request.ranks; ++rank)
      if (rank != request.rank && !links[size_t(rank)]) peers.push_back(rank);
    request.peers = peers;
  };
  findPeers();
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
  void *connect = nullptr;
  SPRIG_RETURN_IF_ERROR(findFunction("gloo", "connect", "ranks of several machines", connect));
  reinterpret_cast<ConnectFunction *>(connect)(request, links);
  return {};
}

} // namespace sprig::rt::comm
