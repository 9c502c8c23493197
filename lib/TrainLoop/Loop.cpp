#include "lib/TrainLoop/Loop.h"
#include "include/sprig/error.h"
#include "lib/Data/Floats.h"
#include "lib/TrainLoop/Signals.h"
#include "runtime/base/Decimal.h"
#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

namespace sprig::training {

namespace {

// Ranks with loops of their own ask one another about so often whether one is to end.
constexpr double kAskSeconds = 0.1;

constexpr const char *kNothingFound = "\nnote: the reference interpreter finds no such value in this step";

constexpr const char *kByLoss = "loss", *kByEvalLoss = "eval_loss", *kByAccuracy = "accuracy";

bool isOfEvaluation(const std::string &metric) { return metric == kByAccuracy || metric.starts_with("eval_"); }

bool isFinite(const checkpoints::ArrayView &array) {
  bool found = false;
  data::eachFloat(array.dtype, array.bytes.data(), int64_t(array.bytes.size()) / data::size(array.dtype),
                  [&](int64_t, double element) { found |= !std::isfinite(element); });
  return !found;
}

} // namespace

Loop::Loop(StepRunner &runner, BatchSource &source, RankGroup *group, LoopOptions given)
    : runner(&runner), source(source), group(group), options(std::move(given)), sizes(source.epoch()) {
  if (options.plateau) state.plateau = beginPlateau(options.plateau->byAccuracy);
  if (!options.early) return;
  const std::string metric = monitor();
  state.early.emplace(metric == kByAccuracy);
  auto refuse = [&](const std::string &what) {
    badUse(options.place + options.monitorField + " is " + metric + ", and " + what);
  };
  if (!options.hasOwnMetrics && metric != kByLoss && metric != kByEvalLoss && metric != kByAccuracy)
    refuse("what is measured is loss, eval_loss and accuracy");
  if (isOfEvaluation(metric) && !options.evaluates) refuse("there are no data to evaluate on");
  if (isOfEvaluation(metric) && options.evaluateEvery == 0) refuse("nothing is evaluated at the ends of epochs");
}

std::string Loop::monitor() const {
  if (!options.monitor.empty()) return options.monitor == "eval_accuracy" ? kByAccuracy : options.monitor;
  return options.evaluates ? kByEvalLoss : kByLoss;
}

bool Loop::goesByLosses() const {
  return (options.plateau && !options.evaluates) || (options.early && !isOfEvaluation(monitor()));
}

bool Loop::hasRunOut() const {
  return options.early && options.early->patience > 0 && state.early->without >= options.early->patience;
}

std::vector<data::Array> Loop::ownArrays() const {
  std::vector<double> numbers;
  for (const LoopObserver *each : observers)
    for (double number : each->state()) numbers.push_back(number);
  return state.arrays(goesByLosses(), monitor(), numbers);
}

void Loop::resume(checkpoints::Checkpoint checkpoint) {
  goOn(checkpoint.manifest, checkpoint.arrays);
  runner->restore(checkpoint.arrays);
}

void Loop::goOn(const checkpoints::Manifest &manifest, std::vector<data::Array> &arrays) {
  const std::vector<double> numbers = state.takeFrom(arrays, monitor(), manifest.index, sizes.samplesPerStep);
  // A run may keep the best weights from here on, or no longer.
  if (options.early && options.early->keepsBest == state.best.empty()) {
    state.best.clear();
    if (options.early->keepsBest) state.early.emplace(monitor() == kByAccuracy);
  }
  std::span<const double> left = numbers;
  for (LoopObserver *each : observers) {
    const size_t count = std::min(each->state().size(), left.size());
    each->restore(left.first(count));
    left = left.subspan(count);
  }
  source.seek({manifest.epoch, manifest.index});
  state.steps = saved = asked = manifest.step;
  result.stopped = hasRunOut();
}

LoopResult Loop::run() try {
  std::optional<SignalWatch> signals;
  if (options.endsBySignal) signals.emplace(options.replacesHandlers);
  if (!options.checkpoints.empty() && options.writesCheckpoints) writer.emplace(options.checkpoints, options.keep);
  if (saves() || options.explain)
    for (const checkpoints::ArrayView &array : runner->state().arrays)
      if (!isFinite(array)) notFinite.push_back(array.name);
  runBegan = askedAt = Clock::now();
  // Nothing of a run that ended by an error goes on behind it.
  struct UnderWay {
    StepRunner *&runner;
    ~UnderWay() { runner->cancel(); }
  } underWay{runner};
  if (options.compareEvery) group->checkReplicas();
  while (!started.empty() || mayStart()) {
    if (mayStart()) try {
        startNext();
      } catch (...) {
        if (started.empty()) throw;
        failure = std::current_exception();
      }
    while (!started.empty()) {
      std::span<const StepResult> results = runner->collect(/*wait=*/!mayStart());
      if (results.empty()) break;
      const Started call = started.front();
      started.pop_front();
      take(call, results);
    }
    if (failure && started.empty()) std::rethrow_exception(failure);
    if (replacement && started.empty()) {
      std::vector<data::Array> whole = copyState(runner->state().arrays);
      runner = std::exchange(replacement, nullptr);
      runner->restore(whole);
    }
  }
  if (state.steps < options.steps) result.signal = stops();
  if (signals && agreedSignal) signals->awaitOwn();
  finish();
  return std::move(result);
} catch (...) {
  for (LoopObserver *each : observers) each->onEnd();
  throw;
}

void Loop::finish() {
  auto end = Clock::now();
  for (LoopObserver *each : observers) each->onEnd();
  result.steps = state.steps;
  result.seconds = secondsOf(end - runBegan);
  result.time.end(end);
  result.samplesPerSecond = result.seconds > 0 ? double(result.samples) / result.seconds : 0;
  if (state.lossWeight > 0) result.epochLoss = state.lossSum / state.lossWeight;
  // What was not written is tried again, where that asks nothing of other ranks.
  if (saves() && (runner->sharesState() ? asked : saved) != state.steps) save();
  if (writer) tryToWrite("the checkpoints before it stay", [&] { writer->wait(); });
  result.best = state.early;
  if (options.early && options.early->keepsBest && !state.best.empty() && !result.interrupted())
    runner->setWeights(state.best);
  result.state = ownArrays();
  result.unwritten = unwrittenTexts;
}

bool Loop::tryToWrite(const char *consequence, const std::function<void()> &write) {
  try {
    write();
    return true;
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::runtime) throw;
    for (LoopObserver *each : observers) each->onWarning(std::string(error.what()) + "; " + consequence);
    if (std::find(unwrittenTexts.begin(), unwrittenTexts.end(), error.what()) == unwrittenTexts.end())
      unwrittenTexts.emplace_back(error.what());
    return false;
  }
}

// The signal that ends the run behind the step under way; of ranks the same one behind the same step.
int Loop::stops() const {
  if (!options.endsBySignal) return 0;
  return asks() ? agreedSignal : SignalWatch::noted();
}

void Loop::ask() {
  auto now = Clock::now();
  double seconds = std::max(1e-6, secondsOf(now - askedAt));
  int64_t steps = std::clamp(int64_t(double(askedFor) * kAskSeconds / seconds), int64_t(1), askedFor * 8);
  int signal = SignalWatch::noted();
  group->agree(signal, steps);
  agreedSignal = signal;
  askedFor = steps;
  askAt = state.steps + steps;
  askedAt = now;
}

int64_t Loop::nextNumber() const { return started.empty() ? state.steps : started.back().first + started.back().count; }

// How many steps the next call takes: as many as go together where none of them ends an epoch early or has something
// behind it that sees the state, else one.
int64_t Loop::stepsOfCall(int64_t number) const {
  const int64_t most = options.stepsPerCall;
  auto isBetween = [&](int64_t period) { return !period || number / period == (number + most - 1) / period; };
  bool isWhole = source.wholeStepsLeft() >= most && number + most <= options.steps &&
                 isBetween(options.checkpoints.empty() ? 0 : options.checkpointEvery) &&
                 isBetween(options.compareEvery);
  return isWhole ? most : 1;
}

// Whether a call may be handed over before those under way have told their losses: what is done behind a step sees the
// state behind it.
bool Loop::mayStart() const {
  if (failure || result.stopped || stops() || nextNumber() >= options.steps) return false;
  if (started.empty()) return !replacement;
  const Started &last = started.back();
  const bool meets = last.endsEpoch && (options.meetsAtEpochs || options.plateau || options.early);
  return started.size() < runner->maxInFlight() && !replacement && !meets && !last.evaluates && !last.compares &&
         !last.saves && !last.asks && !options.explain;
}

void Loop::startNext() {
  next.first = nextNumber();
  Started call{next.first, stepsOfCall(next.first), source.position().epoch, 0, false, false, false, false, false,
               false};
  if (options.explain) before = copyState(runner->state().arrays);
  next.begin = Clock::now();
  if (call.epoch != begun) {
    begun = call.epoch;
    epochBegan = next.begin;
  }
  source.take(call.count, next.samples);
  call.each = next.samples.each;
  runner->submit(next);
  const int64_t end = call.first + call.count;
  const BatchSource::Position at = source.position();
  call.endsEpoch = at.epoch != call.epoch;
  call.measures =
      options.evaluates && call.endsEpoch && options.evaluateEvery > 0 && at.epoch % options.evaluateEvery == 0;
  call.evaluates = call.measures || (options.evaluates && end == options.steps);
  call.compares = options.compareEvery && end % options.compareEvery == 0;
  call.saves = saves() && (options.checkpointEvery > 0 ? end % options.checkpointEvery == 0 : call.endsEpoch);
  call.asks = asks() && end >= askAt;
  started.push_back(call);
}

void Loop::take(const Started &call, std::span<const StepResult> results) {
  for (const StepResult &each : results) {
    StepMetrics line = lineOf(call, each);
    const bool isLast = &each == &results.back(), isSound = std::isfinite(line.loss);
    if (isLast && call.compares) try {
        group->checkReplicas();
      } catch (const Error &error) {
        throw Error(error.kind(), "step " + std::to_string(line.step) + ": " + error.what());
      }
    if (isLast && isSound && call.evaluates) evaluate(line);
    for (LoopObserver *observer : observers) observer->onStep(line);
    result.last = line;
    if (!isSound) reportNonFinite(line);
    if (options.explain) explainState(line, each.hasNorm);
  }
  lastEnd = results.back().end;
  if (call.endsEpoch || state.steps == options.steps) endEpoch(call);
  if (call.saves) save();
  if (call.asks) ask();
}

StepMetrics Loop::lineOf(const Started &call, const StepResult &step) {
  result.time.add(call.epoch, step);
  result.simulatedSeconds += step.simulatedSeconds;
  result.samples += call.each;
  epochSamples += call.each;
  ++result.done;
  StepMetrics line;
  line.step = state.steps++;
  line.loss = step.loss;
  line.gradNorm = step.gradNorm;
  line.lr = step.lr;
  line.seconds = earlierSeconds + secondsOf(step.end - runBegan);
  line.waitSeconds = secondsOf(step.ready - step.begin);
  line.exposedSeconds = step.exposedSeconds;
  line.numbers = step.metrics;
  line.numbers.insert(line.numbers.end(), step.numbers.begin(), step.numbers.end());
  const double weight = step.weight.value_or(double(call.each));
  state.lossSum += double(step.loss) * weight;
  state.lossWeight += weight;
  metricSums.resize(step.metrics.size());
  for (size_t i = 0; i < metricSums.size(); ++i) {
    const auto &[name, value] = step.metrics[i];
    metricSums[i].first = name;
    metricSums[i].second += value * weight;
    if (name == options.monitor) state.monitorSum += value * weight;
  }
  metricWeight += weight;
  return line;
}

void Loop::evaluate(StepMetrics &line) {
  result.evaluation = runner->evaluate();
  line.evalLoss = result.evaluation->loss;
  line.evalAccuracy = result.evaluation->accuracy;
  for (auto &[name, value] : result.evaluation->metrics) line.numbers.emplace_back("eval_" + name, value);
}

double Loop::measured(const std::string &metric, const std::string &field, const EpochSummary &epoch) const {
  if (metric == kByLoss) return epoch.loss;
  if (metric == kByEvalLoss) return epoch.evaluation->loss;
  if (metric != kByAccuracy) {
    std::string known = "loss" + std::string(epoch.evaluation ? ", eval_loss, accuracy" : "");
    for (auto &[name, value] : epoch.metrics) {
      // The sum goes on with that of the run before.
      if (name == metric) return isOfEvaluation(metric) ? value : state.monitorSum / state.lossWeight;
      known += ", " + name;
    }
    badUse(options.place + field + " is " + metric + ", and what is measured is " + known);
  }
  if (!epoch.evaluation->accuracy)
    badUse(options.place + field + " is of the accuracy of evaluations, and epoch " + std::to_string(epoch.number) +
           " was evaluated without counting hits");
  return *epoch.evaluation->accuracy;
}

// Also of an epoch that the run ends within; what is measured there alone does not count: a longer run has none there.
void Loop::endEpoch(const Started &call) {
  EpochSummary epoch;
  epoch.number = call.epoch;
  epoch.steps = state.steps;
  epoch.loss = result.epochLoss = state.lossSum / state.lossWeight;
  for (auto &[name, sum] : metricSums) epoch.metrics.emplace_back(name, sum / metricWeight);
  epoch.samples = std::exchange(epochSamples, 0);
  epoch.seconds = secondsOf(lastEnd - epochBegan);
  if (call.evaluates) {
    epoch.evaluation = &*result.evaluation;
    for (auto &[name, value] : result.evaluation->metrics) epoch.metrics.emplace_back("eval_" + name, value);
  }
  auto counts = [&](bool isOfEvaluation) { return isOfEvaluation ? call.measures : call.endsEpoch; };
  if (options.plateau && counts(options.evaluates)) {
    const std::string metric = options.plateau->byAccuracy ? kByAccuracy : options.evaluates ? kByEvalLoss : kByLoss;
    if (takeMetric(*options.plateau, options.plateau->byAccuracy, *state.plateau,
                   measured(metric, options.plateauField, epoch)))
      runner->lowerRates(*options.plateau);
  }
  if (const std::string metric = monitor(); options.early && counts(isOfEvaluation(metric))) {
    const double value = measured(metric, options.monitorField, epoch);
    if (state.early->take(*options.early, metric == kByAccuracy, value, epoch.number) && options.early->keepsBest)
      state.best = runner->weights();
    result.stopped = hasRunOut();
  }
  if (call.endsEpoch) {
    state.lossSum = state.lossWeight = state.monitorSum = metricWeight = 0;
    metricSums.clear();
  }
  epoch.lr = runner->rateAt(state.steps);
  bool goesOn = true;
  for (LoopObserver *observer : observers) goesOn &= observer->onEpoch(epoch);
  if (group && group->haveLoops() && options.meetsAtEpochs) goesOn = group->ofFirst(goesOn);
  result.stopped |= !goesOn;
}

void Loop::save() {
  auto start = Clock::now();
  asked = state.steps;
  WholeState whole = runner->state();
  if (!writer) return;
  // A run would only go on from such a state to losses that are not finite.
  if (const std::string name = notFiniteOf(whole); !name.empty())
    runtimeError(options.place + "step " + std::to_string(state.steps - 1) + ": '" + name +
                 "' is not finite behind it, so no checkpoint is written (learning rate " +
                 decimal::general(result.last.lr) + ")" +
                 (options.explainHint.empty() ? "" : "\nnote: " + options.explainHint) + lastCheckpoint());
  tryToWrite("training goes on, and tries again at the next checkpoint", [&] {
    // Lines first: a run that goes on from this checkpoint needs those of its steps.
    for (LoopObserver *observer : observers) observer->onCheckpoint();
    checkpoints::Manifest manifest = options.identity;
    manifest.step = state.steps;
    manifest.epoch = source.position().epoch;
    manifest.index = source.position().index;
    std::vector<data::Array> own = ownArrays();
    addViews(whole.arrays, own);
    writer->save(manifest, whole.arrays);
    saved = state.steps;
  });
  result.checkpointSeconds += secondsOf(Clock::now() - start);
}

std::string Loop::lastCheckpoint() const {
  return writer && saved > 0 ? "\nnote: the checkpoint of step " + std::to_string(saved) + " is from before" : "";
}

// The first array that is not finite, and was not so from the run's start on; empty where there is none.
std::string Loop::notFiniteOf(const WholeState &whole) const {
  for (const checkpoints::ArrayView &array : whole.arrays)
    if (!isFinite(array) && std::find(notFinite.begin(), notFinite.end(), array.name) == notFinite.end())
      return array.name;
  return "";
}

std::string Loop::explained() const {
  std::string found = options.explain(before, next.samples);
  return found.empty() ? "" : "\nnote: first not finite: " + found;
}

// What a loss shows one step later.
void Loop::explainState(const StepMetrics &line, bool hasNorm) {
  const std::string name = notFiniteOf(runner->state());
  if (name.empty() && (!hasNorm || std::isfinite(line.gradNorm))) return;
  const std::string found = explained();
  if (name.empty() && found.empty()) return; // the norm alone is beyond its type
  runtimeError(options.place + "step " + std::to_string(line.step) + ": the loss is " +
               decimal::general(double(line.loss)) + ", but " + (name.empty() ? "gradients are" : "'" + name + "' is") +
               " not finite behind it (learning rate " + decimal::general(line.lr) + ")" +
               (found.empty() ? kNothingFound : found) + lastCheckpoint());
}

void Loop::reportNonFinite(const StepMetrics &line) const {
  const char *value = std::isnan(line.loss) ? "NaN" : line.loss > 0 ? "infinity" : "-infinity";
  std::string text = options.place + "step " + std::to_string(line.step) + ": the loss is " + value +
                     " (learning rate " + decimal::general(line.lr) + ")";
  if (options.explain) {
    const std::string found = explained();
    text += found.empty() ? kNothingFound : found;
  } else if (!options.explainHint.empty()) {
    text += "\nnote: " + options.explainHint;
  }
  runtimeError(text + lastCheckpoint());
}

void addViews(std::vector<checkpoints::ArrayView> &views, const std::vector<data::Array> &arrays) {
  for (const data::Array &array : arrays) views.push_back({array.name, array.dtype, array.shape, array.bytes});
}

std::vector<data::Array> copyState(const std::vector<checkpoints::ArrayView> &views) {
  std::vector<data::Array> arrays;
  for (auto &view : views)
    arrays.push_back({view.name, view.dtype, view.shape, {view.bytes.begin(), view.bytes.end()}});
  return arrays;
}

} // namespace sprig::training
