// Processes as ranks, of one machine or several: a library of its own (process/), which is loaded when one joins, so
// that programs without such ranks do not have it.
#ifndef SPRIG_RUNTIME_COMM_PROCESSRANKS_H
#define SPRIG_RUNTIME_COMM_PROCESSRANKS_H

#include "runtime/comm/Transport.h"

#include <chrono>
#include <memory>

namespace sprig::rt::comm {

// What moves bytes between two ranks. Automatic: memory that they share where they are on one machine, else Gloo.
// MPI has all of them.
enum class Engine : uint8_t { automatic, sharedMemory, gloo, mpi };

struct ProcessRanksOptions {
  int rank = 0, ranks = 1;
  // Where the group's store is, and whether the first rank starts it there; else it is of what has started the ranks.
  std::string host = "127.0.0.1";
  uint16_t port = 29500;
  bool firstHasStore = false;
  bool isPlaceGiven = true; // else ranks that MPI has started tell each other
  std::string secret;
  // A rank that waits for longer, for others to come or in a collective, fails the group; zero: as long as it takes.
  std::chrono::nanoseconds timeout = std::chrono::minutes(5);
  std::chrono::nanoseconds heartbeat = std::chrono::seconds(10); // of the store that it starts
  Engine engine = Engine::automatic;
  std::string machine; // ranks that say the same share memory; empty: what the system says
};

// Whether the environment says that this process is a rank: RANK (OMPI_COMM_WORLD_RANK, SLURM_PROCID).
bool isRankProcess();
// What the environment says (docs/distributed.md), over what the options say already.
Status readEnvironment(ProcessRanksOptions &options);

// Returns when all ranks have come. The group is left when the transport goes.
Status joinProcesses(const ProcessRanksOptions &options, std::unique_ptr<Transport> &transport);

// What that library has, by its name. Both are of one version.
using JoinFunction = void(const ProcessRanksOptions &options, std::unique_ptr<Transport> &transport, Status &status);

} // namespace sprig::rt::comm

#endif
