// The functions that compiled code may call, by name.
#ifndef SPRIG_RUNTIME_DEVICE_CPU_CALLS_H
#define SPRIG_RUNTIME_DEVICE_CPU_CALLS_H

#include <string_view>

namespace sprig::rt::core {

// The address that an import slot of this name gets; null when the table has no such call.
void *findRuntimeCall(std::string_view name);

} // namespace sprig::rt::core

#endif
