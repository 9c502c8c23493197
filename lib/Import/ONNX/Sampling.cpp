// Sampling of images at computed positions: GridSample, RoiAlign, and the inverse of patch extraction (Col2Im).
#include "lib/Graph/GridSample.h"
#include "lib/Import/ONNX/Importer.h"
#include "lib/Import/ONNX/Table.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Import/ONNX/Tensor.h"
#include <cmath>
#include <map>

namespace sprig::onnximport {

namespace {

/// An element that contributes to a sample: its index along one dimension and its weight, both [N, P].
struct Tap {
  Value index, weight;
};

Value number(Node &n, Value like, double v) { return n.scalar(v, Emit::elem(like)); }
Value clamp(Node &n, Value v, double low, double high) {
  return n.min(n.max(v, number(n, v, low)), number(n, v, high));
}

/// The operations of lib/Graph/GridSample.h.
struct SampleMaker {
  using Value = mlir::Value;
  Node &n;

  Value add(Value a, Value b) { return n.add(a, b); }
  Value add(Value a, double b) { return n.add(a, b); }
  Value sub(Value a, Value b) { return n.sub(a, b); }
  Value sub(double a, Value b) { return n.sub(a, b); }
  Value mul(Value a, Value b) { return n.mul(a, b); }
  Value mul(Value a, double b) { return n.mul(a, b); }
  Value abs(Value x) { return n.op<ir::AbsOp>({x}); }
  Value floor(Value x) { return n.op<ir::FloorOp>({x}); }
  Value round(Value x) { return n.op<ir::RoundOp>({x}); }
  Value clamp(Value x, double low, double high) { return onnximport::clamp(n, x, low, high); }
  Value isAbove(Value x, double bound) { return n.compare(ir::ComparePredicate::gt, x, number(n, x, bound)); }
  Value select(Value condition, Value a, Value b) { return n.select(condition, a, b); }
  /// `x` where `at` lies in [low, high], else 0.
  Value zeroOutside(Value x, Value at, double low, double high) {
    Value inside = n.op<ir::AndOp>({n.compare(ir::ComparePredicate::ge, at, number(n, at, low)),
                                    n.compare(ir::ComparePredicate::le, at, number(n, at, high))});
    return n.select(inside, x, number(n, x, 0));
  }
  Value toIndex(Value x) { return n.cast(x, n.i64()); }
  Value reshape(Value x, IntsRef shape) { return n.reshape(x, shape); }
  Value broadcast(Value x, IntsRef shape) { return n.broadcast(x, shape); }
  Value sliceAxis(Value x, int64_t axis, int64_t start, int64_t size) { return n.sliceAxis(x, axis, start, size); }
  Value gatherElements(Value x, Value indices, int64_t axis) { return n.gatherElements(x, indices, axis); }
};

void gridSample(Node &n) {
  using graph::GridMode, graph::GridPadding;
  std::string mode = n.stringAttr("mode", n.opset < 20 ? "bilinear" : "linear"),
              padding = n.stringAttr("padding_mode", "zeros");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  bool aligned = n.intAttr("align_corners", 0) != 0;
  n.require(mode == "linear" || mode == "nearest" || mode == "cubic",
            "has mode '" + mode + "'; known are linear, nearest and cubic");
  n.require(padding == "zeros" || padding == "border" || padding == "reflection",
            "has padding_mode '" + padding + "'; known are zeros, border and reflection");
  Value x = n.in(0), grid = n.in(1);
  int64_t dims = Emit::rank(x) - 2;
  n.require(dims >= 1 && Emit::rank(grid) == dims + 2 && Emit::shape(grid).back() == dims &&
                Emit::shape(grid)[0] == Emit::shape(x)[0],
            "samples " + typeText(x) + " at " + typeText(grid));
  if (dims > 3) n.unsupported("samples " + std::to_string(dims) + " spatial dimensions; supported are 1 to 3");
  Type type = Emit::elem(x);
  Type compute = type.isF64() ? type : n.f32();
  int64_t batch = Emit::shape(x)[0], channels = Emit::shape(x)[1],
          points = Emit::count(grid) / std::max<int64_t>(batch * dims, 1), pixels = 1;
  std::vector<int64_t> sizes;
  for (int64_t d = 0; d < dims; ++d) {
    sizes.push_back(Emit::shape(x)[d + 2]);
    n.require(sizes.back() > 0, "samples " + typeText(x) + ", which has no pixels");
    pixels *= sizes.back();
  }
  Value positions = n.reshape(n.cast(grid, compute), {batch, points, dims});
  Value image = n.reshape(n.cast(x, compute), {batch, channels, pixels});
  SampleMaker maker{n};
  graph::GridSampler<SampleMaker> sampler(maker,
                                          mode == "nearest" ? GridMode::nearest
                                          : mode == "cubic" ? GridMode::cubic
                                                            : GridMode::linear,
                                          padding == "border"       ? GridPadding::border
                                          : padding == "reflection" ? GridPadding::reflection
                                                                    : GridPadding::zeros,
                                          aligned);
  Value sum = sampler.run(image, positions, batch, channels, points, sizes);
  Ints shape{batch, channels};
  for (int64_t d = 0; d < dims; ++d) shape.push_back(Emit::shape(grid)[d + 1]);
  n.out(n.cast(n.reshape(sum, shape), type));
}

/// Two taps along one dimension of size `size`; samples far outside count as zero.
std::pair<Tap, Tap> roiTaps(Node &n, Value at, int64_t size) {
  double last = double(size - 1);
  Value inside = n.op<ir::AndOp>({n.compare(ir::ComparePredicate::ge, at, number(n, at, -1)),
                                  n.compare(ir::ComparePredicate::le, at, number(n, at, double(size)))});
  Value x = clamp(n, at, 0, last);
  Value low = n.op<ir::FloorOp>({x}), t = n.sub(x, low);
  Value zero = number(n, x, 0);
  Value high = n.min(n.add(low, 1), number(n, x, last));
  return {{n.cast(low, n.i64()), n.select(inside, n.sub(1, t), zero)},
          {n.cast(high, n.i64()), n.select(inside, t, zero)}};
}

/// RoiAlign's attributes, and its image.
struct RoiAlignment {
  int64_t height, width; // of the result
  double scale, shift;   // of corners
  bool isMean;
  Value x; // [N, C, h, w]

  /// Regions [R, 4] of `batches` [R], with samples of each cell in height and width: [R, C, height, width].
  Value align(Node &n, Value rois, Value batches, std::pair<int64_t, int64_t> samples) const;
  /// The same means where only a call tells the regions, and with them how many samples there are.
  Value alignComputed(Node &n, Value rois, Value batches) const;
};

Value RoiAlignment::align(Node &n, Value rois, Value batches, std::pair<int64_t, int64_t> samples) const {
  int64_t count = Emit::shape(rois)[0], channels = Emit::shape(x)[1], h = Emit::shape(x)[2], w = Emit::shape(x)[3];
  int64_t rows = height * samples.first, columns = width * samples.second;
  if (std::max(rows, columns) > n.state.limits.foldedBytes / 8)
    n.unsupported("takes " + std::to_string(rows) + "x" + std::to_string(columns) +
                  " samples of a region, past the limit of its table of positions");
  if (samples.first == 0 || samples.second == 0) // an empty region
    return n.splat(0, {count, channels, height, width}, Emit::elem(x));
  auto corner = [&](int64_t k) { return n.add(n.mul(n.sliceAxis(rois, 1, k, 1), scale), shift); };
  auto positions = [&](int64_t axis, int64_t cells, int64_t samples) { // [R, cells * samples]
    Value start = corner(axis), extent = n.sub(corner(axis + 2), start);
    if (shift == 0) extent = n.max(extent, number(n, extent, 1));
    std::vector<double> offsets;
    for (int64_t i = 0; i < cells * samples; ++i)
      offsets.push_back((double(i / samples) + (double(i % samples) + 0.5) / double(samples)) / double(cells));
    return n.add(start, n.mul(extent, n.constant({1, cells * samples}, Emit::elem(x), offsets)));
  };
  auto [top, bottom] = roiTaps(n, positions(1, height, samples.first), h);
  auto [left, right] = roiTaps(n, positions(0, width, samples.second), w);
  Value image = n.reshape(n.gather(x, batches, 0), {count, channels, h * w});
  Value result;
  for (const Tap *y : {&top, &bottom})
    for (const Tap *c : {&left, &right}) {
      auto across = [&](Value a, Value b, auto combine) {
        return combine(n.reshape(a, {count, rows, 1}), n.reshape(b, {count, 1, columns}));
      };
      Value index = across(y->index, c->index, [&](Value a, Value b) { return n.add(n.mul(a, double(w)), b); });
      Value weight = across(y->weight, c->weight, [&](Value a, Value b) { return n.mul(a, b); });
      Value flat = n.broadcast(n.reshape(index, {count, 1, rows * columns}), {count, channels, rows * columns});
      Value part = n.mul(n.gatherElements(image, flat, 2), n.reshape(weight, {count, 1, rows * columns}));
      result = !result ? part : isMean ? n.add(result, part) : n.max(result, part);
    }
  result = n.reshape(result, {count, channels, height, samples.first, width, samples.second});
  return isMean ? n.reduceMean(result, {3, 5}, false) : n.reduce(ir::ReduceKind::max, result, {3, 5}, false);
}

/// [R, cells, size]: what each pixel of an image counts in the mean of a cell's samples, along one dimension. Where a
/// cell is wider than a pixel its samples are more than half a pixel apart, so at most four come within one of a pixel.
Value pixelWeights(Node &n, Value start, Value extent, int64_t cells, int64_t size) {
  int64_t regions = Emit::shape(start)[0];
  Type type = Emit::elem(start);
  auto column = [&](Value v) { return n.reshape(v, {regions, 1, 1, 1}); };
  auto ramp = [&](int64_t count, Ints shape) {
    std::vector<double> numbers;
    for (int64_t i = 0; i < count; ++i) numbers.push_back(double(i));
    return n.constant(shape, type, numbers);
  };
  // Divided as the reference does: cells of whole pixels have that many samples.
  Value cell = n.div(extent, number(n, extent, double(cells))),
        samples = n.max(n.op<ir::CeilOp>({cell}), number(n, cell, 0));
  Value distance = n.div(cell, n.max(samples, number(n, cell, 1)));
  Value begin = n.add(column(start), n.mul(column(cell), ramp(cells, {1, cells, 1, 1})));
  Value pixel = ramp(size, {1, 1, size, 1});
  // The last sample more than one before the pixel, and the next ones; one more than there can be, for roundings.
  Value first = n.op<ir::FloorOp>({n.add(n.div(n.sub(n.add(pixel, -1), begin), column(distance)), -0.5)});
  first = n.max(n.min(first, column(n.add(samples, -1))), number(n, first, 0));
  Value sample = n.add(first, ramp(6, {1, 1, 1, 6}));
  Value at = n.add(begin, n.mul(n.add(sample, 0.5), column(distance)));
  Value apart = n.op<ir::AbsOp>({n.sub(clamp(n, at, 0, double(size - 1)), pixel)});
  Value weight = n.max(n.sub(1, apart), number(n, apart, 0));
  Value counts = n.op<ir::AndOp>({n.compare(ir::ComparePredicate::lt, sample, column(samples)),
                                  n.op<ir::AndOp>({n.compare(ir::ComparePredicate::ge, at, number(n, at, -1)),
                                                   n.compare(ir::ComparePredicate::le, at, number(n, at, size))})});
  Value total = n.reduce(ir::ReduceKind::sum, n.select(counts, weight, number(n, weight, 0)), {3}, false);
  return n.div(total, n.reshape(n.max(samples, number(n, samples, 1)), {regions, 1, 1}));
}

// Bilinear interpolation is separable, and so is the mean over a grid of samples: two products with weights.
Value RoiAlignment::alignComputed(Node &n, Value rois, Value batches) const {
  int64_t count = Emit::shape(rois)[0], channels = Emit::shape(x)[1], h = Emit::shape(x)[2], w = Emit::shape(x)[3];
  Type type = Emit::elem(x), wide = Emit::isHalf(type) ? n.f32() : type;
  rois = n.cast(rois, wide);
  auto weights = [&](int64_t axis, int64_t cells, int64_t size) {
    auto corner = [&](int64_t k) { return n.add(n.mul(n.sliceAxis(rois, 1, k, 1), scale), shift); };
    Value start = corner(axis), extent = n.sub(corner(axis + 2), start);
    if (shift == 0) extent = n.max(extent, number(n, extent, 1));
    return pixelWeights(n, start, extent, cells, size);
  };
  Value image = n.reshape(n.gather(n.cast(x, wide), batches, 0), {count, channels * h, w});
  Value rows = n.reshape(n.matmul(image, weights(0, width, w), false, true), {count, channels, h, width});
  rows = n.reshape(n.transpose(rows, {0, 2, 1, 3}), {count, h, channels * width});
  Value cells = n.reshape(n.matmul(weights(1, height, h), rows), {count, height, channels, width});
  return n.cast(n.transpose(cells, {0, 2, 1, 3}), type);
}

/// Without a number of samples a region has about one for each pixel: of regions that are known, those with as many are
/// aligned together.
void alignByPixels(Node &n, const RoiAlignment &alignment, Value rois, Value batches) {
  std::vector<double> corners =
      realsOf(n.known(rois, "its regions, whose sizes decide how many samples sampling_ratio 0 takes,"));
  std::map<std::pair<int64_t, int64_t>, Ints> regions;
  for (int64_t i = 0; i < Emit::shape(rois)[0]; ++i) {
    auto samples = [&](int64_t axis, int64_t cells) {
      float scale = float(alignment.scale), shift = float(alignment.shift); // as the reference computes it
      float begin = float(corners[size_t(4 * i + axis)]) * scale + shift;
      float extent = float(corners[size_t(4 * i + axis + 2)]) * scale + shift - begin;
      if (shift == 0) extent = std::max(extent, 1.0f);
      n.require(std::isfinite(extent), "has region " + std::to_string(i) + " without a size");
      return std::max<int64_t>(int64_t(std::ceil(std::min(extent / float(cells), 1e9f))), 0);
    };
    regions[{samples(1, alignment.height), samples(0, alignment.width)}].push_back(i);
  }
  Values parts;
  Ints places(size_t(Emit::shape(rois)[0]));
  int64_t next = 0;
  for (const auto &[samples, own] : regions) {
    for (int64_t region : own) places[size_t(region)] = next++;
    Value which = n.ints(own);
    parts.push_back(alignment.align(n, n.gather(rois, which, 0), n.gather(batches, which, 0), samples));
  }
  n.out(parts.size() == 1 ? parts[0] : n.gather(n.concat(parts, 0), n.ints(places), 0));
}

void roiAlign(Node &n) {
  Value x = n.in(0), rois = n.in(1), batches = n.in(2);
  n.require(Emit::rank(x) == 4 && Emit::rank(rois) == 2 && Emit::shape(rois)[1] == 4 &&
                Emit::shape(batches) == IntsRef{Emit::shape(rois)[0]},
            "aligns regions " + typeText(rois) + " of images " + typeText(batches) + " in " + typeText(x));
  int64_t height = n.intAttr("output_height", 1), width = n.intAttr("output_width", 1),
          samples = n.intAttr("sampling_ratio", 0);
  n.require(height > 0 && width > 0 && height < (1 << 20) && width < (1 << 20) && samples >= 0 && samples < (1 << 16),
            "has output " + std::to_string(height) + "x" + std::to_string(width) + " and sampling_ratio " +
                std::to_string(samples));
  std::string mode = n.stringAttr("mode", "avg");
  n.require(mode == "avg" || mode == "max", "has mode '" + mode + "'; known are avg and max");
  n.require(Emit::shape(x)[2] > 0 && Emit::shape(x)[3] > 0,
            "aligns regions in " + typeText(x) + ", which has no pixels");
  bool half = n.opset >= 16 && n.stringAttr("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  RoiAlignment alignment{height, width, n.realAttr("spatial_scale", 1), half ? -0.5 : 0.0, mode == "avg", x};
  if (samples != 0) return n.out(alignment.align(n, rois, batches, {samples, samples}));
  if (Emit::shape(rois)[0] == 0) return n.out(alignment.align(n, rois, batches, {1, 1}));
  if (alignment.isMean && n.importer.isOfCall(rois)) return n.out(alignment.alignComputed(n, rois, batches));
  alignByPixels(n, alignment, rois, batches);
}

void col2Im(Node &n) {
  Value x = n.in(0);
  Ints image = n.knownInts(1), block = n.knownInts(2);
  size_t dims = image.size();
  n.require(Emit::rank(x) == 3 && dims > 0 && block.size() == dims, "joins patches " + typeText(x) + " of shape " +
                                                                        shapeText(block) + " to images of shape " +
                                                                        shapeText(image));
  auto list = [&](const char *name, size_t count, int64_t fill) {
    Ints values = n.intsAttr(name).value_or(Ints(count, fill));
    n.require(values.size() == count &&
                  llvm::all_of(values, [&](int64_t v) { return v >= fill && v < (int64_t(1) << 30); }),
              std::string("has a malformed '") + name + "'");
    return values;
  };
  Ints dilations = list("dilations", dims, 1), strides = list("strides", dims, 1), pads = list("pads", 2 * dims, 0);
  Ints padded, places;
  int64_t patch = 1, positions = 1;
  for (size_t d = 0; d < dims; ++d) {
    n.require(block[d] > 0 && block[d] < (1 << 20) && image[d] > 0 && image[d] < (int64_t(1) << 30),
              "joins patches of shape " + shapeText(block) + " to images of shape " + shapeText(image));
    padded.push_back(image[d] + pads[d] + pads[d + dims]);
    int64_t room = padded[d] - dilations[d] * (block[d] - 1) - 1;
    n.require(room >= 0, "joins patches of shape " + shapeText(block) + " to images of shape " + shapeText(image) +
                             ", which are smaller");
    places.push_back(room / strides[d] + 1);
    if (__builtin_mul_overflow(patch, block[d], &patch) || __builtin_mul_overflow(positions, places[d], &positions) ||
        std::max(patch, positions) > n.state.limits.foldedBytes / 8)
      n.unsupported("joins patches of shape " + shapeText(block) + " to images of shape " + shapeText(image) +
                    ", past the limit of its table of indices");
  }
  n.require(Emit::shape(x)[1] % patch == 0 && Emit::shape(x)[2] == positions,
            "has patches " + typeText(x) + "; expected a multiple of " + std::to_string(patch) + " rows and " +
                std::to_string(positions) + " positions");
  int64_t batch = Emit::shape(x)[0], channels = Emit::shape(x)[1] / patch,
          pixels = n.tensor(padded, Emit::elem(x)).getNumElements();
  if (patch * positions > n.state.limits.foldedBytes / 8)
    n.unsupported("has " + std::to_string(patch * positions) + " places, past the limit of its table of indices");
  Ints indices;
  for (int64_t p = 0; p < patch; ++p)
    for (int64_t q = 0; q < positions; ++q) {
      int64_t restP = p, restQ = q, flat = 0, step = 1;
      for (size_t d = dims; d-- > 0;) {
        flat += (restP % block[d] * dilations[d] + restQ % places[d] * strides[d]) * step;
        restP /= block[d];
        restQ /= places[d];
        step *= padded[d];
      }
      indices.push_back(flat);
    }
  int64_t rows = batch * channels, columns = patch * positions;
  Value at = n.broadcast(n.ints(indices, {1, columns}), {rows, columns});
  Value sum = n.scatterElements(ir::ScatterKind::add, n.splat(0, {rows, pixels}, Emit::elem(x)), at,
                                n.reshape(x, {rows, columns}), 1);
  Ints shape{batch, channels}, starts{0, 0}, sizes{batch, channels}, steps(dims + 2, 1);
  shape.append(padded);
  for (size_t d = 0; d < dims; ++d) {
    starts.push_back(pads[d]);
    sizes.push_back(image[d]);
  }
  n.out(n.slice(n.reshape(sum, shape), starts, sizes, steps));
}

} // namespace

void addSampling(Table &t) {
  t.add("GridSample", {16, 20, 22}, gridSample);
  t.add("RoiAlign", {10, 16, 22}, roiAlign);
  t.add("Col2Im", {18}, col2Im);
}

} // namespace sprig::onnximport
