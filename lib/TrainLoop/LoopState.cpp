#include "lib/TrainLoop/LoopState.h"
#include "include/sprig/error.h"
#include "lib/Training/StateNames.h"
#include <algorithm>
#include <cstring>
#include <limits>

namespace sprig::training {

BestSoFar::BestSoFar(bool highest)
    : value(highest ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity()) {}

bool BestSoFar::take(const EarlyStop &rule, bool highest, double metric, int64_t ofEpoch) {
  bool isBest = highest ? metric > value + rule.minDelta : metric < value - rule.minDelta;
  without = isBest ? 0 : without + 1;
  if (!isBest) return false;
  value = metric;
  epoch = ofEpoch;
  return true;
}

static data::Array numbersAs(const std::string &name, const std::vector<double> &numbers) {
  data::Array array{name, data::DType::f64, {int64_t(numbers.size())}, {}};
  const char *bytes = reinterpret_cast<const char *>(numbers.data());
  array.bytes.assign(bytes, bytes + numbers.size() * sizeof(double));
  return array;
}

std::vector<data::Array> LoopState::arrays(bool keepsLosses, const std::string &monitor,
                                           const std::vector<double> &observers) const {
  std::vector<data::Array> result;
  if (plateau)
    result.push_back(numbersAs(kPlateau, {plateau->best, double(plateau->badEpochs), double(plateau->cooldown)}));
  if (keepsLosses) result.push_back(numbersAs(kPlateauLoss, {lossSum, lossWeight}));
  if (early)
    result.push_back(numbersAs(kEarlyStopPrefix + monitor,
                               {early->value, double(early->epoch), double(early->without), monitorSum}));
  if (!observers.empty()) result.push_back(numbersAs(kObservers, observers));
  for (const data::Array &array : best) {
    result.push_back(array);
    result.back().name = kBestPrefix + array.name;
  }
  return result;
}

/// The numbers of an array, which is taken out; nothing where there is none of this name. `count` is 0 where any will
/// do.
static std::optional<std::vector<double>> takeNumbers(std::vector<data::Array> &arrays, const std::string &name,
                                                      int64_t count) {
  auto found = std::find_if(arrays.begin(), arrays.end(), [&](const data::Array &array) { return array.name == name; });
  if (found == arrays.end()) return std::nullopt;
  if (found->dtype != data::DType::f64 || found->shape.size() != 1 || (count && found->shape[0] != count))
    badInput("'" + name + "' is " + data::describe(*found) + " in the checkpoint, expected " +
             data::describe(data::DType::f64, {count}));
  std::vector<double> numbers(found->bytes.size() / sizeof(double));
  std::memcpy(numbers.data(), found->bytes.data(), numbers.size() * sizeof(double));
  arrays.erase(found);
  return numbers;
}

std::vector<double> LoopState::takeFrom(std::vector<data::Array> &arrays, const std::string &monitor, int64_t index,
                                        int64_t each) {
  if (plateau) {
    auto numbers = takeNumbers(arrays, kPlateau, 3);
    if (!numbers) badInput("the checkpoint has no array '" + std::string(kPlateau) + "'");
    plateau = {(*numbers)[0], int64_t((*numbers)[1]), int64_t((*numbers)[2])};
  }
  if (auto losses = takeNumbers(arrays, kPlateauLoss, 2)) {
    lossSum = (*losses)[0];
    lossWeight = (*losses)[1];
    // Earlier checkpoints count whole steps, and add up their losses.
    if (lossWeight != double(index) && lossWeight * double(each) == double(index)) {
      lossSum *= double(each);
      lossWeight = double(index);
    }
  }
  auto numbers = early ? takeNumbers(arrays, kEarlyStopPrefix + monitor, 4) : std::nullopt;
  if (numbers) {
    early->value = (*numbers)[0];
    early->epoch = int64_t((*numbers)[1]);
    early->without = int64_t((*numbers)[2]);
    monitorSum = (*numbers)[3];
  }
  std::erase_if(arrays, [&](data::Array &array) {
    const bool isBest = array.name.starts_with(kBestPrefix);
    if (isBest && numbers) {
      array.name.erase(0, std::string_view(kBestPrefix).size());
      best.push_back(std::move(array));
    }
    return isBest || array.name.starts_with(kEarlyStopPrefix);
  });
  return takeNumbers(arrays, kObservers, 0).value_or(std::vector<double>());
}

} // namespace sprig::training
