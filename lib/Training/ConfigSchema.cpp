#include "lib/Training/ConfigSchema.h"
#include "runtime/base/Decimal.h"
#include <cmath>
#include <type_traits>

namespace sprig::training {
namespace {

using C = TrainConfig;
using L = LossConfig;
using O = OptimizerConfig;
using S = ScheduleConfig;

constexpr const char *kDecay = "weight decay";
constexpr const char *kPer = "what time is counted in";

std::vector<Field<L>> withCommon(std::vector<Field<L>> fields, bool batchMean = false) {
  fields.push_back({"reduction", ReductionOf<L>{&L::reduction, batchMean}, kAny, "\"mean\"",
                    "how the losses of elements become one number"});
  fields.push_back({"scale", &L::scale, kNotNegative, "1", "factor of this loss in the sum of all"});
  return fields;
}

std::vector<Field<L>> classFields() {
  return {{"class_weights", &L::classWeights, kNotNegative, "", "weight of each class; all 1 if absent"},
          {"ignore_index", &L::ignoreIndex, kAny, "", "targets of this class count nothing"}};
}

std::vector<Field<L>> crossEntropyFields() {
  std::vector<Field<L>> fields = classFields();
  fields.push_back({"label_smoothing", &L::labelSmoothing, kUnit, "0", "share of the target spread over all classes"});
  return fields;
}

std::vector<Field<S>> withPer(std::vector<Field<S>> fields) {
  fields.push_back({"per", WordOf<S>{&S::perEpoch, "step", "epoch"}, kAny, "\"step\"", kPer});
  return fields;
}

const Field<S> kTotal = {"total_steps", &S::totalSteps, kCount, "", "length of the schedule; the run's if absent"};
const Field<S> kWarmup = {"warmup_steps", &S::warmupSteps, kCountOrZero, kRequired, "steps of the rise to lr"};
const Field<S> kMinLr = {"min_lr", &S::minLr, kNotNegative, "0", "rate at the end"};

std::string number(double value) { return decimal::general(value, 16); }

std::string bounds(const Range &range, bool every) {
  bool low = std::isfinite(range.low), high = std::isfinite(range.high) && (every || range.high < 9e15);
  std::string from = range.lowOpen ? "above " + number(range.low) : "of at least " + number(range.low);
  std::string to = range.highOpen ? "below " + number(range.high) : "of at most " + number(range.high);
  if (low && high && !range.lowOpen && !range.highOpen)
    return " from " + number(range.low) + " to " + number(range.high);
  return low && high ? " " + from + " and " + to : low ? " " + from : high ? " " + to : "";
}

} // namespace

const std::vector<Field<C>> &configFields() {
  static const auto &fields = *new std::vector<Field<C>>{
      {"net", &C::net, kAny, "", "name of the network, for people"},
      {"batch", &C::batch, kCount, kRequired, "samples of one forward pass"},
      {"steps", &C::steps, kCount, "", "optimizer steps of the run; this or epochs"},
      {"epochs", &C::epochs, kCount, "", "passes over the data; this or steps"},
      {"accumulate", &C::accumulate, kCount, "1", "forward passes of a step; gradient and loss are their mean"},
      {"shuffle", &C::shuffle, kAny, "", "a new order each epoch, by the seed; if absent, true with epochs"},
      {"drop_last", &C::dropLast, kAny, "false", "leaves out the last, smaller batch of an epoch"},
      {"seed", &C::seed, kCountOrZero, "0", "of the order of samples and of dropout"},
      {"trainable", &C::trainable, kAny, "",
       "names or globs of the initializers to update; if absent, the float ones that feed weight, bias and scale "
       "inputs"},
      {"grad_clip_norm", &C::gradClipNorm, kPositive, "", "the gradient is scaled by min(1, c / (norm + 1e-6))"},
      {"grad_clip_value", &C::gradClipValue, kPositive, "", "each element of the gradient is held within -c and c"},
      {"ema", &C::emaDecay, kBelowOne, "",
       "decay of a moving average of the weights from the initial ones on, which evaluations and the result take"},
      {"restore_best", &C::restoreBest, kAny, "false",
       "the result has the weights of the best epoch, by early_stop.metric, rather than the last ones"},
      {"dropout", &C::dropout, kAny, "true", "false: dropout does nothing in training either"},
      {"remat", &C::rematBytes, kCountOrZero, "", "bytes of saved activations above which they are computed again"},
      {"remat_layers", &C::rematLayers, kAny, "",
       "names or globs of layers whose activations are computed again rather than saved"},
  };
  return fields;
}

const std::vector<Section> &configSections() {
  static const auto &sections = *new std::vector<Section>{
      {"batch_norm",
       {{"momentum", &C::batchNormMomentum, kUnit, "",
         "running = momentum running + (1 - momentum) batch; the node's if absent"},
        {"statistics", WordOf<C>{&C::batchNormOfReplicas, "all", "replica"}, kAny, "",
         "of several ranks: of all ranks' samples (all; if absent), or of each rank's own; running ones are their "
         "mean"},
        {"frozen", &C::frozenNorms, kAny, "",
         "names or globs of the scales of batch norms that keep their running statistics and normalise by them, as in "
         "inference"}},
       "batch normalisation in training"},
      {"eval",
       {{"every", &C::evalEvery, kCountOrZero, "1", "epochs between evaluations; 0: only at the end"},
        {"batch", &C::evalBatch, kCount, "", "samples of one pass; batch if absent"}},
       "evaluation on --eval-x and --eval-y"},
      {"early_stop",
       {{"patience", &C::stopPatience, kCount, "",
         "measurements without an improvement that end the run; if absent, it does not end early"},
        {"min_delta", &C::stopMinDelta, kNotNegative, "", "what an improvement is more than; 0 if absent"},
        {"metric", &C::stopMetric, kAny, "",
         "\"loss\" of an epoch's steps, \"eval_loss\" or \"accuracy\" of its evaluation; if absent, the loss of "
         "evaluations, and without any that of the steps"}},
       "the end of a run that no longer improves, measured at the ends of epochs"},
  };
  return sections;
}

const std::vector<Field<GroupFields>> &groupFields() {
  using G = GroupFields;
  static const auto &fields = *new std::vector<Field<G>>{
      {"match", &G::match, kAny, kRequired, "names or globs of parameters; the first group that matches has one"},
      {"lr", &G::lr, kNotNegative, "", "rate in place of the optimizer's; the schedule scales both alike"},
      {"lr_scale", &G::lrScale, kNotNegative, "", "the same as a factor on the optimizer's rate"},
      {"weight_decay", &G::weightDecay, kNotNegative, "", "in place of the optimizer's"},
  };
  return fields;
}

const std::vector<Kind<L, LossKind>> &lossKinds() {
  static const auto &kinds = *new std::vector<Kind<L, LossKind>>{
      {"softmax_cross_entropy", LossKind::softmaxCrossEntropy, withCommon(crossEntropyFields()),
       "logits, classes in the last axis; targets: integer classes"},
      {"nll", LossKind::nll, withCommon(classFields()), "the same from logarithms of probabilities"},
      {"mse", LossKind::mse, withCommon({}), "squared differences"},
      {"l1", LossKind::l1, withCommon({}), "absolute differences"},
      {"huber", LossKind::huber,
       withCommon({{"delta", &L::delta, kPositive, "1", "difference where the square turns into a line"}}),
       "half the square of small differences d, delta (|d| - delta/2) of large ones"},
      {"binary_cross_entropy", LossKind::binaryCrossEntropy, withCommon({}),
       "from probabilities; each logarithm at least -100"},
      {"bce_with_logits", LossKind::bceWithLogits,
       withCommon({{"positive_weight", &L::positiveWeight, kNotNegative, "", "weight of the positive targets"}}),
       "the same from logits"},
      {"kl", LossKind::klDivergence,
       withCommon({{"log_target", &L::logTarget, kAny, "false", "targets are logarithms too"}}, true),
       "Kullback-Leibler: from logarithms of probabilities to probabilities"},
  };
  return kinds;
}

const std::vector<Kind<O, OptimizerKind>> &optimizerKinds() {
  static const auto &lr = *new Field<O>{"lr", &O::lr, kNotNegative, kRequired, "learning rate, before the schedule"};
  static const auto &decay = *new Field<O>{"weight_decay", &O::weightDecay, kNotNegative, "0", kDecay};
  static const auto &decoupled = *new Field<O>{"weight_decay", &O::weightDecay, kNotNegative, "0",
                                               "weight decay, taken from the parameter itself"};
  static const auto &momentum =
      *new Field<O>{"momentum", &O::momentum, kNotNegative, "0", "share of the last update that is kept"};
  auto betas = [](const char *fallback) {
    return Field<O>{"betas", PairOf<O>{&O::beta1, &O::beta2}, kBelowOne, fallback, "decays of the two moments"};
  };
  auto eps = [](const char *fallback) {
    return Field<O>{"eps", &O::eps, kNotNegative, fallback, "added to the denominator"};
  };
  static const auto &isDecoupled = *new Field<O>{"decoupled_weight_decay", &O::decoupled, kAny, "false",
                                                 "takes weight decay from the parameter itself, as adamw does"};
  static const auto &kinds = *new std::vector<Kind<O, OptimizerKind>>{
      {"sgd",
       OptimizerKind::sgd,
       {lr,
        decay,
        momentum,
        {"dampening", &O::dampening, kUnit, "0", "share of the gradient that momentum leaves out"},
        {"nesterov", &O::nesterov, kAny, "false", "looks ahead by the momentum"}},
       "stochastic gradient descent"},
      {"adam", OptimizerKind::adam, {lr, decay, betas("[0.9, 0.999]"), eps("1e-8")}, "Adam"},
      {"adamw", OptimizerKind::adamw, {lr, decoupled, betas("[0.9, 0.999]"), eps("1e-8")}, "Adam with decoupled decay"},
      {"nadam",
       OptimizerKind::nadam,
       {lr,
        decay,
        isDecoupled,
        betas("[0.9, 0.999]"),
        eps("1e-8"),
        {"momentum_decay", &O::momentumDecay, kNotNegative, "0.004", "how fast the first moment's decay comes up"}},
       "Adam with Nesterov's momentum"},
      {"radam",
       OptimizerKind::radam,
       {lr, decay, isDecoupled, betas("[0.9, 0.999]"), eps("1e-8")},
       "Adam that adapts by the second moment as far as that is known"},
      {"rmsprop",
       OptimizerKind::rmsprop,
       {lr, decay, momentum, {"alpha", &O::alpha, kUnit, "0.99", "decay of the mean square"}, eps("1e-8")},
       "RMSprop"},
      {"adagrad",
       OptimizerKind::adagrad,
       {lr, decay, {"lr_decay", &O::lrDecay, kNotNegative, "0", "the rate is divided by 1 + t lr_decay"}, eps("1e-10")},
       "Adagrad"},
      {"adadelta",
       OptimizerKind::adadelta,
       {lr, decay, {"rho", &O::rho, kUnit, "0.9", "decay of the mean squares"}, eps("1e-6")},
       "Adadelta"},
      {"lion", OptimizerKind::lion, {lr, decoupled, betas("[0.9, 0.99]")}, "Lion: the sign of an averaged gradient"},
  };
  return kinds;
}

const std::vector<Kind<S, ScheduleKind>> &scheduleKinds() {
  static const auto &kinds = *new std::vector<Kind<S, ScheduleKind>>{
      {"constant", ScheduleKind::constant, {}, "lr"},
      {"step", ScheduleKind::step,
       withPer({{"step_size", &S::stepSize, kCount, kRequired, "time between two drops"},
                {"gamma", &S::gamma, kPositive, "0.1", "factor of a drop"}}),
       "lr gamma^floor(t / step_size)"},
      {"multi_step", ScheduleKind::multiStep,
       withPer({{"milestones", &S::milestones, kCountOrZero, kRequired, "times of the drops, ascending"},
                {"gamma", &S::gamma, kPositive, "0.1", "factor of a drop"}}),
       "lr gamma^(milestones at or before t)"},
      {"exponential", ScheduleKind::exponential,
       withPer({{"gamma", &S::gamma, kPositive, kRequired, "factor of each unit of time"}}), "lr gamma^t"},
      {"linear", ScheduleKind::linear,
       withPer({{"start_factor", &S::startFactor, kNotNegative, "0.3333333333333333", "at t = 0"},
                {"end_factor", &S::endFactor, kNotNegative, "1", "from t = total_steps on"},
                kTotal}),
       "lr (start_factor + (end_factor - start_factor) min(t, total_steps) / total_steps)"},
      {"warmup", ScheduleKind::warmup, withPer({kWarmup}), "lr min(1, (t+1) / warmup_steps)"},
      {"cosine", ScheduleKind::cosine, withPer({kMinLr, kTotal}),
       "min_lr + (lr - min_lr) (1 + cos(pi t / total_steps)) / 2, then min_lr"},
      {"warm_restarts", ScheduleKind::warmRestarts,
       withPer({{"period", &S::period, kCount, kRequired, "length of the first cycle"},
                {"period_factor", &S::periodFactor, kCount, "1", "of each cycle's length in that before it"},
                kMinLr}),
       "cosines from lr to min_lr, one after the other"},
      {"warmup_cosine", ScheduleKind::warmupCosine, withPer({kWarmup, kMinLr, kTotal}),
       "lr (t+1) / warmup_steps while t < warmup_steps, then a cosine from lr to min_lr"},
      {"one_cycle", ScheduleKind::oneCycle,
       withPer({{"max_lr", &S::maxLr, kPositive, "", "the peak; lr if absent"},
                kTotal,
                {"pct_start", &S::pctStart, kUnit, "0.3", "share of the rise"},
                {"div_factor", &S::divFactor, kPositive, "25", "max_lr over the rate at t = 0"},
                {"final_div_factor", &S::finalDivFactor, kPositive, "10000", "first rate over the last"},
                {"anneal", WordOf<S>{&S::linearAnneal, "cos", "linear"}, kAny, "\"cos\"", "form of rise and fall"}}),
       "from max_lr / div_factor up to max_lr and down to the first rate / final_div_factor"},
      {"list", ScheduleKind::list,
       withPer({{"values", &S::values, kNotNegative, kRequired, "the rate at t = 0, 1, ...; the last one stays"}}),
       "explicit rates; a plain list of numbers is short for this"},
      {"plateau",
       ScheduleKind::plateau,
       {{"metric", WordOf<S>{&S::byAccuracy, "loss", "accuracy"}, kAny, "\"loss\"",
         "of the evaluations; without any, loss is the mean of the epoch's steps"},
        {"factor", &S::factor, {0, 1, true, true}, "0.1", "what the rate is multiplied by"},
        {"patience", &S::patience, kCountOrZero, "10", "epochs without an improvement that change nothing"},
        {"threshold", &S::threshold, kNotNegative, "0.0001", "what improves less is no improvement"},
        {"threshold_mode", WordOf<S>{&S::absoluteThreshold, "rel", "abs"}, kAny, "\"rel\"",
         "a share of the best, or a difference from it"},
        {"cooldown", &S::cooldown, kCountOrZero, "0", "epochs behind a fall that are not counted"},
        {"min_lr", &S::minLr, kNotNegative, "0", "least rate"},
        {"eps", &S::eps, kNotNegative, "1e-8", "a fall by less is left out"}},
       "lr, lowered at the end of an epoch where the metric has not improved for `patience` epochs"},
  };
  return kinds;
}

template <typename T> std::string describeType(const Field<T> &field, bool everyBound) {
  return std::visit(
      [&](auto member) -> std::string {
        using M = decltype(member);
        auto is = [](auto... samples) { return (std::is_same_v<M, decltype(samples)> || ...); };
        if constexpr (std::is_same_v<M, PairOf<T>>)
          return "a list of two numbers" +
                 (bounds(field.range, everyBound).empty() ? "" : ", each" + bounds(field.range, everyBound));
        else if constexpr (std::is_same_v<M, WordOf<T>>)
          return std::string("\"") + member.whenFalse + "\" or \"" + member.whenTrue + "\"";
        else if constexpr (std::is_same_v<M, ReductionOf<T>>)
          return member.batchMean ? "\"mean\", \"sum\" or \"batch_mean\"" : "\"mean\" or \"sum\"";
        else if (is((bool T::*)nullptr))
          return "true or false";
        else if (is((std::string T::*)nullptr))
          return "a string";
        else if (is((int64_t T::*)nullptr, (uint64_t T::*)nullptr, (std::optional<int64_t> T::*)nullptr))
          return "an integer" + bounds(field.range, everyBound);
        else if (is((double T::*)nullptr, (std::optional<double> T::*)nullptr))
          return "a number" + bounds(field.range, everyBound);
        else if (is((std::vector<double> T::*)nullptr, (std::vector<int64_t> T::*)nullptr)) {
          std::string each = bounds(field.range, everyBound);
          return std::string(is((std::vector<double> T::*)nullptr) ? "a list of numbers" : "a list of integers") +
                 (each.empty() ? "" : ", each" + each);
        } else
          return "a string or a list of strings";
      },
      field.member);
}

template std::string describeType(const Field<TrainConfig> &, bool);
template std::string describeType(const Field<GroupFields> &, bool);
template std::string describeType(const Field<LossConfig> &, bool);
template std::string describeType(const Field<OptimizerConfig> &, bool);
template std::string describeType(const Field<ScheduleConfig> &, bool);

} // namespace sprig::training
