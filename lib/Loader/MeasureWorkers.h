// How many workers a loader gains from. For the loader, where the number is to be measured.
#pragma once
#include "sprig/data/loader.h"

namespace sprig::data {

/// The least of 0, 1, 2, 4 and 8 workers that load as many batches a second as any of them, within 5 %. Loads batches
/// of the set for some 50 ms with each number, and two batches for each worker at least, while nobody computes. Throws
/// what loading throws.
int measureWorkers(const Dataset &set, LoaderOptions options);

} // namespace sprig::data
