// The softmax family. Before opset 13 they work on the input flattened to a matrix at an axis.
#include "lib/Import/ONNX/Table.h"
#include "dialects/NN/NNComposite.h"

namespace sprig::onnximport {

namespace {

/// Runs `body(x, axis)`, on the flattened matrix where the opset says so.
template <typename Body> void along(Node &n, const Body &body) {
  Value x = n.in(0);
  int64_t rank = Emit::rank(x);
  if (n.opset >= 13) return n.out(body(x, n.axis(n.intAttr("axis", -1), rank)));
  int64_t axis = n.intAttr("axis", 1);
  n.require(axis >= -rank && axis <= rank,
            "axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank));
  if (axis < 0) axis += rank;
  int64_t rows = 1;
  for (int64_t size : Emit::shape(x).take_front(size_t(axis))) rows *= size;
  int64_t columns = rows == 0 ? 0 : Emit::count(x) / rows;
  n.out(n.reshape(body(n.reshape(x, {rows, columns}), 1), Emit::shape(x)));
}

void softmax(Node &n) {
  along(n, [&](Value x, int64_t axis) { return n.op<ir::SoftmaxOp>({x}, {n.attr("axis", axis)}); });
}
void logSoftmax(Node &n) {
  along(n, [&](Value x, int64_t axis) { return n.op<ir::LogSoftmaxOp>({x}, {n.attr("axis", axis)}); });
}
void hardmax(Node &n) {
  along(n, [&](Value x, int64_t axis) {
    Value best = n.argReduce(ir::ReduceKind::max, x, axis, true, false);
    Ints shape(size_t(Emit::rank(x)), 1);
    shape[axis] = Emit::shape(x)[axis];
    Value hit = n.compare(ir::ComparePredicate::eq, n.iota(shape, n.i64(), axis), best);
    return n.cast(hit, Emit::elem(x));
  });
}

} // namespace

void addSoftmax(Table &t) {
  t.add("Softmax", {1, 11, 13}, softmax);
  t.add("LogSoftmax", {1, 11, 13}, logSoftmax);
  t.add("Hardmax", {1, 11, 13}, hardmax);
}

} // namespace sprig::onnximport
