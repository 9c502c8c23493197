// What is inside of a package, from the runtime's introspection. For inspect.
#pragma once
#include "tools/sprig/profile/MemoryReport.h"
#include "tools/sprig/Settings.h"
#include "tools/sprig/run/Runner.h"

namespace sprig::cli {

/// As the package has it: a small program is one command, in which all its buffers are in use.
MemoryPlan memoryPlan(const Runner &runner, size_t entry);
/// With the threads and on the devices that the settings name, else those of the machine and of the package.
MemoryNeeds memoryNeeds(const Runner &runner, const Settings &settings);

/// The bytes of the file that are in no section: its header, and what lies in front of sections, so that they begin at
/// pages.
uint64_t bytesBesideSections(const Runner &runner);

Json packageToJson(const Runner &runner);
void printPackage(const Runner &runner);
/// A row for each state and each constant that entries read: name, type, bytes, what it is.
void printPackageParameters(const Runner &runner);

} // namespace sprig::cli
