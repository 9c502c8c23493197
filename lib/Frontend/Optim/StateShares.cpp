#include "lib/Frontend/Optim/StateShares.h"
#include "lib/Frontend/Optim/OptimizerState.h"
#include "sprig/elementwise.h"
#include "sprig/grad.h"
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

std::vector<Tensor> StateShares::sums(std::vector<Tensor> gradients, Source at) const {
  for (size_t i = gradients.size(); i-- > 0;) {
    Tensor &gradient = gradients[i];
    if (!gradient.defined()) continue;
    gradient = pieceOf(gradient.shape(at)) ? pieceOfSum(padded(gradient, at), at) : sum(gradient, at);
  }
  return gradients;
}

Tensor StateShares::norm(const std::vector<Tensor> &sums, const std::vector<Shape> &shapes, Source at) const {
  NoGrad quiet;
  Tensor ofPieces, ofWholes;
  const DType type = normType(sums);
  for (size_t i = 0; i < sums.size(); ++i) {
    if (!sums[i].defined()) continue;
    Tensor square = squaredNorm(sums[i], type, at);
    Tensor &total = pieceOf(shapes[i]) ? ofPieces : ofWholes;
    total = total.defined() ? add({total, at}, {square, at}) : square;
  }
  if (ofPieces.defined()) {
    ofPieces = sum(ofPieces, at);
    ofWholes = ofWholes.defined() ? add({ofWholes, at}, {ofPieces, at}) : ofPieces;
  }
  return sqrt({ofWholes, at});
}

} // namespace sprig::optim
