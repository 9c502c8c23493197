// Ranks that share an optimizer's tensors (ZeRO 1): each holds and updates its piece of those for a parameter, cut from
// it as a vector (lib/Training/OptimizerShards.h).
// For the trainer, which knows the ranks; the optimizer knows only how pieces are added up and put together.
#pragma once
#include "lib/Training/OptimizerShards.h"
#include "sprig/tensor.h"
#include <functional>
#include <vector>

namespace sprig::optim {

struct StateShares {
  int rank = 0, ranks = 1;
  std::function<Tensor(const Tensor &piece, Source)> together; ///< all ranks' rows, one after the other

  /// Elements of a piece; 0: all ranks have all of it.
  int64_t pieceOf(const Shape &shape) const { return training::shardOf(shape.elements(), ranks); }
  /// A tensor's elements as a vector that the ranks divide, filled up with zeros; this rank's part of it; and back.
  Tensor padded(const Tensor &whole, Source at) const;
  Tensor cut(const Tensor &whole, Source at) const;
  Tensor joined(const Tensor &piece, const Shape &shape, Source at) const;
};

} // namespace sprig::optim
