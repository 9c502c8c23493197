// What the runtime says of its memory: counters, plans against what is really allocated, constants in shared pages.
#include "runtime/test/TestPackage.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace sprig::rt::test {
namespace {

TEST(Memory, ArraysCountAndGoBack) {
  uint64_t before = memory::allocated();
  memory::emptyCache();
  uint64_t reservedBefore = memory::reserved();
  {
    // 1000 x 1000 x 1000 floats; nothing touches them, so no page is there.
    Array large(SPRIG_RT_F32, {1000, 1000, 1000});
    EXPECT_EQ(memory::allocated() - before, 4'000'000'000u);
    EXPECT_GE(memory::reserved() - reservedBefore, 4'000'000'000u);
    EXPECT_GE(memory::peak(), memory::allocated());
  }
  EXPECT_EQ(memory::allocated(), before);
  memory::emptyCache();
  EXPECT_EQ(memory::reserved(), reservedBefore);
}

TEST(Memory, ReleasedArraysAreKeptForTheNextOfTheirSize) {
  memory::emptyCache();
  uint64_t reservedBefore = memory::reserved(), before = memory::allocated();
  void *first = nullptr;
  {
    Array array(SPRIG_RT_F32, {256, 1024});
    first = array.data();
  }
  EXPECT_EQ(memory::allocated(), before);
  EXPECT_EQ(memory::reserved() - reservedBefore, 1u << 20);
  {
    Array again(SPRIG_RT_U32, {1024, 256});
    EXPECT_EQ(again.data(), first);
    EXPECT_EQ(memory::reserved() - reservedBefore, 1u << 20);
  }
  EXPECT_EQ(memory::emptyCache(), 1u << 20);
  EXPECT_EQ(memory::reserved(), reservedBefore);
}

TEST(Memory, ThePeakStaysUntilItIsReset) {
  uint64_t before = memory::allocated();
  memory::resetPeak();
  EXPECT_EQ(memory::peak(), before);
  {
    Array array(SPRIG_RT_U8, {5000});
  }
  EXPECT_EQ(memory::peak(), before + 5000);
  memory::resetPeak();
  EXPECT_EQ(memory::peak(), before);
}

TEST(Memory, TooMuchIsAnError) {
  void *block = nullptr;
  sprig_rt_status *status = sprig_rt_memory_allocate(UINT64_MAX, &block);
  EXPECT_EQ(sprig_rt_status_code(status), SPRIG_RT_OUT_OF_MEMORY);
  sprig_rt_status_free(status);
  sprig_rt_memory_release(nullptr, 100);
}

// Arena, scratch, a state, a repeated constant and one in the file.
TestPackage everything(bool split = true) {
  TestPackage made;
  uint32_t c = made.addConstant({1, 2, 3, 4});
  made.program.constants.push_back({"splat", 4096, 0, {7, 0, 0, 0}});
  uint32_t splat = uint32_t(made.program.constants.size() - 1);
  made.program.states.push_back({{"s", SPRIG_RT_U32, {4}, 16}, c});
  made.program.kernels[Scratch].scratch = 100;
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {4}), y = entry.output("y", {4});
  uint32_t t = entry.arena(1000), u = entry.arena(640);
  entry.dispatch(0, Add, {x, entry.constant(c, 16), t}, 4, 4);
  entry.dispatch(0, Add, {t, entry.constant(splat, 16), u}, 4, 4);
  entry.dispatch(0, Add, {u, entry.state(0, 16), y}, 4, 4);
  made.program.entries.push_back(entry.entry);
  EntryBuilder wide("wide");
  uint32_t in = wide.input("in", {64}), out = wide.output("out", {64});
  wide.dispatch(0, Scratch, {in, out}, 64, split ? 1 : 64);
  made.program.entries.push_back(wide.entry);
  return made;
}

sprig_rt_memory_plan planOf(const Package &package, int threads) {
  sprig_rt_memory_plan plan = {};
  plan.size = sizeof plan;
  check(sprig_rt_package_memory(package.raw(), threads, &plan));
  return plan;
}

uint64_t total(const sprig_rt_memory_plan &plan) {
  return plan.arena + plan.scratch + plan.states + plan.constants_repeated + plan.constants_copied;
}

// A package file that is there as long as the test.
struct PackageFile {
  explicit PackageFile(const TestPackage &made) {
    std::ofstream out(path, std::ios::binary);
    Bytes bytes = made.encode();
    out.write(reinterpret_cast<const char *>(bytes.data()), std::streamsize(bytes.size()));
  }
  ~PackageFile() { std::remove(path.c_str()); }
  std::string path = "/tmp/sprig-memory-test-" + std::to_string(getpid()) + ".sprig";
};

TEST(Memory, ABoundStateTakesNoneNorDoesWhatItWouldStartFrom) {
  TestPackage made = everything();
  made.program.constants.push_back({"zeros", 16, 0, {0, 0, 0, 0}});
  made.program.states[0].initial = uint32_t(made.program.constants.size() - 1);
  uint64_t before = memory::allocated();
  Package package = made.load();
  Pool pool(1);
  uint64_t without = total(planOf(package, 1)) - planOf(package, 1).states;
  State state = State::bound(package);
  Context context(package, {&pool, &state, 0});
  EXPECT_EQ(memory::allocated() - before, without);
  // Its own, where it is wanted, starts with the zeros all the same.
  State own(package);
  EXPECT_EQ(own.bytes(0)[15], 0u);
}

TEST(Memory, ThePlanIsWhatIsAllocated) {
  PackageFile file(everything());
  for (int threads : {1, 2, 3}) {
    uint64_t before = memory::allocated();
    Package package = Package::load(file.path);
    Pool pool(threads);
    sprig_rt_memory_plan plan = planOf(package, threads);
    EXPECT_GE(plan.arena, 1640u);
    EXPECT_EQ(plan.scratch, 128u * unsigned(threads));
    EXPECT_EQ(plan.states, 16u);
    EXPECT_EQ(plan.constants_repeated, 4096u);
    EXPECT_EQ(plan.constants_copied, 0u);
    EXPECT_EQ(plan.constants_mapped, 16u);
    Words x(4, 1), y(4);
    uint64_t arrays = 32;
    memory::resetPeak();
    {
      Context context(package, {&pool});
      EXPECT_EQ(memory::allocated() - before - arrays, total(plan));
      context.invoke({x.view({4})}, {y.view({4})});
      EXPECT_EQ(y[0], 1u + 1 + 7 + 1);
      EXPECT_EQ(memory::allocated() - before - arrays, total(plan));
      EXPECT_EQ(memory::peak() - before - arrays, total(plan));
    }
    EXPECT_EQ(memory::allocated() - before - arrays, plan.constants_repeated);
  }
}

// Helpers need scratch only where they may get a slice.
TEST(Memory, WhatIsNotCutTakesScratchOnce) {
  Package package = everything(/*split=*/false).load();
  for (int threads : {1, 4}) EXPECT_EQ(planOf(package, threads).scratch, 128u);
  uint64_t before = memory::allocated();
  Pool pool(4);
  Context context(package, {&pool});
  sprig_rt_memory_plan plan = planOf(package, 4);
  EXPECT_EQ(memory::allocated() - before, plan.arena + plan.scratch + plan.states);
}

TEST(Memory, TheNullDeviceTellsTheSamePlan) {
  PackageFile file(everything());
  LoadOptions null;
  null.device = "null";
  sprig_rt_memory_plan simulated = planOf(Package::load(file.path, null), 2),
                       real = planOf(Package::load(file.path), 2);
  EXPECT_EQ(std::memcmp(&simulated, &real, sizeof real), 0);
}

TEST(Memory, AMappedFileCountsAsMapped) {
  PackageFile file(everything());
  uint64_t before = memory::mapped();
  {
    Package package = Package::load(file.path);
    EXPECT_EQ(memory::mapped() - before, package.info().file_bytes);
  }
  EXPECT_EQ(memory::mapped(), before);
}

// The lines of /proc/self/smaps that tell of the mapping of a file.
struct Mapping {
  uint64_t size = 0, resident = 0, share = 0, anonymous = 0;
  bool writable = false;
};
Mapping mappingOf(const std::string &path) {
  std::ifstream smaps("/proc/self/smaps");
  Mapping found;
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    if (line.find('-') != std::string::npos && line.find(':') != std::string::npos &&
        line.find(" kB") == std::string::npos) {
      inside = line.size() >= path.size() && line.compare(line.size() - path.size(), path.size(), path) == 0;
      if (inside) found.writable |= line.substr(line.find(' ') + 1, 4).find('w') != std::string::npos;
      continue;
    }
    if (!inside) continue;
    std::istringstream words(line);
    std::string key;
    uint64_t kilobytes = 0;
    words >> key >> kilobytes;
    if (key == "Size:") found.size += kilobytes << 10;
    if (key == "Rss:") found.resident += kilobytes << 10;
    if (key == "Pss:") found.share += kilobytes << 10; // a page that two processes map counts half
    if (key == "Anonymous:") found.anonymous += kilobytes << 10;
  }
  return found;
}

// Another process that loads the file and stays until it is told to end.
class Neighbour {
public:
  explicit Neighbour(const std::string &path) {
    if (pipe(toChild) != 0 || pipe(fromChild) != 0) return;
    child = fork();
    if (child != 0) {
      char loaded = 0;
      ready = read(fromChild[0], &loaded, 1) == 1 && loaded == 'y';
      return;
    }
    LoadOptions options;
    options.mapConstants = true;
    char answer = 'n', go = 0;
    {
      Package package = Package::load(path, options);
      answer = package.entryCount() == 1 ? 'y' : 'n';
      bool told = write(fromChild[1], &answer, 1) == 1 && read(toChild[0], &go, 1) == 1;
      _exit(told ? 0 : 1);
    }
  }
  ~Neighbour() {
    [[maybe_unused]] ssize_t told = write(toChild[1], "g", 1);
    int status = 0;
    waitpid(child, &status, 0);
    for (int end : {toChild[0], toChild[1], fromChild[0], fromChild[1]}) close(end);
  }
  bool ready = false;

private:
  int toChild[2] = {}, fromChild[2] = {};
  pid_t child = -1;
};

// The pages of constants are the file's: nobody has a copy, and two processes that load the file share them.
TEST(Memory, ConstantsAreTheFilesOwnPages) {
  constexpr size_t kWords = 8 << 20 >> 2;
  TestPackage made;
  uint32_t c = made.addConstant(std::vector<uint32_t>(kWords, 5));
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {4}), y = entry.output("y", {4});
  entry.dispatch(0, Add, {x, entry.constant(c, 16), y}, 4, 4);
  made.program.entries.push_back(entry.entry);
  PackageFile file(made);
  LoadOptions options;
  options.mapConstants = true;
  uint64_t before = memory::allocated();
  Package package = Package::load(file.path, options);
  EXPECT_EQ(memory::allocated(), before);
  EXPECT_EQ(planOf(package, 1).constants_mapped, kWords * 4);
  Neighbour neighbour(file.path);
  ASSERT_TRUE(neighbour.ready);
  Context context(package);
  Words input(4, 1), output(4);
  context.invoke({input.view({4})}, {output.view({4})});
  EXPECT_EQ(output[3], 6u);
  Mapping mapping = mappingOf(file.path);
  EXPECT_GE(mapping.size, kWords * 4);
  EXPECT_FALSE(mapping.writable);
  EXPECT_EQ(mapping.anonymous, 0u);
  // Checking the file reads every page.
  EXPECT_GE(mapping.resident, kWords * 4);
  EXPECT_LE(mapping.share, mapping.resident * 3 / 4);
}

// Entries of one package read the same bytes.
TEST(Memory, EntriesShareConstants) {
  TestPackage made;
  uint32_t c = made.addConstant(std::vector<uint32_t>(1024, 5));
  for (int64_t n : {4, 8, 16}) {
    EntryBuilder entry("main");
    uint32_t x = entry.input("x", {n}), y = entry.output("y", {n});
    entry.dispatch(0, Add, {x, entry.constant(c, uint64_t(n) * 4), y}, n, n);
    made.program.entries.push_back(entry.entry);
  }
  Package package = made.load();
  sprig_rt_memory_plan plan = planOf(package, 1);
  EXPECT_EQ(plan.constants_mapped + plan.constants_copied, 4096u);
}

} // namespace
} // namespace sprig::rt::test
