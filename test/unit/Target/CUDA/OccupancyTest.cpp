// Blocks of a kernel on a multiprocessor, by each limit; figures of NVIDIA's occupancy calculator.
#include "lib/Machine/CudaModel.h"
#include "lib/Target/CUDA/CodeGen/Assembler.h"
#include "gtest/gtest.h"

using namespace sprig;
using namespace sprig::cuda;

static int64_t blocks(const char *name, int64_t registers, int64_t shared, LaunchShape launch) {
  auto arch = cudaArchByName(name);
  EXPECT_TRUE(bool(arch));
  return blocksOnMultiprocessor(*arch, {"k", registers, shared, 0, 0, 0}, launch);
}

TEST(Occupancy, IsTheLeastOfWhatEachLimitAllows) {
  EXPECT_EQ(blocks("sm_90", 32, 0, {256, 0}), 8);        // threads
  EXPECT_EQ(blocks("sm_86", 32, 0, {256, 0}), 6);        // fewer of them
  EXPECT_EQ(blocks("sm_90", 16, 0, {32, 0}), 32);        // blocks
  EXPECT_EQ(blocks("sm_86", 16, 0, {32, 0}), 16);        // fewer of them
  EXPECT_EQ(blocks("sm_90", 128, 0, {256, 0}), 2);       // registers
  EXPECT_EQ(blocks("sm_90", 129, 0, {256, 0}), 1);       // given in units of 8
  EXPECT_EQ(blocks("sm_90", 46, 0, {64, 0}), 20);        // of each of four partitions
  EXPECT_EQ(blocks("sm_80", 32, 32 << 10, {128, 0}), 4); // shared memory, 1 KiB of its own for each block
  EXPECT_EQ(blocks("sm_80", 32, 1 << 10, {128, 31 << 10}), 4);
  EXPECT_EQ(blocks("sm_80", 32, 0, {0, 0}), 0);
}

TEST(CudaArch, NamesThemselvesAndListsThemAll) {
  for (const CudaArch &arch : cudaArchs()) {
    auto found = cudaArchByName(arch.name());
    ASSERT_TRUE(bool(found));
    EXPECT_EQ(*found, arch);
    EXPECT_EQ(arch.virtualName(), "compute_" + arch.name().substr(3));
    const machine::CudaDevice *device = machine::findCudaDevice(arch.name());
    ASSERT_TRUE(device);
    EXPECT_LT(arch.sharedPerBlock, device->shared);
    EXPECT_EQ(machine::findCudaDevice(arch.virtualName()), device);
  }
  EXPECT_TRUE(std::is_sorted(cudaArchs().begin(), cudaArchs().end()));
  auto none = cudaArchByName("sm_70");
  ASSERT_FALSE(bool(none));
  EXPECT_EQ(llvm::toString(none.takeError()),
            "unknown architecture 'sm_70'; known are sm_80, sm_86, sm_89, sm_90, sm_100, sm_120");
}
