#include "runtime/device/cuda/CudaDevice.h"

#include "runtime/device/cuda/CudaCode.h"
#include "runtime/device/cuda/CudaExecutable.h"
#include "runtime/device/cuda/CudaLane.h"

namespace sprig::rt::core {

using namespace cuda;

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

Status CudaDevice::instantiate(const Package &package, Pool &pool, std::unique_ptr<Executable> &executable) const {
  auto fresh = std::make_unique<CudaExecutable>(package, pool, opened);
  SPRIG_RETURN_IF_ERROR(fresh->make());
  executable = std::move(fresh);
  return {};
}

} // namespace sprig::rt::core
