// How ranks share the optimizer's tensors (ZeRO 1): each holds and updates its piece of them.
// For the step builder, and for what saves and loads the state of ranks; knows no compiler.
#pragma once
#include <cstdint>

namespace sprig::training {

/// Smaller tensors are not worth a piece of their own: each rank has all of them.
inline constexpr int64_t kLeastShard = 64;

/// Elements of each rank's piece of a tensor of so many, or 0 where each rank has all of it. All pieces are of one
/// size, so that all ranks run one program: behind the last element of the tensor, pieces are zeros.
inline int64_t shardOf(int64_t elements, int ranks) {
  return ranks < 2 || elements < kLeastShard * ranks ? 0 : (elements + ranks - 1) / ranks;
}

} // namespace sprig::training
