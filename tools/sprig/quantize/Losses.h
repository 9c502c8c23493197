// What classes differ between a model and its quantised form, over calls.
// For quantize.
#pragma once
#include "lib/Data/Array.h"
#include "tools/sprig/quantize/QuantizeModel.h"
#include "tools/sprig/run/ArrayLoss.h"

namespace sprig::cli {

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
