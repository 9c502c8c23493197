// Constants, shapes, slices, padding: where the batch may show in numbers.
#include "lib/Export/ONNX/Exporter.h"
#include <algorithm>
#include <limits>

namespace sprig::onnxexport {

namespace {

bool constant(Site &n) {
  const TensorType &type = n.resultType();
  const std::vector<char> &bytes = *n.node.constant;
  size_t element = size_t(size(type.dtype));
  bool isOne = bytes.size() == element;
  Dims dims = n.resultDims();
  bool varies = std::any_of(dims.begin(), dims.end(), [](const Dim &dim) { return !dim.isFixed(); });
  if (!isOne && !varies) return n.out(n.constant(type, bytes.data()));
  // One element that is repeated; a few are written out.
  constexpr int64_t kFew = 64;
  if (!varies && type.elements() <= kFew) {
    std::vector<char> all;
    for (int64_t i = 0; i < type.elements(); ++i)
      all.insert(all.end(), bytes.begin(), bytes.begin() + int64_t(element));
    return n.out(n.constant(type, all.data()));
  }
  return n.out(n.expand(n.constant({type.dtype, {}}, bytes.data()), dims));
}

bool iota(Site &n) {
  size_t axis = size_t(n.integer("axis"));
  DType type = n.resultType().dtype;
  Dims dims = n.resultDims(), row = fixed(Ints(dims.size(), 1));
  row[axis] = dims[axis];
  Ref numbers;
  if (dims[axis].isFixed()) {
    Ints all(size_t(dims[axis].first), 0);
    for (size_t i = 0; i < all.size(); ++i) all[i] = int64_t(i);
    numbers = n.ints(all);
  } else {
    Ref end = n.squeeze(n.shape({dims[axis]}), 0);
    numbers = n.emit("Range", {n.integer64(0), end, n.integer64(1)});
  }
  numbers = n.cast(numbers, type);
  if (dims.size() > 1) numbers = n.reshape(numbers, row);
  if (!(row == dims)) numbers = n.expand(numbers, dims);
  return n.out(numbers);
}

bool reshape(Site &n) { return n.out(n.reshape(n.in(0), n.resultDims())); }
bool broadcast(Site &n) { return n.out(n.expand(n.in(0), n.resultDims())); }
bool transpose(Site &n) { return n.out(n.transpose(n.in(0), n.integers("permutation"))); }

bool concat(Site &n) { return n.out(n.emit("Concat", n.all(), {attr("axis", n.integer("axis"))})); }

/// Axes that are taken whole are left out; what starts at the end is counted from there, so that neither depends on
/// the batch.
bool slice(Site &n) {
  Dims dims = n.dims(0), starts, ends;
  Ints axes, steps, first = n.integers("starts"), second = n.otherIntegers("starts");
  Ints sizes = n.integers("sizes"), otherSizes = n.otherIntegers("sizes"), by = n.integers("steps");
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    Dim start{first[axis], second[axis]}, count{sizes[axis], otherSizes[axis]}, size = dims[axis];
    if (by[axis] == 1 && start == Dim{0, 0} && count == size) continue;
    axes.push_back(int64_t(axis));
    steps.push_back(by[axis]);
    auto end = [&](int64_t from, int64_t number) {
      int64_t behind = number ? from + (number - 1) * by[axis] + (by[axis] > 0 ? 1 : -1) : from;
      // In front of the first element; -1 would be the last.
      return behind < 0 && number ? std::numeric_limits<int64_t>::min() : behind;
    };
    Dim stop{end(start.first, count.first), end(start.second, count.second)};
    if (!start.isFixed() && start.first == size.first - 1 && start.second == size.second - 1) start = {-1, -1};
    constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
    if (!size.isFixed() && by[axis] > 0 && stop == size) stop = {kEnd, kEnd};
    starts.push_back(start);
    ends.push_back(stop);
  }
  if (axes.empty()) return n.out(n.emit("Identity", {n.in(0)}));
  return n.out(n.emit("Slice", {n.in(0), n.shape(starts), n.shape(ends), n.ints(axes), n.ints(steps)}));
}

bool pad(Site &n) {
  std::string mode = n.word("mode");
  if (mode == "wrap" && n.opset() < 19)
    n.refuse("wraps around; ONNX pads so from opset 19 on, and the model is to have opset " +
             std::to_string(n.opset()));
  Ints pads = n.integers("low"), high = n.integers("high");
  pads.insert(pads.end(), high.begin(), high.end());
  Refs operands{n.in(0), n.ints(pads)};
  if (mode == "constant") operands.push_back(n.rank(1) ? n.reshape(n.in(1), {}) : n.in(1));
  return n.out(n.emit("Pad", operands, {attr("mode", mode)}));
}

/// The first operand itself.
bool same(Site &n) { return n.out(n.in(0)); }

} // namespace

void addShapes(Table &t) {
  t.add("nn.constant", constant);
  t.add("nn.iota", iota);
  t.add("nn.reshape", reshape);
  t.add("nn.broadcast", broadcast);
  t.add("nn.transpose", transpose);
  t.add("nn.concat", concat);
  t.add("nn.slice", slice);
  t.add("nn.pad", pad);
  // Their checks have no form in ONNX; what picks by an index checks it, too.
  t.add("nn.class_index", same);
  t.add("nn.in_range", same);
  t.add("nn.stop_gradient", same);
  t.add("nn.after", same);
}

} // namespace sprig::onnxexport
