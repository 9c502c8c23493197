// How quick each of several processes that are going to train together is, by the step that they are going to take.
// For `sprig train --shares auto`.
#pragma once
#include "tools/sprig/train/TrainModel.h"
#include "tools/sprig/train/TrainProgram.h"
#include "sprig/rt/sprig_rt.h"
#include <string>
#include <vector>

namespace sprig::cli {

/// Steps a second of each rank, the same numbers on all: each takes the whole step by itself a few times, of the first
/// samples, at the same time as the others, whose cores it may share. All of them call it.
std::vector<double> measureSpeeds(const Model &model, TrainRequest request, const Settings &settings,
                                  const RunnerOptions &options, const TrainData &data, sprig_rt_group *group);

/// "1.2 ms, 2.4 ms"
std::string speedsText(const std::vector<double> &speeds);

} // namespace sprig::cli
