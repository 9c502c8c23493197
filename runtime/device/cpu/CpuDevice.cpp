#include "runtime/device/cpu/CpuDevice.h"

#include "runtime/device/cpu/CpuCode.h"
#include "runtime/device/cpu/CpuLane.h"
#include "runtime/device/cpu/CpuRun.h"

namespace sprig::rt::core {

Status CpuDevice::load(const CodeRequest &request, std::shared_ptr<const DeviceCode> &code) const {
  if (request.kind != kind())
    return {SPRIG_RT_UNSUPPORTED, concat("device ", name(), " runs code for ", kind(), ", expected one of kind '",
                                         request.kind, "', for which the program was compiled")};
  return loadHostCode(request, true, code);
}

Status CpuDevice::allocate(const Allocator &allocator, uint64_t bytes, std::string_view what, Memory &memory) const {
  auto block = std::make_shared<Block>();
  SPRIG_RETURN_IF_ERROR(Block::make(allocator, bytes, what, *block));
  memory.address = block->data();
  memory.owner = std::move(block);
  return {};
}

Status CpuDevice::createLane(Pool *helpers, std::unique_ptr<DeviceLane> &lane) const {
  lane = std::make_unique<CpuLane>(helpers);
  return {};
}

Status CpuDevice::createEvent(std::unique_ptr<DeviceEvent> &event) const {
  event = std::make_unique<CpuEvent>();
  return {};
}

Status CpuDevice::instantiate(const Package &package, Pool &pool, std::unique_ptr<Executable> &executable) const {
  auto run = std::make_unique<CpuRun>(package, static_cast<const CpuCode &>(package.code(0)), pool);
  SPRIG_RETURN_IF_ERROR(run->allocate());
  executable = std::move(run);
  return {};
}

} // namespace sprig::rt::core
