// Memory, copies and fills: what they do, when they do it, and each complaint about them.
#include "test/gpu/driver/tests/Api.h"

#include <atomic>
#include <csignal>
#include <numeric>
#include <thread>

namespace sprig::cuda {
namespace {

using Ints = std::vector<int>;

struct StandInMemory : StandIn {
  static Ints counting(size_t count) {
    Ints values(count);
    std::iota(values.begin(), values.end(), 1);
    return values;
  }
};

TEST_F(StandInMemory, MemoryIsLimitedAndComesBack) {
  start({{"MEMORY", "1M"}});
  size_t free = 0, total = 0;
  EXPECT_CUDA(api().cuMemGetInfo_v2(&free, &total));
  EXPECT_EQ(free, size_t(1) << 20);
  CUdeviceptr a = allocate(700 << 10), b = 0;
  EXPECT_EQ(a % 256, 0u);
  EXPECT_EQ(api().cuMemAlloc_v2(&b, 700 << 10), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(api().cuMemAlloc_v2(&b, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(api().cuMemFree_v2(a));
  EXPECT_CUDA(api().cuMemAlloc_v2(&b, 700 << 10));
  EXPECT_NE(a, b); // addresses are not used again soon
  EXPECT_CUDA(api().cuMemGetInfo_v2(&free, &total));
  EXPECT_EQ(free, size_t(324) << 10);
  // Often, so that addresses do come again at last.
  for (int i = 0; i < 6000; ++i) {
    EXPECT_CUDA(api().cuMemAlloc_v2(&a, 4096));
    EXPECT_CUDA(api().cuMemFree_v2(a));
  }
  EXPECT_CUDA(api().cuMemFree_v2(b));
  expectNoComplaint();
}

TEST_F(StandInMemory, TheChosenAllocationFails) {
  start({{"FAIL", "alloc=2"}});
  CUdeviceptr pointer = allocate(16);
  EXPECT_EQ(api().cuMemAlloc_v2(&pointer, 16), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_CUDA(api().cuMemAlloc_v2(&pointer, 16));
}

TEST_F(StandInMemory, CopiesAndFillsOfEveryKind) {
  for (const char *order : {"eager", "lazy", "random"}) {
    start({{"DEVICES", "sm_90x2"}, {"ORDER", order}});
    Ints values = counting(100);
    CUdeviceptr a = upload(values), b = allocate(400);
    EXPECT_CUDA(api().cuMemcpyDtoD_v2(b, a, 400));
    EXPECT_EQ(download<int>(b, 100), values);
    EXPECT_CUDA(api().cuMemsetD32_v2(b, 7, 50));
    EXPECT_CUDA(api().cuMemsetD16_v2(b + 200, 0x0102, 2));
    EXPECT_CUDA(api().cuMemsetD8_v2(b + 204, 3, 4));
    Ints mixed = download<int>(b, 53);
    EXPECT_EQ(mixed[49], 7);
    EXPECT_EQ(mixed[50], 0x01020102);
    EXPECT_EQ(mixed[51], 0x03030303);
    EXPECT_EQ(mixed[52], 53);
    EXPECT_CUDA(api().cuCtxSetCurrent(contexts[1]));
    CUdeviceptr c = allocate(400);
    EXPECT_CUDA(api().cuCtxSynchronize());
    EXPECT_CUDA(api().cuMemcpyPeer(c, contexts[1], a, contexts[0], 400)); // needs no peer access
    EXPECT_EQ(download<int>(c, 100), values);
    EXPECT_CUDA(api().cuMemcpy(reinterpret_cast<CUdeviceptr>(mixed.data()), c, 8));
    EXPECT_EQ(mixed[1], 2);
    EXPECT_EQ(api().cuMemsetD32_v2(b + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    expectNoComplaint();
  }
}

TEST_F(StandInMemory, PageableMemoryIsStagedAtOnceAndPinnedMemoryReadLate) {
  start();
  CUdeviceptr a = allocate(4), b = allocate(4);
  CUstream s = stream();
  int pageable = 1, *fixed = pinned<int>(1);
  *fixed = 1;
  EXPECT_CUDA(api().cuMemcpyHtoDAsync_v2(a, &pageable, 4, s));
  EXPECT_CUDA(api().cuMemcpyHtoDAsync_v2(b, fixed, 4, s));
  pageable = *fixed = 2;
  EXPECT_CUDA(api().cuStreamSynchronize(s));
  EXPECT_EQ(download<int>(a, 1), Ints{1});
  EXPECT_EQ(download<int>(b, 1), Ints{2});
  expectComplaint({"copy host to device", "which the host has changed since"});
}

TEST_F(StandInMemory, PinnedMemoryThatWorkWritesMayChange) {
  start();
  CUdeviceptr a = upload(Ints{5}), b = allocate(4);
  CUstream s = stream();
  EXPECT_CUDA(api().cuCtxSynchronize());
  int *fixed = pinned<int>(1);
  *fixed = 1;
  EXPECT_CUDA(api().cuMemcpyDtoHAsync_v2(fixed, a, 4, s));
  EXPECT_CUDA(api().cuMemcpyHtoDAsync_v2(b, fixed, 4, s));
  EXPECT_CUDA(api().cuStreamSynchronize(s));
  EXPECT_EQ(download<int>(b, 1), Ints{5});
  expectNoComplaint();
}

TEST_F(StandInMemory, NothingHasHappenedWhenPinnedCopiesReturn) {
  start();
  CUdeviceptr a = upload(Ints{5});
  EXPECT_CUDA(api().cuCtxSynchronize());
  int *fixed = pinned<int>(1), pageable = 1;
  *fixed = 1;
  CUstream s = stream();
  EXPECT_CUDA(api().cuMemcpyDtoHAsync_v2(fixed, a, 4, s));
  EXPECT_EQ(*fixed, 1);
  EXPECT_CUDA(api().cuMemcpyDtoHAsync_v2(&pageable, a, 4, s)); // waits
  EXPECT_EQ(pageable, 5);
  EXPECT_EQ(*fixed, 5);
}

// Of a copy that is done, and whether its end is known.
TEST_F(StandInMemory, HostCodeThatReadsPinnedMemoryTooEarlyIsNamed) {
  for (const char *how : {"", "waits", "asks", "is told"}) {
    start({{"ORDER", "eager"}});
    CUdeviceptr a = upload(Ints{5, 6});
    EXPECT_CUDA(api().cuCtxSynchronize());
    CUstream s = stream();
    int *fixed = pinned<int>(2000);
    EXPECT_CUDA(api().cuMemcpyDtoHAsync_v2(fixed + 4, a, 8, s));
    fixed[0] = 1; // beside it
    EXPECT_CUDA(api().cuMemcpyDtoHAsync_v2(fixed + 4, a, 8, s));
    std::atomic<bool> told = false;
    if (how == std::string("waits")) EXPECT_CUDA(api().cuStreamSynchronize(s));
    if (how == std::string("asks")) EXPECT_CUDA(api().cuStreamQuery(s));
    if (how == std::string("is told")) {
      EXPECT_CUDA(api().cuLaunchHostFunc(s, [](void *flag) { *static_cast<std::atomic<bool> *>(flag) = true; }, &told));
      while (!told) std::this_thread::yield();
    }
    EXPECT_EQ(fixed[5], 6);
    EXPECT_CUDA(api().cuStreamSynchronize(s));
    if (*how)
      expectNoComplaint();
    else
      expectComplaint({"host code touches bytes 16 to 24 of allocation 2 (8000 bytes of pinned host memory), which "
                       "'copy device to host' (stream 1 of cuda:0, operation ",
                       " has written; the host has not waited for it"});
  }
}

TEST_F(StandInMemory, PointersAreKnown) {
  start({{"DEVICES", "sm_90x2"}});
  EXPECT_CUDA(api().cuCtxSetCurrent(contexts[1]));
  CUdeviceptr a = allocate(100), base = 0, mapped = 0;
  size_t bytes = 0;
  EXPECT_CUDA(api().cuMemGetAddressRange_v2(&base, &bytes, a + 50));
  EXPECT_EQ(base, a);
  EXPECT_EQ(bytes, 100u);
  unsigned type = 0;
  int device = -1;
  EXPECT_CUDA(api().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  EXPECT_CUDA(api().cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, a));
  EXPECT_EQ(device, 1);
  int *fixed = pinned<int>(4), pageable[4] = {};
  EXPECT_CUDA(api().cuMemHostGetDevicePointer_v2(&mapped, fixed, 0));
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
  void *data[] = {&type, &base};
  EXPECT_CUDA(api().cuPointerGetAttributes(2, which, data, mapped));
  EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
  EXPECT_EQ(base, mapped);
  CUdeviceptr unknown = reinterpret_cast<CUdeviceptr>(pageable);
  EXPECT_EQ(api().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, unknown), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(api().cuPointerGetAttributes(2, which, data, unknown));
  EXPECT_EQ(type, 0u);
  EXPECT_CUDA(api().cuMemHostRegister_v2(pageable, sizeof pageable, 0));
  EXPECT_EQ(api().cuMemHostRegister_v2(pageable, 4, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_CUDA(api().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, unknown));
  EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
  EXPECT_CUDA(api().cuMemHostUnregister(pageable));
  EXPECT_EQ(api().cuMemHostUnregister(pageable), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_CUDA(api().cuMemFreeHost(fixed));
  EXPECT_EQ(api().cuMemFreeHost(fixed), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StandInMemory, WrongRangesAreRefused) {
  start();
  CUdeviceptr a = allocate(16);
  char bytes[32] = {};
  EXPECT_EQ(api().cuMemcpyHtoD_v2(a, bytes, 17), CUDA_ERROR_INVALID_VALUE);
  expectComplaint({"cuMemcpyHtoD", "16 bytes left", "not 17"});
  EXPECT_EQ(api().cuMemcpyDtoH_v2(bytes, a + 16, 1), CUDA_ERROR_INVALID_VALUE);
  expectComplaint({"cuMemcpyDtoH", "in no allocation", "0 bytes behind allocation 1"});
  EXPECT_EQ(api().cuMemcpyHtoD_v2(reinterpret_cast<CUdeviceptr>(bytes), bytes, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemcpyDtoH_v2(reinterpret_cast<void *>(a), a, 4), CUDA_ERROR_INVALID_VALUE);
  expectComplaint({"cuMemcpyDtoH", "points to device memory"});
}

TEST_F(StandInMemory, UseAfterFree) {
  start();
  CUdeviceptr a = allocate(16);
  EXPECT_CUDA(api().cuMemFree_v2(a));
  EXPECT_EQ(api().cuMemsetD8_v2(a, 0, 16), CUDA_ERROR_INVALID_VALUE);
  expectComplaint({"cuMemsetD8", "'cuMemFree' (host", "has freed"});
  EXPECT_EQ(api().cuMemFree_v2(a), CUDA_ERROR_INVALID_VALUE);
  expectComplaint({"cuMemFree: allocation 1", "before"});
}

TEST_F(StandInMemory, FreeWhileInUse) {
  for (const char *order : {"eager", "lazy"}) {
    start({{"ORDER", order}});
    CUdeviceptr a = allocate(16);
    CUstream s = stream();
    EXPECT_CUDA(api().cuMemsetD8Async(a, 0, 16, s));
    EXPECT_CUDA(api().cuMemFree_v2(a));
    CUresult result = api().cuStreamSynchronize(s);
    if (order == std::string("eager"))
      expectComplaint({"unordered: 'fill' (stream 1", "'cuMemFree'"});
    else
      expectComplaint({"'fill' (stream 1", "'cuMemFree'", "has freed"});
    EXPECT_EQ(result, order == std::string("eager") ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS);
  }
  start();
  CUdeviceptr a = allocate(16);
  EXPECT_CUDA(api().cuMemsetD8Async(a, 0, 16, nullptr));
  EXPECT_CUDA(api().cuCtxSynchronize());
  EXPECT_CUDA(api().cuMemFree_v2(a));
  expectNoComplaint();
}

TEST_F(StandInMemory, MemoryInAStreamsOrder) {
  start();
  CUstream s = stream(), t = stream();
  CUevent e = event();
  CUdeviceptr a = 0;
  EXPECT_CUDA(api().cuMemAllocAsync(&a, 16, s));
  EXPECT_CUDA(api().cuMemsetD8Async(a, 0, 16, s));
  EXPECT_CUDA(api().cuEventRecord(e, s));
  EXPECT_CUDA(api().cuStreamWaitEvent(t, e, 0));
  EXPECT_CUDA(api().cuMemsetD8Async(a, 0, 16, t));
  EXPECT_CUDA(api().cuMemFreeAsync(a, t));
  EXPECT_CUDA(api().cuCtxSynchronize());
  expectNoComplaint();

  EXPECT_CUDA(api().cuMemAllocAsync(&a, 16, s));
  EXPECT_CUDA(api().cuMemsetD8Async(a, 0, 16, t)); // too early
  EXPECT_CUDA(api().cuCtxSynchronize());
  expectComplaint({"unordered: 'allocate' (stream 1", "'fill' (stream 2"});
}

TEST_F(StandInMemory, ReadingWhatNobodyWrote) {
  start();
  CUdeviceptr a = allocate(16), b = allocate(16);
  EXPECT_CUDA(api().cuMemsetD8_v2(a, 0, 8));
  EXPECT_CUDA(api().cuMemcpyDtoD_v2(b, a, 16)); // carries it on
  expectNoComplaint();
  EXPECT_EQ(download<int>(b, 2), (Ints{0, 0}));
  expectNoComplaint();
  download<int>(b, 3);
  expectComplaint({"copy device to host", "reads bytes 8 to 12 of allocation 2", "which nothing has written"});
}

TEST_F(StandInMemory, PeersMemoryNeedsAccess) {
  start({{"DEVICES", "sm_90x2"}});
  int can = 0;
  EXPECT_CUDA(api().cuDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  CUdeviceptr a = allocate(16);
  EXPECT_CUDA(api().cuCtxSetCurrent(contexts[1]));
  EXPECT_CUDA(api().cuCtxEnablePeerAccess(contexts[0], 0));
  EXPECT_EQ(api().cuCtxEnablePeerAccess(contexts[0], 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  EXPECT_CUDA(api().cuMemsetD8_v2(a, 0, 16));
  EXPECT_CUDA(api().cuCtxSynchronize());
  expectNoComplaint();
  EXPECT_CUDA(api().cuCtxDisablePeerAccess(contexts[0]));
  EXPECT_EQ(api().cuCtxDisablePeerAccess(contexts[0]), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  EXPECT_CUDA(api().cuMemsetD8_v2(a, 0, 16));
  EXPECT_EQ(api().cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  expectComplaint({"without access to its peer", "cuda:1 has not enabled it"});
  start({{"DEVICES", "sm_90x2"}, {"PEERS", "none"}});
  EXPECT_CUDA(api().cuDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 0);
  EXPECT_EQ(api().cuCtxEnablePeerAccess(contexts[1], 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
}

TEST_F(StandInMemory, HostCodeDoesNotReachDeviceMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        start();
        CUdeviceptr a = upload(Ints{1});
        volatile int value = *reinterpret_cast<volatile int *>(a);
        (void)value;
      },
      "host code touches device memory");
}

} // namespace
} // namespace sprig::cuda
