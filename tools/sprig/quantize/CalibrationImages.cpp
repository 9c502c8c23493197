#include "tools/sprig/quantize/CalibrationImages.h"
#include "lib/Data/Image.h"
#include "lib/Data/Resize.h"
#include "tools/sprig/Report.h"
#include <algorithm>
#include <cstring>

namespace fs = std::filesystem;
namespace sprig::cli {
namespace {

bool isImage(const fs::path &file) {
  std::string ending = file.extension();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

std::vector<fs::path> imagesIn(const fs::path &folder) {
  std::vector<fs::path> files;
  for (const auto &entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && isImage(entry.path())) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace

ImageList listImages(const fs::path &folder) {
  ImageList result;
  for (const fs::path &file : imagesIn(folder)) result.files.push_back({file, -1});
  if (!result.files.empty()) return result;
  std::vector<fs::path> folders;
  for (const auto &entry : fs::directory_iterator(folder))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  std::vector<std::vector<fs::path>> classes;
  size_t most = 0;
  for (const fs::path &inner : folders) {
    classes.push_back(imagesIn(inner));
    most = std::max(most, classes.back().size());
  }
  for (size_t i = 0; i < most; ++i)
    for (size_t label = 0; label < classes.size(); ++label)
      if (i < classes[label].size()) result.files.push_back({classes[label][i], int64_t(label)});
  result.folders = int64_t(folders.size());
  return result;
}

ImageIntake imageIntake(const InputSpec &spec, const CalibrationDataOptions &options, const std::string &where) {
  auto size = [&](size_t axis) -> int64_t {
    if (spec.dims[axis].size) return *spec.dims[axis].size;
    auto bound = options.dims.find(spec.dims[axis].symbol);
    if (bound != options.dims.end()) return bound->second;
    badUse("input '" + spec.name + "': dimension '" + spec.dims[axis].symbol +
           "' is not bound: give its size with --dim " + spec.dims[axis].symbol + "=224");
  };
  auto isChannels = [&](size_t axis) {
    int64_t channels = spec.dims[axis].size.value_or(0);
    return channels == 1 || channels == 3 || channels == 4;
  };
  ImageIntake intake;
  if (spec.dims.size() != 4 || !(isChannels(1) || isChannels(3)))
    badInput(where + ": has images, and the model takes " + describe(spec) +
             "; expected 4 dimensions with 1, 3 or 4 channels second or last");
  intake.channelsLast = !isChannels(1);
  intake.channels = *spec.dims[intake.channelsLast ? 3 : 1].size;
  intake.height = size(intake.channelsLast ? 1 : 2);
  intake.width = size(intake.channelsLast ? 2 : 3);
  intake.dtype = *dtypeOf(spec.dtype);
  if (intake.dtype != data::DType::f32 && intake.dtype != data::DType::u8)
    badInput(where + ": has images, and the model takes " + describe(spec) + "; images become f32 or u8");
  auto each = [&](const std::vector<double> &given, const char *flag, double otherwise) {
    if (!given.empty() && given.size() != 1 && int64_t(given.size()) != intake.channels)
      badUse(std::string(flag) + ": has " + std::to_string(given.size()) + " numbers for the " +
             std::to_string(intake.channels) + " channels of input '" + spec.name + "'");
    std::vector<double> result(size_t(intake.channels), given.size() == 1 ? given[0] : otherwise);
    return given.size() > 1 ? given : result;
  };
  intake.mean = each(options.mean, "--mean", 0);
  intake.deviation = each(options.deviation, "--std", 1);
  return intake;
}

data::Array readImages(const std::vector<ImageFile> &images, int64_t count, const ImageIntake &intake) {
  int64_t plane = intake.height * intake.width, sample = plane * intake.channels;
  data::Array array{"", intake.dtype, {count, intake.channels, intake.height, intake.width}, {}};
  if (intake.channelsLast) array.shape = {count, intake.height, intake.width, intake.channels};
  array.bytes.resize(size_t(count * sample * data::size(intake.dtype)));
  std::vector<float> resized(static_cast<size_t>(sample));
  for (int64_t i = 0; i < count; ++i) {
    data::Image image = data::readImageFile(images[size_t(i)].path, int(intake.channels));
    std::vector<float> planes(image.planes.begin(), image.planes.end());
    data::Resizer(image.height, image.width, intake.height, intake.width)
        .run(planes.data(), intake.channels, resized.data());
    for (int64_t c = 0; c < intake.channels; ++c)
      for (int64_t p = 0; p < plane; ++p) {
        float value = resized[size_t(c * plane + p)];
        int64_t at = i * sample + (intake.channelsLast ? p * intake.channels + c : c * plane + p);
        if (intake.dtype == data::DType::u8) {
          array.bytes[size_t(at)] = char(uint8_t(std::clamp(value + 0.5f, 0.0f, 255.0f)));
          continue;
        }
        value = float((double(value) / 255 - intake.mean[size_t(c)]) / intake.deviation[size_t(c)]);
        std::memcpy(array.bytes.data() + at * 4, &value, 4);
      }
  }
  return array;
}

} // namespace sprig::cli
