#include "lib/Frontend/Trainer/ModuleRunner.h"
#include "lib/Frontend/Engine/Engine.h"
#include "lib/Frontend/Optim/OptimizerState.h"
#include "lib/Frontend/Record.h"
#include "lib/Frontend/Trainer/Evaluate.h"
#include "lib/Training/Plateau.h"
#include <cmath>

namespace sprig::frontend {

namespace {

/// More calls than may be in flight: the oldest of so many has run, or failed.
constexpr size_t kMostUnderWay = 256;

/// While it lives, the module has the averages of its weights.
class Averaged {
public:
  Averaged(const Training &training, Source at) : training(training), at(at) { swap(); }
  ~Averaged() { swap(); }
  Averaged(const Averaged &) = delete;
  Averaged &operator=(const Averaged &) = delete;

private:
  void swap() const {
    if (training.average) training.average->swap(at);
  }
  const Training &training;
  Source at;
};

} // namespace

ModuleRunner::ModuleRunner(const TrainerOptions &options, const TrainingPrograms &programs, data::Loader *evaluation,
                           Source at)
    : at(at), options(options), programs(programs), training(programs.of()), evaluation(evaluation),
      group(options.group), base(training.optimizer.baseLr(0, at)) {}

void ModuleRunner::end() {
  if (pieces) pieces->join();
  if (training.average) training.average->swap(at);
}

CheckpointSlots ModuleRunner::weightSlots() const {
  CheckpointSlots slots(at);
  for (const auto &named : {training.module->namedParameters(), training.module->namedBuffers()})
    for (auto &[name, parameter] : named) slots.add(name, parameter);
  return slots;
}

CheckpointSlots ModuleRunner::slots() const {
  CheckpointSlots slots = weightSlots();
  for (auto &[name, parameter] : training.optimizer.namedState()) slots.add(name, parameter);
  if (training.average)
    for (auto &[name, parameter] : training.average->namedState()) slots.add(name, parameter);
  return slots;
}

size_t ModuleRunner::maxInFlight() const { return kMostUnderWay; }

void ModuleRunner::submit(const training::Call &call) {
  Asked asked{call.first, call.begin, training::Clock::now(), {}};
  const std::vector<data::Batch> &batches = call.samples.batches;
  if (batches.size() == 1)
    asked.results.push_back(programs.step(batches[0]));
  else
    asked.results = programs.steps(batches);
  underWay.push_back(std::move(asked));
}

std::span<const training::StepResult> ModuleRunner::collect(bool wait) {
  const Asked &call = underWay.front();
  const Tensor &lastLoss = call.results.back().loss;
  if (!wait && !lastLoss.ready()) return {};
  told.clear();
  for (const StepTensors &given : call.results) {
    training::StepResult step;
    step.loss = given.loss.item<float>(at);
    step.hasNorm = given.norm.defined();
    step.gradNorm = step.hasNorm ? given.norm.item<float>(at) : std::nanf("");
    if (given.weight.defined()) step.weight = given.weight.item<float>(at);
    for (size_t i = 0; i < given.metrics.size(); ++i)
      step.metrics.emplace_back(programs.metricNames()[i], given.metrics[i].item<float>(at));
    step.lr = rateAt(call.first + int64_t(told.size()));
    step.begin = told.empty() ? std::max(call.begin, lastEnd) : lastEnd;
    step.ready = told.empty() ? std::max(call.ready, lastEnd) : lastEnd;
    step.end = training::Clock::now();
    // The queue knows when the last call ended, which may be long ago.
    if (underWay.size() == 1)
      if (auto ranOut = Engine::of(lastLoss.raw()->lane).ranOutAt(); ranOut > step.ready)
        step.end = std::min(ranOut, step.end);
    lastEnd = step.end;
    told.push_back(step);
  }
  underWay.pop_front();
  return told;
}

training::Evaluation ModuleRunner::evaluate() {
  Averaged weights(training, at);
  return frontend::evaluate(programs, *evaluation, group, at);
}

// Checkpoints have whole arrays, for which all ranks meet.
training::WholeState ModuleRunner::state() {
  if (pieces) pieces->join();
  CheckpointSlots all = slots();
  all.addRandomState();
  training::WholeState whole;
  for (data::Array &array : all.arrays()) {
    whole.made.push_back(std::move(array.bytes));
    whole.arrays.push_back({array.name, array.dtype, array.shape, whole.made.back()});
  }
  if (pieces) pieces->cut();
  return whole;
}

void ModuleRunner::restore(const std::vector<data::Array> &arrays) {
  if (pieces) pieces->join();
  std::vector<std::string> names;
  for (const data::Array &array : arrays) names.push_back(array.name);
  training.optimizer.expect(names);
  CheckpointSlots all = slots();
  all.addRandomState();
  if (std::string misfits = all.misfits(arrays); !misfits.empty())
    badInput(placeText(at) + "Trainer: the checkpoint does not fit" + misfits);
  all.set(arrays);
  if (pieces) pieces->cut();
  base = training.optimizer.baseLr(0, at);
}

std::vector<data::Array> ModuleRunner::weights() {
  Averaged averages(training, at);
  return weightSlots().arrays();
}

void ModuleRunner::setWeights(const std::vector<data::Array> &arrays) {
  weightSlots().set(arrays);
  if (!training.average) return;
  Averaged averages(training, at);
  weightSlots().set(arrays);
}

// On the host: a schedule is a function of the number of steps, so nothing waits for the device.
double ModuleRunner::rateAt(int64_t step) const {
  const std::optional<optim::Schedule> &schedule = training.optimizer.schedule();
  return schedule ? schedule->at(base, step) : base;
}

bool ModuleRunner::lowerRates(const training::ScheduleConfig &schedule) {
  const bool fell = optim::lowerRates(training.optimizer, schedule, at);
  base = training.optimizer.baseLr(0, at);
  return fell;
}

void ModuleRunner::agree(int &signal, int64_t &steps) {
  Tensor largest =
      group->allReduce(Tensor({int64_t(signal), -steps}), dist::Reduce::max, dist::Algorithm::automatic, at);
  const auto *numbers = largest.data<int64_t>(at);
  signal = int(numbers[0]);
  steps = -numbers[1];
}

} // namespace sprig::frontend
