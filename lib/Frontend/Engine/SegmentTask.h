// A cut segment on its way through the engine: compiled when it has been seen before, else operation by operation.
#pragma once
#include "lib/Frontend/Engine/Engine.h"
#include "lib/Frontend/Engine/Recording.h"

namespace sprig::frontend {

/// The recording's values that are marked live get written; all others never had a reader.
std::unique_ptr<Task> makeSegmentTask(Recording recording, DeviceId device);

} // namespace sprig::frontend
