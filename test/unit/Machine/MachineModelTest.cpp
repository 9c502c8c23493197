#include "lib/Machine/MachineModel.h"
#include "lib/Machine/AccessTime.h"
#include "lib/Machine/Calibrate.h"
#include "lib/Machine/MachineFile.h"
#include <climits>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>

using namespace sprig::machine;

namespace {

// Two cores with 32K and 1M each, 32M together.
Calibration someMachine() {
  Calibration found;
  found.model = machineIdentity().model;
  found.isa = machineIdentity().isa;
  found.threads = 2;
  found.fmaFlops = 100e9;
  found.fmaFlopsAll = 190e9;
  found.levels = {{1, 32 << 10, 2, 200e9, 400e9, 100e9, 200e9},
                  {2, 1 << 20, 2, 100e9, 200e9, 90e9, 90e9},
                  {3, 32 << 20, 1, 80e9, 120e9, 70e9, 70e9},
                  {0, 0, 0, 15e9, 20e9, 10e9, 10e9}};
  found.randomSeconds = 120e-9;
  found.handOffSeconds = 90e-9;
  found.crossCore = {3e-7, 2e10};
  found.latency = {{4096, 1.5}, {8192, 1.5}};
  found.cacheKnees = {4096};
  return found;
}

// A cache folder of its own for a test.
struct CacheFolder {
  CacheFolder() {
    char name[] = "/tmp/sprig-machine-XXXXXX";
    path = mkdtemp(name);
    if (const char *before = std::getenv("SPRIG_CACHE")) old = before;
    setenv("SPRIG_CACHE", path.c_str(), 1);
  }
  ~CacheFolder() {
    std::filesystem::remove_all(path);
    old.empty() ? unsetenv("SPRIG_CACHE") : setenv("SPRIG_CACHE", old.c_str(), 1);
  }
  void write(const std::string &text) const { std::ofstream(calibrationFile()) << text; }
  std::string path, old;
};

const std::vector<std::string> kNative = {"native"};

TEST(MachineModel, TakesTheLevelThatHoldsTheWorkingSet) {
  MachineModel model = modelOf(someMachine());
  EXPECT_EQ(model.readRate(32 << 10), 200e9);
  EXPECT_EQ(model.readRate((32 << 10) + 1), 100e9);
  EXPECT_EQ(model.readRate(int64_t(2) << 20), 80e9);
  EXPECT_EQ(model.readRate(int64_t(64) << 20), 15e9);
  EXPECT_EQ(model.readRate(INT64_MAX), 15e9);
}

// What the last cache holds has no wait; of what is larger each line waits, several at a time.
TEST(MachineModel, PlacesThatDataNamesWaitForTheMemory) {
  MachineModel model = modelOf(someMachine());
  double cache = 32 << 20, few = 4096 * 1000; // pages that are remembered
  Accesses lines{1e6, 64e6, few};
  EXPECT_EQ(accessSeconds(model, lines, cache), 0);
  EXPECT_EQ(accessSeconds(model, Accesses{0, 0, 100 * cache}, 100 * cache), 0);
  double wait = 120e-9 / kMissesInFlight;
  EXPECT_DOUBLE_EQ(accessSeconds(model, lines, 2 * cache), 1e6 * wait);
  EXPECT_DOUBLE_EQ(accessSeconds(model, lines, 2 * cache, 2), 1e6 / 2 * wait);
  // Rows of several lines wait for each, long ones as streams do.
  EXPECT_DOUBLE_EQ(accessSeconds(model, Accesses{1e6, 4 * 64e6, few}, 10 * cache), 4e6 * wait);
  EXPECT_DOUBLE_EQ(accessSeconds(model, Accesses{1e6, 1000 * 64e6, few}, 1e12), 32e6 * wait);
  // Places on many pages wait though caches have their lines, less long.
  double spread = accessSeconds(model, Accesses{1e6, 64e6, 100 * cache}, cache);
  EXPECT_GT(spread, 0);
  EXPECT_LT(spread, 1e6 * wait);
  // Few places are on few pages.
  EXPECT_EQ(accessSeconds(model, Accesses{100, 6400, 100 * cache}, cache), 0);
}

// Lines of another core: a third of the rate as far as the first cache goes, and no more than the second one holds.
TEST(MachineModel, FetchesLinesOfOtherCores) {
  MachineModel model = modelOf(someMachine());
  EXPECT_EQ(model.fetchSeconds(0), 0);
  EXPECT_DOUBLE_EQ(model.fetchSeconds(1000), 3e-7 + 3000 / 2e10);
  EXPECT_DOUBLE_EQ(model.fetchSeconds(64 << 10), 3e-7 + (4 * 32 << 10) / 2e10);
  EXPECT_DOUBLE_EQ(model.fetchSeconds(1e9), 3e-7 + ((2 * 32 << 10) + (1 << 20)) / 2e10);
}

TEST(MachineModel, ThreadsShareOutWhatIsTheirOwn) {
  MachineModel model = modelOf(someMachine());
  // Two halves of 64K fit into two caches of 32K; a common cache holds no more for two.
  EXPECT_EQ(model.readRate(64 << 10, 2), 400e9);
  EXPECT_EQ(model.readRate(int64_t(33) << 20, 2), 20e9);
  EXPECT_EQ(model.flopRate(2), 190e9);
  // More threads than were measured: units of their own count on, what is common does not.
  EXPECT_EQ(model.flopRate(4), 380e9);
  EXPECT_EQ(model.readRate(int64_t(33) << 20, 4), 20e9);
}

TEST(MachineModel, TheLargerOfWorkAndTrafficCounts) {
  MachineModel model = modelOf(someMachine());
  EXPECT_DOUBLE_EQ(model.seconds(100e9, 1, 1), 1);
  EXPECT_DOUBLE_EQ(model.seconds(1, 15e9, int64_t(1) << 30), 1);
}

// Each byte is read from memory and written there; another thread waits for the last one.
TEST(MachineModel, ACopyToAnotherDeviceCostsAStartAndItsBytes) {
  MachineModel model = modelOf(someMachine());
  EXPECT_DOUBLE_EQ(model.link.seconds(0), model.handOff);
  EXPECT_DOUBLE_EQ(model.link.seconds(7.5e9), model.handOff + 1);
}

TEST(MachineModel, ALevelThatIsMissingHoldsNothing) {
  Calibration found = someMachine();
  found.levels.erase(found.levels.begin() + 2);
  MachineModel model = modelOf(found);
  EXPECT_EQ(model.l3().bytes, 0);
  EXPECT_EQ(model.readRate(int64_t(2) << 20), 15e9);
}

TEST(MachineModel, OnlyNativeReadsWhatWasMeasured) {
  CacheFolder folder;
  EXPECT_FALSE(modelFor(kNative).measured);
  EXPECT_EQ(modelFor(kNative).fmaFlops, defaultModel(bestIsa()).fmaFlops);
  folder.write(calibrationToText(someMachine()));
  EXPECT_TRUE(modelFor(kNative).measured);
  EXPECT_EQ(modelFor(kNative).fmaFlops, 100e9);
  std::vector<std::string> both = {"x86-64-v4", "x86-64-v3"};
  EXPECT_FALSE(modelFor(both).measured);
  EXPECT_EQ(modelFor(both).isa, "x86-64-v3");
}

TEST(MachineModel, DefaultsAreInOrder) {
  for (const char *isa : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "no such set"}) {
    MachineModel model = defaultModel(isa);
    for (size_t i = 1; i < model.levels.size(); ++i) {
      EXPECT_GT(model.levels[i].bytes, model.levels[i - 1].bytes) << isa;
      EXPECT_LT(model.levels[i].read, model.levels[i - 1].read) << isa;
    }
    EXPECT_GT(model.handOff, 0) << isa;
  }
}

} // namespace
