// Ranks that train together in this process, the one of them that this process is, or the one that trains alone: a
// program for each, which all take the same steps on their shares of the samples. Their states are the same between two
// steps.
// For `sprig train`. Of one thread at a time; a thread of its own works for each rank but the first.
#pragma once
#include "lib/TrainLoop/SameFacts.h"
#include "tools/sprig/train/TrainProgram.h"
#include <atomic>
#include <exception>
#include <functional>
#include <thread>

namespace sprig::cli {

using training::WholeState;

class TrainRanks {
public:
  /// A program alone.
  explicit TrainRanks(Runner runner);
  /// Runners by rank, each with the program of its rank and a group; `first` is the first one's share.
  TrainRanks(std::vector<Runner> runners, const RankShare &first);
  /// One of several processes that are ranks; the runner is of its group.
  TrainRanks(Runner runner, RankShare share);
  ~TrainRanks();

  /// Sizes and interface are those of every rank, and the state is but for pieces.
  const TrainProgram &first() const { return *programs.front(); }
  /// Of the ranks of this process together.
  int threadCount() const;

  /// Takes the samples of a call's steps, and hands it over: as TrainProgram's, of all ranks.
  void submit(const TrainData &data, std::span<const int64_t> indices, int64_t steps = 1);
  void submit(std::span<const data::Batch> batches, training::Clock::time_point begin);
  std::span<const StepResult> finish();
  void cancel();
  /// What collectives of the steps so far took the first rank, waiting for others included, and how much of that it had
  /// nothing else to do.
  sprig_rt_group_times communication() const;
  StepResult step(const TrainData &data, std::span<const int64_t> indices) {
    submit(data, indices);
    return finish().front();
  }
  /// All samples, in their order, in parts of the sizes there are.
  training::Evaluation evaluate(const TrainData &data);

  /// The state between two steps, until the next one. Where ranks share it, their pieces are put together, and those
  /// that are processes all ask for it at the same time.
  WholeState state() const;
  bool sharesState() const { return first().hasPieces(); }
  /// From whole arrays.
  void restore(std::span<const data::Array> arrays);
  void start(double lr, uint64_t seed);
  /// As TrainProgram::setParameters.
  void setParameters(std::span<const data::Array> arrays);
  /// Throws badInput where ranks that are processes do not begin alike: by these facts, which `what` names, or by a bit
  /// of their states.
  void checkBeginning(std::span<const training::Fact> facts) const;
  /// Throws internal where the states of two ranks differ in a bit, with the array's name; pieces apart.
  void checkReplicas() const;
  /// Whether other processes have to end behind the same step.
  bool areProcesses() const { return isProcess; }
  /// Of all processes, which call it behind the same step: the largest signal and the least number of steps.
  void agree(int &signal, int64_t &steps) const;
  /// Tells other processes why this one does not go on.
  void tellOthers(const std::string &why) const;

private:
  std::vector<std::unique_ptr<TrainProgram>> programs;
  bool isProcess = false;           ///< one of several
  sprig_rt_group_times others = {}; ///< what was before, and of evaluations
  training::ReduceNumbers reduceAs(const char *name) const;
  std::string differingState() const;
  /// A rank's text, on all.
  std::string textOfRank(int rank, const std::string &own) const;
  /// "optimizer.lr is 0.1 on rank 0, 0.5 on rank 1", of objects that are not the same on all.
  std::string differingField(const std::string &json) const;

  // The threads of the ranks behind the first: each does `work` once for each number of it.
  using Work = std::function<void(TrainProgram &)>;
  const Work *work = nullptr; ///< null: threads end
  alignas(64) std::atomic<uint32_t> number = 0;
  alignas(64) std::atomic<uint32_t> busy = 0;
  std::vector<std::exception_ptr> failures;
  std::atomic<int> firstFailed = -1; ///< whose failure the others' follow from
  std::vector<std::thread> threads;

  void serve(int rank);
  void endThreads();
  void doPart(int rank);
  void onAll(const Work &body);
};

} // namespace sprig::cli
