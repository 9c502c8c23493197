// A stretch of recorded operations: the segment that is being filled, or a function that is being traced.
// For the recorder; the executor and the compiler get it when it is complete.
#pragma once
#include "lib/Frontend/Engine/Hash.h"
#include "lib/Frontend/Engine/Value.h"

namespace sprig::frontend {

/// Numbers that no segment, trace or walk shares.
uint64_t newScope();
/// Later operations have larger ones.
uint64_t newSequence();

struct Recording {
  uint64_t scope = newScope();
  uint64_t besides = scope;       ///< recordings from this one on may reach the same values between two of ours
  std::vector<Node *> nodes;      ///< a reference each, in order
  std::vector<Value *> values;    ///< their results, a reference each
  std::vector<Value *> externals; ///< what they use of outside, a reference each
  std::vector<Value *> constants; ///< likewise
  Hash hash;                      ///< of nodes and how they hang together
  double cost = 0;                ///< estimated floating-point operations

  Recording() = default;
  Recording(Recording &&other) noexcept;
  Recording &operator=(Recording &&) = delete;
  ~Recording();

  /// Adds an operation; its results are `state` values of no handle but the returned ones. `tracked`: whether they
  /// remember it where an operand is tracked.
  Node *add(GraphNode &&description, std::span<const Tensor> operands, std::span<const TensorType> results,
            Value::State state, bool tracked, DeviceId device = 0, bool unplaced = false);
  /// Makes a value that is not its own one of the externals or constants, once; its place among them.
  uint32_t reach(Value *value);
  /// The graph of it with these outputs, values of the recording or externals. Inputs are the externals in order.
  Graph graph(std::span<Value *const> outputs) const;
};

} // namespace sprig::frontend
