// Compiles the digits network in this process and classifies all images in one call: sprig::compile takes the model and
// the sizes of its symbolic dimensions, and gives a program to call.
//   jit_inference MODEL.onnx IMAGES.npy LABELS.npy
#include "../common/Digits.h"
#include "../common/Npy.h"
#include "sprig/compile.h"
#include "sprig/rt/sprig_rt.hpp"
#include <chrono>
#include <cstdio>
#include <exception>
#include <vector>

static double ms(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

static int classify(const char *modelPath, const char *imagesPath, const char *labelsPath) {
  using namespace example;
  auto images = readNpy<float>(imagesPath, "<f4");
  auto labels = readNpy<int64_t>(labelsPath, "<i8");
  int64_t count = images.shape.at(0);

  sprig::CompileOptions options;
  options.dims["batch"] = {count};
  auto start = std::chrono::steady_clock::now();
  sprig::Program digits = sprig::compile(sprig::Model::file(modelPath), options);
  std::printf("compiled %s for a batch of %lld in %.0f ms\n", modelPath, (long long)count, ms(start));

  start = std::chrono::steady_clock::now();
  auto outputs = digits({sprig::rt::TensorView(images.data.data(), {count, 1, kSide, kSide})});
  double us = 1e3 * ms(start);

  int64_t right = 0;
  for (int64_t i = 0; i < count; ++i)
    right += best({outputs.at(0).as<float>() + i * kClasses, kClasses}) == labels.data[size_t(i)];
  std::printf("%lld of %lld digits right (%.2f%%), %.1f us a digit on %s\n", (long long)right, (long long)count,
              100.0 * double(right) / double(count), us / double(count), digits.package().isa().c_str());
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s MODEL.onnx IMAGES.npy LABELS.npy\n", argv[0]);
    return 2;
  }
  try {
    return classify(argv[1], argv[2], argv[3]);
  } catch (const sprig::Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return int(error.kind());
  } catch (const sprig::rt::Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return error.exitCode();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 3;
  }
}
