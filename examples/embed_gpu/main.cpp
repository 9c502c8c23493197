// Classifies handwritten digits on a GPU whose memory and stream are the program's own: the package runs between what
// the program puts into its stream before and after, without a copy of its arrays and without a wait in between.
//   embed_gpu PACKAGE IMAGES.npy LABELS.npy        (sprig compile examples/digits/model.onnx --dim batch=60 --target
//   cuda)
#include "../common/Digits.h"
#include "../common/ExitCode.h"
#include "../common/Npy.h"
#include "Driver.h"
#include "sprig/rt/sprig_rt.hpp"
#include <cstdio>
#include <vector>

static sprig::rt::TensorView onGpu(example::CUdeviceptr address, const sprig::rt::TensorInfo &type) {
  return sprig::rt::TensorView(reinterpret_cast<void *>(address), type.dtype, type.shape);
}

static int classify(const char *packagePath, const char *imagesPath, const char *labelsPath) {
  using namespace example;
  auto images = readNpy<float>(imagesPath, "<f4");
  auto labels = readNpy<int64_t>(labelsPath, "<i8");
  auto package = sprig::rt::Package::load(packagePath);
  sprig::rt::Context context(package);
  sprig::rt::TensorInfo in = package.inputs(0).at(0), out = package.outputs(0).at(0);
  int64_t batch = in.shape.at(0), batches = images.shape.at(0) / batch;

  // The device's primary context, which Sprig uses, too.
  Driver driver;
  driver.usePrimaryContext(0);
  CUstream stream = driver.makeStream();
  CUdeviceptr x = driver.allocate(in.bytes), y = driver.allocate(out.bytes);
  std::vector<float> probabilities(size_t(batches * batch * kClasses));
  for (int64_t i = 0; i < batches; ++i) {
    driver.copyToGpu(x, &images.data[size_t(i * batch * kPixels)], in.bytes, stream);
    context.enqueue({onGpu(x, in)}, {onGpu(y, out)}, "cuda:0", stream);
    driver.copyToHost(&probabilities[size_t(i * batch * kClasses)], y, out.bytes, stream);
  }
  driver.wait(stream);
  context.wait(); // throws what a run failed with

  int64_t right = 0;
  for (int64_t i = 0; i < batches * batch; ++i)
    right += best({&probabilities[size_t(i * kClasses)], kClasses}) == labels.data[size_t(i)];
  std::printf("%lld of %lld digits right on %s\n", (long long)right, (long long)(batches * batch),
              package.isa().c_str());
  driver.release({x, y}, stream);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s PACKAGE IMAGES.npy LABELS.npy\n", argv[0]);
    return 2;
  }
  return example::exitCodeOf([&] { return classify(argv[1], argv[2], argv[3]); });
}
