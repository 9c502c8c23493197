// All that outlives a step of a training run and is not its runner's state, and how checkpoints hold it.
// For the training loop.
#pragma once
#include "lib/Data/Array.h"
#include "lib/Training/Plateau.h"
#include <optional>

namespace sprig::training {

/// When a run ends early, and which weights count as its best.
struct EarlyStop {
  int64_t patience = 0; ///< measurements without improvement that end the run; 0: it does not end early
  double minDelta = 0;  ///< what an improvement is more than
  bool keepsBest = false;
};

/// Best is the lowest, or with `highest` the highest. What is not a number is no improvement.
struct BestSoFar {
  double value;
  int64_t epoch = -1;  ///< that it is of, from 0; -1: nothing was measured
  int64_t without = 0; ///< measurements since
  explicit BestSoFar(bool highest);
  /// Whether the metric is the best.
  bool take(const EarlyStop &rule, bool highest, double metric, int64_t ofEpoch);
};

struct LoopState {
  int64_t steps = 0; ///< done
  /// Of the epoch under way: losses times what they are means over, which is samples unless steps say else, and the sum
  /// of that.
  double lossSum = 0, lossWeight = 0;
  double monitorSum = 0; ///< the same of the metric that early stop goes by, where it is one of the steps' own
  std::optional<PlateauState> plateau;
  std::optional<BestSoFar> early;
  std::vector<data::Array> best; ///< weights

  /// As arrays of a checkpoint, with the numbers that observers go on from. `keepsLosses`: whether something goes by
  /// the losses of the epoch under way. `monitor`: the metric that early stop goes by.
  std::vector<data::Array> arrays(bool keepsLosses, const std::string &monitor,
                                  const std::vector<double> &observers) const;
  /// Takes its arrays out of a checkpoint's, and returns the observers' numbers. `index` samples of an epoch were used,
  /// `each` in a step. Early stop begins anew where the checkpoint has none by this metric. Throws badInput where an
  /// array is of another type.
  std::vector<double> takeFrom(std::vector<data::Array> &arrays, const std::string &monitor, int64_t index,
                               int64_t each);
};

} // namespace sprig::training
