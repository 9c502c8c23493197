// The flags of experiments that train a network of their own: which one, on which data, how long.
// For bench sweep; which network for bench split, and of which size for bench remat.
#pragma once
#include "tools/sprig/Command.h"
#include <cstdint>
#include <string>
#include <vector>

namespace sprig::cli {

struct SweepFlags {
  std::string network, data, plot;
  int64_t epochs = 0, samples = 0, tests = 0, batch = 0, width = 0,
          seeds = 0;         ///< 0: the experiment's own
  std::vector<double> rates; ///< none: the experiment's own

  /// Throws usage errors for flags that `experiment` does not take.
  void checkFor(const std::string &experiment) const;
};

void addSweepFlags(CLI::App &command, SweepFlags &flags);

} // namespace sprig::cli
