// What differs between a model and its quantised form, over calls.
// For quantize.
#pragma once
#include "lib/Data/Array.h"
#include "lib/Quantize/Quantizer.h"
#include "tools/sprig/quantize/QuantizeModel.h"

namespace sprig::cli {

/// Signal over noise of arrays that come in pieces. What is not finite in the reference is not compared.
class ArrayLoss {
public:
  void add(const data::Array &reference, const data::Array &other);
  /// NaN where no element could be compared.
  double decibels() const;
  double largest() const { return difference; }
  /// A piece had another shape than that of the reference: nothing but noise.
  bool sizesDiffer() const { return isOther; }

private:
  quantize::NoiseMeter meter;
  double difference = 0;
  int64_t compared = 0, passedOver = 0;
  bool isOther = false;
};

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
