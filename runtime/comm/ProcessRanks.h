// Processes as ranks, of one machine or several. What moves their bytes is a library of its own that is loaded when it
// is asked for (gloo/), so that programs without such ranks do not have it.
#ifndef SPRIG_RUNTIME_COMM_PROCESSRANKS_H
#define SPRIG_RUNTIME_COMM_PROCESSRANKS_H

#include "runtime/comm/Transport.h"

#include <chrono>
#include <memory>

namespace sprig::rt::comm {

struct ProcessRanksOptions {
  int rank = 0, ranks = 1;
  // Where the group's store is, and whether the first rank starts it there; else it is of what has started the ranks.
  std::string host = "127.0.0.1";
  uint16_t port = 29500;
  bool firstHasStore = false;
  std::string secret;
  // A rank that waits for longer, for others to come or in a collective, fails the group; zero: as long as it takes.
  std::chrono::nanoseconds timeout = std::chrono::minutes(5);
  std::chrono::nanoseconds heartbeat = std::chrono::seconds(10); // of the store that it starts
};

// Whether the environment says that this process is a rank: RANK (OMPI_COMM_WORLD_RANK, SLURM_PROCID).
bool isRankProcess();
// What the environment says (docs/distributed.md), over what the options say already.
Status readEnvironment(ProcessRanksOptions &options);

// Returns when all ranks have come. The group is left when the transport goes.
Status joinProcesses(const ProcessRanksOptions &options, std::unique_ptr<Transport> &transport);

// What the library has, by its name. Both are of one version.
using JoinFunction = void(const ProcessRanksOptions &options, std::unique_ptr<Transport> &transport, Status &status);
constexpr const char *kGlooLibrary = "libsprig_rt_gloo.so", *kGlooJoin = "sprig_rt_gloo_join",
                     *kGlooVersion = "sprig_rt_gloo_version";

} // namespace sprig::rt::comm

#endif
