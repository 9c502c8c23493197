// Resampling. Every axis by itself: nearest neighbours are a gather with constant indices, or a repetition where the
// factor is whole; linear interpolation is the weighted sum of two gathers, cubic of four.
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/functional.h"
#include "sprig/shape_ops.h"
#include <cmath>

namespace sprig {

using frontend::Emitter;

namespace {
struct Resampling {
  int axis;
  int64_t in, out;
  double step; ///< positions of the input for one of the output
};

Tensor nearest(const Emitter &r, const Tensor &x, const Resampling &p) {
  if (p.out % p.in == 0 && p.step == double(p.in) / double(p.out) && x.type(r.at).shape.rank() < Shape::kMaxRank) {
    Tensor lifted = r.unsqueeze(x, p.axis + 1);
    Shape wide = lifted.type(r.at).shape, joined = x.type(r.at).shape;
    wide[p.axis + 1] = p.out / p.in;
    joined[p.axis] = p.out;
    return r.reshape(r.broadcastTo(lifted, wide), joined);
  }
  r.checkTable(p.out);
  std::vector<int64_t> picks;
  for (int64_t i = 0; i < p.out; ++i) picks.push_back(std::min(int64_t(std::floor(double(i) * p.step)), p.in - 1));
  return r.gather(x, r.indices(picks), p.axis);
}

/// A constant weight for each output along the axis.
Tensor columnOf(const Emitter &r, const Tensor &x, const Resampling &p, const std::vector<double> &weights) {
  const TensorType &type = x.type(r.at);
  Shape shape;
  for (int i = 0; i < type.shape.rank(); ++i) shape.push_back(i == p.axis ? p.out : 1);
  return r.cast(frontend::unplaced(Tensor::from(weights, shape, r.at)), type.dtype);
}

Tensor linear(const Emitter &r, const Tensor &x, const Resampling &p, bool alignCorners) {
  r.checkTable(p.out);
  std::vector<int64_t> left, right;
  std::vector<double> weights;
  for (int64_t i = 0; i < p.out; ++i) {
    double at = alignCorners ? (p.out > 1 ? double(i) * double(p.in - 1) / double(p.out - 1) : 0)
                             : std::max(0.0, (double(i) + 0.5) * p.step - 0.5);
    int64_t below = std::min(int64_t(at), p.in - 1);
    left.push_back(below);
    right.push_back(std::min(below + 1, p.in - 1));
    weights.push_back(std::clamp(at - double(below), 0.0, 1.0));
  }
  std::vector<double> others;
  for (double w : weights) others.push_back(1 - w);
  Tensor a = r.gather(x, r.indices(left), p.axis), b = r.gather(x, r.indices(right), p.axis);
  return r.add(r.mul(a, columnOf(r, x, p, others)), r.mul(b, columnOf(r, x, p, weights)));
}

/// Four neighbours each, by the convolution kernel with a = -3/4 (Keys, IEEE ASSP 29, 1981); beyond the ends the last
/// elements go on.
Tensor cubic(const Emitter &r, const Tensor &x, const Resampling &p, bool alignCorners) {
  constexpr double a = -0.75;
  auto near = [](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  auto far = [](double d) { return ((d - 5) * d + 8) * d * a - 4 * a; };
  r.checkTable(p.out);
  std::vector<int64_t> picks[4];
  std::vector<double> weights[4];
  for (int64_t i = 0; i < p.out; ++i) {
    double at = alignCorners ? (p.out > 1 ? double(i) * double(p.in - 1) / double(p.out - 1) : 0)
                             : (double(i) + 0.5) * p.step - 0.5;
    double floor = std::floor(at), t = at - floor;
    const double each[] = {far(1 + t), near(t), near(1 - t), far(2 - t)};
    for (int64_t k = 0; k < 4; ++k) {
      picks[k].push_back(std::clamp<int64_t>(int64_t(floor) - 1 + k, 0, p.in - 1));
      weights[k].push_back(each[k]);
    }
  }
  Tensor sum;
  for (int k = 0; k < 4; ++k) {
    Tensor part = r.mul(r.gather(x, r.indices(picks[k]), p.axis), columnOf(r, x, p, weights[k]));
    sum = sum.defined() ? r.add(sum, part) : part;
  }
  return sum;
}

std::vector<Resampling> planOf(const Emitter &r, const TensorType &type, const InterpolateOptions &options) {
  int spatial = type.shape.rank() - 2;
  if (options.size.empty() == options.scale.empty()) r.fail("takes either a size or a scale");
  size_t given = options.size.empty() ? options.scale.size() : options.size.size();
  if (given != 1 && given != size_t(spatial))
    r.fail("has " + std::to_string(given) + (options.size.empty() ? " scales" : " sizes") + " for " +
           std::to_string(spatial) + " spatial axes of " + describe(type));
  std::vector<Resampling> plan;
  for (int i = 0; i < spatial; ++i) {
    Resampling p{i + 2, type.shape[i + 2], 0, 0};
    if (p.in < 1) r.fail("resamples " + describe(type) + ", which has no elements");
    if (options.scale.empty()) {
      p.out = options.size[given == 1 ? 0 : i];
      if (p.out < 1) r.fail("resamples to size " + std::to_string(p.out));
      p.step = double(p.in) / double(p.out);
    } else {
      double scale = options.scale[given == 1 ? 0 : size_t(i)], size = std::floor(double(p.in) * scale);
      if (!(scale > 0) || !(size >= 1) || size > double(1 << 30))
        r.fail("scales " + std::to_string(p.in) + " elements by " + frontend::realText(scale));
      p.out = int64_t(size);
      p.step = 1 / scale;
    }
    plan.push_back(p);
  }
  return plan;
}
} // namespace

Tensor interpolate(const Operand &x, const InterpolateOptions &options) {
  Emitter r("interpolate", x.at);
  Tensor operand = r.requireFloat(x);
  const TensorType type = operand.type(r.at);
  int spatial = type.shape.rank() - 2;
  if (spatial < 1 || spatial > 3)
    r.fail("takes [N, C, spatial...] with one to three spatial axes, got " + describe(type));
  auto plan = planOf(r, type, options);
  Shape resampled = type.shape;
  for (const Resampling &p : plan) resampled[p.axis] = p.out;
  r.checkShape(resampled);
  if (options.mode == Interpolation::area) {
    Ints sizes;
    for (const Resampling &p : plan) sizes.push_back(p.out);
    Operand pooled(operand, x.at);
    return spatial == 1   ? adaptiveAvgPool1d(pooled, sizes)
           : spatial == 2 ? adaptiveAvgPool2d(pooled, sizes)
                          : adaptiveAvgPool3d(pooled, sizes);
  }
  bool isNearest = options.mode == Interpolation::nearest, isCubic = options.mode == Interpolation::bicubic;
  int axes = isCubic ? 2 : int(options.mode);
  if (!isNearest && axes != spatial)
    r.fail(std::string("has a mode for ") + std::to_string(axes) + " spatial axes on " + describe(type) +
           ", which has " + std::to_string(spatial));
  if (isNearest && options.alignCorners) r.fail("aligns corners in a linear or cubic mode alone");
  // Half types are computed in f32 and rounded once.
  Tensor result = !isNearest && size(type.dtype) < 4 ? r.cast(operand, DType::f32) : operand;
  for (const Resampling &p : plan) {
    if (p.in == p.out && (p.step == 1 || options.alignCorners)) continue;
    result = isNearest ? nearest(r, result, p)
             : isCubic ? cubic(r, result, p, options.alignCorners)
                       : linear(r, result, p, options.alignCorners);
  }
  return r.cast(result, type.dtype);
}

namespace {
const TensorType &imageOf(const Emitter &r, const Tensor &x, int64_t factor) {
  const TensorType &type = x.type(r.at);
  if (type.shape.rank() != 4) r.fail("takes [N, C, H, W], got " + describe(type));
  if (factor < 1 || factor > 1 << 15) r.fail("has factor " + std::to_string(factor));
  return type;
}
} // namespace

Tensor pixelShuffle(const Operand &x, int64_t factor) {
  Emitter r("pixelShuffle", x.at);
  Tensor operand = r.tensorOf(x);
  const Shape s = imageOf(r, operand, factor).shape;
  if (s[1] % (factor * factor))
    r.fail("has " + std::to_string(s[1]) + " channels, no multiple of " + std::to_string(factor * factor));
  int64_t channels = s[1] / (factor * factor);
  Tensor split = r.reshape(operand, {s[0], channels, factor, factor, s[2], s[3]});
  return r.reshape(r.transpose(split, {0, 1, 4, 2, 5, 3}), {s[0], channels, s[2] * factor, s[3] * factor});
}

Tensor pixelUnshuffle(const Operand &x, int64_t factor) {
  Emitter r("pixelUnshuffle", x.at);
  Tensor operand = r.tensorOf(x);
  const Shape s = imageOf(r, operand, factor).shape;
  if (s[2] % factor || s[3] % factor)
    r.fail("has images of " + describe(Shape{s[2], s[3]}) + ", no multiple of " + std::to_string(factor));
  int64_t height = s[2] / factor, width = s[3] / factor;
  Tensor split = r.reshape(operand, {s[0], s[1], height, factor, width, factor});
  return r.reshape(r.transpose(split, {0, 1, 3, 5, 2, 4}), {s[0], s[1] * factor * factor, height, width});
}

} // namespace sprig
