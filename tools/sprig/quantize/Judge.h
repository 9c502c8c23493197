// A float model beside quantised ones, on the same samples.
// For quantize. The float model runs once; its results are kept.
#pragma once
#include "tools/sprig/quantize/CalibrationData.h"
#include "lib/Data/Array.h"
#include "tools/sprig/quantize/QuantizeModel.h"
#include "tools/sprig/run/ArrayLoss.h"
#include <functional>

namespace sprig::cli {

class Judge {
public:
  using Run = std::function<std::vector<data::Array>(const CalibrationCall &)>;
  Judge(const CalibrationData &data, const Run &floatModel);

  Loss judge(const Run &quantized) const;
  /// Why labels are not used, or "".
  const std::string &note() const { return withoutLabels; }

private:
  /// Why the labels of the samples say nothing about an output, or "".
  std::string unfit(const CalibrationCall &call, const data::Array &output) const;

  const CalibrationData &data;
  std::string withoutLabels;
  std::vector<std::vector<data::Array>> wanted; ///< by call
};

/// A value of a call by its name: a result, or what was given.
const data::Array &valueOf(const std::string &name, const std::vector<data::Array> &results,
                           const CalibrationCall &call);

/// Counts samples by where the largest number of their rows is; rows with NaN are of no class.
class ClassCount {
public:
  /// Whether an output has one row of at least two floats for each of so many samples.
  static bool fits(const data::Array &output, int64_t samples);
  void add(const data::Array &reference, const data::Array &other, const std::vector<int64_t> &labels);
  std::optional<ClassLoss> result() const;

private:
  int64_t samples = 0, classed = 0, labelled = 0, before = 0, after = 0, same = 0;
};

} // namespace sprig::cli
