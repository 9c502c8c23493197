// The segment that is being filled, and when it is cut.
// For recording, reading and compiled functions. Any thread may record: what is not within a trace goes to one segment
// of the process.
#pragma once
#include "lib/Frontend/Engine/Recording.h"

namespace sprig::frontend {

/// Hands what has been recorded to the engine. `wake`: whether the executor should start at once, or the caller is
/// going to wait for it anyway.
void flush(bool wake = true);

/// A step of the program ends here: the next operation starts a segment. So the segments of a loop that nobody waits
/// for are its steps, whatever their length, and are recognised when they come again. Not at once, as the caller still
/// holds what nobody is going to read.
void endSegment();

} // namespace sprig::frontend
