#include "runtime/device/Device.h"

#include <cstring>

namespace sprig::rt::core {

Status Device::transferNow(const Transfer &given) const {
  if (given.bytes == 0 || !executes()) return {};
  if (sharesHostMemory()) {
    std::memmove(given.target, given.source, given.bytes);
    return {};
  }
  std::unique_ptr<DeviceLane> lane;
  std::unique_ptr<DeviceEvent> event;
  SPRIG_RETURN_IF_ERROR(createLane(nullptr, lane));
  SPRIG_RETURN_IF_ERROR(createEvent(event));
  RunControl control;
  Transfer transfer = given;
  transfer.tag.control = &control;
  lane->copy(transfer);
  lane->record(*event);
  event->synchronize(event->last(), std::nullopt);
  return control.take({});
}

Status Device::checkArray(const void *, std::string_view what) const {
  return {SPRIG_RT_UNSUPPORTED, concat(what, ": nobody but the runtime has memory of ", name())};
}

Status Device::checkStream(void *) const {
  return {SPRIG_RT_INVALID_ARGUMENT, concat("expected a GPU for a stream of the caller's, got ", name())};
}

Status upload(const Device &device, uint8_t *target, const void *source, uint64_t bytes) {
  return device.transferNow({target, static_cast<const uint8_t *>(source), bytes, &device, nullptr, {}});
}

Status download(const Device &device, void *target, const uint8_t *source, uint64_t bytes) {
  return device.transferNow({static_cast<uint8_t *>(target), source, bytes, nullptr, &device, {}});
}

} // namespace sprig::rt::core
