// Batches of a training run from a loader, whose workers load the next ones while a step computes: the samples of
// data::Batches, in its order.
// For `sprig train --workers`, --prefetch and --io-delay.
#pragma once
#include "tools/sprig/LoaderFlags.h"
#include "tools/sprig/train/TrainProgram.h"

namespace sprig::cli {

class TrainBatches {
public:
  /// `specs` are the inputs of one step, the targets last. What is said of order and size of batches is in `options`.
  TrainBatches(const TrainData &data, const std::vector<TensorSpec> &specs, const data::LoaderOptions &options);

  void seek(int64_t epoch, int64_t batch) { loader.seek(epoch, batch); }
  /// Waits for the next one, which stays until the next call. An epoch follows another.
  const data::Batch &next();

private:
  data::Loader loader;
  std::optional<data::Loader::Iterator<data::Batch>> at;
};

} // namespace sprig::cli
