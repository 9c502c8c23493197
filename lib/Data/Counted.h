// Outputs whose sizes the data decide, as programs give them: with room for the most, and a count beside each.
#pragma once
#include "lib/Data/Array.h"
#include <vector>

namespace sprig::data {

/// Cuts each array that has a count (countName) to what counts, and takes the counts away. Throws a badInput error of a
/// count that does not fit.
void cutToCounts(std::vector<Array> &outputs);

} // namespace sprig::data
