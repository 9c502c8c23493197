// MNIST's and Fashion-MNIST's files, which have the same names and shapes, and what stands in for them.
#include "lib/Loader/ArraySet.h"
#include "sprig/data/files.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>

namespace fs = std::filesystem;

namespace sprig::data {
namespace {

constexpr int64_t kSide = 28, kClasses = 10, kTrain = 60000, kTest = 10000;

// Images of ten classes that a network can learn: of each class a picture of soft spots, which its samples show moved
// by up to two pixels, fainter and under noise.
class Synthetic {
public:
  explicit Synthetic(bool train) : train(train) {
    for (int64_t c = 0; c < kClasses; ++c) {
      Random random(kSeed, 0, c);
      for (int spot = 0; spot < 4; ++spot) {
        double cx = random.uniform(5, 23), cy = random.uniform(5, 23), width = random.uniform(2, 4);
        for (int64_t i = 0; i < kSide * kSide; ++i) {
          double dx = (double(i % kSide) - cx) / width, dy = (double(i / kSide) - cy) / width;
          auto &pixel = pictures[size_t(c)][size_t(i)];
          pixel = std::min(1.0, pixel + std::exp(-0.5 * (dx * dx + dy * dy)));
        }
      }
    }
  }

  int64_t size() const { return train ? kTrain : kTest; }
  Sample get(int64_t index) const {
    Random random(kSeed, train ? 1 : 2, index);
    int64_t c = random.below(kClasses), right = random.below(5) - 2, down = random.below(5) - 2;
    double light = random.uniform(0.6, 1);
    Field x({sprig::DType::f32, {1, kSide, kSide}}, Source());
    auto pixels = x.edit<float>(Source());
    for (int64_t i = 0; i < kSide * kSide; ++i) {
      int64_t fromX = i % kSide - right, fromY = i / kSide - down;
      bool inside = fromX >= 0 && fromX < kSide && fromY >= 0 && fromY < kSide;
      double value = inside ? light * pictures[size_t(c)][size_t(fromY * kSide + fromX)] : 0;
      pixels[size_t(i)] = float(std::clamp(value + random.uniform(-0.1, 0.1), 0.0, 1.0));
    }
    return {std::move(x), c};
  }

private:
  static constexpr uint64_t kSeed = 20170825;
  bool train;
  std::array<std::array<double, kSide * kSide>, kClasses> pictures{};
};

// The array of a file, whose shape it must have; nothing where there is no file.
std::optional<Samples> read(const fs::path &path, const std::vector<int64_t> &sample) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    if (fs::exists(path.string() + ".gz", ignored))
      badInput(path.string() + ".gz: is compressed, expected the file itself\nnote: gunzip it");
    return std::nullopt;
  }
  Samples samples = Samples::open(path.string());
  if (samples.dtype() != DType::u8 || samples.sampleShape() != sample)
    badInput(path.string() + ": holds " + describe(samples.dtype(), samples.shape()) + ", expected " +
             (sample.empty() ? "N" : "Nx28x28") + "xu8");
  return samples;
}

Dataset load(const fs::path &named, const char *fallback, const MnistOptions &options) {
  if (options.size < 1 || options.size > 65536) badUse("data: images of size " + std::to_string(options.size));
  const fs::path folder = named.empty() ? fs::path(fallback) : named;
  std::string prefix = options.train ? "train" : "t10k";
  fs::path images = folder / (prefix + "-images-idx3-ubyte"), labels = folder / (prefix + "-labels-idx1-ubyte");
  std::optional<Samples> x = read(images, {kSide, kSide}), y = read(labels, {});
  if (x.has_value() != y.has_value())
    badInput((x ? labels : images).string() + ": is not there, but " + (x ? images : labels).string() + " is");
  if (!x && !named.empty())
    badInput(images.string() +
             ": is not there, in a folder that is named\nnote: without a name, synthetic "
             "images stand in where '" +
             fallback + "' has no files");
  std::optional<Dataset> set;
  if (x) {
    checkClasses(*y, kClasses);
    set = arrays({*x, *y})
              .as(0, {sprig::DType::f32, {1, kSide, kSide}}, /*scaleBytes=*/true, Source())
              .as(1, sprig::DType::i64, /*scaleBytes=*/false, Source());
  } else {
    set = Dataset(Synthetic(options.train));
    std::cerr << "note: no " << images.string() << ": " << set->size()
              << " synthetic images of ten classes stand in for it, of the same shape\n";
  }
  if (options.size == kSide) return *set;
  return set->map([size = options.size](Sample sample) {
    sample.x() = resize(sample.x(), size, size);
    return sample;
  });
}

} // namespace

Dataset mnist(const fs::path &folder, const MnistOptions &options) { return load(folder, "mnist", options); }
Dataset fashionMnist(const fs::path &folder, const MnistOptions &options) {
  return load(folder, "fashion-mnist", options);
}

} // namespace sprig::data
