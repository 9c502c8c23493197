// Which steps of a training go together in one call of their program.
// For the trainer. It follows from the numbers of samples alone, so all ranks have the same calls.
#pragma once
#include "lib/Frontend/Trainer/Programs.h"

namespace sprig::frontend {

/// Batches of one size that wait until they are as many as a call takes.
class StepCalls {
public:
  static bool canBe(int64_t together);
  static constexpr const char *kSizes = "1 to 256"; ///< in words

  /// Called for each step, in their order, with what it gives.
  using Taken = std::function<void(const data::Batch &batch, std::pair<Tensor, Tensor> results)>;
  /// Throws Error (usage) where there could be no call of so many steps: an epoch has too few whole batches, or a batch
  /// too few samples for the ranks.
  StepCalls(const TrainingPrograms &programs, int64_t together, const data::Loader &train, Taken taken, Source at);

  void add(const data::Batch &batch);
  /// Those that wait are steps by themselves.
  void askSingly();

private:
  const TrainingPrograms &programs;
  size_t together;
  Taken taken;
  std::vector<data::Batch> waiting;
};

} // namespace sprig::frontend
