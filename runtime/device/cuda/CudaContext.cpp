#include "runtime/device/cuda/CudaContext.h"

#include "runtime/base/MemoryCount.h"

namespace sprig::rt::core {

using namespace cuda;

namespace {

// Of the process, by number; as long as somebody uses them.
struct Registry {
  std::mutex lock;
  std::map<uint32_t, std::weak_ptr<CudaContext>> contexts;
};
Registry &registry() {
  static Registry &registry = *new Registry;
  return registry;
}

Status notThere(uint32_t ordinal, const std::string &why) {
  return {SPRIG_RT_UNSUPPORTED, concat("device cuda:", ordinal, " is not there: ", why)};
}

// "constants" for "constant 'w0'", "arrays" for "'x'".
std::string useOf(std::string_view what) {
  if (what.starts_with("constant")) return "constants";
  if (what.starts_with("state")) return "states";
  if (what == "an arena") return "arenas";
  if (what.starts_with("'")) return "arrays of the caller";
  return std::string(what);
}

} // namespace

CudaContext::CudaContext(uint32_t ordinal) : driver(CudaDriver::system()), name(concat("cuda:", ordinal)) {}

Status CudaContext::open(uint32_t ordinal, std::shared_ptr<CudaContext> &context) {
  Registry &known = registry();
  std::lock_guard guard(known.lock);
  if ((context = known.contexts[ordinal].lock())) return {};
  std::shared_ptr<CudaContext> fresh(new CudaContext(ordinal));
  SPRIG_RETURN_IF_ERROR(fresh->make(ordinal));
  known.contexts[ordinal] = fresh;
  context = std::move(fresh);
  return {};
}

Status CudaContext::make(uint32_t ordinal) {
  CudaDriver::Answer answer = driver.start();
  if (!answer.problem.empty()) return notThere(ordinal, answer.problem);
  if (answer.version < CudaDriver::kLeastVersion)
    return {SPRIG_RT_UNSUPPORTED,
            concat("device ", name, ": expected a driver for CUDA ", CudaDriver::versionText(CudaDriver::kLeastVersion),
                   " or newer, found one for ", CudaDriver::versionText(answer.version))};
  if (!driver.missing.empty())
    return {SPRIG_RT_UNSUPPORTED, concat("device ", name, ": ", driver.library, " has no function ", driver.missing)};
  if (int64_t(ordinal) >= answer.devices)
    return notThere(ordinal,
                    concat(driver.library, " counts ", answer.devices, answer.devices == 1 ? " device" : " devices"));
  auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    driver.cuDeviceGetAttribute(&value, which, device);
    return value;
  };
  SPRIG_RETURN_IF_ERROR(statusOf(driver.cuDeviceGet(&device, int(ordinal)), "opening it"));
  major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  mostShared = uint32_t(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  CUresult retained = driver.cuDevicePrimaryCtxRetain(&handle, device);
  if (retained != CUDA_SUCCESS) handle = nullptr;
  SPRIG_RETURN_IF_ERROR(statusOf(retained, "making its context"));
  Scope scope(*this);
  return statusOf(driver.cuStreamCreate(&own, CU_STREAM_NON_BLOCKING), "making a stream");
}

// What fails at the process's end is gone already.
CudaContext::~CudaContext() {
  if (!handle) return;
  if (own) {
    Scope scope(*this);
    driver.cuStreamDestroy_v2(own);
  }
  driver.cuDevicePrimaryCtxRelease_v2(device);
}

CudaContext::Moment::~Moment() {
  if (!event) return;
  Scope scope(*context);
  context->driver.cuEventDestroy_v2(event);
}

// In the stream that has nothing but what somebody waits for at once.
Status CudaContext::markMoment(std::unique_ptr<DeviceMoment> &moment) {
  Scope scope(*this);
  auto fresh = std::make_unique<Moment>();
  fresh->context = shared_from_this();
  CUresult result = driver.cuEventCreate(&fresh->event, CU_EVENT_DEFAULT);
  if (result != CUDA_SUCCESS) fresh->event = nullptr;
  if (result == CUDA_SUCCESS) result = driver.cuEventRecord(fresh->event, own);
  if (result == CUDA_SUCCESS) result = driver.cuEventSynchronize(fresh->event);
  SPRIG_RETURN_IF_ERROR(statusOf(result, "recording a profile"));
  fresh->ticks = ticks();
  moment = std::move(fresh);
  return {};
}

Status CudaContext::failure(CUresult result, std::string_view what) const {
  const char *symbol = nullptr, *text = nullptr;
  driver.cuGetErrorName(result, &symbol);
  driver.cuGetErrorString(result, &text);
  std::string named = symbol ? concat(text ? text : "", " (", symbol, ")").text() : concat("error ", result).text();
  Code code = SPRIG_RT_DEVICE_FAULT;
  switch (result) {
  case CUDA_ERROR_OUT_OF_MEMORY: code = SPRIG_RT_OUT_OF_MEMORY; break;
  case CUDA_ERROR_INVALID_IMAGE:
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_NOT_FOUND: code = SPRIG_RT_BAD_PACKAGE; break;
  case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: // of another stream, which the default one would wait for
  case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
  case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
  case CUDA_ERROR_JIT_COMPILATION_DISABLED: code = SPRIG_RT_UNSUPPORTED; break;
  default: break;
  }
  return {code, concat(name, ": ", what, ": ", named)};
}

Status CudaContext::outOfMemory(uint64_t bytes, std::string_view what) const {
  size_t left = 0, all = 0;
  driver.cuMemGetInfo_v2(&left, &all);
  std::string held;
  std::lock_guard guard(lock);
  for (const auto &[use, amount] : uses)
    if (amount) held += concat(held.empty() ? "" : ", ", amount, " of ", use);
  return {SPRIG_RT_OUT_OF_MEMORY,
          concat(name, ": no memory for ", bytes, " bytes of ", what, ": ", uint64_t(left), " of ", uint64_t(all),
                 " bytes are free, this process holds ", held.empty() ? "none" : held)};
}

void CudaContext::count(const std::string &use, int64_t bytes) {
  std::lock_guard guard(lock);
  uses[use] += uint64_t(bytes);
}

Status CudaContext::allocate(uint64_t bytes, std::string_view what, Memory &memory) {
  memory = {};
  if (bytes == 0) return {};
  Scope scope(*this);
  CUdeviceptr address = 0;
  CUresult result = driver.cuMemAlloc_v2(&address, bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return outOfMemory(bytes, what);
  SPRIG_RETURN_IF_ERROR(statusOf(result, concat("allocating ", bytes, " bytes of ", what).text()));
  std::string use = useOf(what);
  count(use, int64_t(bytes));
  countAllocated(bytes, bytes);
  memory.address = reinterpret_cast<uint8_t *>(address);
  memory.owner = std::shared_ptr<void>(memory.address, [self = shared_from_this(), use, bytes](void *freed) {
    Scope scope(*self);
    self->driver.cuMemFree_v2(reinterpret_cast<CUdeviceptr>(freed));
    self->count(use, -int64_t(bytes));
    countReleased(bytes, bytes);
  });
  return {};
}

Status CudaContext::allocatePinned(uint64_t bytes, std::string_view what, Pinned &memory) {
  memory = {};
  if (bytes == 0) return {};
  Scope scope(*this);
  void *address = nullptr;
  CUresult result = driver.cuMemHostAlloc(&address, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    return {SPRIG_RT_OUT_OF_MEMORY, concat(name, ": no pinned memory of the host for ", bytes, " bytes of ", what)};
  SPRIG_RETURN_IF_ERROR(statusOf(result, concat("pinning ", bytes, " bytes of ", what).text()));
  countAllocated(bytes, bytes);
  memory.host = static_cast<uint8_t *>(address);
  memory.owner = std::shared_ptr<void>(address, [self = shared_from_this(), bytes](void *freed) {
    Scope scope(*self);
    self->driver.cuMemFreeHost(freed);
    countReleased(bytes, bytes);
  });
  return statusOf(driver.cuMemHostGetDevicePointer_v2(&memory.device, address, 0), concat("mapping ", what).text());
}

void CudaContext::reachDirectly(const CudaContext &other) const {
  int can = 0;
  if (driver.cuDeviceCanAccessPeer(&can, device, other.device) != CUDA_SUCCESS || !can) return;
  Scope scope(*this);
  driver.cuCtxEnablePeerAccess(other.handle, 0); // refuses where it is enabled already
}

} // namespace sprig::rt::core
