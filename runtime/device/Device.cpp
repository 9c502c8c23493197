#include "runtime/device/Device.h"

#include <cstring>

namespace sprig::rt::core {

static Status transferNow(const Device &device, Transfer transfer) {
  if (transfer.bytes == 0 || !device.executes()) return {};
  if (device.sharesHostMemory()) {
    std::memmove(transfer.target, transfer.source, transfer.bytes);
    return {};
  }
  std::unique_ptr<DeviceLane> lane;
  std::unique_ptr<DeviceEvent> event;
  SPRIG_RETURN_IF_ERROR(device.createLane(nullptr, lane));
  SPRIG_RETURN_IF_ERROR(device.createEvent(event));
  RunControl control;
  transfer.tag.control = &control;
  lane->copy(transfer);
  lane->record(*event);
  event->synchronize(event->last(), std::nullopt);
  return control.take({});
}

Status upload(const Device &device, uint8_t *target, const void *source, uint64_t bytes) {
  return transferNow(device, {target, static_cast<const uint8_t *>(source), bytes, &device, nullptr, {}});
}

Status download(const Device &device, void *target, const uint8_t *source, uint64_t bytes) {
  return transferNow(device, {static_cast<uint8_t *>(target), source, bytes, nullptr, &device, {}});
}

} // namespace sprig::rt::core
