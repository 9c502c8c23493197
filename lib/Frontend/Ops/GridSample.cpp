// gridSample: the steps of lib/Graph/GridSample.h, recorded.
#include "lib/Graph/GridSample.h"
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/functional.h"

namespace sprig {

using frontend::Emitter;

namespace {
struct SampleMaker {
  using Value = Tensor;
  const Emitter &r;

  Tensor add(const Tensor &a, const Tensor &b) const { return r.add(a, b); }
  Tensor add(const Tensor &a, double b) const { return r.add(a, r.number(b, a)); }
  Tensor sub(const Tensor &a, const Tensor &b) const { return r.sub(a, b); }
  Tensor sub(double a, const Tensor &b) const { return r.sub(r.number(a, b), b); }
  Tensor mul(const Tensor &a, const Tensor &b) const { return r.mul(a, b); }
  Tensor mul(const Tensor &a, double b) const { return r.mul(a, r.number(b, a)); }
  Tensor abs(const Tensor &x) const { return r.abs(x); }
  Tensor floor(const Tensor &x) const { return r.unary(SPRIG_OP("floor"), x); }
  Tensor round(const Tensor &x) const { return r.unary(SPRIG_OP("round"), x); }
  Tensor clamp(const Tensor &x, double low, double high) const {
    return r.min(r.max(x, r.number(low, x)), r.number(high, x));
  }
  Tensor isAbove(const Tensor &x, double bound) const { return r.compare("predicate gt", x, r.number(bound, x)); }
  Tensor select(const Tensor &condition, const Tensor &a, const Tensor &b) const { return r.select(condition, a, b); }
  /// `x` where `at` lies in [low, high], else 0.
  Tensor zeroOutside(const Tensor &x, const Tensor &at, double low, double high) const {
    Tensor inside = r.binary(SPRIG_OP("and"), r.compare("predicate ge", at, r.number(low, at)),
                             r.compare("predicate le", at, r.number(high, at)));
    return r.select(inside, x, r.number(0, x));
  }
  Tensor toIndex(const Tensor &x) const { return r.cast(x, DType::i64); }
  Tensor reshape(const Tensor &x, const Shape &shape) const { return r.reshape(x, shape); }
  Tensor broadcast(const Tensor &x, const Shape &shape) const { return r.broadcastTo(x, shape); }
  Tensor sliceAxis(const Tensor &x, int64_t axis, int64_t start, int64_t size) const {
    return r.part(x, int(axis), start, size);
  }
  Tensor gatherElements(const Tensor &x, const Tensor &indices, int64_t axis) const {
    return r.gatherElements(x, indices, int(axis));
  }
};
} // namespace

Tensor gridSample(const Operand &x, const Operand &grid, const GridSampleOptions &options) {
  Emitter r("gridSample", x.at.line ? x.at : grid.at);
  Tensor images = r.requireFloat(x), at = r.requireFloat(grid, "grid");
  const TensorType type = images.type(r.at), places = at.type(r.at);
  int axes = type.shape.rank() - 2;
  if (axes < 1 || axes > 3) r.fail("takes [N, C, spatial...] with one to three spatial axes, got " + describe(type));
  if (places.dtype != type.dtype || places.shape.rank() != axes + 2 || places.shape.back() != axes ||
      places.shape[0] != type.shape[0])
    r.fail("samples " + describe(type) + " at " + describe(places) + "; it takes positions [" +
           std::to_string(type.shape[0]) + ", sizes of the result..., " + std::to_string(axes) +
           "] of the same element type");
  if (options.mode == GridMode::bicubic && axes != 2)
    r.fail("has mode bicubic for " + std::to_string(axes) + " spatial axes of " + describe(type) + "; it is for two");
  int64_t batch = type.shape[0], channels = type.shape[1], pixels = 1, points = 1;
  std::vector<int64_t> sizes;
  Shape result{batch, channels};
  for (int i = 0; i < axes; ++i) {
    sizes.push_back(type.shape[i + 2]);
    pixels *= sizes.back();
    points *= places.shape[i + 1];
    result.push_back(places.shape[i + 1]);
  }
  if (type.elements() == 0) r.fail("samples " + describe(type) + ", which has no elements");
  DType wide = size(type.dtype) < 4 ? DType::f32 : type.dtype; // half types are rounded once
  SampleMaker maker{r};
  graph::GridSampler<SampleMaker> sampler(maker, graph::GridMode(options.mode), graph::GridPadding(options.padding),
                                          options.alignCorners);
  Tensor sum = sampler.run(r.reshape(r.cast(images, wide), {batch, channels, pixels}),
                           r.reshape(r.cast(at, wide), {batch, points, axes}), batch, channels, points, sizes);
  return r.cast(r.reshape(sum, result), type.dtype);
}

} // namespace sprig
