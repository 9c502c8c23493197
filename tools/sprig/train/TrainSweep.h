// Values that a sweep tries, and what came out: a table, JSON and a chart with accuracy and time.
// For `sprig train --sweep`.
#pragma once
#include "tools/sprig/train/ProgramRunner.h"
#include <string>
#include <vector>

namespace sprig::cli {

/// --sweep lr=0.05:0.6:0.05 (first, last, step) or batch=32,64,128. `lr` is short for optimizer.lr.
struct SweepRange {
  std::string field; ///< as given
  std::string path;  ///< of the configuration
  std::vector<std::string> values;
};
/// Throws usage errors.
SweepRange parseSweep(const std::string &text);

/// One value's run; nothing came out where its loss was not finite.
struct SweepResult {
  std::string value;
  std::optional<training::LoopResult> outcome;
  std::string failure;
  uint64_t memoryBytes = 0; ///< of the runtime at its peak: state, arena, staging
  bool compiled = false;    ///< for this value; else the program of the one before was used again
};

void printSweep(const SweepRange &range, const std::vector<SweepResult> &results, double compileSeconds, bool json);
void plotSweep(const std::string &path, const std::string &title, const std::string &subtitle, const SweepRange &range,
               const std::vector<SweepResult> &results);

} // namespace sprig::cli
