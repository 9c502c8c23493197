// Classifies handwritten digits with a package and Sprig's runtime: no compiler, no LLVM, no Python in this process.
//   embed_inference PACKAGE IMAGES.npy LABELS.npy
#include "../common/Digits.h"
#include "../common/ExitCode.h"
#include "../common/Npy.h"
#include "sprig/rt/sprig_rt.hpp"
#include <chrono>
#include <cstdio>
#include <vector>

static int classify(const char *packagePath, const char *imagesPath, const char *labelsPath) {
  using namespace example;
  auto images = readNpy<float>(imagesPath, "<f4");
  auto labels = readNpy<int64_t>(labelsPath, "<i8");
  int64_t count = images.shape.at(0);

  auto package = sprig::rt::Package::load(packagePath);
  sprig::rt::Context context(package);
  std::vector<float> probabilities(size_t(count * kClasses));

  auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < count; ++i)
    context.invoke({sprig::rt::TensorView(&images.data[size_t(i * kPixels)], {1, 1, kSide, kSide})},
                   {sprig::rt::TensorView(&probabilities[size_t(i * kClasses)], {1, kClasses})});
  double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();

  int64_t right = 0, shown = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::span<const float> row(&probabilities[size_t(i * kClasses)], kClasses);
    bool good = best(row) == labels.data[size_t(i)];
    right += good;
    // Three of the first, and the first mistake.
    if (i < 3 || (!good && shown < 4)) {
      show({&images.data[size_t(i * kPixels)], kPixels}, row, labels.data[size_t(i)]);
      std::printf("\n");
      ++shown;
    }
  }
  std::printf("%lld of %lld digits right (%.2f%%), %.1f us a digit on %s\n", (long long)right, (long long)count,
              100.0 * double(right) / double(count), us / double(count), package.isa().c_str());
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s PACKAGE IMAGES.npy LABELS.npy\n", argv[0]);
    return 2;
  }
  return example::exitCodeOf([&] { return classify(argv[1], argv[2], argv[3]); });
}
