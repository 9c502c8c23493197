// The loop of `sprig train`: batches through a program, metrics, evaluations, checkpoints, the end by Ctrl-C.
// Knows no compiler.
#pragma once
#include "lib/Checkpoint/Writer.h"
#include "lib/Data/Batches.h"
#include "lib/Training/Metrics.h"
#include "lib/Training/TrainConfig.h"
#include "tools/sprig/LoaderFlags.h"
#include "tools/sprig/train/TrainRanks.h"
#include "tools/sprig/train/TrainTime.h"
#include <functional>

namespace sprig::cli {

struct TrainLoopOptions {
  training::TrainConfig config; ///< resolved
  std::string metrics;          ///< file of JSON lines; "" for none
  std::string checkpoints;      ///< folder; "" for none
  /// Whether they are written here; where ranks share the state, those that do not write take part.
  bool writesCheckpoints = true;
  int64_t every = 0;    ///< steps between checkpoints; 0: an epoch
  int64_t logEvery = 0; ///< steps between lines of progress; 0: the progress's own
  int keep = 3;
  int64_t stepsPerCall = 1; ///< 1, or what the program has: where a call fits in, it takes so many
  int64_t checkEvery = 0;   ///< steps between comparisons of the ranks' states; 0: none
  LoaderFlags loader;       ///< none wanted: the thread that trains loads each batch when it needs it
  /// Whether Ctrl-C, SIGTERM and SIGHUP end the run behind a step, with a checkpoint; else they end the process.
  bool endsBySignal = true;
  bool keepHistory = false;             ///< of every step, for the plot
  checkpoints::Manifest identity;       ///< seed and digests of the run
  std::vector<std::string> collectives; ///< of the program, which ranks that are processes compare
  /// A checkpoint to go on from.
  std::optional<checkpoints::Checkpoint> resume;
  /// Called with the state before a step and its samples where the step's loss is not finite; says which operation.
  std::function<std::string(const std::vector<data::Array> &state, std::span<const int64_t> indices)> explain;
};

struct TrainOutcome {
  int64_t steps = 0;                  ///< done in all
  int64_t done = 0;                   ///< by this process
  int signal = 0;                     ///< that ended the run early: SIGINT, SIGTERM or SIGHUP
  std::vector<std::string> unwritten; ///< what could not be written on the way, and why: the run went on without it
  bool interrupted() const { return signal != 0; }
  double seconds = 0, samplesPerSecond = 0;
  double simulatedSeconds = 0; ///< that steps took by the devices' own clock; 0 where they keep none
  TrainTime time;
  training::StepMetrics last;
  std::vector<training::StepMetrics> history; ///< with keepHistory; also of the run that was gone on with
  double epochLoss = 0;                       ///< mean of the losses of the last whole or part epoch
  std::optional<EvaluationResult> evaluation; ///< the last one
  double checkpointSeconds = 0;               ///< that steps waited for checkpoints
  std::vector<data::Array> scheduleState;     ///< what the schedule goes on from, beside the program's state
};

/// Trains. `evaluation` may be null. Throws runtime when a loss is not finite. A checkpoint or
/// metrics that cannot be written do not end a run: the outcome says so.
TrainOutcome trainLoop(TrainRanks &program, const TrainData &data, const TrainData *evaluation,
                       const TrainLoopOptions &options);

/// Adds views of these arrays, which live longer.
void addViews(std::vector<checkpoints::ArrayView> &views, const std::vector<data::Array> &arrays);
/// Arrays of views, copied.
std::vector<data::Array> copyState(const std::vector<checkpoints::ArrayView> &views);

} // namespace sprig::cli
