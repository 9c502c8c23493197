// The devices that a package names, and those that --devices names in their place.
// For commands that look at a package without running it.
#pragma once
#include "tools/sprig/Settings.h"
#include "tools/sprig/run/Runner.h"
#include <string>
#include <vector>

namespace sprig::cli {

/// As the package names them: "cpu:0", "cuda:1".
std::vector<std::string> devicesOf(const Runner &runner);
/// Those of --devices, where it was given, else the package's own. Throws unsupported where they are not as many.
std::vector<std::string> devicesFor(const Runner &runner, const Settings &settings);

} // namespace sprig::cli
