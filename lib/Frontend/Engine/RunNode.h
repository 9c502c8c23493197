// Tier 0: one operation at once, by a generic kernel, by its decomposition, or by a plan of its own.
// For segments that are not compiled yet.
#pragma once
#include "lib/Frontend/Engine/Value.h"

namespace sprig::frontend {

struct ArrayRef;

/// Computes an operation of these operands into these results. Throws Error. On the same thread as runNode.
void computeNode(const GraphNode &node, std::span<const ArrayRef> operands, std::span<const ArrayRef> results,
                 DeviceId device);

/// Computes a node whose operands are there (storage or failure) into fresh storage of the results. What goes wrong is
/// put into their `failure`, with the node's line. On the thread alone that has the turn of the device's lane.
void runNode(const Node &node, std::span<Value *const> results, DeviceId device);

} // namespace sprig::frontend
