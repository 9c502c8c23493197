// TrainerOptions::zero: each rank holds its pieces of the optimizer's state while steps run, and all of it for
// checkpoints and at the end. For the trainer.
#pragma once
#include "sprig/dist.h"
#include "sprig/optim.h"

namespace sprig::frontend {

/// All ranks of the group, which outlives it, make the same calls. Without a group, or with one rank, the state is
/// whole.
class StatePieces {
public:
  StatePieces(const optim::Optimizer &optimizer, dist::Group *group, Source at);

  void cut() const;
  void join() const;

private:
  optim::Optimizer optimizer;
  dist::Group *group;
  Source at;
};

} // namespace sprig::frontend
