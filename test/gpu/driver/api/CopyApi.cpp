// Copies and fills. What is back when a copy returns is what the driver's documentation promises ("API synchronization
// behavior"), and no more: pageable memory is staged at once and written to the device late, pinned memory is read
// late.
#include "test/gpu/driver/api/Call.h"

#include <cstdio>
#include <cstring>

namespace sprig::cuda {
namespace {

CUresult prepare(Driver &driver, const char *function, uint64_t to, uint64_t from, uint64_t bytes, Copy &copy) {
  copy = {};
  copy.bytes = bytes;
  SPRIG_CUDA_TRY(locate(driver, function, to, bytes, copy.to));
  SPRIG_CUDA_TRY(locate(driver, function, from, bytes, copy.from));
  if (copy.from.kind == Place::Kind::Pageable && !copy.to.isHost()) {
    const char *source = reinterpret_cast<const char *>(from);
    copy.staged = std::make_shared<std::vector<char>>(source, source + bytes);
  }
  watchPinned(driver, copy);
  return CUDA_SUCCESS;
}

bool endsPageable(const Copy &copy) { return copy.to.kind == Place::Kind::Pageable; }

CUresult copyAsync(Driver &driver, CUstream_st &stream, Copy copy) {
  if (copy.bytes == 0) return CUDA_SUCCESS;
  bool waits = !stream.capture && (endsPageable(copy) || (copy.from.isHost() && copy.to.isHost()));
  OperationRef queued;
  CUctx_st &context = *stream.context;
  SPRIG_CUDA_TRY(driver.enqueue(stream, std::move(copy), &queued));
  return waits ? driver.wait(context, queued) : CUDA_SUCCESS;
}

CUresult copyNow(Driver &driver, CUctx_st &context, Copy copy) {
  SPRIG_CUDA_TRY(driver.refuseWhileCapturing(context));
  if (copy.bytes == 0) return CUDA_SUCCESS;
  bool staged = copy.staged != nullptr, within = !copy.from.isHost() && !copy.to.isHost();
  // A synchronous copy of pageable memory begins when the stream's earlier work is done.
  if (staged) SPRIG_CUDA_TRY(driver.wait(context, driver.enqueueMarker(context.legacy, "synchronous copy")));
  OperationRef queued;
  SPRIG_CUDA_TRY(driver.enqueue(context.legacy, std::move(copy), &queued));
  return staged || within ? CUDA_SUCCESS : driver.wait(context, queued);
}

// Which side the function's name says is the device's, and that the pointer is what it says.
enum class Direction { Any, ToDevice, ToHost, Within };

CUresult checkDirection(Driver &driver, const char *function, Direction direction, const Copy &copy) {
  auto wrong = [&](const char *what) {
    driver.report.complain(std::string("direction ") + function, std::string(function) + ": " + what);
    return CUDA_ERROR_INVALID_VALUE;
  };
  bool deviceTo = copy.to.kind != Place::Kind::Pageable, deviceFrom = copy.from.kind != Place::Kind::Pageable;
  if ((direction == Direction::ToDevice || direction == Direction::Within) && !deviceTo)
    return wrong("the destination is not memory that a device reaches");
  if ((direction == Direction::ToHost || direction == Direction::Within) && !deviceFrom)
    return wrong("the source is not memory that a device reaches");
  if (direction == Direction::ToDevice && !copy.from.isHost())
    return wrong("the host's pointer, the source, points to device memory");
  if (direction == Direction::ToHost && !copy.to.isHost())
    return wrong("the host's pointer, the destination, points to device memory");
  return CUDA_SUCCESS;
}

CUresult now(const char *function, Direction direction, uint64_t to, uint64_t from, size_t bytes) {
  return callInContext(function, [&](Driver &driver, CUctx_st &context) -> CUresult {
    Copy copy;
    SPRIG_CUDA_TRY(prepare(driver, function, to, from, bytes, copy));
    SPRIG_CUDA_TRY(checkDirection(driver, function, direction, copy));
    return copyNow(driver, context, std::move(copy));
  });
}

CUresult async(const char *function, Direction direction, uint64_t to, uint64_t from, size_t bytes, CUstream handle) {
  return callInStream(function, handle, [&](Driver &driver, CUstream_st &stream) -> CUresult {
    Copy copy;
    SPRIG_CUDA_TRY(prepare(driver, function, to, from, bytes, copy));
    SPRIG_CUDA_TRY(checkDirection(driver, function, direction, copy));
    return copyAsync(driver, stream, std::move(copy));
  });
}

uint64_t address(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

CUresult fill(Driver &driver, const char *function, CUstream_st &stream, CUdeviceptr to, unsigned value,
              unsigned elementBytes, size_t count, bool async) {
  if (count == 0) return CUDA_SUCCESS;
  if (to % elementBytes) return CUDA_ERROR_INVALID_VALUE;
  Place place;
  SPRIG_CUDA_TRY(locate(driver, function, to, count * elementBytes, place));
  if (place.kind == Place::Kind::Pageable) return CUDA_ERROR_INVALID_VALUE;
  OperationRef queued;
  SPRIG_CUDA_TRY(driver.enqueue(stream, Fill{to, place.allocation, value, elementBytes, count}, &queued));
  // Fills of device memory are asynchronous even where they do not say so.
  return !async && place.isHost() ? driver.wait(*stream.context, queued) : CUDA_SUCCESS;
}

CUresult fillNow(const char *function, CUdeviceptr to, unsigned value, unsigned elementBytes, size_t count) {
  return callInContext(function, [&](Driver &driver, CUctx_st &context) -> CUresult {
    SPRIG_CUDA_TRY(driver.refuseWhileCapturing(context));
    return fill(driver, function, context.legacy, to, value, elementBytes, count, false);
  });
}

CUresult fillAsync(const char *function, CUdeviceptr to, unsigned value, unsigned elementBytes, size_t count,
                   CUstream handle) {
  return callInStream(function, handle, [&](Driver &driver, CUstream_st &stream) {
    return fill(driver, function, stream, to, value, elementBytes, count, true);
  });
}

} // namespace

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return now("cuMemcpy", Direction::Any, to, from, bytes);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  return now("cuMemcpyHtoD", Direction::ToDevice, to, address(from), bytes);
}
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  return now("cuMemcpyDtoH", Direction::ToHost, address(to), from, bytes);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return now("cuMemcpyDtoD", Direction::Within, to, from, bytes);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) {
  return now("cuMemcpyPeer", Direction::Within, to, from, bytes);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return async("cuMemcpyAsync", Direction::Any, to, from, bytes, stream);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  return async("cuMemcpyHtoDAsync", Direction::ToDevice, to, address(from), bytes, stream);
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return async("cuMemcpyDtoHAsync", Direction::ToHost, address(to), from, bytes, stream);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return async("cuMemcpyDtoDAsync", Direction::Within, to, from, bytes, stream);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes, CUstream stream) {
  return async("cuMemcpyPeerAsync", Direction::Within, to, from, bytes, stream);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return fillNow("cuMemsetD8", to, value, 1, count);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  return fillNow("cuMemsetD16", to, value, 2, count);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  return fillNow("cuMemsetD32", to, value, 4, count);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return fillAsync("cuMemsetD8Async", to, value, 1, count, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return fillAsync("cuMemsetD16Async", to, value, 2, count, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return fillAsync("cuMemsetD32Async", to, value, 4, count, stream);
}

} // namespace sprig::cuda
