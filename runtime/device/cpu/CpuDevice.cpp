#include "runtime/device/cpu/CpuDevice.h"

#include "runtime/device/cpu/CpuLane.h"
#include "runtime/device/cpu/CpuRun.h"

#include <cstdlib>

namespace sprig::rt::core {

Status CpuCode::load(const CodeRequest &request, std::shared_ptr<const DeviceCode> &code) {
  auto fresh = std::make_shared<CpuCode>();
  fresh->isa = "none";
  if (!request.program.kernels.empty()) {
    const char *variable = std::getenv("SPRIG_CPU");
    std::string limit = !request.limit.empty() ? request.limit : variable ? variable : "";
    if (limit == "native") limit.clear();
    uint32_t chosen = 0;
    SPRIG_RETURN_IF_ERROR(chooseImage(request.program, cpuFeatures(), limit, chosen));
    const Image &image = request.program.images[chosen];
    SPRIG_RETURN_IF_ERROR(CodeImage::map(image, request.sections[image.section].bytes, fresh->mapped));
    fresh->mapped.announce(image, request.program.kernels);
    fresh->image = int(chosen);
    fresh->isa = image.isa;
  }
  code = std::move(fresh);
  return {};
}

Status CpuDevice::allocate(const Allocator &allocator, uint64_t bytes, std::string_view what, Memory &memory) const {
  auto block = std::make_shared<Block>();
  SPRIG_RETURN_IF_ERROR(Block::make(allocator, bytes, what, *block));
  memory.address = block->data();
  memory.owner = std::move(block);
  return {};
}

Status CpuDevice::createLane(std::unique_ptr<DeviceLane> &lane) const {
  lane = std::make_unique<CpuLane>();
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
