// Resize and Upsample. Interpolation is separable and linear in the image, so every axis is a product with a constant
// matrix of weights; nearest neighbours are a gather with constant indices.
#include "lib/Import/ONNX/Table.h"
#include "runtime/base/Decimal.h"
#include <cmath>

namespace sprig::onnximport {

namespace {

struct AxisPlan {
  int64_t in, out;
  double scale;
  double roiStart = 0, roiEnd = 1;
};

struct Style {
  std::string mode, coordinates, nearest;
  double cubic = -0.75, extrapolation = 0;
  bool excludeOutside = false, antialias = false;
};

/// Where in the input an output element lies.
double sourceOf(Node &n, const AxisPlan &p, const std::string &coordinates, int64_t i) {
  double y = double(i), in = double(p.in), width = p.scale * in; // the output's width before it is rounded
  if (coordinates == "half_pixel") return (y + 0.5) / p.scale - 0.5;
  if (coordinates == "asymmetric") return y / p.scale;
  if (coordinates == "align_corners") return width == 1 ? 0 : y * (in - 1) / (width - 1);
  if (coordinates == "pytorch_half_pixel") return width == 1 ? -0.5 : (y + 0.5) / p.scale - 0.5;
  if (coordinates == "tf_half_pixel_for_nn") return (y + 0.5) / p.scale;
  if (coordinates == "half_pixel_symmetric") return in / 2 * (1 - double(p.out) / width) + (y + 0.5) / p.scale - 0.5;
  if (coordinates == "tf_crop_and_resize") {
    double way = (p.roiEnd - p.roiStart) * (in - 1);
    return p.roiStart * (in - 1) + (width == 1 ? way / 2 : y * way / (width - 1));
  }
  n.bad("has coordinate_transformation_mode '" + coordinates + "', which is not known");
}

int64_t nearestOf(Node &n, const std::string &mode, double x) {
  double whole = std::floor(x), rest = x - whole;
  if (mode == "round_prefer_floor") return int64_t(whole) + (rest > 0.5);
  if (mode == "round_prefer_ceil") return int64_t(whole) + (rest >= 0.5);
  if (mode == "floor") return int64_t(whole);
  if (mode == "ceil") return int64_t(std::ceil(x));
  n.bad("has nearest_mode '" + mode + "', which is not known");
}

double cubicWeight(double distance, double a) {
  double d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

/// The row of weights of one output element.
void addRow(const AxisPlan &p, const Style &style, double x, double *row) {
  bool cubic = style.mode == "cubic";
  // A kernel that shrinks with the image averages over what it skips.
  double stretch = style.antialias ? std::min(p.scale, 1.0) : 1.0;
  double reach = (cubic ? 2 : 1) / stretch;
  int64_t first = int64_t(std::floor(x - reach)), last = int64_t(std::ceil(x + reach));
  double total = 0, inside = 0;
  auto weightAt = [&](int64_t k) {
    double distance = (double(k) - x) * stretch;
    return cubic ? cubicWeight(distance, style.cubic) : std::max(0.0, 1 - std::abs(distance));
  };
  for (int64_t k = first; k <= last; ++k) {
    total += weightAt(k);
    if (k >= 0 && k < p.in) inside += weightAt(k);
  }
  double norm = style.excludeOutside ? inside : total;
  if (norm == 0) norm = 1;
  for (int64_t k = first; k <= last; ++k) {
    if (style.excludeOutside && (k < 0 || k >= p.in)) continue;
    row[std::clamp<int64_t>(k, 0, p.in - 1)] += weightAt(k) / norm;
  }
}

Value resizeAxis(Node &n, Value v, int64_t axis, const AxisPlan &p, const Style &style) {
  std::vector<double> sources;
  Ints shape(Emit::shape(v));
  shape[axis] = p.out;
  n.tensor(shape, Emit::elem(v));
  if (p.out * 8 > n.state.limits.foldedBytes)
    n.unsupported("resizes to " + std::to_string(p.out) + " elements, past the limit of its tables");
  for (int64_t i = 0; i < p.out; ++i) {
    double x = sourceOf(n, p, style.coordinates, i);
    n.require(std::abs(x) < double(int64_t(1) << 50),
              "takes element " + std::to_string(i) + " from position " + decimal::shortest(x));
    sources.push_back(x);
  }
  Value result;
  if (style.mode == "nearest") {
    Ints indices;
    for (double x : sources) indices.push_back(std::clamp<int64_t>(nearestOf(n, style.nearest, x), 0, p.in - 1));
    result = n.gather(v, n.ints(indices), axis);
  } else {
    n.tensor({p.out, p.in}, n.f32());
    if (p.out * p.in * 8 > n.state.limits.foldedBytes)
      n.unsupported("resizes " + std::to_string(p.in) + " to " + std::to_string(p.out) +
                    " elements, past the limit of its matrix of weights");
    std::vector<double> weights(size_t(p.out * p.in), 0.0);
    for (int64_t i = 0; i < p.out; ++i) addRow(p, style, sources[size_t(i)], weights.data() + i * p.in);
    Value matrix = n.constant({p.out, p.in}, Emit::elem(v), weights);
    // The axis goes last, is multiplied, and comes back.
    Ints there, back;
    for (int64_t i = 0; i < Emit::rank(v); ++i)
      if (i != axis) there.push_back(i);
    there.push_back(axis);
    back.resize(there.size());
    for (size_t i = 0; i < there.size(); ++i) back[size_t(there[i])] = int64_t(i);
    Value moved = n.transpose(v, there);
    Ints movedShape(Emit::shape(moved));
    int64_t rows = 1;
    for (int64_t size : IntsRef(movedShape).drop_back()) rows *= size;
    movedShape.back() = p.out;
    result = n.transpose(n.reshape(n.matmul(n.reshape(moved, {rows, p.in}), matrix, false, true), movedShape), back);
  }
  if (style.coordinates != "tf_crop_and_resize") return result;
  std::vector<double> outside;
  for (double x : sources) outside.push_back(x < 0 || x > double(p.in - 1));
  Ints maskShape(size_t(Emit::rank(v)), 1);
  maskShape[axis] = p.out;
  return n.select(n.constant(maskShape, n.i1(), outside), n.scalar(style.extrapolation, Emit::elem(v)), result);
}

void apply(Node &n, Value x, const std::vector<AxisPlan> &plans, Style style) {
  n.require(style.mode == "nearest" || style.mode == "linear" || style.mode == "cubic" || style.mode == "bilinear",
            "has mode '" + style.mode + "'; known are nearest, linear and cubic");
  if (style.mode == "bilinear") style.mode = "linear";
  Type type = Emit::elem(x);
  Value v = x;
  if (style.mode != "nearest" && (!Emit::isFloat(x) || Emit::isHalf(type))) v = n.cast(x, n.f32());
  for (size_t i = 0; i < plans.size(); ++i) {
    const AxisPlan &p = plans[i];
    bool whole = p.roiStart == 0 && p.roiEnd == 1;
    if (p.in == p.out && std::abs(p.scale - 1) < 1e-9 && whole) continue;
    n.require(p.in > 0 || p.out == 0, "resizes an empty dimension of " + typeText(x) + " to " + std::to_string(p.out));
    v = resizeAxis(n, v, int64_t(i), p, style);
  }
  n.out(n.cast(v, type));
}

AxisPlan scaled(Node &n, int64_t in, double scale) {
  n.require(scale > 0 && std::isfinite(scale), "has scale " + decimal::shortest(scale));
  double out = std::floor(double(in) * scale);
  if (out > double(int64_t(1) << 40))
    n.unsupported("resizes " + std::to_string(in) + " elements by " + decimal::shortest(scale));
  return {in, int64_t(out), scale};
}

void resize(Node &n) {
  Value x = n.in(0);
  int64_t rank = Emit::rank(x);
  Style style{n.stringAttr("mode", "nearest"),
              n.stringAttr("coordinate_transformation_mode", n.opset < 11 ? "asymmetric" : "half_pixel"),
              n.stringAttr("nearest_mode", n.opset < 11 ? "floor" : "round_prefer_floor"),
              n.realAttr("cubic_coeff_a", -0.75),
              n.realAttr("extrapolation_value", 0),
              n.intAttr("exclude_outside", 0) != 0,
              n.intAttr("antialias", 0) != 0};
  n.require(!style.antialias || style.mode != "nearest", "has antialias with mode nearest");
  Ints axes;
  if (auto given = n.intsAttr("axes"); given && n.opset >= 18) {
    n.axes(*given, rank); // in range and unique
    for (int64_t axis : *given) axes.push_back(n.axis(axis, rank));
  } else {
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  }
  std::vector<AxisPlan> plans;
  for (int64_t size : Emit::shape(x)) plans.push_back({size, size, 1});
  unsigned scalesAt = n.opset < 11 ? 1 : 2;
  // Before opset 13 an input that is not given may be there and empty.
  bool hasSizes = n.has(3) && Emit::count(n.in(3)) > 0, hasScales = n.has(scalesAt) && Emit::count(n.in(scalesAt)) > 0;
  n.require(hasSizes != hasScales, hasSizes ? "has both scales and sizes" : "has neither scales nor sizes");
  auto matches = [&](size_t got, const char *what) {
    n.require(got == axes.size(),
              "has " + std::to_string(got) + " " + what + " for " + std::to_string(axes.size()) + " axes");
  };
  if (hasSizes) {
    Ints sizes = n.knownInts(3);
    matches(sizes.size(), "sizes");
    std::string policy = n.stringAttr("keep_aspect_ratio_policy", "stretch");
    n.require(policy == "stretch" || policy == "not_larger" || policy == "not_smaller",
              "has keep_aspect_ratio_policy '" + policy + "', which is not known");
    double common = policy == "not_larger" ? INFINITY : 0;
    for (size_t i = 0; i < axes.size(); ++i) {
      AxisPlan &p = plans[size_t(axes[i])];
      n.require(sizes[i] >= 0 && sizes[i] < (int64_t(1) << 40),
                "has size " + std::to_string(sizes[i]) + " for axis " + std::to_string(axes[i]));
      p.out = sizes[i];
      p.scale = p.in == 0 ? 1 : double(p.out) / double(p.in);
      common = policy == "not_larger" ? std::min(common, p.scale) : std::max(common, p.scale);
    }
    for (size_t i = 0; i < axes.size() && policy != "stretch"; ++i) {
      AxisPlan &p = plans[size_t(axes[i])];
      p.scale = common;
      double out = std::floor(common * double(p.in) + 0.5);
      if (!(out < double(int64_t(1) << 40)))
        n.unsupported("resizes " + std::to_string(p.in) + " elements by " + decimal::shortest(common));
      p.out = int64_t(out);
    }
  } else {
    std::vector<double> scales = n.knownReals(scalesAt);
    matches(scales.size(), "scales");
    for (size_t i = 0; i < axes.size(); ++i) plans[size_t(axes[i])] = scaled(n, Emit::shape(x)[axes[i]], scales[i]);
  }
  if (style.coordinates == "tf_crop_and_resize") {
    std::vector<double> roi = n.knownReals(1);
    n.require(roi.size() == 2 * axes.size(), "has a region of " + std::to_string(roi.size()) + " numbers for " +
                                                 std::to_string(axes.size()) + " axes");
    for (size_t i = 0; i < axes.size(); ++i) {
      plans[size_t(axes[i])].roiStart = roi[i];
      plans[size_t(axes[i])].roiEnd = roi[i + axes.size()];
    }
  }
  apply(n, x, plans, style);
}

void upsample(Node &n) {
  Value x = n.in(0);
  std::vector<double> scales = n.opset >= 9 ? n.knownReals(1) : n.realsAttr("scales");
  n.require(int64_t(scales.size()) == Emit::rank(x),
            "has " + std::to_string(scales.size()) + " scales for " + typeText(x));
  std::vector<AxisPlan> plans;
  for (size_t i = 0; i < scales.size(); ++i) plans.push_back(scaled(n, Emit::shape(x)[i], scales[i]));
  apply(n, x, plans, {n.stringAttr("mode", "nearest"), "asymmetric", "floor"});
}

} // namespace

void addResizing(Table &t) {
  t.add("Resize", {10, 11, 13, 18, 19}, resize);
  t.add("Upsample", {7, 9}, upsample);
}

} // namespace sprig::onnximport
