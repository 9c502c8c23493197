#include "lib/Frontend/Optim/StateShares.h"
#include "sprig/shape_ops.h"

namespace sprig::optim {

Tensor StateShares::padded(const Tensor &whole, Source at) const {
  const int64_t elements = whole.numel(at), more = pieceOf(whole.shape(at)) * ranks - elements;
  Tensor flat = reshape({whole, at}, {elements});
  return more ? pad({flat, at}, {0, more}) : flat;
}

Tensor StateShares::cut(const Tensor &whole, Source at) const {
  const int64_t piece = pieceOf(whole.shape(at));
  return slice({padded(whole, at), at}, 0, rank * piece, (rank + 1) * piece);
}

Tensor StateShares::joined(const Tensor &piece, const Shape &shape, Source at) const {
  Tensor all = together(piece, at);
  if (all.numel(at) > shape.elements()) all = slice({all, at}, 0, 0, shape.elements());
  return reshape({all, at}, shape);
}

} // namespace sprig::optim
