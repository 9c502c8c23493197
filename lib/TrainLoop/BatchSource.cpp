#include "lib/TrainLoop/BatchSource.h"
#include "include/sprig/error.h"

namespace sprig::training {

BatchSource::Epoch IndexSource::epoch() const {
  int64_t steps = batches.stepsPerEpoch();
  return {steps, options.dropLast ? steps * options.batch : options.samples, options.batch};
}

void IndexSource::take(int64_t steps, CallSamples &samples) {
  samples.steps = steps;
  samples.indices.clear();
  for (int64_t step = 0; step < steps; ++step) {
    std::span<const int64_t> next = batches.next();
    samples.indices.insert(samples.indices.end(), next.begin(), next.end());
    samples.each = int64_t(next.size());
  }
}

LoaderSource::LoaderSource(data::Loader &loader, int64_t unit)
    : loader(loader), unit(unit), firstEpoch(loader.epoch()) {
  const data::LoaderOptions &options = loader.options();
  const int64_t samples = loader.dataset().size(), each = options.batch;
  wholeBatches = samples / each;
  batch = loader.position().batch;
  sizes = {loader.size(), options.dropLast ? wholeBatches * each : samples, each};
}

void LoaderSource::seek(Position position) {
  if (position.index % unit)
    badInput("no batch begins at sample " + std::to_string(position.index) + " of an epoch: a batch has " +
             std::to_string(unit));
  next.reset();
  at = position.epoch;
  batch = position.index / unit;
  loader.seek(firstEpoch + at, batch, Source());
}

void LoaderSource::take(int64_t steps, CallSamples &samples) {
  samples.steps = steps;
  samples.batches.clear(); // their memory is used again
  for (int64_t step = 0; step < steps; ++step) {
    if (next)
      ++*next;
    else
      next.emplace(loader.begin());
    samples.batches.push_back(**next);
    samples.each = samples.batches.back().samplesOfRanks();
    if (++batch < sizes.steps) continue;
    next.reset(); // ends its epoch, so that the loader stands at the next one's start
    ++at;
    batch = 0;
  }
}

} // namespace sprig::training
