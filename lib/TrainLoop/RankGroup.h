// How ranks that train together meet: processes or threads with loops of their own, or threads behind one loop.
// For the training loop. All of them make the same calls behind the same step.
#pragma once
#include <cstdint>

namespace sprig::training {

class RankGroup {
public:
  virtual ~RankGroup() = default;
  /// Whether other ranks have loops of their own, which have to end behind the same step.
  virtual bool haveLoops() const = 0;
  /// Makes them the largest signal and the least number of steps of all.
  virtual void agree(int &signal, int64_t &steps) = 0;
  /// The first rank's answer.
  virtual bool ofFirst(bool own) = 0;
  /// Throws internal where the states of two ranks differ in a bit, with the array's name.
  virtual void checkReplicas() = 0;
};

} // namespace sprig::training
