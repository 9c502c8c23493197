#include "tools/sprig/launch/RankProcess.h"
#include "runtime/base/Uninterrupted.h"
#include "sprig/error.h"
#include "tools/sprig/Report.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace sprig::cli {

using rt::core::uninterrupted;

namespace {

constexpr size_t kLongestLine = 1 << 20; // of what ends no lines

/// Both ends of a pipe, closed unless they are taken.
struct Pipe {
  int ends[2] = {-1, -1};
  ~Pipe() {
    for (int end : ends)
      if (end >= 0) ::close(end);
  }
  bool open() {
    return uninterrupted([this] { return ::pipe2(ends, O_CLOEXEC); }) == 0;
  }
  void closeWriter() { ::close(std::exchange(ends[1], -1)); }
  int takeReader() { return std::exchange(ends[0], -1); }
};

/// The environment with variables set over it, as execve wants it; points into `variables`.
std::vector<char *> environmentWith(std::vector<std::string> &variables) {
  std::vector<char *> result;
  for (char **each = environ; *each; ++each) {
    std::string_view old = *each;
    bool isReplaced = false;
    for (const std::string &own : variables) isReplaced |= old.starts_with(own.substr(0, own.find('=') + 1));
    if (!isReplaced) result.push_back(*each);
  }
  for (std::string &each : variables) result.push_back(each.data());
  result.push_back(nullptr);
  return result;
}

} // namespace

RankProcess::~RankProcess() {
  if (running) {
    signal(SIGKILL);
    uninterrupted([this] { return ::waitpid(pid, nullptr, 0); });
    guardian.remove(pid);
  }
  for (int end : {ends[0], ends[1], input})
    if (end >= 0) ::close(end);
}

void RankProcess::start(const std::vector<std::string> &command, std::vector<std::string> variables,
                        const std::string *input, const cpu_set_t *cores) {
  Pipe output, errors, report, told;
  if (!output.open() || !errors.open() || !report.open() || (input && !told.open()))
    runtimeError("launch: no pipe for " + name + ": " + std::strerror(errno));
  // Input is the first rank's. A terminal's is nobody's: it stops whoever reads in the background.
  bool hasInput = !input && rank == 0 && !::isatty(0);
  // The child of a process with threads allocates nothing, so all it needs is made here.
  std::vector<char *> arguments, environment = environmentWith(variables);
  for (const std::string &argument : command) arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t launcher = ::getpid();
  pid = uninterrupted([] { return ::fork(); });
  if (pid < 0) runtimeError("launch: no process for " + name + ": " + std::strerror(errno));
  if (pid == 0) {
    ::setpgid(0, 0); // Ctrl-C goes to the launcher alone, which ends all
    guardian.add(::getpid());
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != launcher) _exit(1);
    for (int each : {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGPIPE, SIGXFSZ}) std::signal(each, SIG_DFL);
    if (input && !input->empty())
      ::dup2(told.ends[0], 0);
    else if (!hasInput)
      ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
    ::dup2(output.ends[1], 1);
    ::dup2(errors.ends[1], 2);
    bool isBound = !cores || ::sched_setaffinity(0, sizeof *cores, cores) == 0;
    if (isBound) ::execvpe(arguments[0], arguments.data(), environment.data());
    int error = isBound ? errno : -errno;
    [[maybe_unused]] ssize_t put = ::write(report.ends[1], &error, sizeof error);
    _exit(127);
  }
  ::setpgid(pid, pid);
  running = true;
  for (Pipe *each : {&output, &errors, &report}) each->closeWriter();
  // Closed by a command that was started; else it says what the system said.
  int error = 0;
  if (uninterrupted([&] { return ::read(report.ends[0], &error, sizeof error); }) == sizeof error) {
    if (error < 0) runtimeError("launch: --bind cores: " + name + " cannot be bound: " + std::strerror(-error));
    badUse("launch: cannot start '" + command[0] + "': " + std::strerror(error));
  }
  for (auto [own, pipe] : {std::pair(&ends[0], &output), {&ends[1], &errors}}) {
    *own = pipe->takeReader();
    ::fcntl(*own, F_SETFL, O_NONBLOCK);
  }
  if (!input || input->empty()) return;
  this->input = std::exchange(told.ends[1], -1);
  tell(*input);
}

void RankProcess::tell(const std::string &line) const {
  // One that has ended is told nothing; this process ignores the signal that it would get (Launcher::run).
  for (size_t from = 0; input >= 0 && from < line.size();) {
    ssize_t put = uninterrupted([&] { return ::write(input, line.data() + from, line.size() - from); });
    if (put <= 0) return;
    from += size_t(put);
  }
}

void RankProcess::hangUp() {
  if (input >= 0) ::close(std::exchange(input, -1));
}

bool RankProcess::hasJustEnded() {
  int change = 0;
  if (!running || ::waitpid(pid, &change, WNOHANG | WUNTRACED | WCONTINUED) != pid) return false;
  if (WIFSTOPPED(change) || WIFCONTINUED(change)) {
    stopped.reset();
    if (WIFSTOPPED(change)) stopped = std::chrono::steady_clock::now();
    return false;
  }
  status = change;
  stopped.reset();
  running = false;
  signal(SIGKILL); // what it has started
  guardian.remove(pid);
  return true;
}

void RankProcess::signal(int number) const { ::kill(-pid, number); }

std::string RankProcess::endText() const {
  const std::string &text = name;
  if (WIFSIGNALED(status))
    return text + " was killed by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) +
           ")";
  return text + " has ended with exit code " + std::to_string(WEXITSTATUS(status));
}

void RankProcess::read(const Take &take) {
  for (int which : {0, 1}) {
    int &end = ends[which];
    std::string &line = begun[which];
    if (end < 0) continue;
    char part[65536];
    ssize_t got;
    while ((got = uninterrupted([&] { return ::read(end, part, sizeof part); })) > 0) {
      line.append(part, size_t(got));
      size_t first = 0;
      for (size_t last; (last = line.find('\n', first)) != line.npos; first = last + 1)
        take(rank, Stream(which), line.substr(first, last - first));
      line.erase(0, first);
      if (line.size() > kLongestLine) take(rank, Stream(which), std::exchange(line, ""));
    }
    if (got < 0 && running) continue;
    if (!line.empty()) take(rank, Stream(which), std::exchange(line, ""));
    ::close(std::exchange(end, -1));
  }
}

} // namespace sprig::cli
