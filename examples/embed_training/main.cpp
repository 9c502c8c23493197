// Trains a network with a package and Sprig's runtime: no compiler, no LLVM, no Python in this process. The package
// holds whole training steps, evaluation and inference, which share one state:
//   sprig compile examples/train_digits/model.onnx --train examples/train_digits/train.json --samples 1437
//     --eval-samples 360 --infer 1 -o digits_train.sprig
//   embed_training digits_train.sprig FOLDER-WITH-IDX-FILES
#include "../common/Digits.h"
#include "sprig/rt/sprig_rt.hpp"
#include <cstdio>
#include <fstream>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace {

struct Digits {
  std::vector<float> images; // kPixels each, 0 to 1
  std::vector<int64_t> labels;
  int64_t count() const { return int64_t(labels.size()); }
};

std::vector<unsigned char> readBytes(const std::string &path, size_t header) {
  std::ifstream file(path, std::ios::binary);
  std::vector<unsigned char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() <= header) throw std::runtime_error(path + ": cannot be read as an IDX file");
  return {bytes.begin() + std::ptrdiff_t(header), bytes.end()};
}

Digits readDigits(const std::string &folder, const std::string &which) {
  Digits digits;
  for (unsigned char pixel : readBytes(folder + "/" + which + "-images-idx3-ubyte", 16))
    digits.images.push_back(float(pixel) / 255);
  for (unsigned char label : readBytes(folder + "/" + which + "-labels-idx1-ubyte", 8)) digits.labels.push_back(label);
  if (int64_t(digits.images.size()) != digits.count() * example::kPixels)
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
      auto first = digits.images.begin() + sample * example::kPixels;
      images.insert(images.end(), first, first + example::kPixels);
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

int train(const char *packagePath, const std::string &folder) {
  using sprig::rt::TensorView;
  Digits training = readDigits(folder, "train"), test = readDigits(folder, "t10k");
  auto package = sprig::rt::Package::load(packagePath);
  sprig::rt::State state(package);
  sprig::rt::Context context(package, {.state = &state});

  // Entries by name and number of samples.
  auto entryFor = [&](const std::string &name, int64_t samples) {
    for (uint32_t entry = 0; entry < package.entryCount(); ++entry)
      if (package.entry(entry).name == name && package.inputs(entry).front().shape.front() == samples)
        return int32_t(entry);
    throw std::runtime_error(std::string(packagePath) + ": has no " + name + " of " + std::to_string(samples) +
                             " samples");
  };
  std::vector<int64_t> shape = package.inputs(uint32_t(entryFor("main", 1))).front().shape;

  constexpr int64_t kBatch = 32, kEpochs = 20;
  std::vector<int64_t> order(size_t(training.count()));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);
  Batch batch;
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    double sum = 0;
    for (int64_t first = 0; first < training.count(); first += kBatch) {
      int64_t count = std::min(kBatch, training.count() - first);
      batch.fill(training, {order.data() + first, size_t(count)});
      float loss = 0;
      context.invoke(batch.views(shape), std::vector{TensorView(&loss, {})}, entryFor("train_step", count));
      sum += double(loss) * double(count);
    }
    if ((epoch + 1) % 5 == 0)
      std::printf("epoch %lld: loss %.4f\n", (long long)epoch + 1, sum / double(training.count()));
  }

  // Inference in the same process, with the state as it is now.
  int64_t right = 0;
  for (int64_t i = 0; i < test.count(); ++i) {
    float scores[example::kClasses];
    shape[0] = 1;
    context.invoke({TensorView(&test.images[size_t(i * example::kPixels)], shape)},
                   {TensorView(scores, {1, example::kClasses})}, entryFor("main", 1));
    right += example::best(scores) == test.labels[size_t(i)];
  }
  std::printf("%lld of %lld digits right (%.2f%%)\n", (long long)right, (long long)test.count(),
              100.0 * double(right) / double(test.count()));
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s PACKAGE FOLDER\n", argv[0]);
    return 2;
  }
  try {
    return train(argv[1], argv[2]);
  } catch (const sprig::rt::Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return error.exitCode();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 3;
  }
}
