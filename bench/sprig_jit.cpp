// Sprig in the peers' harness, compiling in its process: DIR/model_BATCH.onnx, for this machine's processor.
#include "bench/Serve.h"
#include "sprig/compile.h"

int main(int argc, char **argv) {
  return bench::serve(argc, argv, [](auto &dir, int batch, bench::Case &data, int threads) {
    sprig::CompileOptions options;
    options.threads = threads;
    auto model = sprig::Model::file((dir / ("model_" + std::to_string(batch) + ".onnx")).string());
    return std::make_unique<sprig::bench::Served>(sprig::compile(model, options).package(), data, threads);
  });
}
