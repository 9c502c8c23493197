// Whose time it is while a GPU's streams run side by side and a call's thread waits for them.
// For `sprig profile`: after it, self times add up to the calls again.
#pragma once
#include "sprig/rt/profile.hpp"
#include <functional>
#include <vector>

namespace sprig::machine {

/// Gives the time that a call's thread waits through for streams to what runs in those then, each moment in equal
/// parts. What the thread does itself meanwhile keeps its time; what nothing was recorded in stays the call's own.
void shareStreams(std::vector<rt::ProfileSpan> &spans, const std::function<bool(uint32_t thread)> &isStream);

} // namespace sprig::machine
