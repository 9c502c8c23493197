// Which recorded operations gradients were taken through: an optimizer's update ends their lineage.
// For gradients and compiled functions. Each thread has its own.
#pragma once
#include "lib/Frontend/Engine/Lineage.h"

namespace sprig::frontend {

/// Notes that a gradient was taken through all of it.
void consume(const Lineage &lineage);

/// While it lives, what is consumed is a function's that is being recorded; then it ends.
class ConsumedScope {
public:
  ConsumedScope();
  ~ConsumedScope();
  ConsumedScope(const ConsumedScope &) = delete;

private:
  std::vector<Node *> outer;
};

} // namespace sprig::frontend
