// A compiled function for one kind of arguments: its graph, what it takes besides its arguments, and its plan.
// For compiled functions and for packages. Recorded by the caller's thread, compiled and run by the engine's.
#pragma once
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Engine/Trace.h"
#include <list>

namespace sprig::frontend {

struct Variant {
  using Body = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
  /// Records body on inputs of these types.
  static std::shared_ptr<Variant> record(std::span<const TensorType> inputs, const Body &body, const std::string &name,
                                         Source at);

  /// What a graph's input that is no state stands for.
  struct Feed {
    enum class Kind : uint8_t { argument, captured, randomKey, randomBase } kind;
    uint32_t index = 0; ///< argument
    Tensor value;       ///< captured
  };

  std::string name;
  std::vector<TensorType> inputs;
  std::vector<std::pair<std::shared_ptr<const bool>, bool>> observed;
  Graph graph;
  std::vector<Feed> feeds; ///< in the order of the graph's inputs, without states
  std::vector<StateSlot> slots;
  std::vector<Parameter> parameters; ///< one for each slot
  std::vector<TensorType> results;   ///< the graph's outputs that are no state
  uint64_t randomDraws = 0;
  uint64_t structure = 0;

  bool fits(std::span<const Tensor> arguments, uint64_t givenStructure) const;
  /// Queues a call; returns its results, which are not there yet.
  static std::vector<Tensor> call(const std::shared_ptr<Variant> &self, std::span<const Tensor> arguments);

  // Of the engine's thread alone.
  std::unique_ptr<Plan> plan;
  Failure failure; ///< of compiling it
  uint64_t runs = 0;
  struct Pointers {
    std::vector<void *> in, out, states;
  } pointers; ///< of the call that runs
  /// Whether a call takes less time than another thread needs to wake up.
  std::atomic<bool> isShort{false};
};

/// The key of random numbers, and the first counter of `draws` ones.
struct RandomPosition {
  uint64_t key, counter;
};
RandomPosition takeRandom(uint64_t draws);

} // namespace sprig::frontend
