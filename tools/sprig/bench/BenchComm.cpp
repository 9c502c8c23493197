// sprig bench comm: what a message costs by each of what carries bytes between ranks, over sizes: alpha, the time of
// the shortest, and beta, the best rate. In a process that is a rank: by its own carrier, between ranks 0
// and 1.
#include "lib/Machine/Steadiness.h"
#include "runtime/comm/Communicator.h"
#include "runtime/comm/ProcessRanks.h"
#include "runtime/comm/ThreadRanks.h"
#include "runtime/comm/store/Store.h"
#include "tools/sprig/Timing.h"
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/bench/PlainSockets.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace sprig::cli {
namespace {

using namespace rt::comm;
using rt::collective::Algorithm;
using rt::collective::Kind;

constexpr int64_t kMaxMessage = 64 << 20;
constexpr int kTensors = 64, kTensorElements = 64; // small ones, together or apart
// A message takes about alpha + bytes / beta. Caches that it outgrows and what a carrier does otherwise for long ones
// cost some times that; a wait of the system's, for a confirmation or a time slice, costs hundreds.
constexpr double kMostBeyondLaw = 30;
constexpr const char *kRight = "what is sent comes back, and sums are right, ";

std::vector<int64_t> sizesUpTo(int64_t most) {
  std::vector<int64_t> sizes;
  for (int64_t bytes = 1; bytes < most; bytes *= bytes < 4096 ? 8 : 4) sizes.push_back(bytes);
  sizes.push_back(most);
  return sizes;
}

int roundsOf(int64_t bytes) { return int(std::clamp<int64_t>(20000000 / (bytes + 10000), 7, 1001)); }

// What a carrier takes: seconds of a message, by its bytes; of small sums together and apart.
struct CommTimes {
  std::map<int64_t, double> message;
  std::map<int64_t, double> processor; // of this process, at one end
  double together = 0, apart = 0;
  bool isRight = true; ///< bytes that came back, and sums
};

// A message, out of memory and into memory.
Status sendAll(Transport &transport, int peer, std::span<const std::byte> bytes) {
  uint64_t number = 0;
  Bytes all{bytes.data(), bytes.size()};
  SPRIG_RETURN_IF_ERROR(transport.send(peer, {&all, 1}, number));
  return transport.awaitTaken(peer, number);
}
Status takeAll(Transport &transport, int peer, std::span<std::byte> bytes) {
  size_t size = bytes.size();
  std::byte *to = bytes.data();
  for (bool isLast = false; !isLast;) {
    std::span<const Bytes> parts;
    SPRIG_RETURN_IF_ERROR(transport.take(peer, {&size, 1}, parts, isLast));
    for (const Bytes &part : parts)
      if (part.size) to = static_cast<std::byte *>(std::memcpy(to, part.begin, part.size)) + part.size;
    transport.giveBack(peer);
  }
  return {};
}

std::byte sentAt(size_t i) { return std::byte(i * 2654435761u >> 13); }

Status pingPong(Transport &transport, int64_t bytes, CommTimes &measured) {
  int peer = 1 - transport.rank(), rounds = roundsOf(bytes);
  std::vector<std::byte> memory(static_cast<size_t>(bytes));
  if (transport.rank() == 0)
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = sentAt(i);
  std::vector<double> times;
  Call call{Kind::broadcast, Algorithm::tree, Reduction::sum, SPRIG_RT_U8};
  call.elements = bytes;
  SPRIG_RETURN_IF_ERROR(transport.begin(call));
  Status status;
  const double before = machine::processSeconds();
  for (int round = 0; round < rounds && status.isOk(); ++round) {
    auto begin = Clock::now();
    status = transport.rank() ? takeAll(transport, peer, memory) : sendAll(transport, peer, memory);
    if (status.isOk()) status = transport.rank() ? sendAll(transport, peer, memory) : takeAll(transport, peer, memory);
    times.push_back(secondsSince(begin) / 2);
  }
  measured.processor[bytes] = (machine::processSeconds() - before) / (2 * rounds);
  measured.message[bytes] = median(times);
  // What the other end has is what it was sent.
  if (status.isOk() && transport.rank()) status = sendAll(transport, peer, memory);
  if (status.isOk() && transport.rank() == 0) {
    std::fill(memory.begin(), memory.end(), std::byte(0));
    status = takeAll(transport, peer, memory);
    for (size_t i = 0; i < memory.size(); ++i) measured.isRight &= memory[i] == sentAt(i);
  }
  if (!status.isOk()) transport.fail(status);
  transport.end();
  return status;
}

// Small tensors in one message, or each in its own: of ones and of twos, and then of their mean again and again.
Status smallSums(Communicator &communicator, int rank, bool isTogether, double &seconds, bool &isRight) {
  std::vector<float> numbers(size_t(kTensors) * kTensorElements, float(rank + 1));
  std::vector<Buffers::Buffer> buffers;
  for (int i = 0; i < kTensors; ++i) buffers.push_back({numbers.data() + i * kTensorElements, kTensorElements});
  std::vector<double> times;
  Call call{Kind::allReduce, Algorithm::tree, Reduction::mean};
  for (int round = 0; round < 101; ++round) {
    auto begin = Clock::now();
    if (isTogether)
      SPRIG_RETURN_IF_ERROR(communicator.run(call, {buffers}));
    else
      for (Buffers::Buffer &buffer : buffers) SPRIG_RETURN_IF_ERROR(communicator.run(call, {{&buffer, 1}}));
    times.push_back(secondsSince(begin));
  }
  seconds = median(times);
  isRight &= std::all_of(numbers.begin(), numbers.end(), [](float number) { return number == 1.5f; });
  return {};
}

// Of ranks 0 and 1, both of which call it.
Status measureMessages(Transport &transport, int64_t most, CommTimes &measured) {
  for (int64_t bytes : sizesUpTo(most)) SPRIG_RETURN_IF_ERROR(pingPong(transport, bytes, measured));
  Communicator communicator(transport);
  int rank = transport.rank();
  SPRIG_RETURN_IF_ERROR(smallSums(communicator, rank, true, measured.together, measured.isRight));
  return smallSums(communicator, rank, false, measured.apart, measured.isRight);
}

CommTimes ofThreads(int64_t most) {
  ThreadRanks group({.ranks = 2});
  CommTimes measured[2];
  group.run([&](Transport &transport) { return measureMessages(transport, most, measured[transport.rank()]); });
  if (Status failure = group.failure(); !failure.isOk()) runtimeError("bench comm: " + std::string(failure.message()));
  return measured[0];
}

// Two ranks that have a transport each, as processes have; empty where there is no such engine, and why.
std::optional<CommTimes> ofEngine(Engine engine, int64_t most, std::string &why) {
  std::unique_ptr<Store> store;
  if (Status status = Store::start({.ranks = 2, .secret = "bench"}, store); !status.isOk())
    runtimeError("bench comm: " + std::string(status.message()));
  CommTimes measured[2];
  Status statuses[2];
  auto run = [&](int rank) {
    ProcessRanksOptions options;
    options.rank = rank;
    options.ranks = 2;
    options.port = store->port();
    options.secret = "bench";
    options.engine = engine;
    std::unique_ptr<Transport> transport;
    statuses[rank] = joinProcesses(options, transport);
    if (statuses[rank].isOk()) statuses[rank] = measureMessages(*transport, most, measured[rank]);
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  if (statuses[0].isOk()) return measured[0];
  why = statuses[0].message();
  return std::nullopt;
}

CommTimes ofSockets(Protocol protocol, int64_t most) {
  CommTimes measured;
  for (int64_t bytes : sizesUpTo(most))
    measured.message[bytes] = pingPongSeconds(protocol, size_t(bytes), roundsOf(bytes)) / 2;
  return measured;
}

// By MPI's own launcher, as ranks of it alone have MPI: this command there, as JSON.
std::optional<CommTimes> ofMpi(int64_t most, std::string &why) {
  std::string program = std::filesystem::read_symlink("/proc/self/exe").string(), text;
  if (program.find('\'') != program.npos) return std::nullopt;
  std::string command = "SPRIG_TRANSPORT=mpi mpirun --allow-run-as-root --oversubscribe -n 2 '" + program +
                        "' bench comm --n " + std::to_string(most) + " --format json 2>&1";
  FILE *pipe = ::popen(command.c_str(), "re");
  if (!pipe) return std::nullopt;
  char part[4096];
  for (size_t got; (got = std::fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, got);
  int status = ::pclose(pipe);
  // mpirun has a word of its own where a relation does not hold.
  size_t begin = std::min(text.find('{'), text.size()), end = text.rfind('}');
  Json json = Json::parse(text.substr(begin, end == text.npos ? 0 : end + 1 - begin), nullptr, false);
  if (!WIFEXITED(status) || WEXITSTATUS(status) > kCheckFailed || json.is_discarded() || !json.contains("tables")) {
    why = WIFEXITED(status) && WEXITSTATUS(status) == 127 ? "there is no mpirun" : text.substr(0, text.find('\n'));
    return std::nullopt;
  }
  CommTimes measured;
  for (const Json &row : json["tables"]["messages"])
    measured.message[row.at("bytes")] = double(row.at("us, mpi")) / 1e6;
  for (const Json &row : json["tables"]["small"]) {
    measured.together = double(row.at("us, together")) / 1e6;
    measured.apart = double(row.at("us, apart")) / 1e6;
  }
  for (const Json &verdict : json["verdicts"])
    if (std::string(verdict.at("relation")).starts_with(kRight)) measured.isRight = verdict.at("holds");
  return measured;
}

struct Carrier {
  std::string name;
  CommTimes measured;
  double alpha() const { return measured.message.begin()->second; }
  double beta() const { // bytes a second, of the size that goes the fastest
    double most = 0;
    for (auto [bytes, seconds] : measured.message) most = std::max(most, double(bytes) / seconds);
    return most;
  }
  // The share of that rate.
  double efficiency(int64_t bytes) const { return double(bytes) / measured.message.at(bytes) / beta(); }
  // How much longer than alpha + bytes / beta the message takes that is the furthest from that.
  std::pair<double, int64_t> beyondLaw() const {
    std::pair<double, int64_t> most;
    for (auto [bytes, seconds] : measured.message)
      most = std::max(most, {seconds / (alpha() + double(bytes) / beta()), bytes});
    return most;
  }
};

void fill(const std::vector<Carrier> &carriers, int64_t most, ExperimentReport &report) {
  auto headerOf = [&](const std::string &what) {
    std::vector<std::string> header = {"bytes"};
    for (const Carrier &each : carriers) header.push_back(what + each.name);
    return header;
  };
  report.table("messages", headerOf("us, "));
  for (int64_t bytes : sizesUpTo(most)) {
    std::vector<Json> cells = {bytes};
    for (const Carrier &each : carriers) cells.push_back(each.measured.message.at(bytes) * 1e6);
    report.row(cells);
  }
  report.table("efficiency", headerOf("%, "));
  for (int64_t bytes : sizesUpTo(most)) {
    std::vector<Json> cells = {bytes};
    for (const Carrier &each : carriers) cells.push_back(100 * each.efficiency(bytes));
    report.row(cells);
  }
  report.table("carriers", {"carrier", "alpha, us", "beta, GB/s", "half of it from bytes"});
  for (const Carrier &each : carriers)
    report.row({each.name, each.alpha() * 1e6, each.beta() / 1e9, std::llround(each.alpha() * each.beta())});
  report.table("small", {"carrier", "us, together", "us, apart", "times"});
  for (const Carrier &each : carriers)
    if (each.measured.apart > 0)
      report.row({each.name, each.measured.together * 1e6, each.measured.apart * 1e6,
                  each.measured.apart / each.measured.together});
}

const Carrier *find(const std::vector<Carrier> &carriers, std::string_view name) {
  auto found = std::find_if(carriers.begin(), carriers.end(), [&](const Carrier &each) { return each.name == name; });
  return found == carriers.end() ? nullptr : &*found;
}

void judge(const std::vector<Carrier> &carriers, ExperimentReport &report) {
  auto us = [](double seconds) { return formatDouble(seconds * 1e6, 3) + " us"; };
  for (const Carrier &each : carriers) {
    auto [beyond, bytes] = each.beyondLaw();
    report.timed("no message takes 30 times alpha + bytes / beta, " + each.name,
                 formatDouble(beyond, 3) + " times, of " + formatBinaryBytes(double(bytes)), beyond < kMostBeyondLaw);
    if (each.measured.apart == 0) continue; // plain sockets, which are nothing of Sprig's
    report.verdict(kRight + each.name, each.measured.isRight ? "at every size" : "not at every size",
                   each.measured.isRight);
    report.timed("small tensors go quicker together, " + each.name,
                 us(each.measured.together) + " and " + us(each.measured.apart),
                 each.measured.together < each.measured.apart);
  }
  if (const Carrier *memory = find(carriers, "shm"), *gloo = find(carriers, "gloo"); memory && gloo)
    report.timed("a short message by shared memory is quicker than by Gloo",
                 us(memory->alpha()) + " and " + us(gloo->alpha()), memory->alpha() < gloo->alpha());
}

// One of ranks that something has launched; the first has the report.
void measureOwn(int64_t most, ExperimentReport &report) {
  ProcessRanksOptions options;
  std::unique_ptr<Transport> transport;
  Status status = readEnvironment(options);
  if (status.isOk()) status = joinProcesses(options, transport);
  CommTimes measured;
  if (status.isOk() && options.ranks != 2)
    status = Status(SPRIG_RT_INVALID_ARGUMENT, "expected 2 ranks, found " + std::to_string(options.ranks));
  if (status.isOk()) status = measureMessages(*transport, most, measured);
  if (!status.isOk()) runtimeError("bench comm: " + std::string(status.message()));
  if (options.rank) return;
  static constexpr const char *names[] = {"auto", "shm", "gloo", "mpi"};
  std::vector<Carrier> carriers = {{names[size_t(options.engine)], measured}};
  fill(carriers, most, report);
  // The others look for what they wait for, and so take all of it.
  if (options.engine == Engine::gloo) {
    report.table("processor", {"bytes", "us, at each end"});
    for (auto [bytes, seconds] : measured.processor) report.row({bytes, seconds * 1e6});
  }
  judge(carriers, report);
}

} // namespace

void benchComm(const ExperimentOptions &options, ExperimentReport &report) {
  int64_t most = options.n ? options.n : kMaxMessage;
  if (isRankProcess()) return measureOwn(most, report);
  std::vector<Carrier> carriers = {{"threads", ofThreads(most)}};
  std::string why;
  for (auto [name, engine] : {std::pair("shm", Engine::sharedMemory), {"gloo", Engine::gloo}})
    if (auto measured = ofEngine(engine, most, why))
      carriers.push_back({name, *measured});
    else
      report.note(std::string(name) + " is not here: " + why);
  if (auto measured = ofMpi(most, why))
    carriers.push_back({"mpi", *measured});
  else
    report.note("mpi is not here: " + why);
  carriers.push_back({"tcp", ofSockets(Protocol::tcp, most)});
  carriers.push_back({"udp", ofSockets(Protocol::udp, most)});
  fill(carriers, most, report);
  double tcp = connectionSeconds(Protocol::tcp, 51), udp = connectionSeconds(Protocol::udp, 51);
  report.table("connections", {"carrier", "us, made, used once, ended"});
  report.row({"tcp", tcp * 1e6});
  report.row({"udp", udp * 1e6});
  judge(carriers, report);
  report.note(
      "two ranks on " + std::to_string(std::thread::hardware_concurrency()) +
      " cores; tcp and udp are plain sockets of the loopback device; alpha is half the time of a byte there and "
      "back, medians");
}

} // namespace sprig::cli
