#include "include/sprig/error.h"
#include "lib/Events/EventFile.h"
#include "test/unit/Events/ReadEvents.h"
#include <cmath>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace sprig::events {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

/// Files may not grow beyond `bytes`, as on a full disk, as long as this is there.
struct FullDisk {
  rlimit before;
  void (*handler)(int);
  explicit FullDisk(rlim_t bytes) : handler(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before);
    rlimit limit{bytes, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
  }
};

template <typename Run> std::string refusal(const Run &run) {
  try {
    run();
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::runtime) << error.what();
    return error.what();
  }
  return "nothing was refused";
}

int64_t secondsOf(const EventFile &file) {
  std::string name = file.path().filename();
  return std::stoll(name.substr(name.find("tfevents.") + 9));
}

class EventFiles : public ::testing::Test {
protected:
  Folder root;
  fs::path folder = root.path / "runs" / "1";
};

TEST_F(EventFiles, ReadsBackWhatWasAdded) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EventFile file(folder);
  file.add(0, "loss", 2.3025851, 1700000000.25);
  file.add(int64_t(1) << 40, "accuracy", 1e-30, 1700000001.5);
  file.add(2, "loss", std::nan(""), 3);
  file.add(3, "loss", -INFINITY, 4);
  file.add(4, "loss", 1e300, 5); // beyond floats
  file.add(-1, "caf\xc3\xa9 \xff", 0, 6);
  file.flush();
  std::vector<ReadEvent> events = readEvents(file.path());
  ASSERT_EQ(events.size(), 8u);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_GT(events[0].wallTime, 1.7e9);
  EXPECT_EQ(events[1].session, 1);
  EXPECT_EQ(events[1].step, 0);
  EXPECT_GE(events[1].wallTime, events[0].wallTime);
  events.erase(events.begin());
  EXPECT_EQ(events[1].wallTime, 1700000000.25);
  EXPECT_EQ(events[1].step, 0);
  EXPECT_EQ(events[1].tag, "loss");
  EXPECT_EQ(events[1].value, 2.3025851f);
  EXPECT_EQ(events[2].step, int64_t(1) << 40);
  EXPECT_EQ(events[2].tag, "accuracy");
  EXPECT_EQ(events[2].value, 1e-30f);
  EXPECT_TRUE(std::isnan(events[3].value));
  EXPECT_EQ(events[4].value, -kInfinity);
  EXPECT_EQ(events[5].value, kInfinity);
  EXPECT_EQ(events[6].step, -1);
  EXPECT_EQ(events[6].tag, "caf\xc3\xa9 \xef\xbf\xbd");
  EXPECT_EQ(events[6].value, 0);
}

// The bytes that TensorBoard 2.21 writes for the same event.
TEST_F(EventFiles, BytesAsTensorBoardWritesThem) {
  EventFile file(folder);
  file.flush();
  size_t start = fs::file_size(file.path());
  file.add(300, "loss", 0.1, 1.5);
  file.flush();
  EXPECT_EQ(textOf(file.path()).substr(start),
            "\x1b\0\0\0\0\0\0\0\x1a\x0d\x9e\x13\x09\0\0\0\0\0\0\xf8\x3f\x10\xac\x02\x2a\x0d\x0a\x0b\x0a\x04loss\x15"
            "\xcd\xcc\xcc\x3d\x7a\xd0\x96\x04"s);
}

TEST_F(EventFiles, AResumedRunBeginsASession) {
  fs::path killed;
  {
    EventFile file(folder);
    file.add(0, "loss", 1, 1);
    killed = file.path();
  }
  std::string before = textOf(killed);
  EventFile file(folder, 40);
  file.add(40, "loss", 2, 2);
  file.flush();
  EXPECT_EQ(textOf(killed), before);
  EXPECT_LT(killed, file.path());
  std::vector<ReadEvent> events = readEvents(file.path());
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_EQ(events[1].session, 1);
  EXPECT_EQ(events[1].step, 40);
  EXPECT_EQ(events[2].value, 2);
}

TEST_F(EventFiles, NamesAreUniqueAndInOrder) {
  EventFile first(folder), second(folder), third(folder, 1);
  EXPECT_LT(first.path(), second.path());
  EXPECT_LT(second.path(), third.path());
  EXPECT_THAT(first.path().filename(), ::testing::MatchesRegex("events\\.out\\.tfevents\\.[0-9]{10}\\..+\\." +
                                                               std::to_string(::getpid()) + "\\.0"));
  // After the file of a machine whose clock is ahead, and whatever else is there.
  int64_t ahead = secondsOf(third) + 1000;
  for (std::string name : {"events.out.tfevents." + std::to_string(ahead) + ".elsewhere.7.0",
                           "events.out.tfevents.99999999999.x"s, "events.out.tfevents.12345"s, "notes.9999999998.x"s})
    data::writeFile(folder / name, std::string());
  EXPECT_EQ(secondsOf(EventFile(folder)), ahead + 1);
}

TEST_F(EventFiles, ThreadsDoNotShareAFile) {
  constexpr int kThreads = 8;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { EventFile(folder).add(i, "thread", i, 1); });
  for (std::thread &thread : threads) thread.join();
  std::vector<int64_t> steps;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder)) {
    std::vector<ReadEvent> events = readEvents(entry.path());
    ASSERT_EQ(events.size(), 3u) << entry.path();
    steps.push_back(events[2].step);
  }
  EXPECT_THAT(steps, ::testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(EventFiles, EventsAreBuffered) {
  EventFile file(folder);
  size_t count = 1;
  file.add(0, "loss", 0, 1);
  EXPECT_EQ(fs::file_size(file.path()), 0u);
  for (; fs::file_size(file.path()) == 0; ++count) {
    ASSERT_LT(count, 100000u);
    file.add(int64_t(count), "loss", 0, 1);
  }
  EXPECT_GT(count, 100u);
  EXPECT_EQ(readEvents(file.path()).size(), count + 2);
}

TEST_F(EventFiles, AFullDiskIsAnErrorAndTearsNoRecord) {
  EventFile file(folder);
  for (int64_t step = 0; step < 100; ++step) file.add(step, "loss", double(step), 1);
  {
    FullDisk full(333);
    std::string expected = file.path().string() + ": cannot write: File too large";
    EXPECT_EQ(refusal([&] { file.flush(); }), expected);
    EXPECT_EQ(refusal([&] { file.flush(); }), expected);
  }
  EXPECT_EQ(fs::file_size(file.path()), 333u);
  file.flush();
  std::vector<ReadEvent> events = readEvents(file.path());
  ASSERT_EQ(events.size(), 102u);
  for (int64_t step = 0; step < 100; ++step) EXPECT_EQ(events[size_t(step) + 2].value, float(step));
  // The destructor drops its error.
  EventFile another(folder);
  FullDisk full(0);
  EventFile(folder).add(0, "loss", 0, 1);
}

TEST_F(EventFiles, FoldersThatCannotBeWrittenAreNamed) {
  data::writeFile(root.path / "file", std::string());
  EXPECT_EQ(refusal([&] { EventFile(root.path / "file"); }),
            (root.path / "file").string() + ": cannot be made: Not a directory");
  EXPECT_THAT(refusal([&] { EventFile("/proc/1"); }),
              ::testing::MatchesRegex("/proc/1/events\\.out\\..*: cannot be made: .*"));
}

} // namespace
} // namespace sprig::events
