#include "tools/sprig/train/StateShards.h"
#include "lib/Training/OptimizerShards.h"
#include "lib/Training/StateNames.h"
#include <algorithm>
#include <cstring>

namespace sprig::cli {

static int64_t elementsOf(const std::vector<int64_t> &shape) {
  int64_t elements = 1;
  for (int64_t size : shape) elements *= size;
  return elements;
}

// An optimizer's tensor is called by the parameter that it is for: "optimizer/momentum/fc.weight".
StateShards::StateShards(const std::vector<checkpoints::ArrayView> &state, int ranks) {
  for (const checkpoints::ArrayView &view : state) {
    std::optional<std::vector<int64_t>> &whole = wholes.emplace_back();
    std::string_view name = view.name;
    if (!name.starts_with(training::kOptimizerPrefix)) continue;
    name.remove_prefix(training::kOptimizerPrefix.size());
    size_t slash = name.find('/');
    if (slash == name.npos) continue;
    auto parameter = std::find_if(state.begin(), state.end(),
                                  [&](const auto &other) { return other.name == name.substr(slash + 1); });
    if (parameter == state.end()) continue;
    int64_t piece = training::shardOf(elementsOf(parameter->shape), ranks);
    if (piece && view.shape == std::vector<int64_t>{piece}) whole = parameter->shape;
  }
}

data::Array StateShards::join(const checkpoints::ArrayView &piece, size_t array, std::span<const char> pieces) const {
  size_t bytes = size_t(elementsOf(wholeShape(array)) * data::size(piece.dtype));
  return {piece.name, piece.dtype, wholeShape(array), {pieces.begin(), pieces.begin() + std::ptrdiff_t(bytes)}};
}

// Behind the last element pieces are zeros.
std::vector<char> StateShards::cut(const checkpoints::ArrayView &piece, std::span<const char> whole, int rank) const {
  std::vector<char> own(piece.bytes.size(), 0);
  size_t begin = std::min(whole.size(), own.size() * size_t(rank));
  size_t size = std::min(own.size(), whole.size() - begin);
  if (size) std::memcpy(own.data(), whole.data() + begin, size);
  return own;
}

} // namespace sprig::cli
