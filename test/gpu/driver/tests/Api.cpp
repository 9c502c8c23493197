#include "test/gpu/driver/tests/Api.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace sprig::cuda {

Api::Api() {
  library = ::dlopen(SPRIG_STANDIN_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    std::abort();
  }
  auto find = [&](const char *name) {
    void *address = ::dlsym(library, name);
    if (!address) std::fprintf(stderr, "the stand-in has no %s\n", name);
    if (!address) std::abort();
    return address;
  };
#define SPRIG_CUDA_FUNCTION(name, parameters) name = reinterpret_cast<CUresult(*) parameters>(find(#name));
#include "test/gpu/driver/Functions.def"
  reset = reinterpret_cast<void (*)()>(find("sprig_standin_reset"));
  complaints = reinterpret_cast<const char *(*)()>(find("sprig_standin_complaints"));
  report = reinterpret_cast<decltype(report)>(find("sprig_standin_report"));
  setConditional = reinterpret_cast<decltype(setConditional)>(find("sprig_standin_set_conditional"));
  kernel = reinterpret_cast<decltype(kernel)>(find("sprig_standin_kernel"));
}

Api &StandIn::api() {
  static Api api;
  return api;
}

void StandIn::configure(Settings settings) {
  for (const char *name : {"DEVICES", "MEMORY", "DRIVER", "PEERS", "ORDER", "SEED", "CHECKS", "FAIL", "EXIT", "IMAGES",
                           "REPORT", "EFFECTS", "DROP"})
    ::unsetenv((std::string("SPRIG_STANDIN_") + name).c_str());
  // A few MB are enough, and quicker to map than what real devices have.
  ::setenv("SPRIG_STANDIN_MEMORY", "64M", 1);
  for (auto [name, value] : settings) ::setenv((std::string("SPRIG_STANDIN_") + name).c_str(), value, 1);
  api().reset();
  contexts.clear();
}

void StandIn::start(Settings settings) {
  configure(settings);
  ASSERT_CUDA(api().cuInit(0));
  int count = 0;
  ASSERT_CUDA(api().cuDeviceGetCount(&count));
  contexts.resize(count);
  for (int i = 0; i < count; ++i) ASSERT_CUDA(api().cuDevicePrimaryCtxRetain(&contexts[i], i));
  ASSERT_CUDA(api().cuCtxSetCurrent(contexts[0]));
}

void StandIn::expectNoComplaint() { EXPECT_STREQ(api().complaints(), ""); }

void StandIn::expectComplaint(std::initializer_list<const char *> parts) {
  std::string all = api().complaints();
  size_t begin = 0;
  while (begin < all.size()) {
    size_t end = all.find('\n', begin);
    std::string line = all.substr(begin, end - begin);
    bool has = true;
    for (const char *part : parts) has = has && line.find(part) != std::string::npos;
    if (has) return;
    begin = end + 1;
  }
  std::string wanted;
  for (const char *part : parts) wanted += std::string(" '") + part + "'";
  ADD_FAILURE() << "no complaint has all of" << wanted << ":\n" << all;
}

CUdeviceptr StandIn::allocate(size_t bytes) {
  CUdeviceptr pointer = 0;
  EXPECT_CUDA(api().cuMemAlloc_v2(&pointer, bytes));
  return pointer;
}

CUfunction StandIn::kernel(const char *name, std::vector<uint32_t> sizes, void (*run)(SprigStandInRun *)) {
  std::string ptx = std::string(".version 8.0\n.target sm_80\n// ") + name;
  api().kernel(ptx.data(), ptx.size(), name, sizes.data(), sizes.size(), run);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_CUDA(api().cuModuleLoadData(&module, ptx.c_str()));
  EXPECT_CUDA(api().cuModuleGetFunction(&function, module, name));
  return function;
}

CUstream StandIn::stream(unsigned flags) {
  CUstream stream = nullptr;
  EXPECT_CUDA(api().cuStreamCreate(&stream, flags));
  return stream;
}

CUevent StandIn::event() {
  CUevent event = nullptr;
  EXPECT_CUDA(api().cuEventCreate(&event, CU_EVENT_DEFAULT));
  return event;
}

} // namespace sprig::cuda
