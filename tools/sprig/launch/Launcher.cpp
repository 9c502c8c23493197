#include "tools/sprig/launch/Launcher.h"
#include "sprig/error.h"
#include "tools/sprig/Interrupt.h"
#include "tools/sprig/Report.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <poll.h>
#include <sys/random.h>
#include <sys/wait.h>

namespace sprig::cli {

using namespace std::chrono_literals;
using rt::comm::Status;
using rt::comm::Store;

namespace {

// In which ranks that are told of a failure end by themselves, and in which they end when they are asked to.
constexpr std::chrono::seconds kOwnTime = 2s, kAskedTime = 3s;

volatile std::sig_atomic_t interrupted = 0;
void onSignal(int signal) { interrupted = signal; }

volatile std::sig_atomic_t suspended = 0;
void onSuspend(int) { suspended = 1; }

std::string randomSecret() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    throw Error(ErrorKind::runtime, "launch: no random numbers for the secret");
  std::string text;
  for (unsigned char byte : bytes)
    for (int digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
  return text;
}

} // namespace

Launcher::Launcher(const LaunchOptions &options) : options(options) {
  const char *given = std::getenv("SPRIG_LAUNCH_SECRET");
  secret = given && *given ? given : randomSecret();
}

int Launcher::run() {
  int port = options.port;
  if (options.node == 0) {
    Status status = Store::start({.ranks = options.ranks * options.nodes,
                                  .host = options.host,
                                  .port = uint16_t(port),
                                  .secret = secret,
                                  .heartbeat = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                      std::chrono::duration<double>(options.heartbeat))},
                                 store);
    if (!status.isOk()) throw Error(ErrorKind::runtime, "launch: " + std::string(status.message()));
  }
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) handleInterrupt(signal, onSignal);
  handleInterrupt(SIGTSTP, onSuspend);
  // Where they are ignored, which is inherited, nobody is told how a child has ended.
  std::signal(SIGCHLD, SIG_DFL);
  codes.resize(size_t(options.ranks));
  for (int local = 0; local < options.ranks; ++local) {
    processes.push_back(std::make_unique<RankProcess>(firstRank() + local));
    processes.back()->start(options.command, variablesOf(local));
  }
  while (step()) {
  }
  release();
  return end();
}

std::vector<std::string> Launcher::variablesOf(int local) const {
  int port = store ? store->port() : options.port;
  std::vector<std::string> variables = {"RANK=" + std::to_string(firstRank() + local),
                                        "LOCAL_RANK=" + std::to_string(local),
                                        "WORLD_SIZE=" + std::to_string(options.ranks * options.nodes),
                                        "LOCAL_WORLD_SIZE=" + std::to_string(options.ranks),
                                        "MASTER_ADDR=" + options.host,
                                        "MASTER_PORT=" + std::to_string(port),
                                        "SPRIG_LAUNCH_SECRET=" + secret,
                                        "SPRIG_LAUNCHED=1"};
  if (options.timeout) variables.push_back("SPRIG_COLLECTIVE_TIMEOUT=" + std::to_string(*options.timeout));
  return variables;
}

RankProcess *Launcher::processOf(int rank) {
  int local = rank - firstRank();
  return local >= 0 && size_t(local) < processes.size() ? processes[size_t(local)].get() : nullptr;
}

int Launcher::blamed(std::string &why) const {
  int by = -1;
  if (store)
    if (Status status = store->failure(by); !status.isOk()) {
      why = status.message();
      return by >= 0 ? by : firstFailed;
    }
  why = firstFailure;
  return firstFailed;
}

void Launcher::fail(int rank, const std::string &why) {
  if (hasAsked || interrupted) return;
  if (firstFailed < 0) {
    firstFailed = rank;
    firstFailure = why;
  }
  if (store) store->fail(rank, Status(SPRIG_RT_CANCELLED, why));
}

// One write for a line, so lines of ranks do not mix. Results are the first rank's, as it wrote them.
void Launcher::print(int rank, RankProcess::Stream stream, const std::string &line) {
  std::string tag = "[" + std::to_string(rank) + "] ";
  if (stream == RankProcess::Stream::output) {
    if (isUnread) return;
    std::cout << (rank ? tag : "") + line + "\n" << std::flush;
    // A reader that has seen enough (`| head`) ends no rank.
    if (!std::cout && errno == EPIPE) {
      isUnread = true;
      std::cout.clear();
    }
    return;
  }
  std::string why;
  if (int by = blamed(why); by >= 0 && by != rank)
    if (RankProcess *first = processOf(by); first && first->isRunning()) {
      held.push_back({rank, line});
      return;
    }
  std::cerr << tag + line + "\n" << std::flush;
}

void Launcher::release() {
  for (const Line &line : held) std::cerr << "[" + std::to_string(line.rank) + "] " + line.text + "\n" << std::flush;
  held.clear();
}

// Ctrl-Z: ranks are in groups of their own, and would find a store that is silent.
void Launcher::suspend() {
  suspended = 0;
  auto tell = [&](int signal) {
    for (auto &process : processes)
      if (process->isRunning()) process->signal(signal);
  };
  tell(SIGSTOP);
  ::raise(SIGSTOP); // until somebody continues it
  tell(SIGCONT);
}

// Returns false when all have ended.
bool Launcher::step() {
  if (suspended) suspend();
  std::vector<pollfd> entries;
  for (auto &process : processes)
    for (int which : {0, 1})
      if (process->pipes()[which] >= 0) entries.push_back({process->pipes()[which], POLLIN, 0});
  ::poll(entries.data(), entries.size(), 20);
  auto take = [&](int rank, RankProcess::Stream stream, const std::string &line) { print(rank, stream, line); };
  bool isAnyRunning = false;
  for (size_t local = 0; local < processes.size(); ++local) {
    RankProcess &process = *processes[local];
    process.read(take);
    int rank = firstRank() + int(local);
    if (process.hasJustEnded()) {
      process.read(take);
      if (int status = process.exitStatus()) {
        if (!hasAsked) codes[local] = WIFSIGNALED(status) ? exitCodeOf(WTERMSIG(status)) : WEXITSTATUS(status);
        fail(rank, process.endText());
      } else if (store) {
        store->noteEnd(rank);
      }
    }
    // The store hears it of ranks that have come; here it is known of all.
    if (auto &since = process.stoppedSince();
        since && Clock::now() - *since > std::chrono::duration<double>(options.heartbeat))
      fail(rank, "rank " + std::to_string(rank) + " has given no sign of life for " + formatDouble(options.heartbeat) +
                     " s: it is stopped");
    isAnyRunning |= process.isRunning();
  }
  std::string why;
  int by = blamed(why);
  if (RankProcess *first = processOf(by); !held.empty() && (!first || !first->isRunning())) release();
  if (!isAnyRunning) return false;
  if (interrupted || !why.empty()) stop();
  return true;
}

void Launcher::stop() {
  auto now = Clock::now();
  if (!stopsAt) stopsAt = now + (interrupted ? 0s : kOwnTime);
  if (now < *stopsAt) return;
  bool kills = now >= *stopsAt + kAskedTime;
  std::string why;
  for (auto &process : processes) {
    if (!process->isRunning()) continue;
    // One that is stopped hears no request.
    if (kills || process.get() == processOf(blamed(why)))
      process->signal(SIGKILL);
    else if (!hasAsked)
      process->signal(SIGTERM);
  }
  hasAsked = true;
}

int Launcher::end() {
  if (interrupted) return exitCodeOf(interrupted);
  std::string why;
  int by = blamed(why);
  if (why.empty()) return 0;
  std::cout.flush();
  std::cerr << "error: launch: " + why + "\n";
  // Of the rank whose fault it is, where it is one of these and was not ended from here.
  int code = processOf(by) ? codes[size_t(by - firstRank())] : 0;
  return code ? code : int(ErrorKind::runtime);
}

} // namespace sprig::cli
