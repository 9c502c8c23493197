// TrainerOptions::plateau: rates that fall where what the trainer measures stays.
// For the trainer's loop and its checkpoints. Its state is what a run goes on from; each rank has one, and all measure
// the same.
#pragma once
#include "lib/Frontend/Trainer/StepLog.h"

namespace sprig::frontend {

class RatePlateau {
public:
  /// `evaluates`: epochs end with an evaluation, which is what counts then. Throws Error (usage) where accuracy is what
  /// counts and there is none.
  RatePlateau(const optim::Optimizer &optimizer, const optim::PlateauOptions &options, bool evaluates, Source at);

  /// Takes the epoch's loss or accuracy, of the evaluation where there was one; whether a rate fell. Throws Error
  /// (usage) where accuracy is what counts and the report has none.
  bool endEpoch(const EpochReport &report) const;

  /// The log's sums of the epoch under way become state, and back.
  void keepSums(const StepLog &log) const;
  void restoreSums(StepLog &log) const;
  std::vector<std::pair<std::string, Parameter>> namedState() const;
  /// What runs that go on from one another have in common, as text.
  const std::string &settings() const { return text; }

private:
  optim::ReduceOnPlateau rule;
  Parameter sums; ///< of losses and of their samples, an array of f64
  bool byAccuracy;
  std::string text;
  Source at;
};

} // namespace sprig::frontend
