// Which arrays of a training program's state are pieces, of ranks that share the optimizer's tensors
// (lib/Training/OptimizerShards.h), and what they are pieces of.
// For `sprig train`, whose checkpoints have whole arrays, so that any number of ranks goes on from them.
#pragma once
#include "lib/Checkpoint/Checkpoint.h"
#include <optional>

namespace sprig::cli {

class StateShards {
public:
  StateShards() = default;
  /// Of a state with these arrays, which so many ranks share.
  StateShards(const std::vector<checkpoints::ArrayView> &state, int ranks);

  /// Whether ranks have pieces of the array of this number; the shape of what they are pieces of.
  bool isPiece(size_t array) const { return array < wholes.size() && wholes[array]; }
  const std::vector<int64_t> &wholeShape(size_t array) const { return *wholes[array]; }

  /// The array of which these are all ranks' pieces, one after the other.
  data::Array join(const checkpoints::ArrayView &piece, size_t array, std::span<const char> pieces) const;
  /// A rank's piece of a whole array.
  std::vector<char> cut(const checkpoints::ArrayView &piece, std::span<const char> whole, int rank) const;

private:
  std::vector<std::optional<std::vector<int64_t>>> wholes; ///< by array
};

} // namespace sprig::cli
