// Operators that pick and place elements by index.
#include "lib/Import/ONNX/Table.h"
#include "dialects/NN/NNElementwise.h"

namespace sprig::onnximport {

namespace {

/// Indices that are known when compiling are checked now, the others in the kernel.
void checkIndices(Node &n, Value indices, int64_t size, int64_t axis) {
  if (!Emit::isConstant(indices)) return;
  for (int64_t i : intsOf(n.constantOf(indices)))
    n.require(i >= -size && i < size, "has index " + std::to_string(i) + ", which is out of range for axis " +
                                          std::to_string(axis) + " of size " + std::to_string(size));
}

void gather(Node &n) {
  Value x = n.in(0), indices = n.in(1);
  int64_t axis = n.axis(n.intAttr("axis", 0), Emit::rank(x));
  checkIndices(n, indices, Emit::shape(x)[axis], axis);
  n.out(n.gather(x, indices, axis));
}
void gatherElements(Node &n) {
  Value x = n.in(0), indices = n.in(1);
  int64_t axis = n.axis(n.intAttr("axis", 0), Emit::rank(x));
  checkIndices(n, indices, Emit::shape(x)[axis], axis);
  n.out(n.gatherElements(x, indices, axis));
}
void gatherNd(Node &n) { n.out(n.gatherNd(n.in(0), n.in(1), n.intAttr("batch_dims", 0))); }

ir::ScatterKind scatterKind(Node &n) {
  std::string kind = n.stringAttr("reduction", "none");
  if (kind == "add") return ir::ScatterKind::add;
  if (kind == "mul") return ir::ScatterKind::mul;
  if (kind == "max") return ir::ScatterKind::max;
  if (kind == "min") return ir::ScatterKind::min;
  n.require(kind == "none", "has reduction '" + kind + "'; known are none, add, mul, max and min");
  return ir::ScatterKind::none;
}
void scatterElements(Node &n) {
  Value x = n.in(0), indices = n.in(1);
  int64_t axis = n.axis(n.intAttr("axis", 0), Emit::rank(x));
  checkIndices(n, indices, Emit::shape(x)[axis], axis);
  n.out(n.scatterElements(scatterKind(n), x, indices, n.in(2), axis));
}
void scatterNd(Node &n) { n.out(n.scatterNd(scatterKind(n), n.in(0), n.in(1), n.in(2))); }

void oneHot(Node &n) {
  Value indices = n.in(0), values = n.in(2);
  int64_t depth = n.knownInt(1), rank = Emit::rank(indices) + 1;
  n.require(depth >= 0, "has depth " + std::to_string(depth));
  n.require(Emit::count(values) == 2, "has values " + typeText(values) + "; expected [off, on]");
  int64_t axis = n.axis(n.intAttr("axis", -1), rank);
  // A negative index counts from the end; one out of range gives a row that is off.
  Value at = n.unsqueeze(n.cast(indices, n.i64()), axis);
  Value negative = n.compare(ir::ComparePredicate::lt, at, n.ints({0}, {}));
  at = n.select(negative, n.add(at, n.ints({depth}, {})), at);
  Ints shape(size_t(rank), 1);
  shape[axis] = depth;
  Value hit = n.compare(ir::ComparePredicate::eq, n.iota(shape, n.i64(), axis), at);
  Value flat = n.reshape(values, {2});
  n.out(n.select(hit, n.reshape(n.sliceAxis(flat, 0, 1, 1), {}), n.reshape(n.sliceAxis(flat, 0, 0, 1), {})));
}

void compress(Node &n) {
  Value x = n.in(0);
  Ints condition = n.knownInts(1), picked;
  for (size_t i = 0; i < condition.size(); ++i)
    if (condition[i] != 0) picked.push_back(int64_t(i));
  int64_t axis = 0;
  if (n.attribute("axis"))
    axis = n.axis(n.intAttr("axis", 0), Emit::rank(x));
  else
    x = n.reshape(x, {Emit::count(x)});
  n.require(int64_t(condition.size()) <= Emit::shape(x)[axis], "has " + std::to_string(condition.size()) +
                                                                   " conditions for " +
                                                                   std::to_string(Emit::shape(x)[axis]) + " elements");
  n.out(n.gather(x, n.ints(picked), axis));
}

void tensorScatter(Node &n) {
  Value cache = n.in(0), update = n.in(1);
  int64_t rank = Emit::rank(cache), axis = n.axis(n.intAttr("axis", -2), rank);
  n.require(axis > 0 && Emit::rank(update) == rank,
            "writes " + typeText(update) + " into " + typeText(cache) + " along axis " + std::to_string(axis));
  int64_t batch = Emit::shape(cache)[0], length = Emit::shape(cache)[axis], count = Emit::shape(update)[axis];
  std::string mode = n.stringAttr("mode", "linear");
  n.require(mode == "linear" || mode == "circular", "has mode '" + mode + "'; known are linear and circular");
  Ints along(size_t(rank), 1), perBatch(size_t(rank), 1);
  along[axis] = count;
  perBatch[0] = batch;
  Value at = n.iota(along, n.i64(), axis);
  if (n.has(2)) at = n.add(at, n.reshape(n.cast(n.in(2), n.i64()), perBatch));
  if (mode == "circular") at = n.op<ir::ModOp>({at, n.ints({length}, {})});
  n.out(n.scatterElements(ir::ScatterKind::none, cache, n.broadcast(at, Emit::shape(update)), update, axis));
}

} // namespace

void addGathering(Table &t) {
  t.add("Gather", {1, 11, 13}, gather);
  t.add("GatherElements", {11, 13}, gatherElements);
  t.add("GatherND", {11, 12, 13}, gatherNd);
  t.add("Scatter", {9}, scatterElements);
  t.add("ScatterElements", {11, 13, 16, 18}, scatterElements);
  t.add("ScatterND", {11, 13, 16, 18}, scatterNd);
  t.add("OneHot", {9, 11, 28}, oneHot);
  t.add("Compress", {9, 11, 28}, compress);
  t.add("TensorScatter", {24}, tensorScatter);
}

} // namespace sprig::onnximport
