// The samples that a model is calibrated and judged on, as calls of it.
// For quantize. A folder holds one of: input_K.* arrays or subfolders test_data_set_* and data_* of them (as check
// takes); arrays called as the model's inputs; other array files, each for the one input; images, in subfolders by
// class or not. Labels are in labels.* or y.* beside them, or the numbers of subfolders of images, which
// count where the model has as many classes (Judge.h).
#pragma once
#include "lib/Data/Array.h"
#include "tools/sprig/run/Inputs.h"
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sprig::cli {

struct CalibrationCall {
  std::map<std::string, data::Array> inputs;
  std::vector<int64_t> labels; ///< one for each sample, or none
  int64_t samples = 1;
};

struct CalibrationData {
  std::vector<CalibrationCall> calls;
  int64_t samples = 0;
  int64_t folders = 0;            ///< whose numbers the labels are; 0: labels are numbers that were given
  std::vector<std::string> notes; ///< what there was and is not used, a line each
};

struct CalibrationDataOptions {
  int64_t samples = 1024;              ///< at most
  int64_t batch = 32;                  ///< samples of a call at most, where the model leaves it open
  std::map<std::string, int64_t> dims; ///< sizes of symbolic dimensions
  std::vector<double> mean, deviation; ///< of image channels, after division by 255
};

/// Throws badInput with the file and both facts.
CalibrationData readCalibrationData(const std::filesystem::path &folder, const std::vector<InputSpec> &specs,
                                    const CalibrationDataOptions &options);

} // namespace sprig::cli
