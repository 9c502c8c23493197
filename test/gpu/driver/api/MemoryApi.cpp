// Memory: of devices, at once and in a stream's order; of the host, pinned and registered; what a pointer is.
#include "test/gpu/driver/Checks.h"
#include "test/gpu/driver/api/Call.h"

#include <cstdio>

namespace sprig::cuda {
namespace {

CUresult countAllocation(Driver &driver, size_t bytes) {
  ++driver.report.counts.allocations;
  driver.report.counts.allocatedBytes += bytes;
  return CUDA_SUCCESS;
}

CUresult allocate(Driver &driver, CUctx_st &context, size_t bytes, Allocation *&allocation) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  SPRIG_CUDA_TRY(driver.refuseWhileCapturing(context));
  allocation = driver.failsAllocation() ? nullptr : driver.memory.allocateDevice(context.device, bytes);
  return allocation ? countAllocation(driver, bytes) : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult allocateHost(Driver &driver, CUctx_st &context, void **pointer, size_t bytes, unsigned flags) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  Allocation *allocation =
      driver.failsAllocation() ? nullptr : driver.memory.allocatePinned(context.device, bytes, flags);
  if (!allocation) return CUDA_ERROR_OUT_OF_MEMORY;
  *pointer = reinterpret_cast<void *>(allocation->begin);
  return countAllocation(driver, bytes);
}

// The living allocation that begins here, of the kind asked for.
Allocation *beginning(Driver &driver, const char *function, uint64_t address, bool device) {
  Allocation *allocation = driver.memory.find(address);
  if (!allocation || allocation->begin != address || (allocation->space == Space::Device) != device) return nullptr;
  if (allocation->freed) {
    if (driver.config.checks.bounds)
      driver.report.complain(std::string("freed twice ") + function, std::string(function) + ": " +
                                                                         allocation->title() + " was freed by " +
                                                                         allocation->freed->title() + " before");
    return nullptr;
  }
  return allocation;
}

// Whoever may still be using it is named. The real driver happens to wait for the device here; it does not promise to.
void freeNow(Driver &driver, const char *function, Allocation &allocation) {
  OperationRef operation = driver.scheduler.hostOperation(function);
  checkFree(driver, operation, allocation);
  ++driver.report.counts.frees;
  driver.memory.free(allocation, operation);
}

CUresult attributeOf(Driver &driver, CUpointer_attribute attribute, CUdeviceptr pointer, void *data) {
  Allocation *allocation = driver.memory.find(pointer);
  if (!allocation || allocation->freed) return CUDA_ERROR_INVALID_VALUE;
  bool device = allocation->space == Space::Device;
  auto put = [&](auto value) {
    *static_cast<decltype(value) *>(data) = value;
    return CUDA_SUCCESS;
  };
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT: return put(CUcontext(driver.contexts[allocation->device].get()));
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: return put(device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST);
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return put(pointer);
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    return device ? CUDA_ERROR_INVALID_VALUE : put(reinterpret_cast<void *>(pointer));
  case CU_POINTER_ATTRIBUTE_BUFFER_ID: return put(static_cast<unsigned long long>(allocation->number));
  case CU_POINTER_ATTRIBUTE_IS_MANAGED: return put(0);
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return put(allocation->device);
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return put(CUdeviceptr(allocation->begin));
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return put(size_t(allocation->size));
  case CU_POINTER_ATTRIBUTE_MAPPED: return put(1);
  default:
    std::fprintf(stderr, "stand-in: cuPointerGetAttribute: attribute %u is not supported\n", attribute);
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}

} // namespace

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &context) {
    *free = driver.memory.freeBytes(context.device);
    *total = driver.memory.totalBytes(context.device);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &context) -> CUresult {
    Allocation *allocation = nullptr;
    SPRIG_CUDA_TRY(allocate(driver, context, bytes, allocation));
    *pointer = allocation->begin;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
  return callInContext("cuMemFree", [&](Driver &driver, CUctx_st &) {
    if (!pointer) return CUDA_SUCCESS;
    Allocation *allocation = beginning(driver, "cuMemFree", pointer, true);
    if (!allocation) return CUDA_ERROR_INVALID_VALUE;
    freeNow(driver, "cuMemFree", *allocation);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream handle) {
  return callInStream(__func__, handle, [&](Driver &driver, CUstream_st &stream) -> CUresult {
    Allocation *allocation = nullptr;
    SPRIG_CUDA_TRY(allocate(driver, *stream.context, bytes, allocation));
    *pointer = allocation->begin;
    return driver.enqueue(stream, AllocateInOrder{allocation->begin});
  });
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream handle) {
  return callInStream(__func__, handle, [&](Driver &driver, CUstream_st &stream) -> CUresult {
    if (!pointer) return CUDA_SUCCESS;
    if (!beginning(driver, "cuMemFreeAsync", pointer, true)) return CUDA_ERROR_INVALID_VALUE;
    ++driver.report.counts.frees;
    return driver.enqueue(stream, FreeInOrder{pointer});
  });
}

CUresult cuMemAllocHost_v2(void **pointer, size_t bytes) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &context) {
    return allocateHost(driver, context, pointer, bytes, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE);
  });
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &context) {
    constexpr unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if (flags & ~known) return CUDA_ERROR_INVALID_VALUE;
    return allocateHost(driver, context, pointer, bytes, flags);
  });
}

CUresult cuMemFreeHost(void *pointer) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &) {
    if (!pointer) return CUDA_SUCCESS;
    Allocation *allocation = beginning(driver, "cuMemFreeHost", reinterpret_cast<uint64_t>(pointer), false);
    if (!allocation || allocation->space != Space::Pinned) return CUDA_ERROR_INVALID_VALUE;
    freeNow(driver, "cuMemFreeHost", *allocation);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &context) {
    constexpr unsigned known =
        CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;
    uint64_t address = reinterpret_cast<uint64_t>(pointer);
    if (!pointer || bytes == 0 || (flags & ~known) || driver.memory.isDeviceAddress(address))
      return CUDA_ERROR_INVALID_VALUE;
    return driver.memory.registerHost(context.device, address, bytes, flags)
               ? CUDA_SUCCESS
               : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  });
}

CUresult cuMemHostUnregister(void *pointer) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &) {
    Allocation *allocation = beginning(driver, __func__, reinterpret_cast<uint64_t>(pointer), false);
    if (!allocation || allocation->space != Space::Registered) return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    freeNow(driver, "cuMemHostUnregister", *allocation);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *result, void *pointer, unsigned flags) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &) {
    Allocation *allocation = driver.memory.find(reinterpret_cast<uint64_t>(pointer));
    if (flags || !allocation || allocation->freed || allocation->space == Space::Device)
      return CUDA_ERROR_INVALID_VALUE;
    *result = reinterpret_cast<uint64_t>(pointer); // one address space
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostGetFlags(unsigned *flags, void *pointer) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &) {
    Allocation *allocation = driver.memory.find(reinterpret_cast<uint64_t>(pointer));
    if (!allocation || allocation->freed || allocation->space == Space::Device) return CUDA_ERROR_INVALID_VALUE;
    *flags = allocation->flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &) {
    Allocation *allocation = driver.memory.find(pointer);
    if (!allocation || allocation->freed) return CUDA_ERROR_NOT_FOUND;
    if (base) *base = allocation->begin;
    if (bytes) *bytes = allocation->size;
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  return callInContext(__func__,
                       [&](Driver &driver, CUctx_st &) { return attributeOf(driver, attribute, pointer, data); });
}

// Unlike the single one it does not mind pointers that it does not know: their attributes are zero.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr pointer) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &) {
    for (unsigned i = 0; i < count; ++i) {
      CUresult result = attributeOf(driver, attributes[i], pointer, data[i]);
      if (result == CUDA_ERROR_NOT_SUPPORTED) return result;
      bool narrow = attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
                    attributes[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED || attributes[i] == CU_POINTER_ATTRIBUTE_MAPPED;
      if (result == CUDA_SUCCESS) continue;
      if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
        *static_cast<int *>(data[i]) = -2; // as the real one says
      else if (narrow)
        *static_cast<unsigned *>(data[i]) = 0;
      else
        *static_cast<uint64_t *>(data[i]) = 0;
    }
    return CUDA_SUCCESS;
  });
}

} // namespace sprig::cuda
