#include "runtime/device/Devices.h"

#include "runtime/device/DeviceNames.h"
#include "runtime/device/HostCode.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cuda/OpenCuda.h"
#include "runtime/device/null/NullDevice.h"

#include <algorithm>

namespace sprig::rt::core {

namespace {

// Devices of one load: the null ones share a machine, so that it can play them against each other.
class Opener {
public:
  explicit Opener(const NullOptions &options) : options(options) {}

  Status open(const GivenDevice &name, std::shared_ptr<Device> &device) {
    for (const std::shared_ptr<Device> &other : opened)
      if (other->kind() == name.kind && other->ordinal() == name.ordinal) {
        device = other;
        return {};
      }
    if (name.kind == "cpu") {
      device = std::make_shared<CpuDevice>(name.ordinal);
    } else if (name.kind == "null") {
      if (!machine) machine = std::make_shared<NullMachine>(options);
      device = std::make_shared<NullDevice>(name.ordinal, machine);
    } else if (name.kind == kCudaKind) {
      SPRIG_RETURN_IF_ERROR(openCuda(name.ordinal, device));
    } else {
      return {SPRIG_RT_UNSUPPORTED, concat("device ", name.kind, ":", name.ordinal, " is not there")};
    }
    opened.push_back(device);
    return {};
  }

private:
  NullOptions options;
  std::shared_ptr<NullMachine> machine;
  std::vector<std::shared_ptr<Device>> opened;
};

std::string namesOf(const std::vector<GivenDevice> &devices) {
  std::string text;
  for (const GivenDevice &device : devices) text += concat(text.empty() ? "" : ", ", device.name());
  return text;
}

} // namespace

Status verifyDevices(Program &program) {
  constexpr size_t most = 1024;
  if (program.devices.size() > most)
    return {SPRIG_RT_BAD_PACKAGE, concat("expected at most ", most, " devices, found ", program.devices.size())};
  for (size_t i = 0; i < program.devices.size(); ++i) {
    DeviceName &device = program.devices[i];
    device.name = device.text();
    // Null devices that a program is for compute in place of the processor.
    device.codeKind = device.kind == "null" ? "cpu" : device.kind;
    std::string known;
    bool isKnown = device.codeKind == kCudaKind;
    for (const HostCodeKind *kind : hostCodeKinds()) {
      isKnown |= kind->name() == device.codeKind;
      known += concat(kind->name(), ", ");
    }
    if (!isKnown)
      return {SPRIG_RT_UNSUPPORTED,
              concat("device ", i, ": expected one of ", known, kCudaKind, ", null, found '", device.kind, "'")};
    for (size_t other = 0; other < i; ++other)
      if (program.devices[other].text() == device.text())
        return {SPRIG_RT_BAD_PACKAGE, concat("devices ", other, " and ", i, " are both '", device.text(), "'")};
  }
  return {};
}

Status openDevices(const Program &program, std::string_view given, std::vector<std::shared_ptr<Device>> &devices) {
  GivenDevices names;
  if (!given.empty()) SPRIG_RETURN_IF_ERROR(parseDevices(given, names));
  std::vector<GivenDevice> own;
  for (const DeviceName &device : program.devices) own.push_back({device.kind, device.ordinal, false});
  NullOptions options;
  SPRIG_RETURN_IF_ERROR(nullOptionsOfEnvironment(options));
  if (names.keepsTimeOnly()) {
    options.computes = false;
    names.list.clear();
    for (uint32_t i = 0; i < own.size(); ++i) names.list.push_back({"null", i, false});
  }
  if (names.list.empty()) names.list = own;
  if (names.list.size() != own.size())
    return {SPRIG_RT_UNSUPPORTED,
            concat("the program runs on ", own.size(), own.size() == 1 ? " device (" : " devices (", namesOf(own),
                   "), given ", names.list.size(), " (", namesOf(names.list), ")")};
  Opener opener(options);
  for (const GivenDevice &name : names.list) {
    std::shared_ptr<Device> device;
    SPRIG_RETURN_IF_ERROR(opener.open(name, device));
    devices.push_back(std::move(device));
  }
  bool executes = devices.front()->executes();
  for (const std::shared_ptr<Device> &device : devices)
    if (device->executes() != executes)
      return {SPRIG_RT_INVALID_ARGUMENT,
              concat(device->name(), " and ", devices.front()->name(), ": one computes and the other only keeps time")};
  return {};
}

} // namespace sprig::rt::core
