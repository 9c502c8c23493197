// What a package that trains says of itself: the configuration that its steps were compiled from.
// For what compiles such packages, and for `sprig train`, which trains them without a compiler and must not take
// another configuration for it.
#pragma once
#include "lib/Training/TrainConfig.h"
#include <string>
#include <string_view>
#include <vector>

namespace sprig {

struct TrainNote {
  training::TrainConfig config; ///< resolved
  int64_t samples = 0;          ///< of the training set that it was resolved for
  std::vector<int64_t> classes; ///< of each output; 0 where its loss has none
  std::vector<std::string> trainable;
  int zero = 0; ///< 1: ranks share the optimizer's state
};

/// The name of the package's fact.
inline constexpr char kTrainingFact[] = "training";

std::string toText(const TrainNote &note);
/// Throws badInput, which `package` begins, for what cannot be read.
TrainNote parseTrainNote(std::string_view text, const std::string &package);

} // namespace sprig
