// Random numbers as arrays, and images that can be learned without a file.
// For experiments that train. The same bits for the same seed.
#pragma once
#include "tools/sprig/train/TrainProgram.h"
#include <string>
#include <vector>

namespace sprig::cli {

/// f32 numbers of a normal distribution times `scale`.
data::Array randomArray(const std::string &name, std::vector<int64_t> shape, uint64_t seed, double scale);

/// Images with their classes, to train with and to test.
inline constexpr int64_t kImagePlaces = 28 * 28; ///< of each image of these sets

struct ImageSets {
  TrainData train, test;
  std::string origin; ///< where they are from, for people
};

/// 28x28 numbers of 0 to 1 in ten classes: each class is a smooth pattern that lies a few pixels from its place, under
/// a part of another class's and noise.
ImageSets generatedImages(int64_t samples, int64_t tests, uint64_t seed);

/// Those of a folder in the MNIST format (train-images-idx3-ubyte and so on, as Fashion-MNIST has them), the first so
/// many of them; 0: all. Other sizes than 28x28 are resized. Throws badInput.
ImageSets imagesOf(const std::string &folder, int64_t samples, int64_t tests);

} // namespace sprig::cli
