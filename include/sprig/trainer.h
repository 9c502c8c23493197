// The training loop, written once: epochs, logging, evaluation, checkpoints, plots, early stopping, sweeps.
// For programs. A module says what one step computes and which optimizer it wants; the trainer does the rest, with the
// same bits as the loop written by hand.
//
//     struct Net : nn::Module {
//       nn::Linear a = add("a", nn::Linear(784, 256)), b = add("b", nn::Linear(256, 10));
//       Tensor operator()(Tensor x) const { return b(relu(a(x))); }
//       Tensor trainingStep(Tensor x, Tensor y) const { return crossEntropy((*this)(x), y); }
//       optim::Optimizer configureOptimizers() const { return optim::adam(*this, {.lr = 1e-3}); }
//     };
//     Trainer({.maxEpochs = 5}).fit(net, train, test);
#pragma once
#include "sprig/data.h"
#include "sprig/nn/module.h"
#include "sprig/optim.h"
#include "sprig/options.h"
#include "sprig/ranks.h"
#include <filesystem>
#include <optional>

namespace sprig {

namespace dist {
class Group;
}

/// What a step gives: the batch's mean loss; of a validation step how many of its samples were right, where that is
/// known; what the mean is over, where that is not the samples: the targets that count, or the sum of their weights;
/// and metrics of the module's own.
struct Scores {
  Tensor loss;
  Tensor hits = {};
  Tensor weight = {}; ///< a scalar; a batch where it is 0 has no part in the mean
  /// Means over the batch like the loss, single floats; of an epoch they are averaged as it is. A step's "kl" is "kl"
  /// in reports and files, an evaluation's is "eval_kl". Names have letters, digits, '_', '.' and '-', start with no
  /// "eval_", are none of the trainer's own, and are the same at each step.
  std::vector<std::pair<std::string, Tensor>> metrics = {};
};
/// How many rows of logits [N, classes] have their highest value at the class.
SPRIG_API Tensor hitsOf(const Operand &logits, const Operand &classes);

/// What is known at the end of an epoch.
struct EpochReport {
  int64_t epoch = 0; ///< from 0
  int64_t steps = 0; ///< done in all
  double loss = 0;   ///< mean over the epoch's samples
  std::optional<double> evalLoss = {}, accuracy = {};
  /// Of the module's own (Scores::metrics): "kl" as the mean over the epoch, "eval_kl" of the evaluation.
  std::vector<std::pair<std::string, double>> metrics = {};
  double lr = 0;      ///< of the next step
  double seconds = 0; ///< of the epoch's steps, without the evaluation
  double samplesPerSecond = 0;
};
/// What is known of a step. It comes when the step has run, which may be some steps after it was asked for.
struct StepReport {
  int64_t step = 0; ///< from 0
  double loss = 0, gradNorm = 0, lr = 0;
};

struct EarlyStoppingOptions {
  int64_t patience = 3; ///< measurements without improvement that end the training, at least 1
  double minDelta = 0;  ///< what an improvement is more than
};

struct TrainerOptions {
  int64_t maxEpochs = 10;
  int64_t maxSteps = 0; ///< above 0: steps of the training in all, in place of maxEpochs
  /// Epochs between evaluations, the last step being followed by one; 0: only that one.
  int64_t evaluateEvery = 1;
  /// Steps between calls of onStep; 0: none of them, and no progress line.
  int64_t logEvery = 5;
  /// Starts the random numbers of dropout and the like; none: they go on from where they are.
  std::optional<uint64_t> seed = {};
  /// Whether steps are compiled as a whole. The bits are the same without.
  bool compile = true;
  /// Ranks that share each batch (docs/distributed.md): threads of this process, or, where it was launched, as many
  /// processes. The results are those of one at the same batch, which is that of all ranks together. 0: the processes
  /// that there are, or as many threads as are expected to be quicker than one rank with all of them, by the machine's
  /// model: the choice is printed.
  int ranks = 1;
  /// The same within dist::spawn, join or run: the rank that this is. Every rank calls the trainer.
  dist::Group *group = nullptr;
  /// Whether ranks gather the factors of gradients of dense layers and each multiplies them, where that moves fewer
  /// bytes than their sums (docs/distributed.md): of compiled steps of one pass. The order of sums is another then.
  FactorPolicy factors = FactorPolicy::never;
  /// Most bytes of gradients that go together, of compiled steps; 1: each tensor by itself; 0: what is expected to be
  /// hidden best behind the backward pass, and of calls of several steps behind the next one's, by the machine's model
  /// and the link between the ranks. The first rank chooses for all. It never changes a bit.
  int64_t bucketBytes = 0;
  /// Compiled steps that go together as one program (Keras: steps_per_execution), up to 256: less is handed over, and
  /// of ranks a step begins while gradients of the one before travel. What is left at the end of an epoch, and up to a
  /// checkpoint, are single steps. The bits are the same.
  int64_t stepsPerCall = 1;
  /// Of the ranks' shares of each batch, one above 0 for each; none: sizes differ by one at most. With a number of
  /// ranks.
  std::vector<int64_t> shares = {};
  /// 1: each rank holds and updates its piece of the optimizer's tensors (ZeRO 1, docs/distributed.md). The order of
  /// sums of more than two ranks is another then. 0: each has all of them.
  int zero = 0;
  /// Whether ranks of compiled steps may gather values of the samples, as layers and losses need them that look from
  /// one sample at another; else they are refused, with the bytes that it would take.
  bool allowGather = false;
  /// Of ranks' shares.
  NormStatistics batchNorms = NormStatistics::all;
  /// The loader's batch is each rank's, so that of all grows with their number; `lrScaling` says how rates do.
  bool scaleBatch = false;
  RateScaling lrScaling = RateScaling::none;
  /// Steps between comparisons of the ranks' weights and buffers, from before the first one on; 0: at the end alone.
  int64_t checkReplicas = 0;
  /// Passes that each batch is computed in, one after the other, to save memory; gradients are summed, then reduced.
  int64_t accumulate = 1;
  double clipNorm = 0; ///< of all gradients together; 0: none
  double clipValue = 0;
  /// Lowers rates where the evaluation's loss (without evaluation: the training's) stays; with `highest` its accuracy.
  std::optional<optim::PlateauOptions> plateau = {};
  /// Decay of a moving average of the parameters, updated in each step (the field `ema` of a training configuration).
  /// Evaluations and best weights are of it, and the module has it at the end.
  std::optional<double> ema = {};
  /// Ends the training where what `monitor` names no longer improves; measured at the ends of epochs, and part of
  /// checkpoints.
  std::optional<EarlyStoppingOptions> earlyStop = {};
  /// Whether the module has its best weights at the end, by `monitor`. A training that a signal ends keeps the last.
  bool restoreBest = false;
  /// "loss" of an epoch's steps, "eval_loss" or "accuracy" of its evaluation, or the name of a metric of the module's
  /// own ("kl", "eval_kl"), which is best where it is lowest; empty: the loss of the evaluation, without evaluation
  /// that of the steps.
  std::string monitor = {};
  /// A folder of checkpoints, written every so many steps (0: at the end of each epoch) and at the end.
  std::filesystem::path checkpoint = {};
  int64_t checkpointEvery = 0;
  int checkpointsKept = 3;
  /// Goes on from the folder's newest checkpoint, if there is one.
  bool resume = false;
  /// Goes on from this folder's newest checkpoint, or from this step-N of one.
  std::filesystem::path resumeFrom = {};
  /// Whether Ctrl-C, SIGTERM and SIGHUP end the training behind a step, with a checkpoint, where the program has set no
  /// handler of its own: fit returns, and FitResult::signal says so. A second signal ends the process at once.
  bool endOnSignal = true;
  std::filesystem::path metrics = {}; ///< a line for each step: .csv, else JSON lines as `sprig train` writes them
  std::filesystem::path plot = {};    ///< curves as SVG, at the end
  /// Runs steps operation by operation (sprig/debug.h), with the same bits: the error of a loss, gradient or parameter
  /// that is not finite names the operation that made the first such value, its layer and line.
  bool debugNan = false;
  /// A folder for TensorBoard, which gets a file of events: loss, grad_norm, lr, eval/loss, eval/accuracy, and metrics
  /// of the module's own. Needs libsprig_events.so beside the library (Error, unsupported).
  std::filesystem::path tensorboard = {};
  /// Lines for each epoch and at the end on standard output; on standard error warnings, and on a terminal a progress
  /// line.
  bool print = true;
  /// Called for every logEvery-th step, and for every epoch; an epoch's `false` ends the training.
  std::function<void(const StepReport &)> onStep = {};
  std::vector<std::function<bool(const EpochReport &)>> onEpochEnd = {};
};

/// Where a training's time went.
struct FitTime {
  double seconds = 0, waiting = 0, computing = 0; ///< all of it; for batches; for steps
  double elsewhere() const { return seconds - waiting - computing; }
};

struct FitResult {
  std::vector<EpochReport> epochs; ///< of this run; the last one may be a part that maxSteps has left
  std::vector<float> losses;       ///< of this run's steps
  int64_t steps = 0;               ///< done in all
  double secondsPerEpoch = 0, samplesPerSecond = 0;
  bool stopped = false; ///< by earlyStop or onEpochEnd
  int signal = 0;       ///< that ended the training; 0: none did
  /// What could not be written on the way, and why: a full disk ends no training.
  std::vector<std::string> unwritten;
  FitTime time;
  std::optional<int64_t> bestEpoch;      ///< with earlyStop or restoreBest, from 0
  std::optional<optim::Average> average; ///< with ema: its swap() gives the module the last parameters, and back
  int ranks = 1;                         ///< that there were
  std::vector<Device> devices;           ///< of each rank, the one that its parameters are on
  int64_t bucketBytes = 0; ///< of gradients that went together at most, given or chosen; 0: of no several ranks
  optim::Optimizer optimizer;
};

// Callbacks for onEpochEnd.

/// Ends the training when the evaluation's loss (without evaluation: the training's) has stopped falling. Its state is
/// part of checkpoints.
SPRIG_API std::function<bool(const EpochReport &)> earlyStopping(const EarlyStoppingOptions &options = {});
/// Saves the module (Module::save) whenever that loss is the lowest so far, those of the run before included.
SPRIG_API std::function<bool(const EpochReport &)> saveBest(const nn::Module &module, std::filesystem::path path,
                                                            Source at = Source::here());

/// Runs of one module with several learning rates.
struct SweepRun {
  double lr = 0;
  FitResult result;
};

namespace frontend {

using StepBody = std::function<std::vector<Tensor>(const std::vector<Tensor> &)>;

/// What the templates below make of a module.
struct Training {
  const nn::Module *module = nullptr;
  optim::Optimizer optimizer;
  std::function<Scores(const std::vector<Tensor> &)> step;
  std::function<Scores(const std::vector<Tensor> &)> scores;
  /// Copies the module now; what it gives makes a training of the copy, on the device of the thread that calls it.
  std::function<std::function<Training()>()> copy;
  std::shared_ptr<const nn::Module> owned;    ///< of a copy
  std::optional<optim::Average> average = {}; ///< with TrainerOptions::ema
};
class TrainingPrograms; // a module's compiled step and evaluation

} // namespace frontend

class SPRIG_API Trainer {
public:
  explicit Trainer(TrainerOptions options = {}, Source at = Source::here());

  /// Trains. The module has
  ///   Tensor trainingStep(Tensor x, Tensor y) const              // the batch's mean loss, or Scores with it; or of
  ///                                                              // (vector of fields)
  ///   optim::Optimizer configureOptimizers() const
  /// and may have
  ///   Scores validationStep(Tensor x, Tensor y) const            // else: trainingStep's loss, and the hits of
  ///                                                              // operator()(x) where y are classes
  /// The module is in evaluation mode while it is evaluated. A module in that mode is set to training first, with all
  /// below it; parts that alone are in it stay so.
  /// Throws Error (runtime) where a loss, or a state that a checkpoint is to have, is not finite.
  template <std::derived_from<nn::Module> M>
  FitResult fit(const M &module, data::Loader &train, data::Loader *evaluation = nullptr) const {
    return run(trainingOf(module), train, evaluation);
  }
  template <std::derived_from<nn::Module> M>
  FitResult fit(const M &module, data::Loader &train, data::Loader &evaluation) const {
    return run(trainingOf(module), train, &evaluation);
  }
  /// Scores of a data set, of all its samples together: (mean loss, share of hits where they are known).
  template <std::derived_from<nn::Module> M>
  std::pair<double, std::optional<double>> evaluate(const M &module, data::Loader &set) const {
    return score(trainingOf(module), set);
  }

  /// Trains the module from new initial values (the same for each, of options.seed or 0) with each learning rate, on
  /// the same batches. The step is compiled once. Prints a table; options.plot gets accuracy (or loss) and time over
  /// the rates. Checkpoints and metrics are not written.
  template <std::derived_from<nn::Module> M>
  std::vector<SweepRun> sweep(const M &module, std::span<const double> rates, data::Loader &train,
                              data::Loader *evaluation = nullptr) const {
    return runSweep(trainingOf(module), rates, train, evaluation);
  }

private:
  template <typename M> frontend::Training trainingOf(const M &module) const {
    frontend::Training training;
    training.module = &module;
    training.optimizer = module.configureOptimizers();
    training.step = [&module, at = at](const std::vector<Tensor> &batch) { return stepOf(module, batch, at); };
    training.scores = [&module, at = at](const std::vector<Tensor> &batch) { return scoresOf(module, batch, at); };
    if constexpr (std::copy_constructible<M>)
      training.copy = [&module, this] {
        return [copy = std::make_shared<M>(nn::clone(module)), this] {
          copy->to(defaultDevice());
          frontend::Training training = trainingOf(*copy);
          training.owned = copy;
          return training;
        };
      };
    return training;
  }
  // A function that takes operands is told the trainer's line; one of tensors has lines of its own.
  static Scores asScores(Tensor loss) { return {.loss = std::move(loss)}; }
  static Scores asScores(Scores scores) { return scores; }
  template <typename M> static Scores stepOf(const M &module, const std::vector<Tensor> &batch, Source at) {
    if constexpr (requires { module.trainingStep(batch); }) {
      return asScores(module.trainingStep(batch));
    } else {
      static_assert(
          requires { module.trainingStep(batch[0], batch[1]); },
          "the module needs Tensor (or Scores) trainingStep(Tensor x, Tensor y) const");
      requireTwo(batch, at);
      if constexpr (requires(const Operand &x) {
                      &M::trainingStep;
                      module.trainingStep(x, x);
                    })
        return asScores(module.trainingStep(Operand(batch[0], at), Operand(batch[1], at)));
      else
        return asScores(module.trainingStep(batch[0], batch[1]));
    }
  }
  template <typename M> static Scores scoresOf(const M &module, const std::vector<Tensor> &batch, Source at) {
    if constexpr (requires { module.validationStep(batch); }) {
      return module.validationStep(batch);
    } else if constexpr (requires { module.validationStep(batch[0], batch[1]); }) {
      requireTwo(batch, at);
      if constexpr (requires(const Operand &x) {
                      &M::validationStep;
                      module.validationStep(x, x);
                    })
        return module.validationStep(Operand(batch[0], at), Operand(batch[1], at));
      else
        return module.validationStep(batch[0], batch[1]);
    } else {
      Scores scores = stepOf(module, batch, at);
      if (scores.hits.defined() || batch.size() != 2 || isFloat(batch[1].dtype())) return scores;
      if constexpr (requires(const Operand &x) {
                      &M::operator();
                      Tensor(module(x));
                    })
        scores.hits = hitsOf({module(Operand(batch[0], at)), at}, {batch[1], at});
      else if constexpr (requires { Tensor(module(batch[0])); })
        scores.hits = hitsOf({module(batch[0]), at}, {batch[1], at});
      return scores;
    }
  }
  static void requireTwo(const std::vector<Tensor> &batch, Source at);

  void onRanks(int ranks, frontend::Training training,
               const std::function<void(frontend::Training, dist::Group *)> &body) const;
  FitResult run(frontend::Training training, data::Loader &train, data::Loader *evaluation) const;
  std::pair<double, std::optional<double>> score(frontend::Training training, data::Loader &set) const;
  std::vector<SweepRun> runSweep(frontend::Training training, std::span<const double> rates, data::Loader &train,
                                 data::Loader *evaluation) const;

  TrainerOptions options;
  Source at;
};

} // namespace sprig
