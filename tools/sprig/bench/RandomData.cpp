#include "tools/sprig/bench/RandomData.h"
#include "sprig/data/files.h"
#include <algorithm>
#include <cstring>
#include <filesystem>

namespace sprig::cli {
namespace {

constexpr int64_t kSide = 28, kPixels = kImagePlaces, kDataClasses = 10, kCoarse = 7;
constexpr int64_t kMostShift = 3;
constexpr double kNoise = 0.2, kMostOther = 0.6, kDark = 0.45;

using Pattern = std::vector<double>; // of kSide x kSide

// Random numbers of a coarse grid, with straight lines between them.
Pattern smoothPattern(uint64_t seed, int64_t number) {
  data::Random random(seed, -1, number);
  double grid[kCoarse][kCoarse];
  for (auto &row : grid)
    for (double &value : row) value = random.uniform();
  Pattern pattern(size_t(kPixels), 0);
  auto at = [](int64_t pixel, int64_t &left) {
    double place = double(pixel) * (kCoarse - 1) / double(kSide - 1);
    left = std::min<int64_t>(int64_t(place), kCoarse - 2);
    return place - double(left);
  };
  for (int64_t y = 0; y < kSide; ++y)
    for (int64_t x = 0; x < kSide; ++x) {
      int64_t top = 0, left = 0;
      double down = at(y, top), right = at(x, left);
      double value = (1 - down) * ((1 - right) * grid[top][left] + right * grid[top][left + 1]) +
                     down * ((1 - right) * grid[top + 1][left] + right * grid[top + 1][left + 1]);
      // Dark but for some bright places.
      pattern[size_t(y * kSide + x)] = std::clamp(2 * (value - kDark), 0.0, 1.0);
    }
  return pattern;
}

double shifted(const Pattern &pattern, int64_t y, int64_t x) {
  return pattern[size_t(std::clamp<int64_t>(y, 0, kSide - 1) * kSide + std::clamp<int64_t>(x, 0, kSide - 1))];
}

TrainData generate(const std::vector<Pattern> &patterns, int64_t samples, uint64_t seed, int64_t set) {
  data::Array images{"x", data::DType::f32, {samples, 1, kSide, kSide}, {}};
  data::Array labels{"y", data::DType::i64, {samples}, {}};
  std::vector<float> pixels(size_t(samples * kPixels));
  std::vector<int64_t> classes(static_cast<size_t>(samples));
  for (int64_t i = 0; i < samples; ++i) {
    data::Random random(seed, set, i);
    int64_t label = random.below(kDataClasses), other = random.below(kDataClasses);
    double down = double(random.below(2 * kMostShift + 1) - kMostShift),
           right = double(random.below(2 * kMostShift + 1) - kMostShift), share = random.uniform(0, kMostOther);
    for (int64_t y = 0; y < kSide; ++y)
      for (int64_t x = 0; x < kSide; ++x) {
        double own = shifted(patterns[size_t(label)], y + int64_t(down), x + int64_t(right));
        double mixed = (1 - share) * own + share * patterns[size_t(other)][size_t(y * kSide + x)];
        pixels[size_t(i * kPixels + y * kSide + x)] = float(std::clamp(mixed + kNoise * random.normal(), 0.0, 1.0));
      }
    classes[size_t(i)] = label;
  }
  images.bytes.resize(pixels.size() * sizeof(float));
  std::memcpy(images.bytes.data(), pixels.data(), images.bytes.size());
  labels.bytes.resize(classes.size() * sizeof(int64_t));
  std::memcpy(labels.bytes.data(), classes.data(), labels.bytes.size());
  return {{data::Samples::from(std::move(images), "generated images")},
          data::Samples::from(std::move(labels), "generated classes")};
}

data::Samples firstOf(const data::Samples &all, int64_t samples) {
  std::vector<int64_t> shape = all.shape();
  if (samples) shape[0] = std::min(shape[0], samples);
  return data::Samples::view(all.name(), all.dtype(), shape, all.bytes(), all.owned());
}

// As 1x28x28 bytes.
data::Samples resizedImages(const data::Samples &images) {
  std::vector<int64_t> shape = images.sampleShape();
  if (shape.size() == 3 && shape[0] == 1) shape.erase(shape.begin());
  if (images.dtype() != data::DType::u8 || shape.size() != 2)
    badInput(images.name() + ": expected images of bytes in one channel, found " +
             data::describe(images.dtype(), images.shape()));
  std::vector<int64_t> whole = {images.count(), 1, kSide, kSide};
  if (shape[0] == kSide && shape[1] == kSide)
    return data::Samples::view(images.name(), images.dtype(), whole, images.bytes(), images.owned());
  data::Array made{images.name(), data::DType::u8, whole, std::vector<char>(size_t(images.count() * kPixels))};
  int64_t pixels = shape[0] * shape[1];
  for (int64_t i = 0; i < images.count(); ++i) {
    data::Field image = data::Field::view(images.bytes() + i * pixels, {sprig::DType::u8, {1, shape[0], shape[1]}});
    data::Field resized = data::resize(image, kSide, kSide);
    std::memcpy(made.bytes.data() + i * kPixels, resized.bytes(), size_t(kPixels));
  }
  return data::Samples::from(std::move(made), images.name());
}

TrainData readImages(const std::string &folder, const std::string &part, int64_t samples) {
  auto path = [&](const char *what) { return (std::filesystem::path(folder) / (part + what)).string(); };
  data::Samples images = data::Samples::open(path("-images-idx3-ubyte")),
                labels = data::Samples::open(path("-labels-idx1-ubyte"));
  data::checkCounts(images, labels);
  data::checkClasses(labels, kDataClasses);
  return {{resizedImages(firstOf(images, samples))}, firstOf(labels, samples)};
}

} // namespace

data::Array randomArray(const std::string &name, std::vector<int64_t> shape, uint64_t seed, double scale) {
  InputSpec spec{name, "f32", {}, true};
  for (int64_t size : shape) spec.dims.push_back({size, ""});
  std::map<std::string, data::Array> arrays;
  fillRandom({spec}, seed, {}, arrays);
  data::Array array = std::move(arrays.begin()->second);
  auto *values = reinterpret_cast<float *>(array.bytes.data());
  for (int64_t i = 0; i < array.elements(); ++i) values[i] = float(values[i] * scale);
  array.name = name;
  return array;
}

ImageSets generatedImages(int64_t samples, int64_t tests, uint64_t seed) {
  std::vector<Pattern> patterns;
  for (int64_t i = 0; i < kDataClasses; ++i) patterns.push_back(smoothPattern(seed, i));
  return {generate(patterns, samples, seed, 0), generate(patterns, tests, seed, 1),
          "generated images of 28x28 (--data FOLDER takes others)"};
}

ImageSets imagesOf(const std::string &folder, int64_t samples, int64_t tests) {
  return {readImages(folder, "train", samples), readImages(folder, "t10k", tests), "images of " + folder};
}

} // namespace sprig::cli
