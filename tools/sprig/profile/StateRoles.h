// What a package's states are: weights, optimizer's tensors, averages, counters, or what calls carry on (a cache).
// For inspect --params and profile --memory.
#pragma once
#include "tools/sprig/run/Runner.h"
#include <string>
#include <vector>

namespace sprig::cli {

enum class StateRole {
  trained,   ///< a weight that steps update by its gradient
  kept,      ///< of the model, but not trained: running statistics, frozen weights
  optimizer, ///< momenta and the like
  average,   ///< moving averages of weights
  counter,   ///< steps, learning rate, seeds
  cache,     ///< what calls of a package that does not train hand on to the next
  weight,    ///< of a package whose calls change nothing
};
/// "trained", "optimizer", ...
const char *roleName(StateRole role);

struct StateInfo {
  TensorSpec spec;
  uint64_t bytes = 0;
  StateRole role = StateRole::weight;
  std::vector<int64_t> whole = {}; ///< the shape of what it is a rank's flat piece of; none: it is no piece
};

/// The states of a package in its order.
std::vector<StateInfo> statesOf(const Runner &runner);

/// A constant that entries read. Initial values of states are constants of the file, too, but no call reads them.
struct ConstantInfo {
  std::string name;
  uint64_t bytes = 0;
};
std::vector<ConstantInfo> constantsRead(const Runner &runner);

} // namespace sprig::cli
