// The digits as arrays, and batches of them in the shape that an entry of a package takes.
// For examples that train with the runtime alone.
#pragma once
#include "Digits.h"
#include "sprig/rt/sprig_rt.hpp"
#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace example {

struct Digits {
  std::vector<float> images; // kPixels each, 0 to 1
  std::vector<int64_t> labels;
  int64_t count() const { return int64_t(labels.size()); }
};

inline std::vector<unsigned char> readBytes(const std::string &path, size_t header) {
  std::ifstream file(path, std::ios::binary);
  std::vector<unsigned char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() <= header) throw std::runtime_error(path + ": cannot be read as an IDX file");
  return {bytes.begin() + std::ptrdiff_t(header), bytes.end()};
}

inline Digits readDigits(const std::string &folder, const std::string &which) {
  Digits digits;
  for (unsigned char pixel : readBytes(folder + "/" + which + "-images-idx3-ubyte", 16))
    digits.images.push_back(float(pixel) / 255);
  for (unsigned char label : readBytes(folder + "/" + which + "-labels-idx1-ubyte", 8)) digits.labels.push_back(label);
  if (int64_t(digits.images.size()) != digits.count() * kPixels)
    throw std::runtime_error(folder + ": has as many images as labels in no way");
  return digits;
}

// A batch in the shape that an entry of the package takes.
class Batch {
public:
  void fill(const Digits &digits, std::span<const int64_t> samples) {
    images.clear();
    labels.clear();
    for (int64_t sample : samples) {
      auto first = digits.images.begin() + sample * kPixels;
      images.insert(images.end(), first, first + kPixels);
      labels.push_back(digits.labels[size_t(sample)]);
    }
  }
  std::vector<sprig::rt::TensorView> views(std::vector<int64_t> shape) {
    shape[0] = int64_t(labels.size());
    return {sprig::rt::TensorView(images.data(), shape), sprig::rt::TensorView(labels.data(), {shape[0]})};
  }

private:
  std::vector<float> images;
  std::vector<int64_t> labels;
};

// The entry of this name whose arrays have so many samples.
inline int32_t entryFor(const sprig::rt::Package &package, const std::string &name, int64_t samples) {
  for (uint32_t entry = 0; entry < package.entryCount(); ++entry)
    if (package.entry(entry).name == name && package.inputs(entry).front().shape.front() == samples)
      return int32_t(entry);
  throw std::runtime_error("the package has no " + name + " of " + std::to_string(samples) + " samples");
}

// How many digits the network finds right, by inference with the state as it is.
inline int64_t countRight(sprig::rt::Context &context, const sprig::rt::Package &package, const Digits &test) {
  int32_t entry = entryFor(package, "main", 1);
  std::vector<int64_t> shape = package.inputs(uint32_t(entry)).front().shape;
  int64_t right = 0;
  for (int64_t i = 0; i < test.count(); ++i) {
    float scores[kClasses];
    context.invoke({sprig::rt::TensorView(&test.images[size_t(i * kPixels)], shape)},
                   {sprig::rt::TensorView(scores, {1, kClasses})}, entry);
    right += best(scores) == test.labels[size_t(i)];
  }
  return right;
}

} // namespace example
