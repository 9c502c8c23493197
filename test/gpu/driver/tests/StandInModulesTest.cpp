// Cubins, modules and launches: what a cubin says, what damaged ones become, each launch that a device would not take,
// and emulated kernels end to end.
#include "lib/Cubin/Cubin.h"
#include "test/gpu/driver/tests/Api.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

namespace sprig::cuda {
namespace {

std::string read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}
std::string source(const char *name) { return read(std::string(SPRIG_TEST_SOURCE "/") + name); }

TEST(Cubin, SaysWhatItsKernelsTake) {
  gpu::Cubin cubin;
  std::string error, bytes = source("kernels.cubin");
  ASSERT_EQ(gpu::Cubin::size(bytes), bytes.size());
  ASSERT_TRUE(gpu::Cubin::parse(bytes, cubin, error)) << error;
  EXPECT_EQ(cubin.architecture, 80u);
  ASSERT_EQ(cubin.kernels.size(), 3u);
  const gpu::CubinKernel *axpy = cubin.find("axpy"), *shuffle = cubin.find("shuffle"), *count = cubin.find("count");
  ASSERT_TRUE(axpy && shuffle && count);
  EXPECT_EQ(axpy->parameterBytes, 24u);
  ASSERT_EQ(axpy->parameters.size(), 4u);
  EXPECT_EQ(axpy->parameters[2].offset, 16u);
  EXPECT_EQ(axpy->parameters[2].size, 4u);
  EXPECT_EQ(axpy->maxThreads, 256u);
  EXPECT_EQ(axpy->registers, 10u);
  EXPECT_EQ(axpy->staticShared, 0u);
  ASSERT_EQ(shuffle->parameters.size(), 4u);
  EXPECT_EQ(shuffle->parameters[1].size, 16u);
  EXPECT_EQ(shuffle->parameters[2].size, 1u);
  EXPECT_EQ(shuffle->parameters[3].offset, 32u);
  EXPECT_EQ(shuffle->staticShared, 400u);
  EXPECT_EQ(count->parameterBytes, 0u);
}

TEST(Cubin, DamagedOnesAreRefusedOrReadable) {
  gpu::Cubin cubin;
  std::string error, bytes = source("kernels.cubin");
  for (size_t cut = 0; cut < bytes.size(); cut += 7)
    EXPECT_FALSE(gpu::Cubin::parse(std::string_view(bytes).substr(0, cut), cubin, error) &&
                 gpu::Cubin::size(bytes) == cut);
  // No fault whatever is in it; the sanitizers watch.
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string broken = bytes;
    for (int k = 0; k < 4; ++k) broken[random() % broken.size()] = static_cast<char>(random());
    gpu::Cubin::parse(broken, cubin, error);
  }
}

struct StandInModules : StandIn {
  CUresult load(const std::string &image) { return api().cuModuleLoadData(&module, image.c_str()); }
  CUfunction function(const char *name) {
    CUfunction function = nullptr;
    EXPECT_CUDA(api().cuModuleGetFunction(&function, module, name));
    return function;
  }
  CUresult launch(CUfunction function, unsigned grid, unsigned block, unsigned shared = 0,
                  std::vector<void *> parameters = {}, CUstream stream = nullptr) {
    return api().cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, parameters.data(), nullptr);
  }
  void startWithImages(const char *devices = "sm_80") { start({{"DEVICES", devices}, {"IMAGES", SPRIG_TEST_IMAGES}}); }

  CUmodule module = nullptr;
};

TEST_F(StandInModules, DamagedAndForeignImagesAreRefused) {
  startWithImages();
  std::string cubin = source("kernels.cubin"), ptx = source("kernels.ptx");
  EXPECT_EQ(load("nothing of the kind"), CUDA_ERROR_INVALID_IMAGE);
  expectComplaint({"neither a cubin nor PTX"});
  EXPECT_EQ(api().cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  std::string broken = cubin;
  std::memset(broken.data() + 0x864, 0x77, 16); // .nv.info
  EXPECT_EQ(load(broken), CUDA_ERROR_INVALID_IMAGE);
  expectComplaint({"the cubin is damaged: its .nv.info has an entry of unknown form"});
  broken = cubin;
  broken[18] = 62; // x86
  EXPECT_EQ(load(broken), CUDA_ERROR_INVALID_IMAGE);
  expectComplaint({"of another machine"});

  size_t version = ptx.find(".version 9.0");
  ASSERT_NE(version, ptx.npos);
  EXPECT_EQ(load(std::string(ptx).replace(version, 12, ".version 9.1")), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  expectComplaint({"the PTX has version 9.1, the driver takes up to 9.0"});
  EXPECT_EQ(load(std::string(ptx).replace(ptx.find(".target sm_80"), 13, ".target sm_90")), CUDA_ERROR_INVALID_PTX);
  expectComplaint({"the PTX is for sm_90 and later, the device is sm_80"});
  char log[100] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  EXPECT_EQ(api().cuModuleLoadDataEx(&module, "?", 2, options, values), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_STREQ(log, "the image is neither a cubin nor PTX");

  startWithImages("sm_90");
  EXPECT_EQ(load(cubin), CUDA_ERROR_NO_BINARY_FOR_GPU);
  expectComplaint({"the cubin is for sm_80, the device is sm_90"});
  EXPECT_CUDA(load(ptx)); // which later devices take
  startWithImages("sm_86");
  EXPECT_CUDA(load(cubin)); // the same major number
}

TEST_F(StandInModules, ACubinWhereMemoryEndsIsCutOff) {
  startWithImages();
  std::string cubin = source("kernels.cubin");
  // The end of pinned memory: pages behind it are not there, or not the cubin's.
  char *end = pinned<char>(4096) + 4096;
  std::memcpy(end - 1000, cubin.data(), 1000);
  EXPECT_EQ(api().cuModuleLoadData(&module, end - 1000), CUDA_ERROR_INVALID_IMAGE);
}

TEST_F(StandInModules, AMissingImageIsNamedWithItsHash) {
  start();
  EXPECT_EQ(load(".version 8.0\n.target sm_80\n"), CUDA_ERROR_FILE_NOT_FOUND);
  expectComplaint(
      {"SPRIG_STANDIN_IMAGES is not set", "e30f8e0201e14f61200ce252eb34db8c1d1860322113625e2cccb0423d6cd941"});
  startWithImages();
  EXPECT_EQ(load(".version 8.0\n.target sm_80\n"), CUDA_ERROR_FILE_NOT_FOUND);
  expectComplaint({"there is no " SPRIG_TEST_IMAGES "/e30f8e0201e14f", "sprig-ptx-image makes it of this PTX"});
}

TEST_F(StandInModules, EmulatedKernelsFromCubinAndPtx) {
  for (const char *image : {"kernels.cubin", "kernels.ptx"})
    for (const char *order : {"eager", "lazy", "random"}) {
      start({{"DEVICES", "sm_80"}, {"IMAGES", SPRIG_TEST_IMAGES}, {"ORDER", order}});
      ASSERT_CUDA(load(source(image)));
      std::vector<float> x(1000, 2), y(1000, 1);
      CUdeviceptr dx = upload(x), dy = upload(y);
      float a = 3;
      int n = 1000;
      CUfunction axpy = function("axpy");
      EXPECT_CUDA(launch(axpy, 8, 128, 0, {&dy, &dx, &a, &n}));
      a = 100; // parameters were taken at the launch
      EXPECT_EQ(download<float>(dy, 1000), std::vector<float>(1000, 7));

      CUdeviceptr counter = 0;
      size_t bytes = 0;
      EXPECT_CUDA(api().cuModuleGetGlobal_v2(&counter, &bytes, module, "counter"));
      EXPECT_EQ(bytes, 4u);
      EXPECT_CUDA(launch(function("count"), 1, 4));
      EXPECT_EQ(download<int>(counter, 1), std::vector<int>{7 + 1 + 2 + 3 + 4});
      EXPECT_EQ(api().cuModuleGetGlobal_v2(&counter, &bytes, module, "none"), CUDA_ERROR_NOT_FOUND);
      EXPECT_EQ(api().cuModuleGetFunction(&axpy, module, "none"), CUDA_ERROR_NOT_FOUND);
      EXPECT_CUDA(api().cuModuleUnload(module));
      EXPECT_EQ(launch(axpy, 1, 1), CUDA_ERROR_INVALID_HANDLE);
      expectNoComplaint();
    }
}

TEST_F(StandInModules, EmulatedKernelsTakePartInTheOrder) {
  for (bool waits : {true, false}) {
    startWithImages();
    ASSERT_CUDA(load(source("kernels.cubin")));
    std::vector<float> ones(256, 1);
    CUdeviceptr x = upload(ones), y = upload(ones), z = upload(ones);
    EXPECT_CUDA(api().cuCtxSynchronize());
    float a = 1;
    int n = 256;
    CUstream s = stream(), t = stream();
    CUevent e = event();
    EXPECT_CUDA(launch(function("axpy"), 1, 256, 0, {&y, &x, &a, &n}, s));
    EXPECT_CUDA(api().cuEventRecord(e, s));
    if (waits) EXPECT_CUDA(api().cuStreamWaitEvent(t, e, 0));
    EXPECT_CUDA(launch(function("axpy"), 1, 256, 0, {&z, &y, &a, &n}, t));
    EXPECT_CUDA(api().cuCtxSynchronize());
    if (waits)
      expectNoComplaint();
    else
      expectComplaint({"unordered: 'kernel axpy' (stream 1 of cuda:0", "writes bytes 0 to 1024 of allocation 3",
                       "'kernel axpy' (stream 2 of cuda:0", "reads"});
  }
}

TEST_F(StandInModules, WildKernelsFailTheirContext) {
  startWithImages();
  ASSERT_CUDA(load(source("kernels.cubin")));
  CUdeviceptr x = upload(std::vector<float>(64, 1)), y = upload(std::vector<float>(64, 1));
  float a = 1;
  int n = 65;
  EXPECT_CUDA(launch(function("axpy"), 1, 128, 0, {&y, &x, &a, &n}));
  EXPECT_EQ(api().cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(api().cuMemFree_v2(x), CUDA_ERROR_ILLEGAL_ADDRESS); // and all that follows
  expectComplaint({"'kernel axpy' (the default stream of cuda:0"});
}

TEST_F(StandInModules, APeersMemoryNeedsAccessInKernelsToo) {
  for (const char *how : {"enabled", "not enabled", "dropped"}) {
    bool enabled = how == std::string("enabled");
    start({{"DEVICES", "sm_80x2"}, {"IMAGES", SPRIG_TEST_IMAGES}, {"DROP", *how == 'd' ? "peer=1" : ""}});
    CUdeviceptr x = upload(std::vector<float>(64, 1)), y = upload(std::vector<float>(64, 1));
    EXPECT_CUDA(api().cuCtxSynchronize());
    EXPECT_CUDA(api().cuCtxSetCurrent(contexts[1]));
    if (*how != 'n') EXPECT_CUDA(api().cuCtxEnablePeerAccess(contexts[0], 0));
    ASSERT_CUDA(load(source("kernels.cubin")));
    float a = 1;
    int n = 64;
    EXPECT_CUDA(launch(function("axpy"), 1, 64, 0, {&y, &x, &a, &n}));
    EXPECT_EQ(api().cuCtxSynchronize(), enabled ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS);
    if (enabled)
      expectNoComplaint();
    else
      expectComplaint({"'kernel axpy' (the default stream of cuda:1", "without access to its peer"});
  }
}

TEST_F(StandInModules, LaunchesThatNoDeviceTakesAreRefused) {
  startWithImages();
  ASSERT_CUDA(load(source("kernels.cubin")));
  CUfunction axpy = function("axpy"), shuffle = function("shuffle"), count = function("count");
  EXPECT_EQ(launch(count, 0, 32), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuLaunchKernel(count, 1, 70000, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  expectComplaint({"kernel 'count' refused: a grid of 1 x 70000 x 1 blocks"});
  EXPECT_EQ(launch(count, 1, 1025), CUDA_ERROR_INVALID_VALUE);
  expectComplaint({"a block of 1025 x 1 x 1 threads"});
  EXPECT_EQ(launch(axpy, 1, 257), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  expectComplaint({"a block of 257 threads; the kernel is compiled for 256 at most"});
  EXPECT_EQ(launch(axpy, 1, 32, 0, {nullptr}), CUDA_ERROR_INVALID_VALUE);
  expectComplaint({"parameter 0 of 4 points to no memory"});
  EXPECT_EQ(api().cuLaunchKernel(axpy, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  expectComplaint({"no parameters; the kernel takes 4"});

  EXPECT_EQ(launch(shuffle, 1, 32, 48 * 1024), CUDA_ERROR_INVALID_VALUE);
  expectComplaint({"49152 bytes of dynamic shared memory; the function allows 48752"});
  EXPECT_EQ(api().cuFuncSetAttribute(shuffle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 163 * 1024),
            CUDA_ERROR_INVALID_VALUE);
  expectComplaint({"is to have 166912 bytes of dynamic shared memory, the device has 166512"});

  unsigned char packed[40] = {};
  size_t bytes = sizeof packed - 8;
  void *extra[] = {reinterpret_cast<void *>(1), packed, reinterpret_cast<void *>(2), &bytes, nullptr};
  EXPECT_EQ(api().cuLaunchKernel(shuffle, 1, 1, 1, 1, 1, 1, 4, nullptr, nullptr, extra), CUDA_ERROR_INVALID_VALUE);
  expectComplaint({"32 bytes of parameters; the kernel takes 4 in 40 bytes"});
  bytes = sizeof packed;
  EXPECT_CUDA(api().cuLaunchKernel(shuffle, 1, 1, 1, 1, 1, 1, 4, nullptr, nullptr, extra)); // n = 0: writes nothing
  EXPECT_CUDA(api().cuCtxSynchronize());
}

TEST_F(StandInModules, ClustersAndCooperativeGridsHaveLimits) {
  startWithImages("sm_90");
  ASSERT_CUDA(load(source("kernels.ptx")));
  CUfunction count = function("count");
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  CUlaunchConfig config = {16, 1, 1, 32, 1, 1, 0, nullptr, &attribute, 1};
  for (auto [size, result] :
       {std::pair{8u, CUDA_SUCCESS}, std::pair{16u, CUDA_ERROR_INVALID_CLUSTER_SIZE},
        std::pair{3u, CUDA_ERROR_INVALID_VALUE}, std::pair{0u, CUDA_ERROR_INVALID_CLUSTER_SIZE}}) {
    attribute.value.clusterDim = {size, 1, 1};
    EXPECT_EQ(api().cuLaunchKernelEx(&config, count, nullptr, nullptr), result) << size;
  }
  expectComplaint({"a grid of 16 x 1 x 1 blocks is no multiple of its clusters of 3 x 1 x 1"});
  attribute.value.clusterDim = {16, 1, 1};
  EXPECT_CUDA(api().cuFuncSetAttribute(count, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  EXPECT_CUDA(api().cuLaunchKernelEx(&config, count, nullptr, nullptr));

  int resident = 0;
  EXPECT_CUDA(api().cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, count, 1024, 0));
  EXPECT_EQ(resident, 2);
  EXPECT_CUDA(api().cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, count, 32, 40 * 1024));
  EXPECT_EQ(resident, 5);
  EXPECT_CUDA(api().cuLaunchCooperativeKernel(count, 264, 1, 1, 1024, 1, 1, 0, nullptr, nullptr));
  EXPECT_EQ(api().cuLaunchCooperativeKernel(count, 265, 1, 1, 1024, 1, 1, 0, nullptr, nullptr),
            CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  expectComplaint({"the device holds 264 of them at a time"});

  startWithImages("sm_80");
  ASSERT_CUDA(load(source("kernels.cubin")));
  EXPECT_EQ(api().cuLaunchKernelEx(&config, function("count"), nullptr, nullptr), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  expectComplaint({"sm_80 has no clusters"});
}

TEST_F(StandInModules, FunctionsTellTheirFacts) {
  startWithImages();
  ASSERT_CUDA(load(source("kernels.cubin")));
  CUfunction shuffle = function("shuffle");
  auto attribute = [&](unsigned which) {
    int value = -1;
    EXPECT_CUDA(api().cuFuncGetAttribute(&value, which, shuffle));
    return value;
  };
  EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_NUM_REGS), 10);
  EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 400);
  EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 0);
  EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_BINARY_VERSION), 80);
  EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_CUDA(api().cuFuncSetAttribute(shuffle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 * 1024));
  EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 100 * 1024);
  const char *name = nullptr;
  size_t offset = 0, size = 0;
  EXPECT_CUDA(api().cuFuncGetName(&name, shuffle));
  EXPECT_STREQ(name, "shuffle");
  EXPECT_CUDA(api().cuFuncGetParamInfo(shuffle, 3, &offset, &size));
  EXPECT_EQ(offset, 32u);
  EXPECT_EQ(api().cuFuncGetParamInfo(shuffle, 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StandInModules, LibrariesAreModulesOfEachContext) {
  startWithImages("sm_80x2");
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  std::string cubin = source("kernels.cubin");
  EXPECT_CUDA(api().cuLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  EXPECT_CUDA(api().cuLibraryGetKernel(&kernel, library, "count"));
  for (int device : {0, 1}) {
    EXPECT_CUDA(api().cuCtxSetCurrent(contexts[device]));
    EXPECT_CUDA(launch(reinterpret_cast<CUfunction>(kernel), 1, 1)); // as it is
    CUfunction function = nullptr;
    EXPECT_CUDA(api().cuKernelGetFunction(&function, kernel));
    EXPECT_CUDA(launch(function, 1, 1));
    EXPECT_CUDA(api().cuLibraryGetModule(&module, library));
    CUdeviceptr counter = 0;
    EXPECT_CUDA(api().cuModuleGetGlobal_v2(&counter, nullptr, module, "counter"));
    EXPECT_EQ(download<int>(counter, 1), std::vector<int>{9});
  }
  EXPECT_CUDA(api().cuLibraryUnload(library));
  EXPECT_EQ(api().cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
  expectNoComplaint();
}

TEST_F(StandInModules, TheChosenLaunchFails) {
  start({{"FAIL", "launch=2"}});
  CUfunction nothing = kernel("nothing", {}, [](SprigStandInRun *) {});
  EXPECT_CUDA(launch(nothing, 1, 1));
  EXPECT_CUDA(api().cuCtxSynchronize());
  EXPECT_CUDA(launch(nothing, 1, 1));
  EXPECT_EQ(api().cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(launch(nothing, 1, 1), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(StandInModules, AtomicsDoNotConflictWithAtomics) {
  start();
  CUdeviceptr sum = upload(std::vector<int>{0});
  EXPECT_CUDA(api().cuCtxSynchronize());
  CUfunction add = kernel("add", {8}, [](SprigStandInRun *run) {
    CUdeviceptr to;
    std::memcpy(&to, run->parameters, 8);
    run->touch(run, to, 4, SprigStandInRun::Update);
    ++*reinterpret_cast<int *>(to);
  });
  EXPECT_CUDA(launch(add, 1, 1, 0, {&sum}, stream()));
  EXPECT_CUDA(launch(add, 1, 1, 0, {&sum}, stream()));
  EXPECT_CUDA(api().cuCtxSynchronize());
  expectNoComplaint();
  EXPECT_CUDA(api().cuMemsetD32Async(sum, 0, 1, stream()));
  EXPECT_CUDA(launch(add, 1, 1, 0, {&sum}, stream()));
  EXPECT_CUDA(api().cuCtxSynchronize());
  expectComplaint({"unordered", "'fill'", "'kernel add'", "updates"});
}

// The emulator tells what kernels update from what they write.
TEST_F(StandInModules, UpdatesOfEmulatedKernelsCommute) {
  startWithImages("sm_80");
  ASSERT_EQ(load(source("kernels.cubin")), CUDA_SUCCESS);
  CUdeviceptr counter = 0;
  EXPECT_CUDA(api().cuModuleGetGlobal_v2(&counter, nullptr, module, "counter"));
  CUstream first = stream(), second = stream();
  EXPECT_CUDA(launch(function("count"), 1, 4, 0, {}, first));
  EXPECT_CUDA(launch(function("count"), 2, 4, 0, {}, second));
  EXPECT_CUDA(api().cuCtxSynchronize());
  EXPECT_EQ(download<int>(counter, 1), std::vector<int>{7 + 3 * (1 + 2 + 3 + 4)});
  expectNoComplaint();
  // A reader beside them sees any of their sums.
  CUdeviceptr copy = upload(std::vector<int>{0});
  EXPECT_CUDA(launch(function("count"), 1, 4, 0, {}, first));
  EXPECT_CUDA(api().cuMemcpyDtoDAsync_v2(copy, counter, 4, second));
  EXPECT_CUDA(api().cuCtxSynchronize());
  expectComplaint({"unordered", "'kernel count'", "updates", "reads"});
}

// Where a toolkit is: ptxas makes the cubin, for another architecture than that of the one that is checked in.
TEST_F(StandInModules, CubinsOfPtxasAreTaken) {
#ifdef SPRIG_PTXAS
  namespace fs = std::filesystem;
  char name[] = "/tmp/sprig-standin-XXXXXX";
  fs::path folder = ::mkdtemp(name);
  std::string cubin = folder / "kernels.cubin";
  std::string command = SPRIG_PTXAS " -arch=sm_90 " SPRIG_TEST_SOURCE "/kernels.ptx -o " + cubin;
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "ptxas does not take PTX 9.0";
  std::string bytes = read(cubin);
  start({{"DEVICES", "sm_90"}, {"IMAGES", folder.c_str()}});
  ASSERT_EQ(load(bytes), CUDA_ERROR_FILE_NOT_FOUND);
  // The complaint says where the image has to be.
  std::string complaint = api().complaints();
  size_t begin = complaint.find(folder.string()), end = complaint.find(".so", begin) + 3;
  fs::path image = complaint.substr(begin, end - begin);
  for (auto &made : fs::directory_iterator(SPRIG_TEST_IMAGES))
    fs::copy_file(made, image, fs::copy_options::overwrite_existing);
  EXPECT_CUDA(load(bytes));
  int value = 0;
  EXPECT_CUDA(api().cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function("shuffle")));
  EXPECT_EQ(value, 400); // without what the system reserves
  EXPECT_CUDA(launch(function("count"), 1, 4));
  EXPECT_CUDA(api().cuCtxSynchronize());
  fs::remove_all(folder);
#else
  GTEST_SKIP() << "no ptxas";
#endif
}

} // namespace
} // namespace sprig::cuda
