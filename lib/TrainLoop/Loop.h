// The training loop: steps, evaluations, checkpoints, early stop and the end, of `sprig train` and of Trainer.
// docs/training-loop.md has its rules. Knows no compiler, no runtime and no tensor: StepRunner takes the steps.
#pragma once
#include "lib/Checkpoint/Writer.h"
#include "lib/TrainLoop/LoopObserver.h"
#include "lib/TrainLoop/LoopState.h"
#include "lib/TrainLoop/RankGroup.h"
#include "lib/TrainLoop/RunTime.h"
#include <deque>
#include <functional>

namespace sprig::training {

struct LoopOptions {
  int64_t steps = 0;         ///< in all, those done before included
  bool evaluates = false;    ///< behind epochs, and behind the last step
  int64_t evaluateEvery = 1; ///< epochs; 0: only behind the last step
  int64_t stepsPerCall = 1;  ///< where a call of several whole steps fits in, it takes so many
  int64_t compareEvery = 0;  ///< steps between comparisons of the ranks' states, from before the first; 0: none

  std::string checkpoints;     ///< folder; "": none
  int64_t checkpointEvery = 0; ///< steps; 0: an epoch
  int keep = 3;
  /// Whether they are written here; ranks that share the state take part all the same.
  bool writesCheckpoints = true;
  checkpoints::Manifest identity; ///< seed and digests of the run

  std::optional<ScheduleConfig> plateau;
  std::string plateauField; ///< what it is called where it goes by accuracy: "lr_schedule.metric"
  std::optional<EarlyStop> early;
  /// What early stop goes by: loss, eval_loss, accuracy, or a metric of the model's own; "": the evaluation's loss,
  /// without evaluation the steps'.
  std::string monitor, monitorField; ///< and what it is called: "early_stop.metric"

  /// Whether Ctrl-C, SIGTERM and SIGHUP end the run behind a step, with a checkpoint.
  bool endsBySignal = true;
  bool replacesHandlers = false; ///< of the program's own for these signals
  /// Whether nothing goes ahead over the end of an epoch, where observers may end the run.
  bool meetsAtEpochs = false;
  bool hasOwnMetrics = false; ///< whether steps may have metrics of the model's own
  std::string place;          ///< in front of errors: "file:line: Trainer: "
  /// Called with the state before a step and its samples where the step's loss, a gradient or the next state is not
  /// finite; says which operation made the first such number, or nothing. The state is looked at behind every step
  /// then.
  std::function<std::string(const std::vector<data::Array> &state, const CallSamples &samples)> explain = {};
  std::string explainHint; ///< how to have it explained, without
};

struct LoopResult {
  int64_t steps = 0; ///< done in all
  int64_t done = 0;  ///< by this run
  int64_t samples = 0;
  int signal = 0;                     ///< that ended the run early
  bool stopped = false;               ///< by early stop or an observer
  std::vector<std::string> unwritten; ///< what could not be written on the way, and why: the run went on without it
  double seconds = 0, samplesPerSecond = 0;
  double simulatedSeconds = 0; ///< that steps took by the devices' own clock; 0 where they keep none
  RunTime time;
  StepMetrics last;
  double epochLoss = 0;                 ///< mean over the samples of the last whole or part epoch
  std::optional<Evaluation> evaluation; ///< the last one
  double checkpointSeconds = 0;         ///< that steps waited for checkpoints
  std::optional<BestSoFar> best;        ///< with early stop
  /// The loop's own state, as a checkpoint has it beside the runner's.
  std::vector<data::Array> state;

  bool interrupted() const { return signal != 0; }
};

class Loop {
public:
  /// `group` is null where there are no several ranks. All outlive the loop. Throws usage where the monitor is not
  /// measured.
  Loop(StepRunner &runner, BatchSource &source, RankGroup *group, LoopOptions options);

  /// Before `run`, in the order that they are told in.
  void add(LoopObserver &observer) { observers.push_back(&observer); }
  /// Sets runner and source to where a checkpoint was written.
  void resume(checkpoints::Checkpoint checkpoint);
  /// The same but for the runner, which goes on from what is left of the arrays: of a checkpoint that another rank has
  /// read.
  void goOn(const checkpoints::Manifest &manifest, std::vector<data::Array> &arrays);
  /// The run goes on at so many seconds.
  void goOnAt(double seconds) { earlierSeconds = seconds; }
  /// As a checkpoint has them beside the runner's.
  std::vector<data::Array> ownArrays() const;

  /// Trains. Throws runtime when a loss or a state that is to be kept is not finite. What cannot be written on the way
  /// ends no run.
  LoopResult run();
  /// Behind the step under way another runner goes on with the state; for observers.
  void replace(StepRunner &next) { replacement = &next; }

  /// Writes something, or warns why it is not there, with what follows from it. Whether it was written.
  bool tryToWrite(const char *consequence, const std::function<void()> &write);
  /// What could not be written so far, and why.
  const std::vector<std::string> &unwritten() const { return unwrittenTexts; }

private:
  // Calls that were handed over, in their order.
  struct Started {
    int64_t first, count;                  // the first step's number, and steps
    int64_t epoch, each;                   // that they are of, and samples of each
    bool evaluates, compares, saves, asks; // behind it
    bool endsEpoch, measures;              // and whether what it evaluates counts
  };

  StepRunner *runner, *replacement = nullptr;
  BatchSource &source;
  RankGroup *group;
  const LoopOptions options;
  const BatchSource::Epoch sizes;
  std::vector<LoopObserver *> observers;
  std::optional<checkpoints::Writer> writer;
  LoopState state;
  LoopResult result;
  std::vector<std::string> unwrittenTexts;
  std::deque<Started> started;
  Call next;
  Clock::time_point runBegan, epochBegan, lastEnd;
  int64_t begun = -1, epochSamples = 0; // the epoch that was begun last, and what was taken of the one before its end
  int64_t saved = -1, asked = -1;       // steps of the last checkpoint, and of the last that was to be one
  NamedNumbers metricSums;              // of the epoch under way, times what they are means over
  double metricWeight = 0;
  std::vector<std::string> notFinite; // arrays that have such values from the start on
  std::vector<data::Array> before;    // the state of the step, where it may have to be explained
  std::exception_ptr failure;         // of a step that was begun too early to tell
  int agreedSignal = 0;               // of ranks: as all know
  int64_t askAt = 1, askedFor = 1;    // of ranks: when they ask one another next
  Clock::time_point askedAt;
  double earlierSeconds = 0;

  std::string monitor() const;
  bool goesByLosses() const;
  bool hasRunOut() const; ///< of measurements that early stop waits for
  bool saves() const { return writer || (!options.checkpoints.empty() && runner->sharesState()); }
  bool asks() const { return group && group->haveLoops() && options.endsBySignal; }
  int stops() const;
  void ask();

  int64_t nextNumber() const;
  int64_t stepsOfCall(int64_t number) const;
  bool mayStart() const;
  void startNext();
  void take(const Started &call, std::span<const StepResult> results);
  StepMetrics lineOf(const Started &call, const StepResult &result);
  void evaluate(StepMetrics &line);
  void endEpoch(const Started &call);
  double measured(const std::string &metric, const std::string &field, const EpochSummary &epoch) const;
  void save();
  void finish();
  std::string notFiniteOf(const WholeState &whole) const;
  std::string explained() const;
  void explainState(const StepMetrics &line, bool hasNorm);
  std::string lastCheckpoint() const;
  [[noreturn]] void reportNonFinite(const StepMetrics &line) const;
};

/// Adds views of these arrays, which live longer.
void addViews(std::vector<checkpoints::ArrayView> &views, const std::vector<data::Array> &arrays);
/// Arrays of views, copied.
std::vector<data::Array> copyState(const std::vector<checkpoints::ArrayView> &views);

} // namespace sprig::training
