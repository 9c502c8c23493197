// Trains a network with a package and Sprig's runtime: no compiler, no LLVM, no Python in this process. The package
// holds whole training steps, evaluation and inference, which share one state:
//   sprig compile examples/train_digits/model.onnx --train examples/train_digits/train.json --samples 1437
//     --eval-samples 360 --infer 1 -o digits_train.sprig
//   embed_training digits_train.sprig FOLDER-WITH-IDX-FILES
#include "../common/DigitBatches.h"
#include "../common/ExitCode.h"
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace {

int train(const char *packagePath, const std::string &folder) {
  using sprig::rt::TensorView;
  example::Digits training = example::readDigits(folder, "train"), test = example::readDigits(folder, "t10k");
  auto package = sprig::rt::Package::load(packagePath);
  sprig::rt::State state(package);
  sprig::rt::Context context(package, {.state = &state});

  std::vector<int64_t> shape = package.inputs(uint32_t(example::entryFor(package, "main", 1))).front().shape;

  constexpr int64_t kBatch = 32, kEpochs = 20;
  std::vector<int64_t> order(size_t(training.count()));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);
  example::Batch batch;
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    double sum = 0;
    for (int64_t first = 0; first < training.count(); first += kBatch) {
      int64_t count = std::min(kBatch, training.count() - first);
      batch.fill(training, {order.data() + first, size_t(count)});
      float loss = 0;
      context.invoke(batch.views(shape), std::vector{TensorView(&loss, {})},
                     example::entryFor(package, "train_step", count));
      sum += double(loss) * double(count);
    }
    if ((epoch + 1) % 5 == 0)
      std::printf("epoch %lld: loss %.4f\n", (long long)epoch + 1, sum / double(training.count()));
  }

  // Inference in the same process, with the state as it is now.
  int64_t right = example::countRight(context, package, test);
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
  return example::exitCodeOf([&] { return train(argv[1], argv[2]); });
}
