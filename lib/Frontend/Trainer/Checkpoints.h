// Checkpoints of a module and its optimizer, in the format and with the names of `sprig train`'s.
// For the trainer: a run that goes on from one gives the bits that it would have given without the stop.
#pragma once
#include "lib/Checkpoint/Writer.h"
#include "lib/Frontend/Trainer/CheckpointSlots.h"
#include "lib/Frontend/Trainer/RatePlateau.h"
#include "sprig/trainer.h"

namespace sprig::frontend {

class Checkpoints {
public:
  /// Nothing is written where options.checkpoint is empty. `plateau` may be null.
  Checkpoints(const TrainerOptions &options, const Training &training, const RatePlateau *plateau,
              const data::Loader &train, Source at);

  /// Where the run is to go on from, with the state set to it; nothing without --resume or where there is none yet.
  std::optional<checkpoints::Manifest> resume();
  /// Copies the state and lets it be written. Waits for the steps that were asked for.
  void save(int64_t step, int64_t epoch, int64_t batch);
  /// Everything saved is on the disk.
  void finish();

private:
  /// Everything that steps change, by name.
  CheckpointSlots state() const;

  const TrainerOptions &options;
  const Training &training;
  const RatePlateau *plateau;
  Source at;
  checkpoints::Manifest identity;
  std::unique_ptr<checkpoints::Writer> writer;
  int64_t lastSaved = -1;
};

} // namespace sprig::frontend
