// Optimizers and learning rate schedules, with PyTorch's formulas and defaults (docs/training.md has the formulas).
// For programs. Learning rate, step and the optimizer's own tensors are state on the device, so a compiled step has no
// constants of them: setLr() and schedules compile nothing anew. The updates are those of `sprig train`, bit for bit.
//
//     auto opt = optim::adam(net, {.lr = 1e-3});
//     opt.update(grad(loss, net.parameters()));
#pragma once
#include "sprig/nn/module.h"
#include <array>
#include <optional>

namespace sprig::training {
struct OptimizerConfig;
struct ScheduleConfig;
} // namespace sprig::training

namespace sprig::optim {

// The parameters that optimizers take.

/// Parameters with settings of their own, in place of the optimizer's.
struct Group {
  std::vector<Parameter> parameters;
  std::optional<double> lr = {};
  std::optional<double> weightDecay = {};
};
/// A module's parameters, a list of them, or groups.
class Parameters {
public:
  Parameters(const nn::Module &module) : groups{Group{module.parameters()}}, module(module.weakState()) {}
  Parameters(std::vector<Parameter> parameters) : groups{Group{std::move(parameters)}} {}
  Parameters(std::initializer_list<Parameter> parameters) : groups{Group{parameters}} {}
  Parameters(std::initializer_list<Group> groups) : groups(groups) {}
  Parameters(std::vector<Group> groups) : groups(std::move(groups)) {}
  std::vector<Group> groups;
  std::weak_ptr<nn::Module::State> module; ///< whose parameters they are, where that was said
};

// Schedules: the rate of each step from the optimizer's lr. Wrong settings are an error (badInput) where it is made.

/// One that is made without settings keeps the rate.
class SPRIG_API Schedule {
public:
  /// The rate of step 0, 1, ... from this base rate.
  double at(double lr, int64_t step) const;
  /// The same schedule with time counted in epochs of so many steps.
  Schedule perEpoch(int64_t stepsPerEpoch, Source at = Source::here()) const;
  /// The schedule as field "lr_schedule" of a training configuration has it.
  std::string json() const;
  int64_t stepsPerUnit() const { return unit; }

  /// From field "lr_schedule" of a training configuration.
  static Schedule fromJson(const std::string &json, Source at = Source::here());

  /// For the library: from settings that have been checked; and what they are.
  static Schedule of(training::ScheduleConfig settings, Source at);
  const training::ScheduleConfig &settings() const;

private:
  std::shared_ptr<const training::ScheduleConfig> config;
  int64_t unit = 1;
};

namespace schedule {

/// lr gamma^floor(t / stepSize): PyTorch's StepLR.
SPRIG_API Schedule step(int64_t stepSize, double gamma = 0.1, Source at = Source::here());
/// lr gamma^(number of milestones at or before t): MultiStepLR.
SPRIG_API Schedule multiStep(const std::vector<int64_t> &milestones, double gamma = 0.1, Source at = Source::here());
/// lr gamma^t: ExponentialLR.
SPRIG_API Schedule exponential(double gamma, Source at = Source::here());
/// From lr startFactor to lr endFactor over `steps`: LinearLR.
SPRIG_API Schedule linear(int64_t steps, double startFactor = 1.0 / 3, double endFactor = 1,
                          Source at = Source::here());
/// lr min(1, (t + 1) / steps).
SPRIG_API Schedule warmup(int64_t steps, Source at = Source::here());
/// minLr + (lr - minLr) (1 + cos(pi t / steps)) / 2, then minLr: CosineAnnealingLR.
SPRIG_API Schedule cosine(int64_t steps, double minLr = 0, Source at = Source::here());
/// Cosines from lr to minLr, one after the other: the first takes `period` steps, each periodFactor times as many as
/// the one before it: CosineAnnealingWarmRestarts (arXiv:1608.03983).
SPRIG_API Schedule warmRestarts(int64_t period, int64_t periodFactor = 1, double minLr = 0, Source at = Source::here());
/// lr (t + 1) / warmupSteps, then a cosine from lr to minLr at `steps`.
SPRIG_API Schedule warmupCosine(int64_t warmupSteps, int64_t steps, double minLr = 0, Source at = Source::here());
struct OneCycleOptions {
  double pctStart = 0.3, divFactor = 25, finalDivFactor = 10000;
  bool linear = false; ///< lines instead of cosines
};
/// From maxLr / divFactor up to maxLr, down to the first rate / finalDivFactor: OneCycleLR.
SPRIG_API Schedule oneCycle(double maxLr, int64_t steps, const OneCycleOptions &options = {},
                            Source at = Source::here());
/// The rate at t = 0, 1, ...; the last one stays.
SPRIG_API Schedule list(const std::vector<double> &rates, Source at = Source::here());

} // namespace schedule

/// A handle: copies share state. A parameter that belongs to its module no more (Module::replace) is an error (usage)
/// of the next update; so is one that a module which was given as a whole has got since.
class SPRIG_API Optimizer {
public:
  /// One step by these gradients, one for each of parameters(), in order: opt.update(grad(loss, net.parameters())). A
  /// gradient that is not defined, or of a parameter that is frozen, leaves its parameter as it is, and its moments;
  /// the step does not count for it, so that a layer that is unfrozen later starts as it does with a new optimizer.
  /// Throws Error (usage) where none is defined.
  void update(std::span<const Tensor> gradients, Source at = Source::here()) const;
  void update(const std::vector<Tensor> &gradients, Source at = Source::here()) const {
    update(std::span<const Tensor>(gradients), at);
  }
  /// One step by what loss.backward() summed up. A parameter without a gradient stays as it is; Error (usage) where
  /// none has one.
  void step(Source at = Source::here()) const;
  /// Forgets those sums.
  void zeroGrad(Source at = Source::here()) const;

  /// All of them, group after group.
  const std::vector<Parameter> &parameters() const;

  size_t groups() const;
  /// The rate that the schedule starts from, of a group.
  void setLr(double lr, size_t group = 0, Source at = Source::here()) const;
  double baseLr(size_t group = 0, Source at = Source::here()) const; ///< waits
  /// The rate of the next step. Waits.
  double lr(size_t group = 0, Source at = Source::here()) const;
  /// Steps done. Waits.
  int64_t steps(Source at = Source::here()) const;
  /// From the next step on. Compiled functions that update it are recorded anew.
  Optimizer &setSchedule(const Schedule &schedule, Source at = Source::here());
  const std::optional<Schedule> &schedule() const;
  /// Within update(), before the step: clipGradNorm, then clipGradValue. 0: off; an error (usage) below. Likewise
  /// recorded anew.
  Optimizer &setClipNorm(double most, Source at = Source::here());
  Optimizer &setClipValue(double most, Source at = Source::here());

  /// Everything that a step reads and writes but the parameters, by the names of `sprig train`'s checkpoints:
  /// "optimizer/step", "optimizer/lr" ("optimizer/lr.1" of group 1), "optimizer/exp_avg/fc.weight"; and, of a parameter
  /// that steps have left alone, how many did: "optimizer/skipped/fc.weight".
  nn::StateDict stateDict() const;
  /// Names must be these, types too: anything else is one error (badInput) that lists it all.
  void loadStateDict(const nn::StateDict &state, Source at = Source::here()) const;
  void save(const std::filesystem::path &path, Source at = Source::here()) const {
    nn::saveTensors(path, stateDict(), at);
  }
  void load(const std::filesystem::path &path, Source at = Source::here()) const {
    loadStateDict(nn::loadTensors(path, at), at);
  }
  /// The tensors of the state dict as the parameters that they are.
  std::vector<std::pair<std::string, Parameter>> namedState() const;
  /// For the library: the names of a state that is to be loaded, before namedState().
  void expect(const std::vector<std::string> &names) const;

  /// From field "optimizer" of a training configuration: what the functions below make.
  static Optimizer fromJson(const Parameters &parameters, const std::string &json, Source at = Source::here());
  /// For the library: from settings, which are checked.
  static Optimizer of(const Parameters &parameters, training::OptimizerConfig settings, Source at);
  /// For the library: its settings, with the rate and the weight decay of the first group.
  training::OptimizerConfig settings(Source at) const;

private:
  struct State;
  std::shared_ptr<State> state;
};

struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weightDecay = 0;
  bool nesterov = false;
};
SPRIG_API Optimizer sgd(const Parameters &parameters, const SgdOptions &options = {}, Source at = Source::here());

struct AdamOptions {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weightDecay = 0;
};
/// Kingma and Ba, arXiv:1412.6980.
SPRIG_API Optimizer adam(const Parameters &parameters, const AdamOptions &options = {}, Source at = Source::here());

struct AdamWOptions {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weightDecay = 0.01;
};
/// Adam with decoupled weight decay (arXiv:1711.05101). The decay is PyTorch's here; in a training configuration, as
/// for every optimizer there, "weight_decay" is 0 unless given. A gradient of zeros decays its parameter; one that is
/// not defined leaves it.
SPRIG_API Optimizer adamw(const Parameters &parameters, const AdamWOptions &options = {}, Source at = Source::here());

struct NadamOptions {
  double lr = 2e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weightDecay = 0;
  double momentumDecay = 4e-3;
  bool decoupledWeightDecay = false; ///< taken from the parameter, as adamw does
};
/// Adam with Nesterov's momentum (Dozat, Incorporating Nesterov Momentum into Adam, 2016).
SPRIG_API Optimizer nadam(const Parameters &parameters, const NadamOptions &options = {}, Source at = Source::here());

struct RadamOptions {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weightDecay = 0;
  bool decoupledWeightDecay = false; ///< taken from the parameter, as adamw does
};
/// Adam that adapts by the second moment as far as that is known (arXiv:1908.03265).
SPRIG_API Optimizer radam(const Parameters &parameters, const RadamOptions &options = {}, Source at = Source::here());

struct RmspropOptions {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weightDecay = 0;
  double momentum = 0;
};
SPRIG_API Optimizer rmsprop(const Parameters &parameters, const RmspropOptions &options = {},
                            Source at = Source::here());

struct AdagradOptions {
  double lr = 1e-2;
  double lrDecay = 0;
  double weightDecay = 0;
  double eps = 1e-10;
};
SPRIG_API Optimizer adagrad(const Parameters &parameters, const AdagradOptions &options = {},
                            Source at = Source::here());

struct AdadeltaOptions {
  double lr = 1;
  double rho = 0.9;
  double eps = 1e-6;
  double weightDecay = 0;
};
/// arXiv:1212.5701.
SPRIG_API Optimizer adadelta(const Parameters &parameters, const AdadeltaOptions &options = {},
                             Source at = Source::here());

struct LionOptions {
  double lr = 1e-4;
  std::array<double, 2> betas = {0.9, 0.99};
  double weightDecay = 0;
};
/// arXiv:2302.06675.
SPRIG_API Optimizer lion(const Parameters &parameters, const LionOptions &options = {}, Source at = Source::here());

struct PlateauOptions {
  double factor = 0.1;            ///< what rates are multiplied by
  int64_t patience = 10;          ///< epochs without an improvement that change nothing
  double threshold = 1e-4;        ///< what improves less is no improvement: a share of the best,
  bool absoluteThreshold = false; ///< or a difference from it
  bool highest = false;           ///< the metric is best where it is highest (PyTorch's mode "max")
  int64_t cooldown = 0;           ///< epochs behind a fall that are not counted
  double minLr = 0;
  double eps = 1e-8; ///< a fall by less is left out
};
/// Lowers an optimizer's rates where a metric stays: PyTorch's ReduceLROnPlateau. Rates are state on the device, so
/// compiled steps are not compiled anew; a schedule of the optimizer starts from what they fall to. A handle: copies
/// share state, which checkpoints can have (sprig/checkpoint.h).
class SPRIG_API ReduceOnPlateau {
public:
  explicit ReduceOnPlateau(const Optimizer &optimizer, const PlateauOptions &options = {}, Source at = Source::here());
  /// At the end of an epoch, outside of compiled functions: whether a rate fell. What is not a number is no
  /// improvement. Waits for the rates.
  bool step(double metric, Source at = Source::here()) const;
  /// The best metric so far, infinite before the first. Waits.
  double best(Source at = Source::here()) const;

  /// "optimizer/plateau": the best metric, the epochs since it and those of the cooldown that are left.
  nn::StateDict stateDict() const;
  void loadStateDict(const nn::StateDict &state, Source at = Source::here()) const;
  std::vector<std::pair<std::string, Parameter>> namedState() const;

private:
  struct State;
  std::shared_ptr<State> state;
};

/// The L2 norm of all gradients together: f64 where one of them is, else f32.
[[nodiscard]] SPRIG_API Tensor gradNorm(const std::vector<Tensor> &gradients, Source at = Source::here());
/// The gradients times min(1, most / (norm + 1e-6)), norm over all of them.
[[nodiscard]] SPRIG_API std::vector<Tensor> clipGradNorm(const std::vector<Tensor> &gradients, double most,
                                                         Source at = Source::here());
/// Each element held within -most and most.
[[nodiscard]] SPRIG_API std::vector<Tensor> clipGradValue(const std::vector<Tensor> &gradients, double most,
                                                          Source at = Source::here());

/// An average of parameters over the updates.
class SPRIG_API Average {
public:
  /// A moving one: average = decay average + (1 - decay) parameter with each update() (the field `ema` of a training
  /// configuration). Starts as the parameters are when it is made; PyTorch's AveragedModel starts as they are at its
  /// first update, as an average does that is made after the first step.
  explicit Average(const Parameters &parameters, double decay = 0.999, Source at = Source::here());
  /// The mean of what the parameters were at each update(), all alike: stochastic weight averaging (arXiv:1803.05407).
  /// Before the first it is what the parameters are now.
  static Average mean(const Parameters &parameters, Source at = Source::here());
  /// After the optimizer's step.
  void update(Source at = Source::here()) const;
  /// Exchanges parameters and averages: for an evaluation, then once more.
  void swap(Source at = Source::here()) const;

  /// The averages, as "average/fc.weight" and so on; of a mean, "average/updates" counts them.
  nn::StateDict stateDict() const;
  /// Names and types must be these: anything else is one error (badInput) that lists it all.
  void loadStateDict(const nn::StateDict &state, Source at = Source::here()) const;
  void save(const std::filesystem::path &path, Source at = Source::here()) const {
    nn::saveTensors(path, stateDict(), at);
  }
  void load(const std::filesystem::path &path, Source at = Source::here()) const {
    loadStateDict(nn::loadTensors(path, at), at);
  }
  /// The same as the parameters that they are.
  std::vector<std::pair<std::string, Parameter>> namedState() const;

private:
  struct State;
  Average() = default;
  std::shared_ptr<State> state;
};

} // namespace sprig::optim
