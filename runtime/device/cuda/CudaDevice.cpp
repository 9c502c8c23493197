#include "runtime/device/cuda/CudaDevice.h"

#include "runtime/device/cuda/CudaCode.h"
#include "runtime/device/cuda/CudaExecutable.h"
#include "runtime/device/cuda/CudaLane.h"
#include "runtime/device/cuda/OpenCuda.h"

namespace sprig::rt::core {

using namespace cuda;

Status openCuda(uint32_t ordinal, std::shared_ptr<Device> &device) {
  std::shared_ptr<CudaContext> context;
  SPRIG_RETURN_IF_ERROR(CudaContext::open(ordinal, context));
  device = std::make_shared<CudaDevice>(ordinal, std::move(context));
  return {};
}

// Where devices do not reach one another's memory directly, the driver copies by way of the host.
bool CudaDevice::reaches(const Device &other) const {
  if (other.kind() != kind()) return other.sharesHostMemory();
  if (&other != this) opened->reachDirectly(static_cast<const CudaDevice &>(other).context());
  return true;
}

Status CudaDevice::load(const CodeRequest &request, std::shared_ptr<const DeviceCode> &code) const {
  if (request.kind != kCudaKind)
    return {SPRIG_RT_UNSUPPORTED, concat("device ", name(), " runs code for ", kind(), ", expected one of kind '",
                                         request.kind, "', for which the program was compiled")};
  return CudaCode::load(opened, request, code);
}

Status CudaDevice::createLane(Pool *, std::unique_ptr<DeviceLane> &lane) const {
  auto fresh = std::make_unique<CudaLane>(opened);
  SPRIG_RETURN_IF_ERROR(fresh->make());
  lane = std::move(fresh);
  return {};
}

Status CudaDevice::createEvent(std::unique_ptr<DeviceEvent> &event) const {
  auto fresh = std::make_unique<CudaEvent>(opened);
  SPRIG_RETURN_IF_ERROR(fresh->make());
  event = std::move(fresh);
  return {};
}

Status CudaDevice::transferNow(const Transfer &transfer) const {
  if (transfer.bytes == 0) return {};
  const CudaDriver &driver = opened->driver;
  CudaContext::Scope scope(*opened);
  CUresult result = transfer.targetDevice
                        ? driver.cuMemcpyHtoDAsync_v2(reinterpret_cast<CUdeviceptr>(transfer.target), transfer.source,
                                                      transfer.bytes, opened->own)
                        : driver.cuMemcpyDtoHAsync_v2(transfer.target, reinterpret_cast<CUdeviceptr>(transfer.source),
                                                      transfer.bytes, opened->own);
  if (result == CUDA_SUCCESS) result = driver.cuStreamSynchronize(opened->own);
  return opened->statusOf(result, transfer.targetDevice ? "copying from the host" : "copying to the host");
}

// Memory that the driver manages is on every device.
Status CudaDevice::checkArray(const void *address, std::string_view what) const {
  CudaContext::Scope scope(*opened);
  auto attribute = [&](CUpointer_attribute which, auto &value) {
    return opened->driver.cuPointerGetAttribute(&value, which, reinterpret_cast<CUdeviceptr>(address)) == CUDA_SUCCESS;
  };
  unsigned type = 0;
  int device = 0;
  uint64_t isManaged = 0; // drivers write a byte or more
  std::string found = "an address that the driver does not know";
  if (attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, type)) {
    if (attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, isManaged) && isManaged) return {};
    found = "memory of the host";
    if (type == CU_MEMORYTYPE_DEVICE && attribute(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, device)) {
      if (device == int(ordinal())) return {};
      found = concat("memory of ", kind(), ":", device);
    }
  }
  return {SPRIG_RT_INVALID_ARGUMENT, concat(what, ": expected memory of ", name(), ", got ", found)};
}

Status CudaDevice::checkStream(void *given) const {
  auto stream = static_cast<CUstream>(given);
  CudaContext::Scope scope(*opened); // whose default stream null is
  CUcontext of = nullptr;
  SPRIG_RETURN_IF_ERROR(
      opened->statusOf(opened->driver.cuStreamGetCtx(stream, &of), "asking for the context of the caller's stream"));
  if (of != opened->handle)
    return {SPRIG_RT_INVALID_ARGUMENT,
            concat("expected a stream of ", name(), "'s primary context, got one of another context")};
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  SPRIG_RETURN_IF_ERROR(opened->statusOf(opened->driver.cuStreamIsCapturing(stream, &capture), "asking for a capture"));
  if (capture == CU_STREAM_CAPTURE_STATUS_NONE) return {};
  return {SPRIG_RT_UNSUPPORTED, "expected a stream that runs, got one whose commands are being captured"};
}

Status CudaDevice::instantiate(const Package &package, Pool &pool, std::unique_ptr<Executable> &executable) const {
  auto fresh = std::make_unique<CudaExecutable>(package, pool, opened);
  SPRIG_RETURN_IF_ERROR(fresh->make());
  executable = std::move(fresh);
  return {};
}

} // namespace sprig::rt::core
