// A module's steps as what the training loop (lib/TrainLoop) drives, and how its ranks meet.
// For the trainer. Steps are asked for and run later: results are taken when they are there.
#pragma once
#include "lib/Frontend/Trainer/CheckpointSlots.h"
#include "lib/Frontend/Trainer/Programs.h"
#include "lib/Frontend/Trainer/StatePieces.h"
#include "lib/TrainLoop/Loop.h"
#include "sprig/trainer.h"
#include <deque>

namespace sprig::frontend {

/// Whether another rank writes files and lines, and calls functions.
inline bool isOther(const dist::Group *group) { return group && group->rank() > 0; }

class ModuleRunner final : public training::StepRunner, public training::RankGroup {
public:
  /// `evaluation` may be null, and has this rank's shares. All outlive this.
  ModuleRunner(const TrainerOptions &options, const TrainingPrograms &programs, data::Loader *evaluation, Source at);

  /// Ranks hold their pieces of the optimizer's state from now on, where they share it.
  void cutState() { pieces.emplace(training.optimizer, options.zero ? options.group : nullptr, at); }
  /// All of it is on every rank, and the module has the averages of its weights, which have the last ones.
  void end();
  /// Everything that steps change, by name, but for the random numbers.
  CheckpointSlots slots() const;

  const Source at;

  // StepRunner
  size_t maxInFlight() const override;
  void submit(const training::Call &call) override;
  std::span<const training::StepResult> collect(bool wait) override;
  void cancel() override { underWay.clear(); }
  training::Evaluation evaluate() override;
  training::WholeState state() override;
  bool sharesState() const override { return options.zero && group && group->size() > 1; }
  void restore(const std::vector<data::Array> &arrays) override;
  std::vector<data::Array> weights() override;
  void setWeights(const std::vector<data::Array> &arrays) override;
  double rateAt(int64_t step) const override;
  bool lowerRates(const training::ScheduleConfig &schedule) override;

  // RankGroup
  bool haveLoops() const override { return group->size() > 1; }
  void agree(int &signal, int64_t &steps) override;
  bool ofFirst(bool own) override { return group->broadcast(Tensor(own), 0, at).item<bool>(at); }
  void checkReplicas() override { group->checkReplicas(*training.module, at); }

private:
  struct Asked {
    int64_t first;
    training::Clock::time_point begin, ready;
    std::vector<StepTensors> results;
  };

  const TrainerOptions &options;
  const TrainingPrograms &programs;
  const Training &training;
  data::Loader *evaluation;
  dist::Group *group;
  std::optional<StatePieces> pieces;
  double base; ///< the first group's rate that the schedule starts from
  std::deque<Asked> underWay;
  std::vector<training::StepResult> told;
  training::Clock::time_point lastEnd;

  CheckpointSlots weightSlots() const;
};

} // namespace sprig::frontend
