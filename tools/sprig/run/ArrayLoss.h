// What arrays differ by from others that they should be like: signal over noise in dB, the largest difference.
// For quantize and check.
#pragma once
#include "lib/Data/Array.h"
#include "lib/Quantize/NoiseMeter.h"
#include "tools/sprig/Report.h"

namespace sprig::cli {

/// Of arrays that come in pieces. What is not finite in the reference is not compared.
class ArrayLoss {
public:
  void add(const data::Array &reference, const data::Array &other);
  /// NaN where no element could be compared; infinite where nothing differs.
  double decibels() const;
  bool comparesAny() const { return compared > 0; }
  double largest() const { return difference; }
  /// A piece had another shape than that of the reference: nothing but noise.
  bool sizesDiffer() const { return isOther; }

private:
  quantize::NoiseMeter meter;
  double difference = 0;
  int64_t compared = 0, passedOver = 0;
  bool isOther = false;
};

/// "49.6", "exact" where nothing differs, "not finite" where there is no signal, no number, or nothing but noise.
std::string decibelText(double decibels);
/// JSON has no infinity: null stands for no difference at all, and where that is not so, "finite" is false.
void putDecibels(Json &json, const char *name, double decibels);

} // namespace sprig::cli
