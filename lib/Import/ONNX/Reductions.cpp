// Reductions, arg reductions, running sums, top k.
#include "lib/Import/ONNX/Table.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Import/ONNX/Counted.h"

namespace sprig::onnximport {

namespace {

/// The axes of a reduction, an attribute or (since `inputSince`) an input; empty means nothing to reduce.
struct Reduction {
  Value x;
  Ints axes;
  bool keepDims;
};

Reduction readReduction(Node &n, int64_t inputSince) {
  Reduction r{n.in(0), {}, n.intAttr("keepdims", 1) != 0};
  int64_t rank = Emit::rank(r.x);
  Ints axes = n.opset >= inputSince ? (n.has(1) ? n.knownInts(1) : Ints()) : n.intsAttr("axes").value_or(Ints());
  if (axes.empty()) {
    bool nothing = n.opset >= inputSince && n.intAttr("noop_with_empty_axes", 0) != 0;
    for (int64_t i = 0; i < rank && !nothing; ++i) axes.push_back(i);
  }
  r.axes = n.axes(axes, rank);
  return r;
}

template <ir::ReduceKind kind, int inputSince> void plain(Node &n) {
  Reduction r = readReduction(n, inputSince);
  n.out(n.reduce(kind, r.x, r.axes, r.keepDims));
}

void mean(Node &n) {
  Reduction r = readReduction(n, 18);
  n.out(n.reduceMean(r.x, r.axes, r.keepDims));
}

Value sum(Node &n, const Reduction &r, Value x) { return n.reduce(ir::ReduceKind::sum, x, r.axes, r.keepDims); }

/// Runs `body` in a float type that is wide enough, whatever the operand is.
template <typename Body> void inFloat(Node &n, const Body &body) {
  Reduction r = readReduction(n, 18);
  Type type = Emit::elem(r.x);
  if (!llvm::isa<mlir::FloatType>(type))
    r.x = n.cast(r.x, mlir::Float64Type::get(n.context()));
  else if (Emit::isHalf(type))
    r.x = n.cast(r.x, n.f32());
  n.out(n.cast(body(r), type));
}

void l1(Node &n) {
  Reduction r = readReduction(n, 18);
  n.out(sum(n, r, n.op<ir::AbsOp>({r.x})));
}
void l2(Node &n) {
  inFloat(n, [&](Reduction &r) { return n.lengthOf(sum(n, r, n.mul(r.x, r.x))); });
}
void sumSquare(Node &n) {
  Reduction r = readReduction(n, 18);
  n.out(sum(n, r, n.mul(r.x, r.x)));
}
void logSum(Node &n) {
  inFloat(n, [&](Reduction &r) { return n.op<ir::LogOp>({sum(n, r, r.x)}); });
}
void logSumExp(Node &n) {
  inFloat(n, [&](Reduction &r) {
    // exp(x - max) cannot overflow; an infinite maximum is left where it is.
    Value max = n.reduce(ir::ReduceKind::max, r.x, r.axes, true);
    max = n.select(n.op<ir::IsInfOp>({max}), n.scalar(0, Emit::elem(max)), max);
    Value log = n.op<ir::LogOp>({sum(n, r, n.op<ir::ExpOp>({n.sub(r.x, max)}))});
    return n.add(log, n.reshape(max, Emit::shape(log)));
  });
}

template <ir::ReduceKind kind> void argReduce(Node &n) {
  Value x = n.in(0);
  int64_t axis = n.axis(n.intAttr("axis", 0), Emit::rank(x));
  n.require(Emit::shape(x)[axis] > 0,
            "looks for an extreme along axis " + std::to_string(axis) + " of " + typeText(x) + ", which is empty");
  n.out(n.argReduce(kind, x, axis, n.intAttr("keepdims", 1) != 0, n.intAttr("select_last_index", 0) != 0));
}

template <ir::ReduceKind kind> void cumulative(Node &n) {
  Value x = n.in(0);
  int64_t axis = n.axis(n.knownInt(1), Emit::rank(x));
  llvm::SmallVector<NamedAttribute> attributes{n.attr("kind", ir::ReduceKindAttr::get(n.context(), kind)),
                                               n.attr("axis", axis)};
  if (n.intAttr("exclusive", 0) != 0) attributes.push_back(n.unit("exclusive"));
  if (n.intAttr("reverse", 0) != 0) attributes.push_back(n.unit("reverse"));
  n.out(n.op<ir::CumulativeOp>({x}, attributes));
}

Values sortedFirst(Node &n, Value x, int64_t k, int64_t axis) {
  bool largest = n.intAttr("largest", 1) != 0;
  return n.results<ir::TopKOp>(
      {x}, {n.attr("k", k), n.attr("axis", axis), n.attr("largest", n.state.builder.getBoolAttr(largest))});
}

/// Of a dimension whose size the data decide: what does not count is sorted behind the others. As many as are asked for
/// and there are.
void topKOfCounted(Node &n, int64_t axis) {
  const Item &x = n.items[0];
  if (n.opset < 10 || !Emit::isFloat(x.value)) requireCount(n, 0);
  int64_t size = Emit::shape(x.value)[axis];
  // NaN is larger than all numbers; of equal ones the first comes first.
  double last = n.intAttr("largest", 1) != 0 ? -std::numeric_limits<double>::infinity()
                                             : std::numeric_limits<double>::quiet_NaN();
  auto known = n.tryInts(n.in(1));
  n.require(!known || (*known)[0] >= 0, "has k " + (known ? std::to_string((*known)[0]) : "") + "; expected 0 or more");
  if (known) size = std::clamp((*known)[0], kFewestRows, size);
  Values results = sortedFirst(n, padded(n, x.value, *x.counted, last), size, axis);
  Value asked = n.max(n.reshape(n.cast(n.in(1), n.i64()), {}), n.ints({0}, {}));
  Counted taken{axis, n.min(x.counted->count, asked)};
  outCounted(n, results[0], taken, 0);
  outCounted(n, results[1], taken, 1);
}

void topK(Node &n) {
  Value x = n.in(0);
  int64_t axis = n.axis(n.intAttr("axis", -1), Emit::rank(x));
  if (n.items[0].counted && n.items[0].counted->axis == axis) return topKOfCounted(n, axis);
  int64_t k = n.opset >= 10 ? n.knownInt(1) : n.intAttr("k");
  n.require(k >= 0 && k <= Emit::shape(x)[axis],
            "takes the top " + std::to_string(k) + " of " + std::to_string(Emit::shape(x)[axis]) + " elements");
  Values results = sortedFirst(n, x, k, axis);
  n.out(results[0], 0);
  n.out(results[1], 1);
}

} // namespace

void addReductions(Table &t) {
  using ir::ReduceKind;
  t.add("ReduceSum", {1, 11, 13}, plain<ReduceKind::sum, 13>);
  t.add("ReduceProd", {1, 11, 13, 18}, plain<ReduceKind::prod, 18>);
  t.add("ReduceMax", {1, 11, 12, 13, 18, 20}, plain<ReduceKind::max, 18>);
  t.add("ReduceMin", {1, 11, 12, 13, 18, 20}, plain<ReduceKind::min, 18>);
  t.add("ReduceMean", {1, 11, 13, 18}, mean);
  t.add("ReduceL1", {1, 11, 13, 18}, l1);
  t.add("ReduceL2", {1, 11, 13, 18}, l2);
  t.add("ReduceSumSquare", {1, 11, 13, 18}, sumSquare);
  t.add("ReduceLogSum", {1, 11, 13, 18, 28}, logSum);
  t.add("ReduceLogSumExp", {1, 11, 13, 18, 28}, logSumExp);
  t.add("ArgMax", {1, 11, 12, 13}, argReduce<ReduceKind::max>);
  t.add("ArgMin", {1, 11, 12, 13}, argReduce<ReduceKind::min>);
  t.add("CumSum", {11, 14}, cumulative<ReduceKind::sum>);
  t.add("CumProd", {26}, cumulative<ReduceKind::prod>);
  t.add("TopK", {1, 10, 11, 24}, topK);
}

} // namespace sprig::onnximport
