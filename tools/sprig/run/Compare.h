// Whether an output is what it should be: by |got - want| <= atol + rtol |want|, or by signal over noise. NaN equals
// NaN, integers exactly. For check; docs/cli.md has the tolerances of each element type.
#pragma once
#include "lib/Data/Array.h"

namespace sprig::cli {

struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-5;
};

/// What is asked of outputs. What is not given is as the element type has it.
struct Judgement {
  std::optional<double> rtol, atol;
  std::optional<double> leastDecibels; ///< of floats; instead of tolerances that are not given
  bool isBackendSet = false;           ///< the ONNX project's own data: f32 and f64 as its runner takes them

  Tolerance toleranceOf(data::DType dtype) const;
  /// Whether each element of floats is held to the tolerance.
  bool boundsElements() const { return !leastDecibels || rtol || atol; }
};

struct Comparison {
  bool passed = false;
  std::string reason;      ///< why not: both facts and the place; empty when passed
  bool isOfValues = false; ///< type and shape are right, values are not
  double largestError = 0; ///< largest |got - want| over finite elements
  double decibels = 0;     ///< signal over noise (ArrayLoss.h), where type and shape are right
};

/// Types and shapes must be equal, values as the judgement asks; what is not finite is the same on both sides.
Comparison compare(const data::Array &got, const data::Array &want, const Judgement &judgement);

} // namespace sprig::cli
