// A task of several lanes: it runs when all have come to it, and none goes on before it has run.
// For calls of functions over several devices, which take the threads of all of them.
#pragma once
#include "lib/Frontend/Engine/Engine.h"

namespace sprig::frontend {

/// Queues it behind what was queued before in each of these lanes; with one it is Engine::push. The threads of no lane
/// have to wake up for it: who comes to it first runs what is before it in the others, where nobody does.
void pushToAll(std::span<const LaneId> lanes, std::unique_ptr<Task> task, bool wake = true);

} // namespace sprig::frontend
