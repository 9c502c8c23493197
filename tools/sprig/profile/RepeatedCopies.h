// Copies between devices that every call makes again though what they copy stays the same.
// For sprig profile, which warns of them.
#pragma once
#include "tools/sprig/run/Runner.h"
#include <string>
#include <vector>

namespace sprig::cli {

/// A text for each state that a command of the entry copies to another device and none of them changes; begins with the
/// line of the model that reads it there, where that is known.
std::vector<std::string> repeatedCopies(const Runner &runner, uint32_t entry);

} // namespace sprig::cli
