// What public figures let one expect of a kernel on a GPU.
#include "lib/Machine/CudaModel.h"
#include <gtest/gtest.h>

namespace sprig::machine {
namespace {

const CudaDevice &cudaDevice(const char *architecture) {
  const CudaDevice *found = findCudaDevice(architecture);
  EXPECT_TRUE(found) << architecture;
  return *found;
}

TEST(CudaModel, ArchitecturesAreFoundByName) {
  for (const char *digits : {"80", "86", "89", "90", "100", "120"}) {
    const CudaDevice &found = cudaDevice((std::string("sm_") + digits).c_str());
    EXPECT_EQ(found.architecture, std::string("sm_") + digits);
    EXPECT_EQ(findCudaDevice(std::string("compute_") + digits), &found);
  }
  for (const char *name : {"", "sm_", "90", "sm_9", "sm_75", "compute_", "sm_90a"})
    EXPECT_EQ(findCudaDevice(name), nullptr) << name;
}

TEST(CudaModel, TheLongerOfWorkAndTrafficDecides) {
  const CudaDevice &h100 = cudaDevice("sm_90");
  int64_t all = h100.multiprocessors * 4;
  CudaEstimate work = estimateCudaKernel(h100, {67e12 * 1e-3, 1e6, all});
  EXPECT_DOUBLE_EQ(work.arithmetic, 1e-3);
  EXPECT_DOUBLE_EQ(work.seconds(), 1e-3 + CudaDevice::kLaunch);
  EXPECT_STREQ(work.bound(), "arithmetic");
  // More than the cache holds comes from memory.
  CudaEstimate traffic = estimateCudaKernel(h100, {1e9, 3.35e9, all});
  EXPECT_DOUBLE_EQ(traffic.traffic, 1e-3);
  EXPECT_STREQ(traffic.bound(), "memory");
  // What it holds is faster.
  EXPECT_LT(estimateCudaKernel(h100, {0, double(h100.l2), all}).traffic, double(h100.l2) / h100.memory / 2);
  CudaEstimate small = estimateCudaKernel(h100, {1e3, 1e3, all});
  EXPECT_STREQ(small.bound(), "launch");
  EXPECT_DOUBLE_EQ(estimateCudaKernel(h100, {0, 0, 0}).seconds(), CudaDevice::kLaunch);
}

// On tensor cores, where a card has a rate of their own.
TEST(CudaModel, ProductsInTf32TakeNoLonger) {
  for (const char *architecture : {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}) {
    const CudaDevice &each = cudaDevice(architecture);
    int64_t all = each.multiprocessors;
    double f32 = estimateCudaKernel(each, {1e9, 1e3, all}).arithmetic;
    double tf32 = estimateCudaKernel(each, {1e9, 1e3, all, true}).arithmetic;
    EXPECT_DOUBLE_EQ(tf32, 1e9 / each.tf32) << architecture;
    EXPECT_LE(tf32, f32) << architecture;
  }
}

// A loop's steps read their matrices again, each block on its own; more blocks than multiprocessors do so in turn.
TEST(CudaModel, LoopsReadAgain) {
  const CudaDevice &h100 = cudaDevice("sm_90");
  int64_t all = h100.multiprocessors;
  CudaWork loop{1e6, 1e3, all, false, true, 1e6};
  EXPECT_NEAR(estimateCudaKernel(h100, loop).traffic, 10e-6, 1e-8);
  loop.blocks = all + 1;
  EXPECT_NEAR(estimateCudaKernel(h100, loop).traffic, 20e-6, 1e-8);
  // And take longer for their chains than tiles do.
  CudaWork tiles{1e9, 1e3, all};
  loop = {1e9, 1e3, all, false, true};
  EXPECT_GT(estimateCudaKernel(h100, loop).arithmetic, 2 * estimateCudaKernel(h100, tiles).arithmetic);
}

// Rows that indices pick are slower than a stream of as many bytes, and no slower where the second-level cache has
// them.
TEST(CudaModel, PlacesThatDataNamesAreSlowerThanStreams) {
  const CudaDevice &h100 = cudaDevice("sm_90");
  CudaWork gather{0, 1e9, h100.multiprocessors * 100};
  double stream = estimateCudaKernel(h100, gather).traffic;
  gather.accesses = gather.bytes / 64;
  EXPECT_GT(estimateCudaKernel(h100, gather).traffic, 1.5 * stream);
  EXPECT_LT(estimateCudaKernel(h100, gather).traffic, 4 * stream);
  gather = {0, 1e6, h100.multiprocessors * 100};
  stream = estimateCudaKernel(h100, gather).traffic;
  gather.accesses = gather.bytes / 64;
  EXPECT_EQ(estimateCudaKernel(h100, gather).traffic, stream);
}

TEST(CudaModel, FewBlocksKeepFewMultiprocessorsAtWork) {
  const CudaDevice &a100 = cudaDevice("sm_80");
  double full = estimateCudaKernel(a100, {1e9, 0, a100.multiprocessors}).arithmetic;
  EXPECT_DOUBLE_EQ(estimateCudaKernel(a100, {1e9, 0, 1}).arithmetic, full * double(a100.multiprocessors));
  // One block too many: a multiprocessor has two.
  EXPECT_NEAR(estimateCudaKernel(a100, {1e9, 0, a100.multiprocessors + 1}).arithmetic, full * 2, full * 0.05);
  EXPECT_NEAR(estimateCudaKernel(a100, {1e9, 0, a100.multiprocessors * 1000 + 1}).arithmetic, full, full * 0.01);
  // Less than all fill the memory's rate.
  double big = 1e9, half = double(a100.multiprocessors) / 2;
  EXPECT_DOUBLE_EQ(estimateCudaKernel(a100, {0, big, int64_t(half)}).traffic, big / a100.memory);
}

} // namespace
} // namespace sprig::machine
