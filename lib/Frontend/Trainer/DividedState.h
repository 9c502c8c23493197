// TrainerOptions::zero: the optimizer's state in pieces on the ranks while steps run, and whole for checkpoints and at
// the end.
// For the trainer.
#pragma once
#include "lib/Frontend/Optim/StateShares.h"
#include "sprig/dist.h"
#include "sprig/optim.h"

namespace sprig::frontend {

/// How ranks of the group add up pieces and put them together. The group outlives it.
std::shared_ptr<const optim::StateShares> stateSharesOf(dist::Group &group);

/// All ranks of the group make the same calls. Without a group, or with one rank, nothing is divided.
class DividedState {
public:
  DividedState(optim::Optimizer optimizer, dist::Group *group, Source at);

  void divide();
  void unite();

private:
  optim::Optimizer optimizer;
  std::shared_ptr<const optim::StateShares> shares; // null: it stays whole
  Source at;
  bool isDivided = false;
};

} // namespace sprig::frontend
