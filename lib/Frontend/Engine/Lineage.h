// The part of what was recorded that lies between values and what they are differentiated by.
// For gradients in both directions.
#pragma once
#include "lib/Frontend/Engine/Hash.h"
#include "lib/Frontend/Engine/Value.h"
#include "sprig/grad.h"

namespace sprig::frontend {

struct Lineage {
  Graph graph;                 ///< outputs: those of the values
  std::vector<Value *> values; ///< that the graph's numbers stand for; null where a result was of no use to anybody
  std::vector<std::pair<Node *, uint32_t>> origins; ///< of the same numbers: the node and which of its results
  std::vector<uint32_t> wrt; ///< numbers; those that the outputs do not depend on are inputs without a use
  std::vector<Node *> nodes;
  Hash key;                ///< equal for equal structures
  bool reaches = false;    ///< whether the outputs depend on any
  bool hasCalls = false;   ///< whether compiled functions are called on the way; such nodes have no meaning as a graph
  bool hasCopies = false;  ///< whether values are copied between devices on the way; likewise
  bool hasDevices = false; ///< whether its nodes are on several
  /// Whether it can be differentiated as one graph.
  bool isWhole() const { return !hasCalls && !hasCopies && !hasDevices; }
  /// One of `wrt` that is a parameter of which the outputs depend on another version; or null.
  const Value *otherVersion = nullptr;
  std::vector<Value *> untrained; ///< parameters that the outputs depend on and nobody trains (Standing.h)
};

/// grad() without a word of what it is asked for.
std::vector<Tensor> gradientsOf(std::span<const Tensor> outputs, std::span<const Tensor> wrt,
                                const GradOptions &options, Source at);

/// A tensor of one of its values; what is gone is recorded again.
Tensor valueOf(Lineage &lineage, uint32_t number);

/// What the outputs depend on, as far as it depends on `wrt`; in the order of recording.
Lineage traceBack(std::span<const Tensor> outputs, std::span<const Tensor> wrt);

/// Roots with an owner that the output depends on. Throws where it depends on a parameter that has been set since.
std::vector<Value *> parametersBehind(const Tensor &output, Source at);

/// Notes for a function that is being recorded that it takes gradients of this with respect to `wrt` (none: to all
/// parameters), and the arguments that they go through.
void noteUse(Trace &trace, const Tensor &output, std::span<const Tensor> wrt);

/// "parameter 'fc.weight'", "the value f32[3]"
std::string describeAsked(const Value &value);

/// Why outputs depend on none of `wrt` (none: on no parameter), for the end of an error's text.
std::string whyUnreached(std::span<const Tensor> outputs, std::span<const Tensor> wrt);

} // namespace sprig::frontend
