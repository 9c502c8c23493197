// Checkpoints where the process is killed at any moment, and where the disk is full.
#include "test/unit/Checkpoint/Fixture.h"
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <random>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

using namespace sprig;
using namespace sprig::checkpoints;

namespace {

// Runs in a child, whose exit code is what `run` returns, or 99 for an exception. A signal is 128 and its number.
template <typename Run> int inChild(Run run) {
  pid_t child = ::fork();
  if (child == 0) {
    int code = 99;
    try {
      code = run();
    } catch (const std::exception &error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Whether the error of a save says what failed, and that the checkpoint of step 1 stays.
bool saysWhatStays(const Error &error, const char *reason) {
  std::string text = error.what();
  bool sound = error.kind() == ErrorKind::runtime && text.find(reason) != std::string::npos &&
               text.find("note: the checkpoint of step 1 stays") != std::string::npos;
  if (!sound) std::fprintf(stderr, "said: %s\n", text.c_str());
  return sound;
}

} // namespace

// A child saves step after step and says through a pipe what is surely there; it is killed somewhere, and the next
// child goes on from what it finds.
TEST_F(Checkpoints, KilledAtAnyMoment) {
  constexpr int kKills = 300;
  std::mt19937 random(1);
  int64_t reached = 0, writing = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    pid_t child = ::fork();
    if (child == 0) {
      try {
        Writer writer(folder, 2);
        int64_t start = listSteps(folder).empty() ? 0 : loadForResume(folder).manifest.step;
        for (int64_t step = start + 1;; ++step) {
          writer.save(manifestOf(step), State(step).views());
          writer.wait();
          if (::write(ends[1], &step, sizeof step) != sizeof step) break;
        }
      } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
      }
      ::_exit(1);
    }
    ::close(ends[1]);
    // The first save of each child is waited for or not: kills hit the start as well.
    int64_t step = 0, acknowledged = 0;
    if (kill % 4 && ::read(ends[0], &step, sizeof step) == sizeof step) acknowledged = step;
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000));
    ::kill(child, SIGKILL);
    while (::read(ends[0], &step, sizeof step) == sizeof step) acknowledged = step;
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";

    reached = std::max(reached, acknowledged);
    for (auto &entry : fs::directory_iterator(folder))
      writing += entry.path().filename().string().starts_with(".tmp-new");
    std::vector<int64_t> steps = listSteps(folder);
    if (steps.empty()) {
      ASSERT_EQ(reached, 0);
      continue;
    }
    // Renamed and not yet acknowledged is one step more.
    ASSERT_GE(steps.front(), reached);
    ASSERT_LE(steps.front(), reached + 1);
    ASSERT_GE(int(steps.size()), std::min<int>(2, int(steps.front())));
    for (int64_t each : steps) expectState(load(stepFolder(folder, each)), State(each));
    reached = steps.front();
  }
  EXPECT_GT(reached, kKills / 2);
  EXPECT_GT(writing, kKills / 20) << "few kills hit a checkpoint that was being written";
}

TEST_F(Checkpoints, AFileThatMayNotGrow) {
  save({1});
  std::vector<char> manifest = data::readFile(folder / "step-1" / "manifest.json");
  uint64_t whole = fs::file_size(folder / "step-1" / "arrays.safetensors");
  for (uint64_t limit : {uint64_t(0), uint64_t(manifest.size()) - 1, uint64_t(1000), whole - 1}) {
    int code = inChild([&] {
      ::signal(SIGXFSZ, SIG_IGN);
      rlimit size{limit, limit};
      if (::setrlimit(RLIMIT_FSIZE, &size) != 0) return 1;
      Writer writer(folder, 1);
      writer.save(manifestOf(2), State(2).views());
      try {
        writer.wait();
      } catch (const Error &error) {
        if (!saysWhatStays(error, "File too large")) return 2;
      }
      // The writer goes on, and the error comes once.
      writer.wait();
      return nothingAside() && listSteps(folder) == std::vector<int64_t>{1} ? 0 : 3;
    });
    EXPECT_EQ(code, 0) << "limit " << limit;
    expectState(loadForResume(folder), State(1));
  }
}

TEST_F(Checkpoints, AFullDisk) {
  fs::create_directories(folder);
  int code = inChild([&] {
    // A disk of 64 KiB in a name space of its own, which ends with the process.
    if ((::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
        (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 && errno != EINVAL) ||
        ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=64k") != 0)
      return 77;
    Writer writer(folder, 2);
    writer.save(manifestOf(1), State(1, 6000).views());
    writer.wait();
    for (int64_t step = 2; step < 5; ++step) {
      writer.save(manifestOf(step), State(step, 13000).views());
      try {
        writer.wait();
        return 1; // there was no room
      } catch (const Error &error) {
        if (!saysWhatStays(error, "No space left on device")) return 2;
      }
      if (!nothingAside() || listSteps(folder) != std::vector<int64_t>{1}) return 3;
    }
    // With room again it goes on.
    writer.save(manifestOf(6), State(6, 6000).views());
    writer.wait();
    expectState(loadForResume(folder), State(6, 6000));
    return ::testing::Test::HasFailure() ? 4 : 0;
  });
  if (code == 77) GTEST_SKIP() << "no disk can be mounted here";
  EXPECT_EQ(code, 0);
}

// The error of a background save comes with the next save, and the state of that one is not lost silently.
TEST_F(Checkpoints, ErrorsSurfaceAtTheNextSave) {
  Writer writer(folder, 1);
  fs::rename(folder, root / "moved");
  writer.save(manifestOf(1), State(1).views());
  EXPECT_NE(refusal([&] { writer.save(manifestOf(2), State(2).views()); }, ErrorKind::runtime).find("cannot be made"),
            std::string::npos);
  fs::rename(root / "moved", folder);
  writer.save(manifestOf(2), State(2).views());
  writer.wait();
  expectState(loadForResume(folder), State(2));
}
