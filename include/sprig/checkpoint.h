// One-call checkpoints: everything that a training loop goes on from, in one folder, written whole or not at all.
// For programs with a loop of their own; Trainer has its checkpoints built in. A run that goes on from a checkpoint
// gives the bits that it would have given without the stop.
//
//     int64_t epoch = 0;
//     saveCheckpoint("run", {net, optimizer, average, loader, {"epoch", epoch}});
//
//     if (hasCheckpoint("run")) loadCheckpoint("run", {net, optimizer, average, loader, {"epoch", epoch}});
//
// The state of the random numbers (randomState) is always part of it. Which layers are in training mode, which
// parameters are frozen, schedules and bounds on gradients are the program's, as the network itself is.
#pragma once
#include "sprig/data/loader.h"
#include "sprig/lbfgs.h"
#include "sprig/nn/module.h"
#include "sprig/optim.h"
#include <concepts>
#include <filesystem>
#include <initializer_list>
#include <utility>

namespace sprig {

namespace frontend {
class CheckpointSlots; // lib/Frontend/Trainer/SaveCheckpoint.cpp
}

/// A part of a checkpoint: something to save, and to load into. It refers to what it was made of, which lives as long
/// as it does: a list of parts that is made before the loop saves what they are at each call. Of parts of one kind all
/// but one need names: {"generator", net}.
class SPRIG_API CheckpointPart {
public:
  /// Parameters and all buffers, each once; both of a tied parameter's names stand for it.
  CheckpointPart(const nn::Module &module) : CheckpointPart("", module) {}
  CheckpointPart(std::string name, const nn::Module &module);
  /// Step counter, learning rates, moments.
  CheckpointPart(const optim::Optimizer &optimizer) : CheckpointPart("", optimizer) {}
  CheckpointPart(std::string name, const optim::Optimizer &optimizer);
  /// Counts, direction, history.
  CheckpointPart(const optim::Lbfgs &optimizer) : CheckpointPart("", optimizer) {}
  CheckpointPart(std::string name, const optim::Lbfgs &optimizer);
  CheckpointPart(const optim::Average &average) : CheckpointPart("", average) {}
  CheckpointPart(std::string name, const optim::Average &average);
  /// Best metric, epochs since it, cooldown.
  CheckpointPart(const optim::ReduceOnPlateau &plateau) : CheckpointPart("", plateau) {}
  CheckpointPart(std::string name, const optim::ReduceOnPlateau &plateau);
  /// Where the loader stands (Loader::position). One of another order, batch or number of samples is refused.
  CheckpointPart(data::Loader &loader) : CheckpointPart("", loader) {}
  CheckpointPart(std::string name, data::Loader &loader);
  /// A number of the program's own, by name.
  template <typename T>
    requires(std::integral<T> && !std::same_as<T, bool> && sizeof(T) >= 4)
  CheckpointPart(std::string name, T &number)
      : CheckpointPart(
            std::move(name), [&number] { return int64_t(number); }, [&number](int64_t value) { number = T(value); },
            // Unsigned ones of 64 bits are kept by their bits.
            [](int64_t value) { return sizeof(T) == 8 || std::in_range<T>(value); }) {}
  CheckpointPart(std::string name, double &number);
  /// A tensor, whose type must be the same when it is loaded; or state that a compiled function sets.
  CheckpointPart(std::string name, Tensor &tensor);
  CheckpointPart(std::string name, const Parameter &state);

  void collect(frontend::CheckpointSlots &slots) const { add(slots); }

private:
  CheckpointPart(std::string name, std::function<int64_t()> get, std::function<void(int64_t)> set,
                 bool (*holds)(int64_t));
  std::function<void(frontend::CheckpointSlots &)> add;
};

struct CheckpointOptions {
  /// How many of the latest checkpoints stay in the folder.
  int keep = 3;
};

/// Writes a checkpoint into the folder, which is made where it is not there: as step-N, N the steps of the optimizer
/// (of several, the most), or one more than the newest. Waits for the values and for the disk. What is there of later
/// steps goes: it is of a run that this one has taken the place of. Throws Error: usage for two parts of one name,
/// runtime where it cannot be written; then the older checkpoints are as they were.
SPRIG_API void saveCheckpoint(const std::filesystem::path &folder, std::initializer_list<CheckpointPart> parts,
                              const CheckpointOptions &options = {}, Source at = Source::here());
SPRIG_API void saveCheckpoint(const std::filesystem::path &folder, const std::vector<CheckpointPart> &parts,
                              const CheckpointOptions &options = {}, Source at = Source::here());

/// Sets the parts, and the random numbers' state, to the folder's newest checkpoint, or to the step-N that is named;
/// gives its N. What is missing, unexpected, of another type or of another order of samples is one error (badInput)
/// that lists it all; then nothing was changed. Damage is found by checksums, and the error names an older sound one.
SPRIG_API int64_t loadCheckpoint(const std::filesystem::path &folder, std::initializer_list<CheckpointPart> parts,
                                 Source at = Source::here());
SPRIG_API int64_t loadCheckpoint(const std::filesystem::path &folder, const std::vector<CheckpointPart> &parts,
                                 Source at = Source::here());

/// Whether the folder has a checkpoint.
SPRIG_API bool hasCheckpoint(const std::filesystem::path &folder);

} // namespace sprig
