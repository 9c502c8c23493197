// Copies of values from device to device, on a lane of the device that they go to: behind what computes the value,
// beside what the device computes itself. For the recorder.
#pragma once
#include "lib/Frontend/Engine/Engine.h"

namespace sprig::frontend {

/// `to` gets the content of `from`, or its failure; the task takes over one reference to it.
std::unique_ptr<Task> makeCopyTask(Tensor from, Value *to, Source at);

/// The copy remembers what it is one of: gradients go back the same way.
void rememberCopy(const Tensor &from, const Tensor &copy, const std::string *layer, Source at);

} // namespace sprig::frontend
