// What a training run tells at its end, as a table or JSON.
// For `sprig train`; of ranks that are processes the first one's.
#pragma once
#include "tools/sprig/Model.h"
#include "tools/sprig/train/ProgramRunner.h"
#include "tools/sprig/train/TrainRun.h"

namespace sprig::cli {

struct TrainSummary {
  struct Run {
    const TrainOptions &options;
    const training::TrainConfig &config;
    const training::LoopResult &outcome;
    const TrainRanks &program;
  } run;
  int64_t stepsPerEpoch = 1;
  int ranks = 1;
  bool isOfProcesses = false;
  std::vector<int64_t> weights = {}; ///< of the ranks' shares; none: even ones
  double rateFactor = 1;             ///< of --lr-scaling
  bool sharesState = false;          ///< ranks have pieces of the optimizer's
  std::string devices = {};          ///< of --devices auto
  double compileSeconds = 0;
  std::vector<std::string> trainable = {};
};

/// `placements`: of --explain-placement, which JSON has, too; null without.
void printSummary(const TrainSummary &summary, const std::vector<Placement> *placements);

} // namespace sprig::cli
