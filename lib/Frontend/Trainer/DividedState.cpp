#include "lib/Frontend/Trainer/DividedState.h"

namespace sprig::frontend {

std::shared_ptr<const optim::StateShares> stateSharesOf(dist::Group &group) {
  auto shares = std::make_shared<optim::StateShares>();
  shares->rank = group.rank();
  shares->ranks = group.size();
  shares->together = [&group](const Tensor &piece, Source at) { return group.allGather(piece, {}, at); };
  return shares;
}

DividedState::DividedState(optim::Optimizer given, dist::Group *group, Source at)
    : optimizer(std::move(given)), at(at) {
  if (group && group->size() > 1) shares = stateSharesOf(*group);
  divide();
}

void DividedState::divide() {
  if (shares && !isDivided) optimizer.divide(shares, at);
  isDivided = shares != nullptr;
}

void DividedState::unite() {
  if (isDivided) optimizer.unite(at);
  isDivided = false;
}

} // namespace sprig::frontend
