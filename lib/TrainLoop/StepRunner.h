// What the training loop drives: something that takes steps, evaluates and holds a state.
// For the loop and for those who implement it: compiled programs (`sprig train`) and modules (Trainer).
#pragma once
#include "lib/Checkpoint/Checkpoint.h"
#include "lib/TrainLoop/BatchSource.h"
#include "lib/Training/TrainConfig.h"
#include <optional>

namespace sprig::training {

using NamedNumbers = std::vector<std::pair<std::string, double>>;

struct StepResult {
  float loss = 0;
  float gradNorm = 0;   ///< NaN where the step does not compute it,
  bool hasNorm = false; ///< which this says
  double lr = 0;        ///< that the step updated with
  /// A step that skipped its update has used its samples all the same.
  bool updated = true;
  /// When it wanted its samples, had them, and was done. What lay beside the step before is that one's time: a begin is
  /// no sooner than the end before it.
  Clock::time_point begin, ready, end;
  double simulatedSeconds = 0; ///< by the devices' own clock, from the end of the call before; 0 where they keep none
  /// That nothing hid of communication; of one rank none.
  std::optional<double> exposedSeconds = {};
  std::optional<double> weight = {}; ///< that the loss is a mean over; none: its samples
  NamedNumbers metrics = {};         ///< means like the loss, which epochs average as they do that
  NamedNumbers numbers = {};         ///< others, which become columns of metrics
};

struct Evaluation {
  double loss = 0;
  std::optional<double> accuracy = {};
  int64_t samples = 0, correct = 0, counted = 0; ///< counted: predictions that can be right or wrong, where it tells
  NamedNumbers metrics = {};                     ///< of the model's own
};

/// Steps that go together, and when their samples were first wanted.
struct Call {
  int64_t first = 0; ///< number of its first step
  CallSamples samples;
  Clock::time_point begin;
};

/// Arrays of a state; those that had to be made live as long as this does.
struct WholeState {
  std::vector<checkpoints::ArrayView> arrays;
  std::vector<std::vector<char>> made = {};
};

class StepRunner {
public:
  virtual ~StepRunner() = default;

  /// How many calls may be under way, at least 1.
  virtual size_t maxInFlight() const = 0;
  /// Hands over a call's steps. Throws what they failed with, where that is known already.
  virtual void submit(const Call &call) = 0;
  /// The results of the first call under way, one for each step, which stay until the next submit or collect; with
  /// `wait` false nothing where it has not ended. Throws what it failed with.
  virtual std::span<const StepResult> collect(bool wait) = 0;
  /// Ends what is under way, whose results nobody wants any more.
  virtual void cancel() = 0;

  // What follows is called between two steps, with nothing under way.

  virtual Evaluation evaluate() = 0;
  /// Whole arrays by name, until the next step. Where ranks share the state, all of them ask for it at the same time.
  virtual WholeState state() = 0;
  /// Whether ranks have pieces of the state.
  virtual bool sharesState() const { return false; }
  /// Takes over a state of the same names, types and shapes; badInput names what differs.
  virtual void restore(const std::vector<data::Array> &arrays) = 0;
  /// The model's own arrays, not the optimizer's, copied; of weights that have a moving average, that.
  virtual std::vector<data::Array> weights() = 0;
  virtual void setWeights(const std::vector<data::Array> &arrays) = 0;
  /// The learning rate of a step, by the schedule.
  virtual double rateAt(int64_t step) const = 0;
  /// Lowers the rates by a schedule of kind plateau; whether one fell.
  virtual bool lowerRates(const ScheduleConfig &schedule) = 0;
};

} // namespace sprig::training
