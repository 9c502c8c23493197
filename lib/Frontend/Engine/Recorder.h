// The segment that is being filled, and when it is cut.
// For recording, reading and compiled functions. Any thread may record: what is not within a trace goes to the one
// segment that each device has.
#pragma once
#include "lib/Frontend/Engine/Recording.h"

namespace sprig::frontend {

/// Hands what has been recorded to the engine, of all devices or of one. `wake`: whether the executor should start at
/// once, or the caller is going to wait for it anyway.
void flush(bool wake = true);
/// Runs all that is recorded and queued, on every device, and throws what failed.
void finishAll();
/// As Tensor::wait; profiles call the wait `what` (ProfileSpan.h).
void waitFor(const Tensor &tensor, const char *what, Source source);
void flushDevice(DeviceId device, bool wake = true);
/// The same of the devices of these values, where they are recorded and not handed over yet: for tasks that read them.
void flushBefore(std::span<const Tensor> values);

/// A copy of a value for a device, recorded; no result waits. It remembers where it came from for gradients.
Tensor copyTo(const Tensor &value, DeviceId device, Source at);
/// The same outside of the function that is being recorded, if one is.
Tensor queueCopy(const Tensor &value, DeviceId device, Source at);
/// The device that operations on these operands run on, or that of the last one where they say none. Throws Error
/// (usage) in the name of `op` for tensors of two.
struct Placed {
  DeviceId device = 0;
  bool isFree = false; ///< no operand and no scope says it: the result may be used on any
};
Placed placeFor(std::span<const Tensor> operands, const OpName &op, Source at);

/// A step of the program ends here: the next operation starts a segment. So the segments of a loop that nobody waits
/// for are its steps, whatever their length, and are recognised when they come again. Not at once, as the caller still
/// holds what nobody is going to read.
void endSegment();

} // namespace sprig::frontend
