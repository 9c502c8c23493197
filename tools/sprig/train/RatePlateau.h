// The learning rate of a run whose schedule is `plateau`: what is measured at the ends of epochs, and what follows.
// For the loop of `sprig train`. Its state is part of checkpoints, beside the program's, so that a run that is gone on
// with lowers the rate when it would have without the stop. Ranks measure the same, so each has one of its own.
#pragma once
#include "lib/Training/Plateau.h"
#include "tools/sprig/train/TrainProgram.h"

namespace sprig::cli {

class RatePlateau {
public:
  /// `measures`: whether the run has data to evaluate on. Throws usage where what the schedule goes by is not measured.
  RatePlateau(const training::TrainConfig &config, bool measures);

  double rate() const { return lr; }
  /// A step's loss: without an evaluation their mean over an epoch is what counts.
  void addStep(float loss);
  /// Of an epoch that is at its end, with its evaluation where it has one. Whether the rate fell.
  bool endEpoch(const EvaluationResult *evaluation);

  /// Its state, to go into a checkpoint with the program's.
  std::vector<data::Array> arrays() const;
  /// Takes its state out of a checkpoint's arrays, and the rate, which stays among them. Throws badInput where that is
  /// not there, or of a run that measures something else.
  void takeFrom(std::vector<data::Array> &arrays);

private:
  const training::ScheduleConfig &schedule;
  bool measures;
  double lr;
  training::PlateauState state;
  double lossSum = 0, lossSteps = 0; ///< of the steps of the epoch under way
};

} // namespace sprig::cli
