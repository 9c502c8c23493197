#include "lib/Frontend/Trainer/StatePieces.h"
#include "lib/Frontend/Engine/Value.h"
#include "lib/Frontend/Record.h"
#include "lib/Shard/Strategy/StatePieces.h"
#include "runtime/collective/Piece.h"

namespace sprig::frontend {

namespace collective = rt::collective;

static std::span<const char> bytesOf(const Tensor &value, Source at) {
  return {static_cast<const char *>(value.bytes(at)), size_t(value.type().bytes())};
}

StatePieces::StatePieces(const optim::Optimizer &given, dist::Group *group, Source at)
    : optimizer(given), group(group), at(at) {
  for (auto &[name, parameter] : optimizer.namedState())
    if (parameter.rawCell()->isPiece()) fail(at, "Trainer", "ranks have pieces of the optimizer's state already");
  cut();
}

void StatePieces::cut() const {
  for (auto &[name, parameter] : optimizer.namedState()) {
    const TensorType whole = parameter.type();
    if (!group || !shard::isStateDivided(whole.shape.elements(), group->size()) || parameter.rawCell()->isPiece())
      continue;
    const size_t element = size_t(size(whole.dtype));
    std::vector<char> piece =
        collective::cutFlat(bytesOf(parameter.value(at), at), element, group->size(), group->rank());
    setPiece(parameter, Tensor::copyOf(piece.data(), {whole.dtype, {int64_t(piece.size() / element)}}), at);
  }
}

void StatePieces::join() const {
  for (auto &[name, parameter] : optimizer.namedState()) {
    if (!parameter.rawCell()->isPiece()) continue;
    const Tensor pieces = group->allGather(parameter.value(at), {}, at);
    const TensorType whole = parameter.type();
    setPiece(parameter, Tensor::copyOf(collective::joinFlat(bytesOf(pieces, at), size_t(whole.bytes())).data(), whole),
             at);
  }
}

} // namespace sprig::frontend
