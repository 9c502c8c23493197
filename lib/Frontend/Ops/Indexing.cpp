// Parts of a tensor by positions and ranges, and putting others in their place.
#include "lib/Frontend/Ops/Indexing.h"
#include <algorithm>

namespace sprig {

using frontend::Emitter;

namespace frontend {

Range Range::of(const Emitter &r, const Slice &slice, int64_t size) {
  if (slice.step == 0) r.fail("has a step of 0");
  bool forwards = slice.step > 0;
  // As Python: from the end where negative, then cut to what is there.
  auto bounded = [&](int64_t position, int64_t low, int64_t high) {
    if (position < 0) position += size;
    return std::clamp(position, low, high);
  };
  int64_t low = forwards ? 0 : -1, high = forwards ? size : size - 1;
  int64_t begin = slice.begin == Slice::kOpen ? (forwards ? 0 : high) : bounded(slice.begin, low, high);
  int64_t end = slice.end == Slice::kOpen ? (forwards ? size : -1) : bounded(slice.end, low, high);
  int64_t span = forwards ? end - begin : begin - end;
  // The magnitude of the most negative step has no int64_t.
  uint64_t stride = forwards ? uint64_t(slice.step) : -uint64_t(slice.step);
  int64_t count = span > 0 ? int64_t((uint64_t(span) - 1) / stride) + 1 : 0;
  // One element needs no step, and a step as large as the axis might overflow further on.
  return {count ? begin : 0, count, count > 1 ? slice.step : 1};
}

int64_t positionOf(const Emitter &r, int64_t position, const TensorType &type, int axis) {
  int64_t size = type.shape[axis], result = position < 0 ? position + size : position;
  if (result < 0 || result >= size)
    r.fail("picks element " + std::to_string(position) + " of " + std::to_string(size) + " along axis " +
           std::to_string(axis) + " of " + describe(type));
  return result;
}

Selection Selection::of(const Emitter &r, const TensorType &type, std::span<const Index> each) {
  Selection s;
  int rank = type.shape.rank(), used = 0, rests = 0;
  for (const Index &one : each) {
    used += one.kind != Index::Kind::newAxis && one.kind != Index::Kind::rest;
    rests += one.kind == Index::Kind::rest;
  }
  if (used > rank)
    r.fail("picks along " + std::to_string(used) + " axes of " + describe(type) + ", which has " +
           std::to_string(rank));
  if (rests > 1) r.fail("has `rest` more than once");
  auto keep = [&](const Range &range) {
    s.starts.push_back(range.start);
    s.sizes.push_back(range.count);
    s.steps.push_back(range.step);
  };
  auto keepAll = [&] {
    int64_t size = type.shape[s.starts.rank()];
    s.shape.push_back(size);
    keep({0, size, 1});
  };
  for (const Index &one : each) {
    int axis = s.starts.rank();
    switch (one.kind) {
    case Index::Kind::position: keep({positionOf(r, one.position, type, axis), 1, 1}); break;
    case Index::Kind::slice: {
      Range range = Range::of(r, one.slice, type.shape[axis]);
      s.shape.push_back(range.count);
      keep(range);
      break;
    }
    case Index::Kind::newAxis: s.shape.push_back(1); break;
    case Index::Kind::rest:
      for (int i = used; i < rank; ++i) keepAll();
      break;
    case Index::Kind::indices:
      if (s.indices.defined()) r.fail("picks by indices along two axes; it can along one");
      s.indices = r.indicesOf({one.indices, r.at});
      s.indexAxis = s.shape.rank();
      keepAll();
      break;
    }
  }
  while (s.starts.rank() < rank) keepAll();
  return s;
}

Tensor Selection::apply(const Emitter &r, const Tensor &x) const {
  const Shape &own = x.type(r.at).shape;
  bool isWhole = true;
  for (int i = 0; i < own.rank(); ++i) isWhole &= starts[i] == 0 && sizes[i] == own[i] && steps[i] == 1;
  Tensor part = r.reshape(isWhole ? x : r.slice(x, starts, sizes, steps), shape);
  return indices.defined() ? r.gather(part, indices, indexAxis) : part;
}

Tensor flatPositions(const Emitter &r, const Shape &shape) {
  Tensor position;
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    Tensor along = r.iota({DType::i64, shape}, i);
    if (stride != 1) along = r.mul(along, scalarInteger(stride, DType::i64, r.at));
    position = position.defined() ? r.add(along, position) : along;
    stride *= shape[i];
  }
  return position.defined() ? position : scalarInteger(0, DType::i64, r.at);
}

} // namespace frontend

namespace {
Tensor indexed(const Tensor &x, std::span<const Index> each, Source at) {
  Emitter r("index", at);
  const TensorType &type = r.typeOf(x);
  // A mask's elements could not be counted without waiting for it.
  for (const Index &one : each)
    if (one.kind == Index::Kind::indices && r.typeOf(one.indices, "indices").dtype == DType::boolean)
      r.fail(
          "picks by the mask " + describe(one.indices.type(at)) +
          ", whose result has no shape before it has run; use where(), maskedFill(), or maskedSelect() with a bound");
  return frontend::Selection::of(r, type, each).apply(r, x);
}
} // namespace

Tensor Tensor::operator[](const Index &index) const { return indexed(*this, std::span(&index, 1), index.at); }
Tensor Tensor::pick(const Index *each, size_t count) const { return indexed(*this, {each, count}, each[0].at); }

Tensor index(const Operand &x, std::initializer_list<Index> each) {
  Emitter r("index", x.at);
  return indexed(r.tensorOf(x), {each.begin(), each.size()}, x.at);
}

namespace {
/// The mask among `each`, lifted to all axes of x; undefined where there is none.
Tensor liftedMask(const Emitter &r, const TensorType &type, std::initializer_list<Index> each) {
  Tensor mask;
  int before = 0, after = 0; // axes that `all` picks
  bool hasRest = false, restIsBefore = false, isAlone = true;
  for (const Index &one : each) {
    bool isMask = one.kind == Index::Kind::indices && r.typeOf(one.indices, "indices").dtype == DType::boolean;
    const Slice &s = one.slice;
    bool isAll = one.kind == Index::Kind::slice && s.begin == Slice::kOpen && s.end == Slice::kOpen && s.step == 1;
    if (isMask) {
      isAlone &= !mask.defined();
      mask = one.indices;
    } else if (one.kind == Index::Kind::rest) {
      isAlone &= !hasRest;
      hasRest = true;
      restIsBefore = !mask.defined();
    } else {
      isAlone &= isAll;
      ++(mask.defined() ? after : before);
    }
  }
  if (!mask.defined()) return mask;
  const TensorType own = mask.type(r.at);
  if (!isAlone) r.fail("picks by the mask " + describe(own) + " and by more than `all` and `rest`; use where()");
  int rank = type.shape.rank(), count = own.shape.rank(), first = restIsBefore ? rank - count - after : before;
  bool fits = first >= before && first + count + after <= rank;
  for (int i = 0; fits && i < count; ++i) fits = own.shape[i] == type.shape[first + i];
  if (!fits)
    r.fail("picks by the mask " + describe(own) + " from axis " + std::to_string(first) + " of " + describe(type) +
           " on; sizes must be equal");
  Shape lifted = type.shape;
  for (int i = 0; i < rank; ++i)
    if (i < first || i >= first + count) lifted[i] = 1;
  return r.reshape(mask, lifted);
}

/// x with `value` wherever the mask is true. One value for all that it picks: a value with the picked elements' own
/// axis would need their number.
Tensor assignMasked(const Emitter &r, const Tensor &x, const Tensor &mask, const Operand &value) {
  const TensorType type = x.type(r.at);
  if (value.kind == Operand::Kind::tensor) r.typeOf(value.tensor, "value");
  Tensor part = r.converted(value, type.dtype);
  const TensorType own = part.type(r.at);
  int last = -1; // axis of x that the mask picks along
  for (int i = 0; i < type.shape.rank(); ++i)
    if (mask.type(r.at).shape[i] != 1) last = i;
  Shape common;
  bool fits = frontend::broadcastShapes(type.shape, own.shape, common) && common == type.shape;
  for (int i = 0; fits && i < own.shape.rank(); ++i) // axes count from the end
    fits = own.shape[i] == 1 || type.shape.rank() - own.shape.rank() + i > last;
  if (!fits)
    r.fail("puts " + describe(own) + " where the mask picks elements of " + describe(type) +
           "; it takes one value for all that is picked, maskedScatter() one for each");
  return r.select(mask, part, x);
}
} // namespace

Tensor assign(const Operand &x, std::initializer_list<Index> each, const Operand &value) {
  Emitter r("assign", x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType &type = operand.type(r.at);
  if (Tensor mask = liftedMask(r, type, each); mask.defined()) return assignMasked(r, operand, mask, value);
  auto selection = frontend::Selection::of(r, type, {each.begin(), each.size()});
  Shape target = selection.shape;
  if (selection.indices.defined()) target = selection.apply(r, operand).type(r.at).shape;
  if (value.kind == Operand::Kind::tensor) r.typeOf(value.tensor, "value");
  Tensor part = r.converted(value, type.dtype);
  Shape common;
  if (!frontend::broadcastShapes(target, part.type(r.at).shape, common) || common != target)
    r.fail("puts " + describe(part.type(r.at)) + " in the place of " + describe(TensorType{type.dtype, target}));
  part = r.broadcastTo(part, target);
  // Where each picked element lies: the same selection on the positions of all.
  Tensor positions = selection.apply(r, frontend::flatPositions(r, type.shape));
  Tensor flat = r.reshape(operand, {type.elements()});
  Tensor result = r.scatterElements("scatter_kind none", flat, r.reshape(positions, {target.elements()}),
                                    r.reshape(part, {target.elements()}), 0);
  return r.reshape(result, type.shape);
}

Tensor slice(const Operand &x, int axis, int64_t begin, int64_t end, int64_t step) {
  Emitter r("slice", x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType &type = operand.type(r.at);
  int along = r.axisOf(axis, type);
  auto range = frontend::Range::of(r, Slice(begin, end, step), type.shape[along]);
  return r.part(operand, along, range.start, range.count, range.step);
}

Tensor narrow(const Operand &x, int axis, int64_t start, int64_t length) {
  Emitter r("narrow", x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType &type = operand.type(r.at);
  int along = r.axisOf(axis, type);
  int64_t size = type.shape[along], first = start < 0 ? start + size : start;
  if (first < 0 || first > size || length < 0 || length > size - first)
    r.fail("takes " + std::to_string(length) + " elements from " + std::to_string(start) + " on of " +
           std::to_string(size) + " along axis " + std::to_string(along) + " of " + describe(type));
  return r.part(operand, along, first, length);
}

Tensor select(const Operand &x, int axis, int64_t position) {
  Emitter r("select", x.at);
  Tensor operand = r.tensorOf(x);
  int along = r.axisOf(axis, operand.type(r.at));
  int64_t at = frontend::positionOf(r, position, operand.type(r.at), along);
  return r.dropAxis(r.part(operand, along, at, 1), along);
}

Tensor flip(const Operand &x, const Ints &axes) {
  Emitter r("flip", x.at);
  Tensor operand = r.tensorOf(x);
  const Shape shape = operand.type(r.at).shape;
  Shape starts = shape, steps = shape;
  for (int i = 0; i < shape.rank(); ++i) {
    starts[i] = 0;
    steps[i] = 1;
  }
  if (axes.empty()) return operand;
  for (int64_t axis : r.axesOf(axes, operand.type(r.at))) {
    if (shape[int(axis)] < 2) continue;
    starts[int(axis)] = shape[int(axis)] - 1;
    steps[int(axis)] = -1;
  }
  return shape.elements() ? r.slice(operand, starts, shape, steps) : operand;
}

Tensor roll(const Operand &x, int64_t shift, int axis) {
  Emitter r("roll", x.at);
  Tensor operand = r.tensorOf(x);
  int along = r.axisOf(axis, operand.type(r.at));
  int64_t size = operand.type(r.at).shape[along];
  int64_t by = size ? (shift % size + size) % size : 0;
  if (by == 0) return operand;
  const Tensor parts[] = {r.part(operand, along, size - by, by), r.part(operand, along, 0, size - by)};
  return r.concat(parts, along);
}

} // namespace sprig
