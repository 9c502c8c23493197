// What is decided for the training step of ranks that take it together, beside the configuration.
// For whoever compiles one: train, profile and simulate ask for the same.
#pragma once
#include "tools/sprig/MeshFlags.h"
#include "tools/sprig/train/RankLink.h"
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sprig::cli {

struct RankChoices : StepChoices {
  /// Of ranks that train together, sizes are of all of them: the program of this one.
  int rank = 0, ranks = 1;
  std::vector<int64_t> weights = {}; ///< of their shares (RankWeights.h); none: even ones
  std::optional<RankLink> link = {};
  /// Where each rank compiles for itself: what was chosen here, to what all take. Called where it was chosen.
  std::function<int64_t(int64_t bytes)> agreeOnBucket = {};
  /// Above 1: `train_steps` takes so many of the largest steps in one call, of each inputs, targets and what it gives.
  int64_t stepsPerCall = 1;
  /// How many of such a step's late all-reduces go in their order (nn.repeat_turn); nothing: chosen, as buckets are.
  std::optional<int64_t> turn = {};
  std::function<int64_t(int64_t turn)> agreeOnTurn = {}; ///< as agreeOnBucket
  /// What ranks do together, as another one's program has it; none: nothing is compared.
  std::vector<std::string> collectives = {};
  bool onOneMachine = false; ///< ranks are, so bytes between them cost little
};

} // namespace sprig::cli
