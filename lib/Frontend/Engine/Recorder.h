// The segment that is being filled, and when it is cut.
// For recording, reading and compiled functions. Any thread may record: what is not within a trace goes to one segment
// of the process.
#pragma once
#include "lib/Frontend/Engine/Recording.h"

namespace sprig::frontend {

/// Hands what has been recorded to the engine. `wake`: whether the executor should start at once, or the caller is
/// going to wait for it anyway.
void flush(bool wake = true);

} // namespace sprig::frontend
