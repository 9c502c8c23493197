// The devices that a package runs on: what its program names, or what the caller gives in their place.
#ifndef SPRIG_RUNTIME_DEVICE_DEVICES_H
#define SPRIG_RUNTIME_DEVICE_DEVICES_H

#include "runtime/device/Device.h"

namespace sprig::rt::core {

// Checks the devices that a program names, and says which images each runs.
Status verifyDevices(Program &program);

// `given` as in DeviceNames.h, one for each of the program's devices in their order; empty: the program's own. "null"
// alone stands for all, and keeps time only.
Status openDevices(const Program &program, std::string_view given, std::vector<std::shared_ptr<Device>> &devices);

} // namespace sprig::rt::core

#endif
