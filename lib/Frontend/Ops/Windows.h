// Sliding windows over spatial axes, as convolutions and pools share them: options as PyTorch gives them, checked and
// in the dialect's form.
#pragma once
#include "lib/Frontend/Ops/Emitter.h"

namespace sprig::frontend {

/// One number for each spatial axis; refuses others than one or `spatial`, and what is below `least`.
Shape perAxis(const Emitter &r, const Ints &values, int spatial, int64_t least, const char *what);

struct Windows {
  Shape window, strides, dilations;
  Shape padding; ///< [low..., high...]
  Shape outputs; ///< positions along each axis

  /// `spatial` are the sizes that the windows slide over. With `ceil` the last one may hang over the end, as long as it
  /// starts in the input or in the padding before it.
  static Windows of(const Emitter &r, const TensorType &input, const Shape &spatial, const Shape &window,
                    const Ints &stride, const Ints &padding, const Ints &dilation, bool ceil);
};

/// An input [N, C, spatial...] or [C, spatial...]; the latter gets a batch of one, which `finish` takes off again.
struct Batched {
  Tensor input;
  bool isAlone;
  static Batched of(const Emitter &r, const Operand &x, int spatial);
  Tensor finish(const Emitter &r, const Tensor &result) const { return isAlone ? r.dropAxis(result, 0) : result; }
  Shape spatialShape(const Emitter &r) const {
    const Shape &shape = input.type(r.at).shape;
    return Shape(shape.data() + 2, shape.size() - 2);
  }
};

} // namespace sprig::frontend
