// Pooling over windows and over whole images.
#include "lib/Import/ONNX/Table.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Import/ONNX/Tensor.h"
#include "lib/Import/ONNX/Window.h"
#include <cmath>

namespace sprig::onnximport {

namespace {

/// A pooling window whose high padding gives exactly the output size that ONNX defines (ceil_mode included). Where the
/// last window would not reach the input's end, the input is cut.
struct PoolWindow : Window {
  Ints given; ///< high padding as the model has it
};

PoolWindow readPool(Node &n, Value &x) {
  n.require(Emit::rank(x) >= 3, "pools " + typeText(x) + "; expected batch, channels and spatial dimensions");
  if (Emit::rank(x) > 5)
    n.unsupported("has " + std::to_string(Emit::rank(x) - 2) + " spatial dimensions; supported are 1 to 3");
  n.require(n.attribute("kernel_shape"), "needs attribute 'kernel_shape'");
  PoolWindow w{readWindow(n, spatialOf(x), std::nullopt), {}};
  w.given = w.high;
  bool ceil = n.intAttr("ceil_mode", 0) != 0;
  for (size_t i = 0; i < w.size.size(); ++i) {
    int64_t in = spatialOf(x)[i], stride = w.strides[i], padded = in + w.low[i] + w.high[i];
    n.require(w.extent(i) <= padded || (ceil && padded > 0),
              "slides a window of " + std::to_string(w.extent(i)) + " over " + std::to_string(padded) +
                  " padded elements of dimension " + std::to_string(i + 2) + " of " + typeText(x));
    int64_t room = padded - w.extent(i);
    int64_t out = (ceil ? (room + stride - 1) / stride : room / stride) + 1;
    // No window starts in the padding after the input.
    if (ceil && (out - 1) * stride >= in + w.low[i]) --out;
    int64_t needed = (out - 1) * stride + w.extent(i) - in - w.low[i];
    if (needed > w.high[i] || (padded - w.extent(i)) / stride + 1 != out) w.high[i] = needed;
    if (w.high[i] < 0) {
      x = n.sliceAxis(x, int64_t(i) + 2, 0, in + w.high[i]);
      w.high[i] = w.given[i] = 0;
    }
  }
  return w;
}

llvm::SmallVector<NamedAttribute> attributesOf(Node &n, const Window &w) {
  return {n.attr("window", w.size), n.attr("strides", w.strides), n.attr("dilations", w.dilations),
          n.attr("padding", w.padding())};
}

Value pool(Node &n, ir::ReduceKind kind, Value x, const Window &w) {
  auto attributes = attributesOf(n, w);
  attributes.push_back(n.attr("kind", ir::ReduceKindAttr::get(n.context(), kind)));
  return n.op<ir::PoolOp>({x}, attributes);
}

void maxPool(Node &n) {
  Value x = n.in(0);
  Ints shape(Emit::shape(x));
  PoolWindow w = readPool(n, x);
  if (n.wants(1)) {
    if (IntsRef(shape) != Emit::shape(x))
      n.unsupported("wants indices into an input that the last window does not reach");
    auto attributes = attributesOf(n, w);
    if (n.intAttr("storage_order", 0) != 0) attributes.push_back(n.unit("column_major"));
    n.out(n.op<ir::ArgMaxPoolOp>({x}, attributes), 1);
  }
  n.out(pool(n, ir::ReduceKind::max, x, w));
}

void averagePool(Node &n) {
  Value x = n.in(0);
  PoolWindow w = readPool(n, x);
  Ints counted(2 * w.size.size(), 0);
  if (n.intAttr("count_include_pad", 0) != 0) {
    counted.assign(w.low.begin(), w.low.end());
    // The padding that only rounding up adds never counts.
    for (size_t i = 0; i < w.size.size(); ++i) counted.push_back(std::min(w.high[i], w.given[i]));
  }
  auto attributes = attributesOf(n, w);
  attributes.push_back(n.attr("counted_padding", counted));
  n.out(n.op<ir::AvgPoolOp>({x}, attributes));
}

/// |x|^p, the terms of an Lp norm.
Value powered(Node &n, Value x, double p) {
  if (p == 2) return n.mul(x, x);
  x = n.op<ir::AbsOp>({x});
  return p == 1 ? x : n.pow(x, n.scalar(p, Emit::elem(x)));
}
Value rooted(Node &n, Value x, double p) {
  if (p == 2) return n.op<ir::SqrtOp>({x});
  return p == 1 ? x : n.pow(x, n.scalar(1 / p, Emit::elem(x)));
}

void lpPool(Node &n) {
  Value x = n.in(0);
  double p = double(n.intAttr("p", 2));
  n.require(p >= 1, "has p = " + std::to_string(int64_t(p)) + "; a norm has p >= 1");
  PoolWindow w = readPool(n, x);
  n.out(rooted(n, pool(n, ir::ReduceKind::sum, powered(n, x, p), w), p));
}

Ints spatialAxes(Node &n, Value x) {
  n.require(Emit::rank(x) >= 2, "pools " + typeText(x) + "; expected batch, channels and spatial dimensions");
  Ints axes;
  for (int64_t i = 2; i < Emit::rank(x); ++i) axes.push_back(i);
  return axes;
}
void globalAveragePool(Node &n) { n.out(n.reduceMean(n.in(0), spatialAxes(n, n.in(0)), true)); }
void globalMaxPool(Node &n) { n.out(n.reduce(ir::ReduceKind::max, n.in(0), spatialAxes(n, n.in(0)), true)); }
void globalLpPool(Node &n) {
  double p = double(n.intAttr("p", 2));
  n.require(p >= 1, "has p = " + std::to_string(int64_t(p)) + "; a norm has p >= 1");
  n.out(rooted(n, n.reduce(ir::ReduceKind::sum, powered(n, n.in(0), p), spatialAxes(n, n.in(0)), true), p));
}

void maxUnpool(Node &n) {
  Value x = n.in(0), indices = n.in(1);
  n.require(Emit::rank(x) >= 3, "unpools " + typeText(x) + "; expected batch, channels and spatial dimensions");
  n.require(Emit::shape(indices) == Emit::shape(x), "has values " + typeText(x) + ", but indices " + typeText(indices));
  Window w = readWindow(n, spatialOf(x), std::nullopt);
  Ints shape(Emit::shape(x).take_front(2));
  for (size_t i = 0; i < w.size.size(); ++i)
    shape.push_back((spatialOf(x)[i] - 1) * w.strides[i] + w.size[i] - w.low[i] - w.high[i]);
  int64_t total = n.tensor(shape, Emit::elem(x)).getNumElements();
  Value flat = n.splat(0, {total}, Emit::elem(x));
  int64_t count = Emit::count(x);
  flat = n.scatterElements(ir::ScatterKind::none, flat, n.reshape(indices, {count}), n.reshape(x, {count}), 0);
  Value result = n.reshape(flat, shape);
  if (n.has(2)) {
    Ints wanted = n.knownInts(2);
    n.require(wanted.size() == shape.size(), "has an output_shape of " + std::to_string(wanted.size()) +
                                                 " sizes for rank " + std::to_string(shape.size()));
    Ints low(shape.size(), 0), high;
    for (size_t i = 0; i < shape.size(); ++i) {
      n.require(wanted[i] >= shape[i], "has output_shape " + shapeText(wanted) + ", smaller than " + shapeText(shape));
      high.push_back(wanted[i] - shape[i]);
    }
    result = n.pad(ir::PadMode::constant, result, n.scalar(0, Emit::elem(x)), low, high);
  }
  n.out(result);
}

} // namespace

void addPooling(Table &t) {
  t.add("MaxPool", {1, 8, 10, 11, 12, 22}, maxPool);
  t.add("AveragePool", {1, 7, 10, 11, 19, 22}, averagePool);
  t.add("LpPool", {2, 11, 18, 22}, lpPool);
  t.add("GlobalAveragePool", {1, 22}, globalAveragePool);
  t.add("GlobalMaxPool", {1, 22}, globalMaxPool);
  t.add("GlobalLpPool", {2, 22}, globalLpPool);
  t.add("MaxUnpool", {9, 11, 22}, maxUnpool);
}

} // namespace sprig::onnximport
