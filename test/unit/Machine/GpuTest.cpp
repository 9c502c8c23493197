// The search for graphics processors, with and without a driver.
#include "lib/Machine/Gpu.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace sprig::machine {
namespace {

TEST(GpuTest, SaysWhatItLookedForWhereThereIsNone) {
  GpuSearch search = findGpus({"libsprig-no-such-driver.so", "/nonexistent"});
  EXPECT_TRUE(search.gpus.empty());
  EXPECT_EQ(search.describe(), "no GPU: libsprig-no-such-driver.so does not load, /nonexistent has no nvidia0 "
                               "(looked for NVIDIA's driver and devices); everything runs on the CPU");
}

TEST(GpuTest, AsksTheDriver) {
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "gpu-devices";
  std::filesystem::create_directories(folder);
  for (const char *name : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"}) std::ofstream(folder / name) << "";
  GpuSearch search = findGpus({SPRIG_FAKE_DRIVER, folder.string()});
  ASSERT_EQ(search.gpus.size(), 2u) << search.found;
  EXPECT_EQ(search.gpus[1].name, "Fake 1");
  EXPECT_EQ(search.gpus[1].memoryBytes, int64_t(2) << 30);
  EXPECT_EQ(search.gpus[0].major, 9);
  EXPECT_EQ(search.gpus[0].minor, 0);
  EXPECT_EQ(search.deviceFiles, 2);
  EXPECT_EQ(search.driverVersion, 12040);
  EXPECT_EQ(search.gpus[1].architecture(), "sm_90");
  EXPECT_EQ(search.gpus[1].multiprocessors, 132);
  EXPECT_EQ(search.describe(), "2 GPUs (Fake 0, Fake 1); --devices cuda:0 runs on the first");
}

TEST(GpuTest, NamesALibraryThatIsNoDriver) {
  GpuSearch search = findGpus({"libm.so.6", "/nonexistent"});
  EXPECT_TRUE(search.gpus.empty());
  EXPECT_NE(search.found.find("libm.so.6 lacks functions of the driver"), std::string::npos) << search.found;
}

} // namespace
} // namespace sprig::machine
