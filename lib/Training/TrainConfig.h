// What a training run is made of, as plain structs: loss, optimizer, schedule, batches.
// For the step builder and `sprig train`. Comes from a JSON file (ReadTrainConfig.h), whose schema docs/training.md and
// `sprig train --config-help` show; what stands here has passed that schema. Knows nothing of the compiler.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sprig::training {

enum class LossKind : uint8_t {
  softmaxCrossEntropy,
  nll,
  mse,
  l1,
  huber,
  binaryCrossEntropy,
  bceWithLogits,
  klDivergence,
};

/// How the losses of elements become one number. batchMean (klDivergence alone) divides the sum by the batch.
enum class Reduction : uint8_t { mean, sum, batchMean };

struct LossConfig {
  LossKind kind = LossKind::softmaxCrossEntropy;
  Reduction reduction = Reduction::mean;
  double scale = 1;                     ///< factor of this loss in the sum of all
  double labelSmoothing = 0;            ///< softmaxCrossEntropy
  std::vector<double> classWeights;     ///< softmaxCrossEntropy, nll; empty: all 1
  std::optional<int64_t> ignoreIndex;   ///< softmaxCrossEntropy, nll
  double delta = 1;                     ///< huber: where the square ends
  std::optional<double> positiveWeight; ///< bceWithLogits: weight of the positive targets
  bool logTarget = false;               ///< klDivergence: targets are logarithms of probabilities

  bool operator==(const LossConfig &) const = default;
};

enum class OptimizerKind : uint8_t { sgd, adam, adamw, nadam, radam, rmsprop, adagrad, adadelta, lion };

/// Only the fields of its kind differ from 0; weight decay of 0 means none. Updates: docs/training.md.
struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::sgd;
  double lr = 0;
  double weightDecay = 0;      ///< added to the gradient; adamw, lion and with `decoupled` taken from the parameter
  double momentum = 0;         ///< sgd, rmsprop
  double dampening = 0;        ///< sgd
  bool nesterov = false;       ///< sgd
  double beta1 = 0, beta2 = 0; ///< adam, adamw, nadam, radam, lion
  double eps = 0;              ///< all but sgd and lion
  double alpha = 0;            ///< rmsprop
  double rho = 0;              ///< adadelta
  double lrDecay = 0;          ///< adagrad
  double momentumDecay = 0;    ///< nadam
  bool decoupled = false;      ///< nadam, radam

  auto operator<=>(const OptimizerConfig &) const = default;
};

/// Parameters with settings of their own. The first group with a pattern that matches a parameter's name has it;
/// patterns are names or globs (`*` any characters, `?` one).
struct ParameterGroup {
  std::vector<std::string> match;
  double lrScale = 1;                ///< its learning rate at every step is this times the schedule's
  std::optional<double> weightDecay; ///< absent: the optimizer's

  bool operator==(const ParameterGroup &) const = default;
};

enum class ScheduleKind : uint8_t {
  constant,
  step,
  multiStep,
  exponential,
  linear,
  warmup,
  cosine,
  warmRestarts,
  warmupCosine,
  oneCycle,
  list,
  plateau,
};

/// Formulas at lrAt (Schedule.h); of plateau, whose rate follows from what is measured, Plateau.h. Only the fields of
/// its kind are set.
struct ScheduleConfig {
  ScheduleKind kind = ScheduleKind::constant;
  bool perEpoch = false;                 ///< time is counted in epochs, not in steps
  int64_t stepsPerUnit = 1;              ///< steps of such an epoch; `resolve` fills it in
  int64_t totalSteps = 0;                ///< linear, cosine, warmupCosine, oneCycle; 0: the run's, by `resolve`
  int64_t warmupSteps = 0;               ///< warmup, warmupCosine
  int64_t stepSize = 0;                  ///< step
  std::vector<int64_t> milestones;       ///< multiStep, ascending
  double gamma = 0;                      ///< step, multiStep, exponential
  double minLr = 0;                      ///< cosine, warmRestarts, warmupCosine, plateau
  int64_t period = 0, periodFactor = 0;  ///< warmRestarts: the first cycle's length, and of each in that before it
  double startFactor = 0, endFactor = 0; ///< linear
  double maxLr = 0;                      ///< oneCycle
  double pctStart = 0, divFactor = 0, finalDivFactor = 0; ///< oneCycle
  bool linearAnneal = false;                              ///< oneCycle: straight lines instead of cosines
  std::vector<double> values;                             ///< list; the last one stays
  double factor = 0, threshold = 0, eps = 0;              ///< plateau
  bool absoluteThreshold = false;                         ///< plateau: a difference, not a share of the best
  int64_t patience = 0, cooldown = 0;                     ///< plateau, of epochs
  bool byAccuracy = false;                                ///< plateau: by an evaluation's accuracy, not by its loss

  bool operator==(const ScheduleConfig &) const = default;
};

/// Whether schedules of a kind end: they have totalSteps.
bool hasTotal(ScheduleKind kind);

struct TrainConfig {
  std::string net; ///< a comment for people
  /// One for each output of the network, in its order; their sum is minimised.
  std::vector<LossConfig> losses;
  OptimizerConfig optimizer;
  std::vector<ParameterGroup> groups;
  ScheduleConfig schedule;
  std::optional<double> gradClipNorm;  ///< before gradClipValue where both are there
  std::optional<double> gradClipValue; ///< each element into [-c, c]
  int64_t accumulate = 1;              ///< forward passes of a step
  int64_t batch = 0;                   ///< samples of a forward pass
  std::optional<int64_t> steps;        ///< exactly one of steps and epochs is given; `resolve` fills in steps
  std::optional<int64_t> epochs;
  bool shuffle = false; ///< absent: true where the run is given in epochs
  bool dropLast = false;
  uint64_t seed = 0;
  /// Names or globs; absent: the float initializers that feed weight, bias and scale inputs.
  std::optional<std::vector<std::string>> trainable;
  std::optional<double> emaDecay;          ///< average ← decay average + (1 - decay) w after each step
  std::optional<double> batchNormMomentum; ///< running ← momentum running + (1 - momentum) batch; absent: the node's
  bool batchNormOfReplicas = false;        ///< of several ranks: each normalises by its own samples' statistics
  /// Names or globs of the scales of batch norms that work as in inference.
  std::optional<std::vector<std::string>> frozenNorms;
  bool dropout = true; ///< false: dropout nodes do nothing in training either
  std::optional<int64_t> rematBytes;
  std::optional<std::vector<std::string>> rematLayers; ///< names or globs
  int64_t evalEvery = 1;                               ///< epochs between evaluations (0: only at the end)
  std::optional<int64_t> evalBatch;                    ///< absent: batch
  std::optional<int64_t> stopPatience;                 ///< measurements without improvement that end the run early
  std::optional<double> stopMinDelta;                  ///< what an improvement is more than; absent: 0
  std::string stopMetric;                              ///< "loss", "eval_loss", "accuracy"; "": a loss
  bool restoreBest = false;                            ///< whether the result has the weights of the best measurement

  bool operator==(const TrainConfig &) const = default;
};

/// The schema's names: "softmax_cross_entropy", "adamw", "warmup_cosine", "mean".
const char *name(LossKind kind);
const char *name(OptimizerKind kind);
const char *name(ScheduleKind kind);
const char *name(Reduction reduction);

} // namespace sprig::training
