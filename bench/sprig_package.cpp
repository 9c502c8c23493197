// Sprig's runtime in the peers' harness, with packages that were compiled beforehand: DIR/model_BATCH.sprig, made by
//   sprig compile DIR/model_BATCH.onnx -o DIR/model_BATCH.sprig
#include "bench/Serve.h"

int main(int argc, char **argv) {
  return bench::serve(argc, argv, [](auto &dir, int batch, bench::Case &data, int threads) {
    auto package = sprig::rt::Package::load((dir / ("model_" + std::to_string(batch) + ".sprig")).string());
    return std::make_unique<sprig::bench::Served>(std::move(package), data, threads);
  });
}
