// A float model beside quantised ones, on the same samples.
// For quantize. The float model runs once; its results are kept.
#pragma once
#include "tools/sprig/quantize/CalibrationData.h"
#include "tools/sprig/quantize/Losses.h"
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

} // namespace sprig::cli
