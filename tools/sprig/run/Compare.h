// Whether an output is what it should be: |got - want| <= atol + rtol |want|, NaN equals NaN, integers exactly.
// For check; docs/cli.md has the default tolerances.
#pragma once
#include "lib/Data/Array.h"

namespace sprig::cli {

struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-5;
};

struct Comparison {
  bool passed = false;
  std::string reason;      ///< why not: both facts and the place; empty when passed
  bool isOfValues = false; ///< type and shape are right, values are not
  double largestError = 0; ///< largest |got - want| over finite elements
};

/// The tolerance for an element type: half types are widened to a few units of their precision.
Tolerance widened(Tolerance tolerance, data::DType dtype);

/// Types and shapes must be equal, values within the tolerance.
Comparison compare(const data::Array &got, const data::Array &want, Tolerance tolerance);

} // namespace sprig::cli
