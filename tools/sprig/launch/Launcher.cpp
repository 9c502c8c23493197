#include "tools/sprig/launch/Launcher.h"
#include "lib/Machine/CoreShares.h"
#include "runtime/base/Uninterrupted.h"
#include "runtime/comm/store/Secret.h"
#include "sprig/error.h"
#include "tools/sprig/Interrupt.h"
#include "tools/sprig/Report.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <poll.h>
#include <span>
#include <sys/wait.h>
#include <unistd.h>

namespace sprig::cli {

using namespace std::chrono_literals;
using rt::comm::Status;
using rt::comm::Store;

namespace {

// In which ranks that are told of a failure end by themselves, and in which they end when they are asked to.
constexpr std::chrono::seconds kOwnTime = 2s, kAskedTime = 3s;
// In which a host's launcher that is let go ends.
constexpr std::chrono::seconds kHangUpTime = 1s;

// The first signal, and how many there were.
volatile std::sig_atomic_t interruptSignal = 0, interrupts = 0;
void onSignal(int signal) {
  if (!interruptSignal) interruptSignal = signal;
  interrupts = interrupts + 1;
}

volatile std::sig_atomic_t suspended = 0;
void onSuspend(int) { suspended = 1; }

std::vector<cpu_set_t> sharesOfCores(int ranks) {
  std::span<const machine::Processor> processors = rt::core::usableProcessors();
  std::vector<cpu_set_t> shares = machine::coreShares({processors.begin(), processors.end()}, ranks);
  if (shares.empty())
    badUse("--bind cores: " + std::to_string(ranks) + " ranks, and the launcher may use " +
           std::to_string(processors.size()) + (processors.size() == 1 ? " processor" : " processors"));
  return shares;
}

} // namespace

Launcher::Launcher(const LaunchOptions &options)
    : options(options), secret(options.secret.empty() ? rt::comm::randomSecret() : options.secret) {
  if (secret.empty()) runtimeError("launch: no random numbers for the secret");
}

int Launcher::run() {
  if (options.hasStore) {
    Status status = Store::start({.ranks = options.world,
                                  .host = options.host,
                                  .port = uint16_t(options.port),
                                  .secret = secret,
                                  .heartbeat = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                      std::chrono::duration<double>(options.heartbeat))},
                                 store);
    if (!status.isOk()) runtimeError("launch: " + std::string(status.message()));
  }
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) handleInterrupt(signal, onSignal);
  handleInterrupt(SIGTSTP, onSuspend);
  // Where they are ignored, which is inherited, nobody is told how a child has ended.
  std::signal(SIGCHLD, SIG_DFL);
  if (options.hosts.empty())
    start();
  else
    startHosts();
  while (step()) {
  }
  release();
  return end();
}

void Launcher::start() {
  // A command of this program needs no name of it.
  std::vector<std::string> command = options.command;
  if (command.front() == "train" || command.front() == "profile" || command.front() == "run" ||
      command.front() == "bench")
    command.insert(command.begin(), "/proc/self/exe");
  std::vector<cpu_set_t> shares;
  if (options.bindsCores) shares = sharesOfCores(options.ranks);
  for (int local = 0; local < options.ranks; ++local) {
    int rank = options.first + local;
    members.push_back({std::make_unique<RankProcess>(rank, "rank " + std::to_string(rank), guardian), rank, 1, false});
    // The standard input of a node is its launcher's.
    static const std::string nothing;
    members.back().process->start(command, variablesOf(local), options.isNode ? &nothing : nullptr,
                                  shares.empty() ? nullptr : &shares[size_t(local)]);
  }
}

void Launcher::startHosts() {
  NodeJob job{.command = options.command,
              .folder = std::filesystem::current_path().string(),
              .world = options.world,
              .host = options.host,
              .port = store->port(),
              .secret = secret,
              .heartbeat = options.heartbeat,
              .timeout = options.timeout,
              .bindsCores = options.bindsCores,
              .variables = variablesFor(options.variables)};
  for (const LaunchHost &host : options.hosts) {
    job.name = host.name;
    job.ranks = host.ranks;
    members.push_back({std::make_unique<RankProcess>(job.first, "the launcher on " + host.name, guardian), job.first,
                       host.ranks, true});
    std::string line = toLine(job);
    members.back().process->start(agentCommand(options.agent, host.name), {}, &line);
    job.first += host.ranks;
  }
}

std::vector<std::string> Launcher::variablesOf(int local) const {
  int port = store ? store->port() : options.port;
  std::vector<std::string> variables = {"RANK=" + std::to_string(options.first + local),
                                        "LOCAL_RANK=" + std::to_string(local),
                                        "WORLD_SIZE=" + std::to_string(options.world),
                                        "LOCAL_WORLD_SIZE=" + std::to_string(options.ranks),
                                        "MASTER_ADDR=" + options.host,
                                        "MASTER_PORT=" + std::to_string(port),
                                        "SPRIG_LAUNCH_SECRET=" + secret,
                                        "SPRIG_LAUNCH_BIND=" + std::string(options.bindsCores ? "cores" : "none"),
                                        guardian.variable()};
  if (options.timeout) variables.push_back("SPRIG_COLLECTIVE_TIMEOUT=" + std::to_string(*options.timeout));
  return variables;
}

const Launcher::Member *Launcher::memberOf(int rank) const {
  for (const Member &member : members)
    if (member.holds(rank)) return &member;
  return nullptr;
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

void Launcher::fail(int rank, const std::string &why, int code) {
  if (hasAsked || interruptSignal) return;
  if (firstFailed < 0) {
    firstFailed = rank;
    firstFailure = why;
  }
  if (codes.try_emplace(rank, code).second && options.isNode) tellLauncher({rank, code, why});
  if (store) store->fail(rank, Status(SPRIG_RT_CANCELLED, why));
}

static void writeOutput(const std::string &line) { std::cout << line + "\n" << std::flush; }

// One write for a line, so lines of ranks do not mix. Results are the first rank's, as it wrote them; what comes from
// another launcher says already whose it is.
void Launcher::print(const Member &member, RankProcess::Stream stream, const std::string &line) {
  bool isOutput = stream == RankProcess::Stream::output;
  if (member.isHost) {
    if (auto news = isOutput ? parseNews(line) : std::nullopt; news && member.holds(news->rank))
      return news->why.empty() ? store->noteEnd(news->rank) : fail(news->rank, news->why, news->code);
    if (isOutput) return writeOutput(line);
    // ssh ends lines of its own as terminals do.
    std::cerr << line.substr(0, line.size() - line.ends_with('\r')) + "\n" << std::flush;
    return;
  }
  int rank = member.first;
  std::string tag = "[" + std::to_string(rank) + "] ";
  if (isOutput) return writeOutput((rank ? tag : "") + line);
  std::string why;
  if (int by = blamed(why); by >= 0 && by != rank)
    if (const Member *first = memberOf(by); first && first->process->isRunning()) {
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
  stopRanks(true);
  ::raise(SIGSTOP); // until somebody continues it
  stopRanks(false);
}

void Launcher::Member::pass(int signal) const {
  if (isHost)
    process->tell(std::to_string(signal) + "\n");
  else
    process->signal(signal == SIGTSTP ? SIGSTOP : signal);
}

void Launcher::Member::kill() {
  if (!isHost) return process->signal(SIGKILL);
  process->hangUp();
  if (!hungUpAt) hungUpAt = Clock::now();
}

void Launcher::stopRanks(bool stops) {
  for (const Member &member : members)
    if (member.process->isRunning()) member.pass(stops ? SIGTSTP : SIGCONT);
}

// Returns false when all have ended.
bool Launcher::step() {
  if (suspended) suspend();
  std::vector<pollfd> entries;
  for (Member &member : members)
    for (int which : {0, 1})
      if (member.process->pipes()[which] >= 0) entries.push_back({member.process->pipes()[which], POLLIN, 0});
  ::poll(entries.data(), entries.size(), 20);
  if (options.isNode) hear();
  bool isAnyRunning = false;
  for (Member &member : members) {
    watch(member);
    isAnyRunning |= member.process->isRunning();
    if (member.hungUpAt && member.process->isRunning() && Clock::now() - *member.hungUpAt >= kHangUpTime)
      member.process->signal(SIGKILL);
  }
  std::string why;
  const Member *first = memberOf(blamed(why));
  if (!held.empty() && (!first || !first->process->isRunning())) release();
  if (!isAnyRunning) return false;
  if (passedOn < interrupts || isAlone) passOn();
  if (killsAt && Clock::now() >= *killsAt) endLate();
  if (!why.empty()) stop();
  return true;
}

void Launcher::watch(Member &member) {
  RankProcess &process = *member.process;
  auto take = [&](int, RankProcess::Stream stream, const std::string &line) { print(member, stream, line); };
  process.read(take);
  if (process.hasJustEnded()) {
    process.read(take);
    if (int status = process.exitStatus()) {
      int code = WIFSIGNALED(status) ? exitCodeOf(WTERMSIG(status)) : WEXITSTATUS(status);
      // Of a host it is known already which of its ranks it was.
      if (!member.isHost || firstFailed < 0) fail(member.first, process.endText(), member.isHost ? 0 : code);
    } else if (!member.isHost) {
      if (store) store->noteEnd(member.first);
      if (options.isNode) tellLauncher({member.first, 0, ""});
    }
  }
  // The store hears it of ranks that have come; here it is known of all.
  if (auto &since = process.stoppedSince();
      since && !isSuspended && Clock::now() - *since > std::chrono::duration<double>(options.heartbeat))
    fail(member.first,
         "rank " + std::to_string(member.first) + " has given no sign of life for " + formatDouble(options.heartbeat) +
             " s: it is stopped",
         0);
}

// Signals that the launcher elsewhere has had; without it there is nobody who could end these ranks.
void Launcher::hear() {
  pollfd entry = {0, POLLIN, 0};
  while (::poll(&entry, 1, 0) > 0) {
    char part[256];
    ssize_t got = rt::core::uninterrupted([&] { return ::read(0, part, sizeof part); });
    if (got <= 0) {
      isAlone = true;
      return;
    }
    heard.append(part, size_t(got));
  }
  for (size_t end; (end = heard.find('\n')) != heard.npos; heard.erase(0, end + 1))
    if (int signal = std::atoi(heard.c_str()); signal == SIGTSTP || signal == SIGCONT)
      stopRanks(isSuspended = signal == SIGTSTP);
    else if (signal > 0)
      onSignal(signal);
}

// The first signal is the ranks', which end as they do after one: `train` behind the step under way, with a checkpoint.
// Another ends them at once.
void Launcher::passOn() {
  bool isFirst = passedOn == 0 && !isAlone;
  passedOn = interrupts;
  if (isFirst && !options.isNode && interruptSignal == SIGINT)
    std::cerr << "note: launch: the ranks end by themselves; Ctrl-C again ends them at once\n" << std::flush;
  for (Member &member : members) {
    if (!member.process->isRunning()) continue;
    if (!isFirst)
      member.kill();
    else
      member.pass(interruptSignal);
  }
  // Who has pressed Ctrl-C can press it again. Who sends another signal may not; launchers of hosts are ended from
  // here.
  if (isFirst && !options.isNode && interruptSignal != SIGINT && options.grace > 0)
    killsAt = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.grace));
}

// A signal may be ignored, this end may not.
void Launcher::endLate() {
  for (Member &member : members) {
    if (!member.process->isRunning()) continue;
    std::string who = member.isHost && member.ranks > 1 ? "ranks " + std::to_string(member.first) + " to " +
                                                              std::to_string(member.first + member.ranks - 1) + " have"
                                                        : "rank " + std::to_string(member.first) + " has";
    std::cerr << "note: launch: " + who + " not ended " + formatDouble(options.grace) + " s after signal " +
                     std::to_string(interruptSignal) + " (" + strsignal(interruptSignal) + "), and is killed\n"
              << std::flush;
    member.kill();
  }
  killsAt.reset();
}

void Launcher::stop() {
  auto now = Clock::now();
  if (!stopsAt) stopsAt = now + kOwnTime;
  if (now < *stopsAt) return;
  bool kills = now >= *stopsAt + kAskedTime;
  std::string why;
  const Member *first = memberOf(blamed(why));
  for (Member &member : members) {
    if (!member.process->isRunning()) continue;
    // One that is stopped hears no request.
    if (kills || (&member == first && !member.isHost))
      member.kill();
    else if (!hasAsked)
      member.pass(SIGTERM);
  }
  hasAsked = true;
}

int Launcher::end() {
  if (interruptSignal) return exitCodeOf(interruptSignal);
  std::string why;
  int by = blamed(why);
  if (why.empty()) return 0;
  std::cout.flush();
  if (!options.isNode) std::cerr << "error: launch: " + why + "\n";
  // Of the rank whose fault it is, where that is known and it was not ended from here; of one that others have started
  // the first here.
  auto found = codes.find(memberOf(by) ? by : firstFailed);
  int code = found == codes.end() ? 0 : found->second;
  return code ? code : int(ErrorKind::runtime);
}

} // namespace sprig::cli
