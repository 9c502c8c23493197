// The calling thread's current context, and what contexts may reach.
#include "test/gpu/driver/api/Call.h"

namespace sprig::cuda {
namespace {

CUresult check(Driver &driver, CUcontext context) {
  for (auto &known : driver.contexts)
    if (known.get() == context) return context->retained ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return CUDA_ERROR_INVALID_CONTEXT;
}

} // namespace

CUresult cuCtxSetCurrent(CUcontext context) {
  return call(__func__, [&](Driver &driver) -> CUresult {
    auto &stack = driver.contextStack();
    if (context) SPRIG_CUDA_TRY(check(driver, context));
    if (!stack.empty()) stack.pop_back();
    if (context) stack.push_back(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  return call(__func__, [&](Driver &driver) {
    auto &stack = driver.contextStack();
    *context = stack.empty() ? nullptr : stack.back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return call(__func__, [&](Driver &driver) -> CUresult {
    SPRIG_CUDA_TRY(check(driver, context));
    driver.contextStack().push_back(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  return call(__func__, [&](Driver &driver) {
    auto &stack = driver.contextStack();
    if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (context) *context = stack.back();
    stack.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice *device) {
  return callInContext(__func__, [&](Driver &, CUctx_st &context) {
    *device = context.device;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &context) {
    auto what = [&] { return "wait of the host for " + driver.deviceTitle(context); };
    return driver.drops(Ordering::Sync, what) ? context.failed : driver.waitForContext(context);
  });
}

CUresult cuCtxGetFlags(unsigned *flags) {
  return callInContext(__func__, [&](Driver &, CUctx_st &context) {
    *flags = context.flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  return callInContext(__func__, [&](Driver &, CUctx_st &) {
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &context) -> CUresult {
    SPRIG_CUDA_TRY(check(driver, peer));
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    if (peer == &context) return CUDA_ERROR_INVALID_CONTEXT;
    if (!driver.config.peers) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    if (!context.peers.insert(peer->device).second) return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    auto what = [&] { return "access of " + driver.deviceTitle(context) + " to " + driver.deviceTitle(*peer); };
    if (driver.drops(Ordering::Peer, what)) context.droppedPeer = peer->device;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &context) -> CUresult {
    SPRIG_CUDA_TRY(check(driver, peer));
    return context.peers.erase(peer->device) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  });
}

} // namespace sprig::cuda
