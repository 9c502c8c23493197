// The chart of a sweep: accuracy, time and memory of its runs over what it goes over.
// For bench sweep --plot.
#pragma once
#include "tools/sprig/bench/SweptTraining.h"
#include <string>
#include <vector>

namespace sprig::cli {

enum class SweptOver : uint8_t { ranks, batches, rates };

/// As SVG. Over rates each number of ranks has a curve for each seed. A run that diverged is a gap, which a mark shows.
std::string drawSweep(const std::string &title, const std::string &subtitle, SweptOver over,
                      const std::vector<SweptRun> &runs);

} // namespace sprig::cli
