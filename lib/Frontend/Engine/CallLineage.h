// What is known of a compiled function so that gradients flow through its calls.
// For Variant, which has one, and for gradients.
#pragma once
#include "lib/Frontend/Engine/Hash.h"
#include "lib/Frontend/Engine/Trace.h"
#include <mutex>
#include <unordered_map>

namespace sprig::frontend {

struct DerivedProgram;

struct CallLineage {
  std::vector<char> open; ///< of the graph's nodes: recorded outside of NoGrad
  /// Of each result: the graph's inputs that gradients flow to; and after all inputs, by the number of the state,
  /// values that states are set to. Not the old values of those.
  std::vector<std::vector<uint32_t>> behind;
  bool any = false;              ///< whether they flow to any
  std::vector<char> ofGradient;  ///< of each result: Value::ofGradient
  std::vector<uint32_t> sources; ///< of each input of the graph: its place among the states (kState), or the others
  const std::string *refusal = nullptr; ///< Node::refusal: what it is and which state it sets; null: it sets none
  bool endsLineage = false;             ///< it holds an optimizer's update
  GradientUse use;                      ///< of gradients within
  std::vector<char> tracked;            ///< with `use.any`: which arguments were tracked when it was recorded,
  bool lineageOutside = true;           ///< and whether it was outside of NoGrad
  std::mutex mutex;
  std::unordered_map<Hash, std::shared_ptr<const DerivedProgram>> programs; ///< its gradients; guarded by `mutex`

  static constexpr uint32_t kState = uint32_t(1) << 31;
};

/// Makes results of a call remember it, where gradients may flow through. `inputs` are the graph's, and after them the
/// next value of each state, null where it is only read.
void rememberCall(const std::shared_ptr<Variant> &callee, std::span<Value *const> inputs,
                  std::span<const Tensor> results);

/// Throws where the function takes gradients with respect to parameters that one of its arguments was computed from.
void checkUse(const Variant &callee, std::span<const Tensor> arguments);

/// The same for what no gradient is known of: one that is asked for through the call is refused. `refusal` is interned.
void rememberRefused(const std::string *refusal, std::span<const Tensor> inputs, std::span<const Tensor> results);

/// Throws where the way of gradients leads through a call that has none.
void refuseCalls(std::span<Node *const> nodes, const char *op, Source at);

} // namespace sprig::frontend
