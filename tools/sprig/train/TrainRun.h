// A training run and a sweep from their flags: model, configuration and data together, then the loop, then what is
// kept. For `sprig train`.
#pragma once
#include "lib/Training/ReadTrainConfig.h"
#include "tools/sprig/LoaderFlags.h"
#include "tools/sprig/MeshFlags.h"
#include "tools/sprig/Settings.h"
#include "tools/sprig/train/StepsPerCall.h"
#include <optional>
#include <string>
#include <vector>

namespace sprig::cli {

struct TrainOptions {
  CommonOptions common;
  Settings settings;
  std::string model, config, output, metrics, tensorboard, checkpoints, plot, resume;
  std::vector<std::string> x, evalX;
  std::string y, evalY;
  std::vector<training::Override> overrides;
  std::vector<std::string> set;
  std::vector<std::string> allow; ///< kinds of lib/Import/ONNX/ExportFindings.h
  std::string sweep;
  std::string quantizeAware;     ///< the folder of samples for calibration; empty: floats are trained
  std::optional<int> weightBits; ///< with it
  int64_t every = 0, logEvery = 0;
  int keep = 3;
  bool debugNan = false, showsSchema = false;
  LoaderFlags loader;
  MeshFlags mesh;
  bool choosesDevices = false; ///< --devices auto; the settings name none then
  StepsPerCall stepsPerCall;
  bool scaleBatch = false;        ///< the configuration's batch is each rank's
  std::string lrScaling = "none"; ///< of rates, where it is: none, linear or sqrt
  int64_t checkReplicas = 0;      ///< steps between comparisons of the ranks' states; 0: only at the end
};

/// One run, or with `sweep` one for each value. Returns the exit code.
int runTraining(const TrainOptions &options);

} // namespace sprig::cli
