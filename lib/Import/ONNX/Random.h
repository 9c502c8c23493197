// Random numbers of a model: words of nn.philox under a node's seed, and the numbers that they stand for, by the
// formulas of docs/numerics.md. For the rows that draw. A program has no state, so each call draws the same.
#pragma once
#include "lib/Import/ONNX/Node.h"

namespace sprig::onnximport {

/// Key and counter of a node that draws: its seed, and how many have drawn before it in the entry. Fails where no seed
/// is given. In a loop, nodes draw anew in each step: one that is imported once for all steps is unrolled.
struct RandomWords {
  explicit RandomWords(Node &n);
  Value key, counter; ///< scalars, i64
};

/// Refuses a node in a branch or loop of a model that trains: a step gives its counter to nodes of the graph itself.
void requireDrawOfSteps(Node &n);

} // namespace sprig::onnximport
