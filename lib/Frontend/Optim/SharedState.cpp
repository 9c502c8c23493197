// An optimizer whose state ranks share: what of it each has. Its updates are written of all of it, and the compiler
// divides them.
#include "lib/Frontend/Engine/Value.h"
#include "lib/Frontend/Optim/OptimizerState.h"
#include "lib/Frontend/Record.h"
#include "lib/Training/StateNames.h"
#include "sprig/grad.h"

namespace sprig::optim {

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
    for (size_t j = 0; j < row.slots.size(); ++j) {
      if (row.update->slots[j].isScalar) {
        if (row.pieces.size() <= j) row.pieces.push_back(row.slots[j]);
        continue;
      }
      Tensor value = s.shares->cut(row.slots[j].value(), at);
      if (row.pieces.size() <= j) {
        row.pieces.push_back(slotWith(value, row.slots[j].name(), at));
        row.pieces[j].rawCell()->whole = row.slots[j].type();
      } else {
        row.pieces[j].set(value, at);
      }
    }
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
  }
  s.shares = nullptr;
}

} // namespace sprig::optim
