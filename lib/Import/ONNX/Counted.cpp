#include "lib/Import/ONNX/Counted.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNReduction.h"
#include "lib/Import/ONNX/Importer.h"

namespace sprig::onnximport {

namespace {
namespace counted { // the rules have the names of their operators

using MaybeCounted = std::optional<Counted>;

/// What the outputs of an operator have of the dimension that an input has; nothing where it does not pass it on.
using Rule = MaybeCounted (*)(Node &n, unsigned input);

const MaybeCounted &at(const Node &n, unsigned input) { return n.items[input].counted; }
IntsRef shapeOf(const Node &n, unsigned input) { return Emit::shape(n.items[input].value); }
int64_t outputRank(const Node &n) { return Emit::rank(n.outputs[0].value); }

bool isSame(const Counted &a, const Counted &b) { return a.axis == b.axis && a.count == b.count; }

/// The inputs broadcast: each has the dimension, or nothing in its place.
MaybeCounted elementwise(Node &n, unsigned) {
  MaybeCounted result;
  for (unsigned i = 0; i < n.inputs(); ++i)
    if (n.has(i) && at(n, i)) {
      Counted here{at(n, i)->axis + outputRank(n) - int64_t(shapeOf(n, i).size()), at(n, i)->count};
      if (result && !isSame(*result, here)) return {};
      result = here;
    }
  for (unsigned i = 0; i < n.inputs(); ++i) {
    if (!n.has(i) || at(n, i)) continue;
    int64_t axis = result->axis - outputRank(n) + int64_t(shapeOf(n, i).size());
    if (axis >= 0 && shapeOf(n, i)[axis] != 1) return {};
  }
  return result;
}

MaybeCounted gather(Node &n, unsigned) {
  int64_t rank = int64_t(shapeOf(n, 0).size()), axis = n.axis(n.intAttr("axis", 0), rank);
  if (at(n, 0) && at(n, 1)) return {};
  if (at(n, 1)) return Counted{axis + at(n, 1)->axis, at(n, 1)->count};
  if (at(n, 0)->axis == axis) return {};
  return Counted{at(n, 0)->axis + (at(n, 0)->axis > axis ? int64_t(shapeOf(n, 1).size()) - 1 : 0), at(n, 0)->count};
}
MaybeCounted gatherElements(Node &n, unsigned) {
  int64_t axis = n.axis(n.intAttr("axis", 0), int64_t(shapeOf(n, 0).size()));
  if (!at(n, 0)) return at(n, 1)->axis == axis ? at(n, 1) : MaybeCounted();
  return at(n, 1) && isSame(*at(n, 0), *at(n, 1)) && at(n, 0)->axis != axis ? at(n, 0) : MaybeCounted();
}
MaybeCounted gatherNd(Node &n, unsigned) {
  if (at(n, 0)) return {};
  int64_t axis = at(n, 1)->axis;
  return axis >= n.intAttr("batch_dims", 0) && axis < int64_t(shapeOf(n, 1).size()) - 1 ? at(n, 1) : MaybeCounted();
}

MaybeCounted transpose(Node &n, unsigned) {
  int64_t rank = outputRank(n), axis = at(n, 0)->axis;
  auto given = n.intsAttr("perm");
  if (!given || given->empty()) return Counted{rank - 1 - axis, at(n, 0)->count};
  for (int64_t i = 0; i < rank; ++i)
    if (n.axis((*given)[i], rank) == axis) return Counted{i, at(n, 0)->count};
  return {};
}

/// The type is that of the second, the shape that of the first.
MaybeCounted castLike(Node &n, unsigned) { return at(n, 1) ? MaybeCounted() : at(n, 0); }

/// Whether the dimension of a result has its size by what it is in the input, not by a number that only fits the most.
bool isSizeGiven(Node &n, size_t dimension) {
  std::optional<Ints> target = n.opset >= 5 ? n.tryInts(n.in(1)) : n.intsAttr("shape");
  if (!target || dimension >= target->size()) return true;
  return (*target)[dimension] > 0;
}

/// The dimension stays where as many elements lie in front of it.
MaybeCounted reshape(Node &n, unsigned input) {
  if (input != 0) return {};
  const std::string &op = n.proto.op_type();
  // Which dimensions go is by their sizes, and this one may be 1.
  if (op == "Squeeze" && !n.has(1) && !n.intsAttr("axes")) return {};
  IntsRef from = shapeOf(n, 0), to = Emit::shape(n.outputs[0].value);
  int64_t before = 1, passed = 1;
  for (int64_t size : from.take_front(size_t(at(n, 0)->axis))) before *= size;
  for (auto [i, size] : llvm::enumerate(to)) {
    if (passed == before && size == from[at(n, 0)->axis])
      return op == "Reshape" && isSizeGiven(n, i) ? MaybeCounted() : Counted{int64_t(i), at(n, 0)->count};
    passed *= size;
  }
  return {};
}

/// Along other axes; the first elements along this one, too.
MaybeCounted slice(Node &n, unsigned input) {
  if (input != 0) return {};
  bool inputs = n.opset >= 10;
  Ints starts = inputs ? n.knownInts(1) : n.intsAttr("starts").value_or(Ints());
  Ints ends = inputs ? n.knownInts(2) : n.intsAttr("ends").value_or(Ints()), axes;
  for (size_t i = 0; i < starts.size(); ++i) axes.push_back(int64_t(i));
  if (inputs && n.has(3)) axes = n.knownInts(3);
  if (!inputs) axes = n.intsAttr("axes").value_or(axes);
  int64_t rank = outputRank(n), axis = at(n, 0)->axis;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (n.axis(axes[i], rank) != axis) continue;
    if (starts[i] != 0 || ends[i] < kFewestRows || (inputs && n.has(4) && n.knownInts(4)[i] != 1)) return {};
    return Counted{axis, n.min(at(n, 0)->count, n.ints({ends[i]}, {}))};
  }
  return at(n, 0);
}

MaybeCounted alongAnother(Node &n, unsigned input, int64_t otherwise) {
  if (input != 0) return {};
  return n.axis(n.intAttr("axis", otherwise), int64_t(shapeOf(n, 0).size())) != at(n, 0)->axis ? at(n, 0)
                                                                                               : MaybeCounted();
}
MaybeCounted split(Node &n, unsigned input) { return alongAnother(n, input, 0); }
MaybeCounted softmax(Node &n, unsigned input) { return n.opset >= 13 ? alongAnother(n, input, -1) : MaybeCounted(); }
/// Where the dimension is the one that is sorted, the row says what of it counts.
MaybeCounted topK(Node &n, unsigned input) { return alongAnother(n, input, -1); }

MaybeCounted concat(Node &n, unsigned) {
  MaybeCounted first = at(n, 0);
  for (unsigned i = 0; i < n.inputs(); ++i)
    if (!first || !at(n, i) || !isSame(*first, *at(n, i))) return {};
  return n.axis(n.intAttr("axis", 1), outputRank(n)) != first->axis ? first : MaybeCounted();
}

MaybeCounted without(const Node &n, IntsRef axes) {
  int64_t axis = at(n, 0)->axis, below = 0;
  for (int64_t reduced : axes) {
    if (reduced == axis) return {};
    below += reduced < axis;
  }
  return Counted{n.intAttr("keepdims", 1) != 0 ? axis : axis - below, at(n, 0)->count};
}
MaybeCounted reduce(Node &n, unsigned input) {
  if (input != 0) return {};
  std::optional<Ints> axes = n.intsAttr("axes");
  if (!axes && n.has(1)) axes = n.knownInts(1);
  if (!axes || axes->empty()) return {};
  return without(n, n.axes(*axes, int64_t(shapeOf(n, 0).size())));
}
MaybeCounted argReduce(Node &n, unsigned) {
  return without(n, {n.axis(n.intAttr("axis", 0), int64_t(shapeOf(n, 0).size()))});
}

/// Rows of the left matrix are rows of the product.
MaybeCounted matmul(Node &n, unsigned input) {
  int64_t rank = int64_t(shapeOf(n, 0).size());
  if (input != 0 || at(n, 1) || at(n, 0)->axis != rank - 2 || shapeOf(n, 1).size() != 2) return {};
  return at(n, 0);
}

const llvm::StringMap<Rule> &rules() {
  static const llvm::StringMap<Rule> table = [] {
    llvm::StringMap<Rule> table;
    auto add = [&](std::initializer_list<const char *> ops, Rule rule) {
      for (const char *op : ops) table[op] = rule;
    };
    add({"Abs",      "Add",        "And",         "Cast",  "Ceil",    "Clip",
         "Div",      "Equal",      "Exp",         "Floor", "Greater", "GreaterOrEqual",
         "Identity", "Less",       "LessOrEqual", "Log",   "Max",     "Mean",
         "Min",      "Mod",        "Mul",         "Neg",   "Not",     "Or",
         "Pow",      "Reciprocal", "Relu",        "Round", "Sigmoid", "Sign",
         "Sqrt",     "Sub",        "Sum",         "Tanh",  "Where",   "Xor"},
        elementwise);
    add({"CastLike"}, castLike);
    add({"Gather"}, gather);
    add({"GatherElements"}, gatherElements);
    add({"GatherND"}, gatherNd);
    add({"Transpose"}, transpose);
    add({"Flatten", "Reshape", "Squeeze", "Unsqueeze"}, reshape);
    add({"Slice"}, slice);
    add({"Split"}, split);
    add({"Softmax", "LogSoftmax"}, softmax);
    add({"TopK"}, topK);
    add({"Concat"}, concat);
    add({"ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"}, reduce);
    add({"ArgMax", "ArgMin"}, argReduce);
    add({"MatMul"}, matmul);
    return table;
  }();
  return table;
}

} // namespace counted
} // namespace

void outCounted(Node &n, Value v, Counted counted, unsigned i) {
  if (!n.wants(i)) return;
  n.out(v, i);
  n.outputs[i].counted = counted;
}

void requireCount(const Node &n, unsigned input) {
  const Item &item = n.items[input];
  n.importer.requestValues(n, item.counted->count,
                           "the size of input " + std::to_string(input) + " ('" + n.proto.input(int(input)) +
                               "') along axis " + std::to_string(item.counted->axis) + ", up to " +
                               std::to_string(Emit::shape(item.value)[item.counted->axis]) + " by the data, which " +
                               n.proto.op_type() + " does not pass on,");
}

void passCounted(Node &n) {
  const std::string &op = n.proto.op_type();
  bool isLoop = op == "Loop" || op == "Scan"; // what they carry has one size
  if (op == "Shape") return;
  if (!isLoop && llvm::any_of(n.outputs, [](const Item &output) { return output.counted.has_value(); })) return;
  for (unsigned i = 0; i < n.inputs(); ++i) {
    if (!n.items[i].counted) continue;
    const llvm::StringMap<counted::Rule> &rules = counted::rules();
    auto rule = normalizeDomain(n.proto.domain()).empty() ? rules.find(op) : rules.end();
    std::optional<Counted> result;
    if (rule != rules.end()) result = rule->second(n, i);
    if (!result) requireCount(n, i);
    for (Item &output : n.outputs)
      if (output.value) output.counted = result;
    return;
  }
}

Value padded(Emit &n, Value v, const Counted &counted, double padding) {
  Ints shape(size_t(Emit::rank(v)), 1);
  shape[counted.axis] = Emit::shape(v)[counted.axis];
  Value counts = n.compare(ir::ComparePredicate::lt, n.iota(shape, n.i64(), counted.axis), counted.count);
  return n.select(counts, v, n.scalar(padding, Emit::elem(v)));
}

Value sumBefore(Emit &n, Value v) {
  auto kind = ir::ReduceKindAttr::get(n.context(), ir::ReduceKind::sum);
  return n.op<ir::CumulativeOp>({v}, {n.attr("kind", kind), n.attr("axis", 0), n.unit("exclusive")});
}

Value elementsAt(Emit &n, Value places, int64_t bound) {
  Value all = n.splat(0, {bound + 1}, n.i64()), numbers = n.iota(Emit::shape(places), n.i64(), 0);
  return n.sliceAxis(n.scatterElements(ir::ScatterKind::none, all, places, numbers, 0), 0, 0, bound);
}

} // namespace sprig::onnximport
