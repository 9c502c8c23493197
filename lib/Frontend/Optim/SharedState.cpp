// An optimizer whose state ranks share: what of it each has, and bounds on gradients that are in pieces.
#include "lib/Frontend/Optim/OptimizerState.h"
#include "lib/Frontend/Record.h"
#include "lib/Training/StateNames.h"
#include "sprig/elementwise.h"
#include "sprig/grad.h"

namespace sprig::optim {

TensorType Optimizer::State::typeOf(const Row &row) const {
  TensorType type = row.parameter.type();
  if (isShared(row)) type.shape = {shares->pieceOf(type.shape)};
  return type;
}

std::vector<Tensor> Optimizer::State::clipped(std::vector<Tensor> gradients, Source at) const {
  if (clipNorm > 0 && shares) {
    std::vector<Shape> shapes;
    for (const Row &row : rows) shapes.push_back(row.parameter.type().shape);
    gradients = clipToNorm(gradients, shares->norm(gradients, shapes, at), clipNorm, at);
  } else if (clipNorm > 0) {
    gradients = clipGradNorm(gradients, clipNorm, at);
  }
  return clipValue > 0 ? clipGradValue(gradients, clipValue, at) : gradients;
}

/// A slot as it is now, which has the name of what it is a piece of.
static Parameter slotWith(const Tensor &value, const std::string &name, Source at) {
  Parameter slot(value.detach(at), /*trainable=*/false, at);
  slot.setName(name);
  return slot;
}

// The cells of pieces stay, so that steps which were compiled with them go on with them.
void Optimizer::divide(std::shared_ptr<const StateShares> shares, Source at) const {
  State &s = *state;
  if (s.shares) frontend::fail(at, "Optimizer::divide", "ranks have pieces of its state already");
  NoGrad quiet;
  s.shares = std::move(shares);
  for (State::Row &row : s.rows) {
    if (!s.isShared(row)) continue;
    const TensorType piece = s.typeOf(row);
    for (size_t j = 0; j < row.slots.size(); ++j) {
      if (row.update->slots[j].isScalar) {
        if (row.pieces.size() <= j) row.pieces.push_back(row.slots[j]);
        continue;
      }
      Tensor value = s.shares->cut(row.slots[j].value(), at);
      if (row.pieces.size() <= j)
        row.pieces.push_back(slotWith(value, row.slots[j].name(), at));
      else
        row.pieces[j].set(value, at);
    }
    row.update = &updateFor(s.config, row.weightDecay, piece);
    row.slots = row.pieces;
  }
}

void Optimizer::unite(Source at) const {
  State &s = *state;
  if (!s.shares) return;
  NoGrad quiet;
  for (State::Row &row : s.rows) {
    if (!s.isShared(row)) continue;
    const TensorType whole = row.parameter.type();
    for (size_t j = 0; j < row.slots.size(); ++j)
      if (!row.update->slots[j].isScalar)
        row.slots[j] = slotWith(s.shares->joined(row.slots[j].value(), whole.shape, at), row.slots[j].name(), at);
    row.update = &updateFor(s.config, row.weightDecay, whole);
  }
  s.shares = nullptr;
}

} // namespace sprig::optim
