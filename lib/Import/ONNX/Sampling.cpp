// Sampling of images at computed positions: GridSample, RoiAlign, and the inverse of patch extraction (Col2Im).
#include "lib/Import/ONNX/Table.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Import/ONNX/Tensor.h"

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

/// Folds positions back into [low, high], as between two mirrors.
Value reflect(Node &n, Value x, double low, double high) {
  if (high <= low) return n.mul(x, 0);
  double span = high - low;
  Value away = n.op<ir::AbsOp>({n.add(x, -low)});
  Value turns = n.op<ir::FloorOp>({n.mul(away, 1 / span)});
  Value rest = n.sub(away, n.mul(turns, span));
  Value odd = n.sub(turns, n.mul(n.op<ir::FloorOp>({n.mul(turns, 0.5)}), 2));
  Value isOdd = n.compare(ir::ComparePredicate::gt, odd, number(n, odd, 0.5));
  return n.select(isOdd, n.sub(high, rest), n.add(rest, low));
}

class GridSampler {
public:
  GridSampler(Node &n) : n(n) {
    mode = n.stringAttr("mode", n.opset < 20 ? "bilinear" : "linear");
    if (mode == "bilinear") mode = "linear";
    if (mode == "bicubic") mode = "cubic";
    padding = n.stringAttr("padding_mode", "zeros");
    aligned = n.intAttr("align_corners", 0) != 0;
    n.require(mode == "linear" || mode == "nearest" || mode == "cubic",
              "has mode '" + mode + "'; known are linear, nearest and cubic");
    n.require(padding == "zeros" || padding == "border" || padding == "reflection",
              "has padding_mode '" + padding + "'; known are zeros, border and reflection");
  }

  void run() {
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
    Value positions = n.reshape(n.cast(grid, compute), {batch, points, dims});
    std::vector<std::vector<Tap>> taps;
    for (int64_t d = 0; d < dims; ++d) {
      int64_t size = Emit::shape(x)[d + 2];
      n.require(size > 0, "samples " + typeText(x) + ", which has no pixels");
      pixels *= size;
      // The grid's last dimension counts from the innermost dimension of the image.
      taps.push_back(tapsOf(n.reshape(n.sliceAxis(positions, 2, dims - 1 - d, 1), {batch, points}), size));
    }
    image = n.reshape(n.cast(x, compute), {batch, channels, pixels});
    gather(taps, x, 0, {}, {});
    Ints shape{batch, channels};
    for (int64_t d = 0; d < dims; ++d) shape.push_back(Emit::shape(grid)[d + 1]);
    n.out(n.cast(n.reshape(sum, shape), type));
  }

private:
  /// In range, or moved there by the padding mode; taps in zero padding lose their weight.
  Tap tap(Value at, Value weight, int64_t size) {
    double last = double(size - 1);
    if (padding == "zeros") {
      Value inside = n.op<ir::AndOp>({n.compare(ir::ComparePredicate::ge, at, number(n, at, 0)),
                                      n.compare(ir::ComparePredicate::le, at, number(n, at, last))});
      weight = n.select(inside, weight, number(n, weight, 0));
    } else if (padding == "reflection") {
      at = aligned ? reflect(n, at, 0, last) : reflect(n, at, -0.5, last + 0.5);
    }
    return {n.cast(clamp(n, at, 0, last), n.i64()), weight};
  }

  std::vector<Tap> tapsOf(Value g, int64_t size) {
    Value x =
        aligned ? n.mul(n.add(g, 1), double(size - 1) / 2) : n.mul(n.add(n.mul(n.add(g, 1), double(size)), -1), 0.5);
    if (mode != "cubic" && padding == "border") x = clamp(n, x, 0, double(size - 1));
    if (mode != "cubic" && padding == "reflection")
      x = clamp(n, aligned ? reflect(n, x, 0, double(size - 1)) : reflect(n, x, -0.5, double(size) - 0.5), 0,
                double(size - 1));
    if (mode == "nearest") return {tap(n.op<ir::RoundOp>({x}), n.add(n.mul(x, 0), 1), size)};
    Value floor = n.op<ir::FloorOp>({x}), t = n.sub(x, floor);
    if (mode == "linear") return {tap(floor, n.sub(1, t), size), tap(n.add(floor, 1), t, size)};
    std::vector<Tap> taps;
    for (int k = -1; k <= 2; ++k)
      taps.push_back(tap(n.add(floor, k), cubic(n.op<ir::AbsOp>({n.add(t, -k)}), k == 0 || k == 1), size));
    return taps;
  }

  Value cubic(Value d, bool isNear) {
    constexpr double a = -0.75;
    if (isNear) return n.add(n.mul(n.mul(n.add(n.mul(d, a + 2), -(a + 3)), d), d), 1);
    return n.add(n.mul(n.add(n.mul(n.add(n.mul(d, a), -5 * a), d), 8 * a), d), -4 * a);
  }

  /// Adds up all combinations of taps over the dimensions.
  void gather(const std::vector<std::vector<Tap>> &taps, Value x, size_t d, Value index, Value weight) {
    if (d == taps.size()) {
      int64_t batch = Emit::shape(index)[0], points = Emit::shape(index)[1], channels = Emit::shape(image)[1];
      Value picked =
          n.gatherElements(image, n.broadcast(n.reshape(index, {batch, 1, points}), {batch, channels, points}), 2);
      Value part = n.mul(picked, n.reshape(weight, {batch, 1, points}));
      sum = sum ? n.add(sum, part) : part;
      return;
    }
    for (const Tap &tap : taps[d]) {
      Value flat = index ? n.add(n.mul(index, double(Emit::shape(x)[d + 2])), tap.index) : tap.index;
      gather(taps, x, d + 1, flat, weight ? n.mul(weight, tap.weight) : tap.weight);
    }
  }

  Node &n;
  std::string mode, padding;
  bool aligned;
  Value image, sum;
};

void gridSample(Node &n) { GridSampler(n).run(); }

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
  if (samples == 0)
    n.unsupported("has sampling_ratio 0: the number of samples then depends on the size of each region");
  std::string mode = n.stringAttr("mode", "avg");
  n.require(mode == "avg" || mode == "max", "has mode '" + mode + "'; known are avg and max");
  bool half = n.opset >= 16 && n.stringAttr("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  double scale = n.realAttr("spatial_scale", 1);
  int64_t count = Emit::shape(rois)[0], channels = Emit::shape(x)[1], h = Emit::shape(x)[2], w = Emit::shape(x)[3];
  n.require(h > 0 && w > 0, "aligns regions in " + typeText(x) + ", which has no pixels");
  int64_t rows = height * samples, columns = width * samples;
  if (std::max(rows, columns) > n.state.limits.foldedBytes / 8)
    n.unsupported("takes " + std::to_string(rows) + "x" + std::to_string(columns) +
                  " samples of a region, past the limit of its table of positions");
  auto corner = [&](int64_t k) { return n.add(n.mul(n.sliceAxis(rois, 1, k, 1), scale), half ? -0.5 : 0); };
  auto positions = [&](int64_t axis, int64_t cells) { // [R, cells * samples]
    Value start = corner(axis), extent = n.sub(corner(axis + 2), start);
    if (!half) extent = n.max(extent, number(n, extent, 1));
    std::vector<double> offsets;
    for (int64_t i = 0; i < cells * samples; ++i)
      offsets.push_back((double(i / samples) + (double(i % samples) + 0.5) / double(samples)) / double(cells));
    return n.add(start, n.mul(extent, n.constant({1, cells * samples}, Emit::elem(x), offsets)));
  };
  auto [top, bottom] = roiTaps(n, positions(1, height), h);
  auto [left, right] = roiTaps(n, positions(0, width), w);
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
      result = !result ? part : mode == "avg" ? n.add(result, part) : n.max(result, part);
    }
  result = n.reshape(result, {count, channels, height, samples, width, samples});
  n.out(mode == "avg" ? n.reduceMean(result, {3, 5}, false) : n.reduce(ir::ReduceKind::max, result, {3, 5}, false));
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
