#include "lib/Target/CUDA/CodeGen/Process.h"
#include "runtime/base/Uninterrupted.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Errno.h"
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace sprig;
using namespace sprig::cuda;
using Clock = std::chrono::steady_clock;

extern char **environ;

namespace {
constexpr size_t kMostOutput = 1 << 20;

struct Descriptor {
  int number = -1;
  ~Descriptor() { close(); }
  void close() {
    if (number >= 0) ::close(number);
    number = -1;
  }
};

llvm::Error fails(const std::string &program, const llvm::Twine &why) {
  return llvm::createStringError(program + " " + why);
}
} // namespace

static int startProcess(pid_t &process, std::vector<std::string> arguments, const std::string &folder, int output) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, 1);
  ::posix_spawn_file_actions_adddup2(&actions, output, 2);
  if (!folder.empty()) ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  std::vector<char *> pointers;
  for (std::string &argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  int error = ::posix_spawn(&process, pointers[0], &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

llvm::Expected<ProcessResult> sprig::cuda::runProcess(const std::vector<std::string> &arguments,
                                                      const std::string &folder, std::chrono::milliseconds limit) {
  const std::string &program = arguments.front();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fails(program, "has no pipe: " + llvm::sys::StrError(errno));
  Descriptor reading{ends[0]}, writing{ends[1]};
  pid_t process = 0;
  if (int error = startProcess(process, arguments, folder, writing.number))
    return fails(program, "cannot be started: " + llvm::sys::StrError(error));
  writing.close();

  ProcessResult result;
  auto end = Clock::now() + limit;
  auto left = [&] { return std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count(); };
  bool open = true, ended = false;
  int status = 0;
  while (!ended && left() > 0) {
    if (open) {
      pollfd waited{reading.number, POLLIN, 0};
      if (::poll(&waited, 1, int(std::min<int64_t>(left(), 1000))) <= 0) continue;
      char buffer[4096];
      ssize_t count = ::read(reading.number, buffer, sizeof buffer);
      if (count > 0 && result.output.size() < kMostOutput) result.output.append(buffer, size_t(count));
      // Who has closed its output ends at once, as a rule.
      open = count > 0 || (count < 0 && errno == EINTR);
      continue;
    }
    ended = ::waitpid(process, &status, WNOHANG) == process;
    if (!ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (!ended) {
    ::kill(process, SIGKILL);
    rt::core::uninterrupted([&] { return ::waitpid(process, &status, 0); });
    return fails(program, "took longer than " + llvm::Twine(limit.count() / 1000) + " s and was ended");
  }
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  return result;
}
