// The samples of each step of a training run, in an order that a position goes on with.
// For the training loop.
#pragma once
#include "lib/Data/Batches.h"
#include "sprig/data/loader.h"
#include <algorithm>
#include <chrono>
#include <optional>

namespace sprig::training {

using Clock = std::chrono::steady_clock;
inline double secondsOf(Clock::duration span) { return std::chrono::duration<double>(span).count(); }

/// What the steps of a call train on: indices that a runner gathers in place, or batches in memory, one for each step.
struct CallSamples {
  int64_t steps = 0;
  int64_t each = 0; ///< samples of a step
  std::vector<int64_t> indices;
  std::vector<data::Batch> batches;
};

class BatchSource {
public:
  virtual ~BatchSource() = default;

  /// What an epoch takes; its last step may be smaller than the others.
  struct Epoch {
    int64_t steps, samples, samplesPerStep;
    /// Samples that so many steps from the run's begin take.
    int64_t samplesUpTo(int64_t step) const {
      return step / steps * samples + std::min(step % steps * samplesPerStep, samples);
    }
  };
  virtual Epoch epoch() const = 0;

  /// As a checkpoint's manifest has it. Behind an epoch's last step it is the next one's start.
  struct Position {
    int64_t epoch = 0, index = 0;
  };
  virtual Position position() const = 0;
  /// Throws badInput for a position that no step starts at.
  virtual void seek(Position position) = 0;
  /// Whole steps left of the epoch.
  virtual int64_t wholeStepsLeft() const = 0;

  /// The samples of the next steps, all of the same epoch and, but for a single one, whole.
  virtual void take(int64_t steps, CallSamples &samples) = 0;
};

/// Indices alone. A position's index counts samples.
class IndexSource final : public BatchSource {
public:
  explicit IndexSource(const data::Batches::Options &options) : options(options), batches(options) {}
  Epoch epoch() const override;
  Position position() const override { return {batches.position().epoch, batches.position().index}; }
  void seek(Position position) override { batches.seek({position.epoch, position.index}); }
  int64_t wholeStepsLeft() const override { return (options.samples - batches.position().index) / options.batch; }
  void take(int64_t steps, CallSamples &samples) override;

private:
  data::Batches::Options options;
  data::Batches batches;
};

/// Batches of a loader, which outlives this, from where it stands on. A position's index counts `unit` for each batch.
class LoaderSource final : public BatchSource {
public:
  LoaderSource(data::Loader &loader, int64_t unit);
  Epoch epoch() const override { return sizes; }
  Position position() const override { return {at, batch * unit}; }
  void seek(Position position) override;
  int64_t wholeStepsLeft() const override { return wholeBatches - batch; }
  void take(int64_t steps, CallSamples &samples) override;

private:
  data::Loader &loader;
  int64_t unit, firstEpoch; ///< the loader's own number of the run's first epoch
  Epoch sizes;
  int64_t wholeBatches, at = 0, batch = 0;
  std::optional<data::Loader::Iterator<data::Batch>> next;
};

} // namespace sprig::training
