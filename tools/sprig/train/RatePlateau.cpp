#include "tools/sprig/train/RatePlateau.h"
#include "lib/Training/StateNames.h"
#include "tools/sprig/Report.h"
#include <algorithm>
#include <cstring>
#include <optional>

namespace sprig::cli {

using training::kLr, training::kPlateau, training::kPlateauLoss;

RatePlateau::RatePlateau(const training::TrainConfig &config, bool measures)
    : schedule(config.schedule), measures(measures), lr(config.optimizer.lr),
      state(training::beginPlateau(config.schedule.byAccuracy)) {
  if (schedule.byAccuracy && !measures)
    badUse("lr_schedule.metric: found \"accuracy\", expected data to evaluate on (--eval-x and "
           "--eval-y), which it is measured on");
  if (measures && config.evalEvery == 0)
    badUse("eval.every: found 0, expected evaluations at the ends of epochs, which lr_schedule 'plateau' goes by");
}

void RatePlateau::addStep(float loss) {
  lossSum += double(loss);
  lossSteps += 1;
}

bool RatePlateau::endEpoch(const EvaluationResult *evaluation) {
  double mean = lossSum / lossSteps;
  lossSum = lossSteps = 0;
  if (measures && !evaluation) return false;
  double metric = !measures ? mean : schedule.byAccuracy ? evaluation->accuracy() : evaluation->loss();
  if (!training::takeMetric(schedule, schedule.byAccuracy, state, metric)) return false;
  double before = lr;
  lr = training::loweredRate(schedule, lr);
  return lr != before;
}

static data::Array arrayOf(const char *name, const std::vector<double> &numbers) {
  data::Array array{name, data::DType::f64, {int64_t(numbers.size())}, {}};
  const char *bytes = reinterpret_cast<const char *>(numbers.data());
  array.bytes.assign(bytes, bytes + numbers.size() * sizeof(double));
  return array;
}

std::vector<data::Array> RatePlateau::arrays() const {
  std::vector<data::Array> result = {arrayOf(kPlateau, {state.best, double(state.badEpochs), double(state.cooldown)})};
  if (!measures) result.push_back(arrayOf(kPlateauLoss, {lossSum, lossSteps}));
  return result;
}

/// The numbers of an array, which is taken out unless it `stays`; nothing where there is none of this name.
static std::optional<std::vector<double>> numbersOf(std::vector<data::Array> &arrays, const char *name,
                                                    const std::vector<int64_t> &shape, bool stays = false) {
  auto found = std::find_if(arrays.begin(), arrays.end(), [&](const data::Array &array) { return array.name == name; });
  if (found == arrays.end()) return std::nullopt;
  if (found->dtype != data::DType::f64 || found->shape != shape)
    badInput("'" + std::string(name) + "' is " + data::describe(*found) + " in the checkpoint, expected " +
             data::describe(data::DType::f64, shape));
  std::vector<double> numbers(found->bytes.size() / sizeof(double));
  std::memcpy(numbers.data(), found->bytes.data(), numbers.size() * sizeof(double));
  if (!stays) arrays.erase(found);
  return numbers;
}

void RatePlateau::takeFrom(std::vector<data::Array> &arrays) {
  auto rate = numbersOf(arrays, kLr, {}, /*stays=*/true), numbers = numbersOf(arrays, kPlateau, {3}),
       losses = numbersOf(arrays, kPlateauLoss, {2});
  if (!rate || !numbers) badInput(std::string("the checkpoint has no array '") + (rate ? kPlateau : kLr) + "'");
  if (measures == losses.has_value())
    badInput(std::string("the checkpoint is of a run whose rate went by ") +
             (measures ? "the losses of its steps" : "evaluations") + ", this one's goes by " +
             (measures ? "evaluations" : "the losses of its steps"));
  lr = (*rate)[0];
  state = {(*numbers)[0], int64_t((*numbers)[1]), int64_t((*numbers)[2])};
  if (!losses) return;
  lossSum = (*losses)[0];
  lossSteps = (*losses)[1];
}

} // namespace sprig::cli
