// The largest of differences between results that are compared.
// For experiments and tests.
#pragma once
#include <cmath>

namespace sprig::data {

/// The larger of the two; one that is no number stays, so that no bound holds of it (std::max passes over it).
template <typename T> T largest(T a, T b) { return std::isnan(a) || a >= b ? a : b; }

} // namespace sprig::data
