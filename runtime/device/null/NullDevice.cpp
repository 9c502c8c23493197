#include "runtime/device/null/NullDevice.h"

#include "runtime/device/HostCode.h"

namespace sprig::rt::core {

namespace {

class NullLane final : public DeviceLane {
public:
  NullLane(std::shared_ptr<NullMachine> owner, uint32_t device)
      : machine(std::move(owner)), queue(machine->addLane(device)) {}
  ~NullLane() override { machine->removeLane(queue); }

  void dispatch(const Launch &launch) override { machine->enqueue(*queue, {launch, {}, false}); }
  void copy(const Transfer &transfer) override { machine->enqueue(*queue, {transfer, {}, false}); }
  void record(DeviceEvent &event) override { machine->record(*queue, static_cast<NullEvent &>(event)); }
  void wait(DeviceEvent &event) override { machine->wait(*queue, event); }

private:
  std::shared_ptr<NullMachine> machine;
  NullQueue *queue;
};

} // namespace

Status NullDevice::load(const CodeRequest &request, std::shared_ptr<const DeviceCode> &code) const {
  SPRIG_RETURN_IF_ERROR(loadHostCode(request, executes(), code));
  if (executes()) return {};
  auto none = std::make_shared<DeviceCode>();
  none->isa = "null";
  code = std::move(none);
  return {};
}

Status NullDevice::allocate(const Allocator &allocator, uint64_t bytes, std::string_view what, Memory &memory) const {
  if (!executes()) return {};
  return machine->memory->allocate(allocator, ordinal(), bytes, what, memory);
}

Status NullDevice::createLane(Pool *, std::unique_ptr<DeviceLane> &lane) const {
  lane = std::make_unique<NullLane>(machine, ordinal());
  return {};
}

Status NullDevice::createEvent(std::unique_ptr<DeviceEvent> &event) const {
  event = std::make_unique<NullEvent>(machine);
  return {};
}

} // namespace sprig::rt::core
