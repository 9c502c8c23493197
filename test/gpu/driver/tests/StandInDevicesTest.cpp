// Devices, contexts, functions by name, and how the environment shapes them.
#include "test/gpu/driver/tests/Api.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <thread>

namespace sprig::cuda {
namespace {

struct StandInDevices : StandIn {
  int attribute(unsigned which, CUdevice device = 0) {
    int value = -1;
    EXPECT_CUDA(api().cuDeviceGetAttribute(&value, which, device));
    return value;
  }
};

TEST_F(StandInDevices, NothingWorksBeforeInit) {
  configure();
  int count = 0, version = 0;
  EXPECT_EQ(api().cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_CUDA(api().cuDriverGetVersion(&version)); // but this
  EXPECT_EQ(version, 13000);
  EXPECT_EQ(api().cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StandInDevices, KindsAndNumberComeFromTheEnvironment) {
  start({{"DEVICES", "sm_90x2,sm_86"}, {"DRIVER", "12040"}});
  ASSERT_EQ(contexts.size(), 3u);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1), 9);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1), 132);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 1), 227 * 1024);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 2), 6);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2), 1536);
  EXPECT_NE(attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0), attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 1));
  char name[64], bus[16];
  EXPECT_CUDA(api().cuDeviceGetName(name, sizeof name, 2));
  EXPECT_STREQ(name, "Stand-in RTX 3090");
  EXPECT_CUDA(api().cuDeviceGetPCIBusId(bus, sizeof bus, 0));
  EXPECT_STREQ(bus, "0000:10:00.0");
  size_t bytes = 0;
  EXPECT_CUDA(api().cuDeviceTotalMem_v2(&bytes, 0));
  EXPECT_EQ(bytes, size_t(64) << 20);
  CUuuid a, b;
  EXPECT_CUDA(api().cuDeviceGetUuid_v2(&a, 0));
  EXPECT_CUDA(api().cuDeviceGetUuid_v2(&b, 1));
  EXPECT_NE(std::memcmp(&a, &b, sizeof a), 0);
  CUdevice device = -1;
  EXPECT_EQ(api().cuDeviceGet(&device, 3), CUDA_ERROR_INVALID_DEVICE);
  int version = 0;
  EXPECT_CUDA(api().cuDriverGetVersion(&version));
  EXPECT_EQ(version, 12040);
}

TEST_F(StandInDevices, EveryKindIsKnown) {
  start({{"DEVICES", "sm_75,sm_80,sm_86,sm_89,sm_90,sm_100,sm_103,sm_120"}});
  const int capability[] = {75, 80, 86, 89, 90, 100, 103, 120};
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, i) +
                  attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, i),
              capability[i]);
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE, i), 32);
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, i), capability[i] >= 90);
  }
  int value = 0;
  EXPECT_EQ(api().cuDeviceGetAttribute(&value, 9999, 0), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(StandInDevices, NoDeviceAndWrongSettingsAreErrors) {
  configure({{"DEVICES", "none"}});
  EXPECT_EQ(api().cuInit(0), CUDA_ERROR_NO_DEVICE);
  using Pair = std::pair<const char *, const char *>;
  for (Pair wrong : {Pair{"DEVICES", "sm_91"}, Pair{"DEVICES", "sm_90x0"}, Pair{"MEMORY", "12Q"}, Pair{"ORDER", "fast"},
                     Pair{"CHECKS", "order,luck"}, Pair{"FAIL", "launch"}, Pair{"EXIT", "300"}, Pair{"SEED", "one"},
                     Pair{"EFFECTS", "twice"}}) {
    configure({wrong});
    EXPECT_EQ(api().cuInit(0), CUDA_ERROR_SYSTEM_NOT_READY) << wrong.first << "=" << wrong.second;
  }
}

TEST_F(StandInDevices, ContextsAreAStackOfEachThread) {
  start({{"DEVICES", "sm_90x2"}});
  CUcontext now = nullptr;
  EXPECT_CUDA(api().cuCtxPushCurrent_v2(contexts[1]));
  CUdevice device = -1;
  EXPECT_CUDA(api().cuCtxGetDevice(&device));
  EXPECT_EQ(device, 1);
  std::thread([&] {
    EXPECT_CUDA(api().cuCtxGetCurrent(&now));
    EXPECT_EQ(now, nullptr);
    size_t free, total;
    EXPECT_EQ(api().cuMemGetInfo_v2(&free, &total), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
  EXPECT_CUDA(api().cuCtxPopCurrent_v2(&now));
  EXPECT_EQ(now, contexts[1]);
  EXPECT_CUDA(api().cuCtxGetCurrent(&now));
  EXPECT_EQ(now, contexts[0]);
  EXPECT_EQ(api().cuCtxSetCurrent(reinterpret_cast<CUcontext>(&now)), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(StandInDevices, ReleasedContextsAreGone) {
  start();
  CUdeviceptr pointer = allocate(64);
  EXPECT_CUDA(api().cuDevicePrimaryCtxRelease_v2(0));
  EXPECT_EQ(api().cuMemFree_v2(pointer), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(api().cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
  unsigned flags;
  int active = 1;
  EXPECT_CUDA(api().cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(active, 0);
}

TEST_F(StandInDevices, FunctionsAreFoundByTheirPlainNames) {
  start();
  void *address = nullptr;
  unsigned status = 9;
  EXPECT_CUDA(api().cuGetProcAddress_v2("cuMemAlloc", &address, 13000, 0, &status));
  EXPECT_EQ(address, reinterpret_cast<void *>(api().cuMemAlloc_v2));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
  EXPECT_CUDA(api().cuGetProcAddress_v2("cuMemcpy", &address, 13000, 0, &status));
  EXPECT_EQ(address, reinterpret_cast<void *>(api().cuMemcpy)); // not cuMemcpyHtoD
  EXPECT_CUDA(api().cuGetProcAddress_v2("cuNothing", &address, 13000, 0, &status));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_CUDA(api().cuGetProcAddress_v2("cuInit", &address, 14000, 0, &status));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(api().cuGetProcAddress_v2("cuNothing", &address, 13000, 0, nullptr), CUDA_ERROR_NOT_FOUND);
}

TEST_F(StandInDevices, WhatIsNotHereSaysSo) {
  start();
  auto create = reinterpret_cast<int (*)()>(::dlsym(api().library, "cuArrayCreate_v2"));
  ASSERT_TRUE(create);
  testing::internal::CaptureStderr();
  EXPECT_EQ(create(), static_cast<int>(CUDA_ERROR_NOT_SUPPORTED));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "stand-in: cuArrayCreate_v2 is not supported\n");
}

TEST_F(StandInDevices, AProcessEndsWithItsReport) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::string file = testing::TempDir() + "standin-report.json";
  std::remove(file.c_str());
  EXPECT_EXIT(
      {
        start({{"REPORT", file.c_str()}, {"EXIT", "97"}});
        CUdeviceptr a = allocate(4);
        EXPECT_CUDA(api().cuMemsetD32Async(a, 1, 1, stream()));
        EXPECT_CUDA(api().cuMemsetD32Async(a, 1, 1, stream()));
        EXPECT_CUDA(api().cuCtxSynchronize());
        std::exit(0);
      },
      testing::ExitedWithCode(97), "1 kinds of complaints");
  std::ifstream report(file);
  std::string text(std::istreambuf_iterator<char>(report), {});
  EXPECT_NE(text.find("\"fills\": 2"), text.npos) << text;
  EXPECT_NE(text.find("unordered: 'fill'"), text.npos) << text;
  std::remove(file.c_str());
}

TEST_F(StandInDevices, ErrorsHaveNames) {
  configure();
  const char *text = nullptr;
  EXPECT_CUDA(api().cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_CUDA(api().cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT_STREQ(text, "out of memory");
  EXPECT_EQ(api().cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

} // namespace
} // namespace sprig::cuda
