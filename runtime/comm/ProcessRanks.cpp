#include "runtime/comm/ProcessRanks.h"
#include "runtime/comm/RankLimits.h"
#include "runtime/comm/Library.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace sprig::rt::comm {

using core::concat;

namespace {

// A variable that is set, by the first of its names that is.
struct Variable {
  const char *name = nullptr, *value = nullptr;
};
template <typename... Names> Variable find(Names... names) {
  for (const char *name : {names...})
    if (const char *value = std::getenv(name); value && *value) return {name, value};
  return {};
}

Variable findRank() { return find("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"); }

template <typename Number> Status readNumber(const Variable &variable, Number least, Number most, Number &number) {
  const char *end = variable.value + std::strlen(variable.value);
  auto [last, error] = std::from_chars(variable.value, end, number);
  if (error == std::errc() && last == end && number >= least && number <= most) return {};
  return Status(SPRIG_RT_INVALID_ARGUMENT, concat(variable.name, ": expected a number from ", least, " to ", most,
                                                  ", found '", variable.value, "'"));
}

Status readEngine(Engine &engine) {
  constexpr std::pair<std::string_view, Engine> names[] = {
      {"auto", Engine::automatic}, {"shm", Engine::sharedMemory}, {"gloo", Engine::gloo}, {"mpi", Engine::mpi}};
  Variable variable = find("SPRIG_TRANSPORT");
  if (!variable.value) return {};
  for (auto [name, each] : names)
    if (name == variable.value) {
      engine = each;
      return {};
    }
  return Status(SPRIG_RT_INVALID_ARGUMENT,
                concat(variable.name, ": expected auto, shm, gloo or mpi, found '", variable.value, "'"));
}

// The first of Slurm's nodes, where its first task is: "a[03-05,7],b" begins with a03.
std::string firstOfNodes(std::string_view list) {
  size_t end = list.find_first_of(",[");
  std::string first(list.substr(0, end));
  if (end == list.npos || list[end] == ',') return first;
  std::string_view numbers = list.substr(end + 1);
  return first.append(numbers.substr(0, numbers.find_first_of(",-]")));
}

constexpr int kMostSeconds = 1 << 30;

} // namespace

bool isRankProcess() { return findRank().value; }

Status readEnvironment(ProcessRanksOptions &options) {
  Variable rank = findRank(), ranks = find("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS");
  if (!rank.value)
    return Status(SPRIG_RT_INVALID_ARGUMENT,
                  "RANK is not set: this process is no rank; 'sprig launch -n N -- PROGRAM' starts ranks");
  if (!ranks.value) return Status(SPRIG_RT_INVALID_ARGUMENT, concat("WORLD_SIZE is not set, beside ", rank.name));
  SPRIG_RETURN_IF_ERROR(readNumber(ranks, 1, kMostProcessRanks, options.ranks));
  SPRIG_RETURN_IF_ERROR(readNumber(rank, 0, options.ranks - 1, options.rank));
  Variable host = find("MASTER_ADDR");
  options.isPlaceGiven = host.value;
  if (host.value) options.host = host.value;
  if (Variable nodes = find("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST");
      !host.value && nodes.value && std::string_view(rank.name) == "SLURM_PROCID") {
    options.host = firstOfNodes(nodes.value);
    options.isPlaceGiven = true;
  }
  if (Variable port = find("MASTER_PORT"); port.value) {
    int number = 0;
    SPRIG_RETURN_IF_ERROR(readNumber(port, 1, int(std::numeric_limits<uint16_t>::max()), number));
    options.port = uint16_t(number);
  }
  if (Variable secret = find("SPRIG_LAUNCH_SECRET"); secret.value) options.secret = secret.value;
  // A launcher has a store; else the first rank has.
  options.firstHasStore = !find("SPRIG_LAUNCHED").value;
  for (auto [name, time] :
       {std::pair("SPRIG_COLLECTIVE_TIMEOUT", &options.timeout), {"SPRIG_HEARTBEAT", &options.heartbeat}})
    if (Variable variable = find(name); variable.value) {
      int seconds = 0;
      SPRIG_RETURN_IF_ERROR(readNumber(variable, time == &options.heartbeat ? 1 : 0, kMostSeconds, seconds));
      *time = std::chrono::seconds(seconds);
    }
  return readEngine(options.engine);
}

Status joinProcesses(const ProcessRanksOptions &options, std::unique_ptr<Transport> &transport) {
  void *function = nullptr;
  SPRIG_RETURN_IF_ERROR(findFunction("sprig_rt_processes", "join", "processes as ranks", function));
  auto *join = reinterpret_cast<JoinFunction *>(function);
  Status status;
  join(options, transport, status);
  return status;
}

} // namespace sprig::rt::comm
