#include "tools/sprig/launch/Guardian.h"
#include "runtime/base/Uninterrupted.h"
#include "runtime/comm/store/Secret.h"
#include "sprig/error.h"
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <set>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace sprig::cli {

using rt::core::uninterrupted;

namespace {

/// Until nothing with the mark is found, which what is being killed may still start.
constexpr int kMostRounds = 100;
constexpr std::chrono::milliseconds kRoundTime{10};

bool hasMark(const std::string &process, std::string_view mark) {
  int file = ::open(("/proc/" + process + "/environ").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::string text;
  char part[65536];
  for (ssize_t got; (got = uninterrupted([&] { return ::read(file, part, sizeof part); })) > 0;)
    text.append(part, size_t(got));
  ::close(file);
  return text.find(mark) != text.npos;
}

bool killMarked(std::string_view mark) {
  bool isAny = false;
  DIR *processes = ::opendir("/proc");
  if (!processes) return false;
  while (dirent *entry = ::readdir(processes)) {
    std::string_view name = entry->d_name;
    pid_t id = 0;
    auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error != std::errc() || end != name.data() + name.size() || id == ::getpid() || !hasMark(entry->d_name, mark))
      continue;
    isAny |= ::kill(id, SIGKILL) == 0;
  }
  ::closedir(processes);
  return isAny;
}

[[noreturn]] void guard(int pipe, std::string_view mark) {
  ::setsid();
  ::prctl(PR_SET_NAME, "sprig-guardian");
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGTSTP}) std::signal(signal, SIG_IGN);
  // What the launcher has open ends with the launcher.
  int nothing = ::open("/dev/null", O_RDWR);
  for (int each : {0, 1, 2}) ::dup2(nothing, each);
  ::dup2(pipe, 3);
  ::close_range(4, ~0U, 0);
  std::set<pid_t> groups;
  for (pid_t word; uninterrupted([&] { return ::read(3, &word, sizeof word); }) == sizeof word;) {
    if (word == 0) _exit(0);
    if (word > 0)
      groups.insert(word);
    else
      groups.erase(-word);
  }
  for (pid_t group : groups) ::kill(-group, SIGKILL);
  for (int round = 0; round < kMostRounds && killMarked(mark); ++round) std::this_thread::sleep_for(kRoundTime);
  _exit(0);
}

} // namespace

Guardian::Guardian() {
  const std::string mark = rt::comm::randomSecret();
  if (mark.empty()) runtimeError("launch: no random numbers for the ranks' mark");
  const char *above = std::getenv(kVariable);
  setting = std::string(kVariable) + "=" + (above && *above ? std::string(above) + "," : "") + mark;
  int ends[2];
  auto failed = [](const char *what) {
    return Error(ErrorKind::runtime, std::string("launch: no ") + what + " for the guardian: " + std::strerror(errno));
  };
  if (uninterrupted([&] { return ::pipe2(ends, O_CLOEXEC); })) throw failed("pipe");
  process = uninterrupted([] { return ::fork(); });
  if (process == 0) {
    ::close(ends[1]);
    guard(ends[0], mark);
  }
  ::close(ends[0]);
  pipe = ends[1];
  if (process > 0) return;
  ::close(pipe);
  throw failed("process");
}

Guardian::~Guardian() {
  tell(0);
  ::close(pipe);
  uninterrupted([this] { return ::waitpid(process, nullptr, 0); });
}

void Guardian::tell(pid_t word) const {
  uninterrupted([&] { return ::write(pipe, &word, sizeof word); }); // one that is gone is not told
}

} // namespace sprig::cli
