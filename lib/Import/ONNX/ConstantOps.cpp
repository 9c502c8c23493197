// Operators that make tensors from attributes, shapes and ranges.
#include "lib/Import/ONNX/Narrow.h"
#include "dialects/NN/NNReduction.h"
#include "lib/Import/ONNX/Counted.h"
#include "lib/Import/ONNX/Importer.h"
#include "lib/Import/ONNX/Table.h"
#include "lib/Import/ONNX/Tensor.h"
#include "runtime/base/Decimal.h"
#include <cmath>

namespace sprig::onnximport {

namespace {

void constant(Node &n) {
  n.require(n.proto.attribute_size() >= 1, "has no value");
  if (const auto *value = n.attribute("value"))
    return n.outItem(Item(n.constant(n.tensorAttr("value")), narrowType(value->t().data_type())));
  if (n.attribute("value_float")) return n.out(n.scalar(n.realAttr("value_float", 0), n.f32()));
  if (n.attribute("value_int")) return n.out(n.ints({n.intAttr("value_int", 0)}, {}));
  if (n.attribute("value_ints")) return n.out(n.ints(*n.intsAttr("value_ints")));
  if (n.attribute("value_floats")) {
    std::vector<double> values = n.realsAttr("value_floats");
    return n.out(n.constant({int64_t(values.size())}, n.f32(), values));
  }
  if (n.attribute("value_string") || n.attribute("value_strings"))
    n.unsupported("makes strings, which Sprig does not have");
  n.unsupported("makes a constant of a kind that Sprig does not have (attribute '" + n.proto.attribute(0).name() +
                "')");
}

void constantOfShape(Node &n) {
  Ints shape = n.knownInts(0);
  ElementsAttr value = n.tensorAttr("value");
  if (!value) return n.out(n.splat(0, shape, n.f32()));
  if (int dataType = n.attribute("value")->t().data_type(); narrowType(dataType))
    n.unsupported("fills with " + dataTypeName(dataType) + ", a type that Sprig stores and converts only");
  n.require(value.getNumElements() == 1,
            "fills with " + std::to_string(value.getNumElements()) + " values; expected 1");
  ir::ConstantView view(value);
  RankedTensorType type = n.tensor(shape, view.elementType());
  llvm::ArrayRef<char> bytes = type.getNumElements() == 0 ? llvm::ArrayRef<char>() : view.element(0);
  n.out(n.constant(ir::makeConstant(type, bytes)));
}

void range(Node &n) {
  Type type = Emit::elem(n.in(0));
  if (llvm::isa<mlir::FloatType>(type)) {
    double start = n.knownReal(0), limit = n.knownReal(1), delta = n.knownReal(2);
    n.require(delta != 0 && std::isfinite(start) && std::isfinite(limit) && std::isfinite(delta),
              "runs from " + decimal::shortest(start) + " to " + decimal::shortest(limit) + " by " +
                  decimal::shortest(delta));
    double count = std::max(std::ceil((limit - start) / delta), 0.0);
    if (count * 8 > double(n.state.limits.foldedBytes))
      n.unsupported("makes " + decimal::shortest(count) + " elements");
    std::vector<double> values;
    for (int64_t i = 0; i < int64_t(count); ++i) values.push_back(start + double(i) * delta);
    return n.out(n.constant({int64_t(values.size())}, type, values));
  }
  int64_t start = n.knownInt(0), limit = n.knownInt(1), delta = n.knownInt(2), span = 0;
  n.require(delta != 0, "runs from " + decimal::shortest(start) + " to " + decimal::shortest(limit) + " by 0");
  if (delta > 0 ? limit <= start : limit >= start) limit = start;
  bool over = __builtin_sub_overflow(limit, start, &span);
  uint64_t step = delta > 0 ? uint64_t(delta) : -uint64_t(delta), way = span > 0 ? uint64_t(span) : -uint64_t(span);
  uint64_t count = (span > 0) == (delta > 0) && span != 0 ? (way - 1) / step + 1 : 0;
  if (over || count > uint64_t(n.state.limits.foldedBytes) / 8)
    n.unsupported("makes the elements from " + decimal::shortest(start) + " to " + decimal::shortest(limit) + " by " +
                  decimal::shortest(delta) + ", past the limit");
  Ints values;
  for (uint64_t i = 0; i < count; ++i) values.push_back(start + int64_t(i) * delta);
  n.out(n.cast(n.ints(values), type));
}

void eyeLike(Node &n) {
  Value x = n.in(0);
  n.require(Emit::rank(x) == 2, "makes an identity like " + typeText(x) + "; expected a matrix");
  int64_t rows = Emit::shape(x)[0], columns = Emit::shape(x)[1];
  int64_t k = std::clamp<int64_t>(n.intAttr("k", 0), -rows - 1, columns + 1);
  Value row = n.iota({rows, 1}, n.i64(), 0), column = n.iota({1, columns}, n.i64(), 1);
  Value hit = n.compare(ir::ComparePredicate::eq, column, n.add(row, n.ints({k}, {})));
  n.out(n.cast(hit, n.typeAttr("dtype", Emit::elem(x))));
}

/// Of data: places of the elements in a row, those that are not zero first, and how many those are.
void nonZeroOfData(Node &n, Value x) {
  int64_t rank = Emit::rank(x), size = Emit::count(x), bound = std::max(size, kFewestRows);
  Value zero = n.scalar(0, Emit::elem(x)), one = n.scalar(1, n.i64());
  Value counts = n.cast(n.compare(ir::ComparePredicate::ne, n.reshape(x, {size}), zero), n.i64());
  Value place = n.select(n.compare(ir::ComparePredicate::eq, counts, one), sumBefore(n, counts), n.ints({bound}, {}));
  Value rest = elementsAt(n, place, bound);
  Values rows;
  rows.resize(size_t(rank));
  for (int64_t d = rank - 1; d >= 0; --d) {
    Value along = n.ints({Emit::shape(x)[d]}, {});
    rows[size_t(d)] = n.reshape(n.op<ir::ModOp>({rest, along}), {1, bound});
    rest = n.div(rest, along);
  }
  outCounted(n, n.concat(rows, 0), {1, n.reduce(ir::ReduceKind::sum, counts, {0}, /*keepDims=*/false)});
}

void nonZero(Node &n) {
  Value x = n.in(0);
  // What a parameter holds is known, and what initializers alone decide.
  if (!n.constantOf(x) && Emit::rank(x) > 0 && Emit::count(x) > 0) {
    n.importer.requestNumbers(x);
    // What does not count is zero.
    return nonZeroOfData(n, n.items[0].counted ? padded(n, x, *n.items[0].counted, 0) : x);
  }
  std::vector<double> values = realsOf(
      n.known(x, "input 0 ('" + n.proto.input(0) + "'), whose non-zero elements decide the shape of the result,"));
  int64_t rank = Emit::rank(x);
  std::vector<Ints> found(size_t(std::max<int64_t>(rank, 0)));
  int64_t count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    ++count;
    int64_t rest = int64_t(i);
    for (int64_t d = rank - 1; d >= 0; --d) {
      found[size_t(d)].push_back(rest % Emit::shape(x)[d]);
      rest /= Emit::shape(x)[d];
    }
  }
  Ints flat;
  for (const Ints &row : found) flat.append(row.begin(), row.end());
  n.out(n.ints(flat, {rank, count}));
}

} // namespace

void addConstants(Table &t) {
  t.add("Constant", {1, 9, 11, 12, 13, 19, 21, 23, 24, 25}, constant);
  t.add("ConstantOfShape", {9, 20, 21, 23, 24, 25}, constantOfShape);
  t.add("Range", {11, 27}, range);
  t.add("EyeLike", {9, 22}, eyeLike);
  t.add("NonZero", {9, 13}, nonZero);
}

} // namespace sprig::onnximport
