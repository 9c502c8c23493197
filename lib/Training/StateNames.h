// Names of a training program's entries, and of the state that training adds to a model's own parameters.
// For the step builder, for what runs the entries, and for what saves, loads and exports state: names with these
// prefixes are not the model's.
#pragma once
#include <string>
#include <string_view>

namespace sprig::training {

/// One optimizer step on a batch, and the scores of a batch (StepBuilder.h).
inline constexpr std::string_view kStepEntry = "train_step", kEvaluationEntry = "evaluate";

/// Several steps in one call, each on a batch of its own.
inline constexpr std::string_view kStepsEntry = "train_steps";

inline constexpr std::string_view kOptimizerPrefix = "optimizer/", kAveragePrefix = "average/",
                                  kRandomPrefix = "random/";
inline constexpr const char *kStep = "optimizer/step"; ///< i64: steps done
inline constexpr const char *kLr = "optimizer/lr";     ///< f64: the learning rate that the schedule starts from
/// What the training loop keeps, f64. The schedule `plateau`: its best metric, bad epochs and cooldown. Of the epoch
/// under way: losses times their samples, and samples. Observers: numbers of their own.
inline constexpr const char *kPlateau = "optimizer/plateau", *kPlateauLoss = "optimizer/plateau_loss",
                            *kObservers = "optimizer/observers";
/// Before the name of the metric that early stop goes by, f64: its best, the epoch of that, measurements since, and of
/// the epoch under way the metric's sum.
inline constexpr const char *kEarlyStopPrefix = "optimizer/early_stop/";
/// Before an array of the model: what it was at the best measurement.
inline constexpr const char *kBestPrefix = "optimizer/best/";
inline constexpr const char *kSeed = "random/seed"; ///< i64: the key of random numbers

/// An optimizer's own tensor for a parameter: "optimizer/momentum/fc.weight".
inline std::string slotName(const std::string &slot, const std::string &parameter) {
  return std::string(kOptimizerPrefix) + slot + "/" + parameter;
}
/// Before a parameter's name: i64, how many of the optimizer's steps left it alone. Where there is none it is 0.
inline constexpr const char *kSkippedPrefix = "optimizer/skipped/";
/// The moving average of a parameter.
inline std::string averageName(const std::string &parameter) { return std::string(kAveragePrefix) + parameter; }

/// Whether the state is training's rather than the model's.
inline bool isTrainingState(std::string_view name) {
  return name.starts_with(kOptimizerPrefix) || name.starts_with(kAveragePrefix) || name.starts_with(kRandomPrefix);
}

} // namespace sprig::training
