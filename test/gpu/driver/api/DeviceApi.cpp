// Devices and what they are like.
#include "test/gpu/driver/api/Call.h"

#include <cstdio>
#include <cstring>

namespace sprig::cuda {
namespace {

template <typename Body> CUresult callDevice(const char *function, CUdevice device, Body body) {
  return call(function, [&](Driver &driver) -> CUresult {
    if (device < 0 || static_cast<size_t>(device) >= driver.contexts.size()) return CUDA_ERROR_INVALID_DEVICE;
    return body(driver, *driver.contexts[device]);
  });
}

int busOf(CUdevice device) { return 16 * (device + 1); }

} // namespace

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  return callDevice(__func__, ordinal, [&](Driver &, CUctx_st &) {
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int *count) {
  return call(__func__, [&](Driver &driver) {
    *count = static_cast<int>(driver.contexts.size());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  return callDevice(__func__, device, [&](Driver &, CUctx_st &context) {
    if (length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(name, length, "%s", std::string(context.kind->name).c_str());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  return callDevice(__func__, device, [&](Driver &, CUctx_st &context) {
    std::optional<int> known = context.kind->attribute(attribute);
    if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) known = busOf(device);
    if (known) *value = *known;
    if (!known) std::fprintf(stderr, "stand-in: cuDeviceGetAttribute: attribute %u is not supported\n", attribute);
    return known ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
  });
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  return callDevice(__func__, device, [&](Driver &driver, CUctx_st &) {
    *bytes = driver.memory.totalBytes(device);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  return callDevice(__func__, device, [&](Driver &, CUctx_st &context) {
    char text[sizeof uuid->bytes + 1];
    std::snprintf(text, sizeof text, "standin%02d-%-6s", device, std::string(context.kind->architecture).c_str());
    std::memcpy(uuid->bytes, text, sizeof uuid->bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device) {
  return callDevice(__func__, device, [&](Driver &, CUctx_st &) {
    if (length <= 12) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(id, length, "0000:%02x:00.0", busOf(device));
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  return callDevice(__func__, device, [&](Driver &driver, CUctx_st &) {
    if (peer < 0 || static_cast<size_t>(peer) >= driver.contexts.size()) return CUDA_ERROR_INVALID_DEVICE;
    *can = driver.config.peers && device != peer;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  return callDevice(__func__, device, [&](Driver &driver, CUctx_st &primary) {
    if (primary.failed == CUDA_ERROR_DEVICE_UNAVAILABLE) return primary.failed;
    ++primary.retained;
    *context = &primary;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return callDevice(__func__, device, [&](Driver &driver, CUctx_st &primary) {
    if (primary.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--primary.retained == 0) driver.endContext(primary);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return callDevice(__func__, device, [&](Driver &driver, CUctx_st &primary) {
    driver.endContext(primary);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
  return callDevice(__func__, device, [&](Driver &, CUctx_st &primary) {
    *flags = primary.flags;
    *active = primary.retained > 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return callDevice(__func__, device, [&](Driver &, CUctx_st &primary) {
    primary.flags = flags;
    return CUDA_SUCCESS;
  });
}

} // namespace sprig::cuda
