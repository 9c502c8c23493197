// Images as samples of a model's input.
// For quantize. Throws badInput with the file or the input and both facts.
#pragma once
#include "tools/sprig/quantize/CalibrationData.h"

namespace sprig::cli {

struct ImageFile {
  std::filesystem::path path;
  int64_t label = -1; ///< the number of its folder, in sorted order; -1: not in one
};

struct ImageList {
  std::vector<ImageFile> files;
  int64_t folders = 0; ///< that they are in
};
/// PNG and JPEG files of a folder, or else of its subfolders, taken in turns so that a part of them has all classes.
ImageList listImages(const std::filesystem::path &folder);

/// How images become a sample.
struct ImageIntake {
  data::DType dtype = data::DType::f32;
  int64_t channels = 3, height = 0, width = 0;
  bool channelsLast = false;
  std::vector<double> mean, deviation;
};
ImageIntake imageIntake(const InputSpec &spec, const CalibrationDataOptions &options, const std::string &where);

data::Array readImages(const std::vector<ImageFile> &images, int64_t count, const ImageIntake &intake);

} // namespace sprig::cli
