// Operators that change the shape and keep or repeat the elements.
#include "lib/Import/ONNX/Importer.h"
#include "dialects/NN/NNRandom.h"
#include "lib/Import/ONNX/Random.h"
#include "lib/Import/ONNX/Table.h"
#include "lib/Import/ONNX/Tensor.h"
#include "runtime/base/Decimal.h"

namespace sprig::onnximport {

namespace {

void reshape(Node &n) {
  Value x = n.in(0);
  Ints target = n.opset >= 5 ? n.knownInts(1) : n.intsAttr("shape").value_or(Ints());
  Ints wanted = target;
  bool allowZero = n.intAttr("allowzero", 0) != 0;
  std::optional<size_t> free;
  int64_t known = 1;
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i] == 0 && !allowZero) {
      n.require(int64_t(i) < Emit::rank(x),
                "copies dimension " + std::to_string(i) + " of " + typeText(x) + ", which has none");
      target[i] = Emit::shape(x)[i];
    }
    if (target[i] == -1) {
      n.require(!free, "has two free dimensions in the shape " + shapeText(wanted));
      free = i;
      continue;
    }
    n.require(target[i] >= 0, "has the size " + std::to_string(target[i]) + " in the shape " + shapeText(wanted));
    n.require(!__builtin_mul_overflow(known, target[i], &known),
              "reshapes " + typeText(x) + " to " + shapeText(wanted) + ", which has too many elements");
  }
  if (free) {
    n.require(known > 0 && Emit::count(x) % known == 0,
              "reshapes " + typeText(x) + " (" + std::to_string(Emit::count(x)) + " elements) to " + shapeText(wanted) +
                  ", but " + std::to_string(known) + " does not divide them");
    target[*free] = Emit::count(x) / known;
  }
  n.out(n.reshape(x, target));
}

void flatten(Node &n) {
  Value x = n.in(0);
  int64_t rank = Emit::rank(x), axis = n.intAttr("axis", 1);
  n.require(axis >= -rank && axis <= rank,
            "axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank));
  if (axis < 0) axis += rank;
  int64_t rows = 1, columns = 1;
  for (int64_t i = 0; i < rank; ++i) (i < axis ? rows : columns) *= Emit::shape(x)[i];
  n.out(n.reshape(x, {rows, columns}));
}

/// Axes that are an attribute before opset 13 and an input from then on.
std::optional<Ints> readAxes(Node &n) {
  if (n.opset < 13) return n.intsAttr("axes");
  return n.has(1) ? std::optional<Ints>(n.knownInts(1)) : std::nullopt;
}

void squeeze(Node &n) {
  Value x = n.in(0);
  std::optional<Ints> given = readAxes(n);
  Ints axes = given ? n.axes(*given, Emit::rank(x)) : Ints();
  Ints shape;
  for (int64_t i = 0; i < Emit::rank(x); ++i) {
    int64_t size = Emit::shape(x)[i];
    bool named = llvm::is_contained(axes, i);
    n.require(!named || size == 1, "squeezes dimension " + std::to_string(i) + " of " + typeText(x) +
                                       ", whose size is " + std::to_string(size) + ", not 1");
    if (!(given ? named : size == 1)) shape.push_back(size);
  }
  n.out(n.reshape(x, shape));
}

void unsqueeze(Node &n) {
  Value x = n.in(0);
  std::optional<Ints> given = readAxes(n);
  if (!given) n.bad("needs 'axes'");
  n.require(given->size() <= 64, "adds " + std::to_string(given->size()) + " dimensions");
  int64_t rank = Emit::rank(x) + int64_t(given->size());
  Ints axes = n.axes(*given, rank), shape;
  size_t next = 0;
  for (int64_t i = 0; i < rank; ++i) shape.push_back(llvm::is_contained(axes, i) ? 1 : Emit::shape(x)[next++]);
  n.out(n.reshape(x, shape));
}

void transpose(Node &n) {
  Value x = n.in(0);
  int64_t rank = Emit::rank(x);
  Ints permutation;
  for (int64_t i = rank - 1; i >= 0; --i) permutation.push_back(i);
  if (auto given = n.intsAttr("perm"); given && !(given->empty() && rank > 0)) permutation = *given;
  n.require(int64_t(permutation.size()) == rank, "has perm of " + std::to_string(permutation.size()) + " axes for " +
                                                     typeText(x) + " of rank " + std::to_string(rank));
  std::vector<bool> seen(size_t(rank), false);
  for (int64_t &axis : permutation) {
    axis = n.axis(axis, rank, "perm entry");
    n.require(!seen[size_t(axis)], "has axis " + std::to_string(axis) + " twice in perm");
    seen[size_t(axis)] = true;
  }
  n.out(n.transpose(x, permutation));
}

void identity(Node &n) { n.outItem(n.item(0)); }

void expand(Node &n) {
  Value x = n.in(0);
  Ints target = n.knownInts(1);
  for (int64_t size : target) n.require(size >= 0, "expands to shape " + shapeText(target));
  auto together = ir::broadcastShapes(Emit::shape(x), target);
  n.require(mlir::succeeded(together), "cannot expand " + typeText(x) + " to " + shapeText(target));
  n.out(n.broadcast(x, *together));
}

void tile(Node &n) {
  Value x = n.in(0);
  Ints repeats = n.knownInts(1);
  int64_t rank = Emit::rank(x);
  n.require(int64_t(repeats.size()) == rank, "has " + std::to_string(repeats.size()) + " repeats for " + typeText(x) +
                                                 " of rank " + std::to_string(rank));
  // [d0, d1] as [1, d0, 1, d1], broadcast to [r0, d0, r1, d1], joined.
  Ints split, repeated, joined;
  for (int64_t i = 0; i < rank; ++i) {
    n.require(repeats[i] >= 0, "has " + std::to_string(repeats[i]) + " repeats of dimension " + std::to_string(i));
    int64_t size = 0;
    if (__builtin_mul_overflow(repeats[i], Emit::shape(x)[i], &size))
      n.unsupported("repeats dimension " + std::to_string(i) + " " + std::to_string(repeats[i]) + " times");
    joined.push_back(size);
    if (repeats[i] != 1) {
      split.push_back(1);
      repeated.push_back(repeats[i]);
    }
    split.push_back(Emit::shape(x)[i]);
    repeated.push_back(Emit::shape(x)[i]);
  }
  n.tensor(joined, Emit::elem(x));
  n.out(n.reshape(n.broadcast(n.reshape(x, split), repeated), joined));
}

void checkBlocks(Node &n, Value x, int64_t block) {
  n.require(Emit::rank(x) == 4, "rearranges " + typeText(x) + "; expected batch, channels, height and width");
  n.require(block >= 1 && block <= (int64_t(1) << 20), "has blocksize " + std::to_string(block));
}

void depthToSpace(Node &n) {
  Value x = n.in(0);
  int64_t b = n.intAttr("blocksize");
  checkBlocks(n, x, b);
  IntsRef s = Emit::shape(x);
  n.require(s[1] % (b * b) == 0, "has " + std::to_string(s[1]) + " channels, which " + std::to_string(b * b) +
                                     " (blocksize squared) does not divide");
  int64_t c = s[1] / (b * b);
  std::string mode = n.stringAttr("mode", "DCR");
  n.require(mode == "DCR" || mode == "CRD", "has mode '" + mode + "'; known are DCR and CRD");
  Ints result{s[0], c, s[2] * b, s[3] * b};
  Value v = mode == "DCR" ? n.transpose(n.reshape(x, {s[0], b, b, c, s[2], s[3]}), {0, 3, 4, 1, 5, 2})
                          : n.transpose(n.reshape(x, {s[0], c, b, b, s[2], s[3]}), {0, 1, 4, 2, 5, 3});
  n.out(n.reshape(v, result));
}

void spaceToDepth(Node &n) {
  Value x = n.in(0);
  int64_t b = n.intAttr("blocksize");
  checkBlocks(n, x, b);
  IntsRef s = Emit::shape(x);
  n.require(s[2] % b == 0 && s[3] % b == 0, "has images of " + std::to_string(s[2]) + "x" + std::to_string(s[3]) +
                                                ", which blocksize " + std::to_string(b) + " does not divide");
  Ints result{s[0], s[1] * b * b, s[2] / b, s[3] / b};
  std::string mode = n.stringAttr("mode", "DCR");
  n.require(mode == "DCR" || mode == "CRD", "has mode '" + mode + "'; known are DCR and CRD");
  Value blocks = n.reshape(x, {s[0], s[1], s[2] / b, b, s[3] / b, b});
  Value v = n.transpose(blocks, mode == "DCR" ? IntsRef{0, 3, 5, 1, 2, 4} : IntsRef{0, 1, 3, 5, 2, 4});
  n.out(n.reshape(v, result));
}

void concat(Node &n) {
  Values values = n.tensors();
  n.require(!values.empty(), "joins nothing");
  int64_t rank = Emit::rank(values[0]);
  n.require(rank > 0, "joins scalars");
  int64_t axis = n.axis(n.opset < 4 ? n.intAttr("axis", 1) : n.intAttr("axis"), rank);
  int64_t total = 0;
  for (Value v : values) {
    bool fits = Emit::rank(v) == rank;
    for (int64_t i = 0; i < rank && fits; ++i) fits = i == axis || Emit::shape(v)[i] == Emit::shape(values[0])[i];
    n.require(fits, "joins " + typeText(values[0]) + " and " + typeText(v) + " along axis " + std::to_string(axis));
    total += Emit::shape(v)[axis];
  }
  Ints shape(Emit::shape(values[0]));
  shape[axis] = total;
  n.tensor(shape, Emit::elem(values[0]));
  n.out(n.concat(values, axis));
}

void shapeOf(Node &n) {
  IntsRef shape = Emit::shape(n.in(0));
  int64_t rank = int64_t(shape.size());
  auto bound = [&](const char *name, int64_t otherwise) {
    int64_t at = n.intAttr(name, otherwise);
    if (at < 0) at += rank;
    return std::clamp<int64_t>(at, 0, rank);
  };
  int64_t start = bound("start", 0), end = bound("end", rank);
  const auto &counted = n.items[0].counted;
  if (!counted || counted->axis < start || counted->axis >= end)
    return n.out(n.ints(shape.slice(size_t(start), size_t(std::max<int64_t>(end - start, 0)))));
  Values sizes;
  for (int64_t i = start; i < end; ++i)
    sizes.push_back(i == counted->axis ? n.reshape(counted->count, {1}) : n.ints({shape[i]}));
  n.out(n.concat(sizes, 0));
}

void sizeOf(Node &n) { n.out(n.ints({Emit::count(n.in(0))}, {})); }

void dropout(Node &n) {
  Value x = n.in(0);
  double ratio = n.opset < 12 ? n.realAttr("ratio", 0.5) : n.has(1) ? n.knownReal(1) : 0.5;
  bool training = n.opset >= 12 && n.has(2) && n.knownInt(2) != 0; // before, the attribute is left out of such graphs
  n.require(!training || (ratio >= 0 && ratio < 1),
            "drops the share " + decimal::shortest(ratio) + "; expected 0 or more, and less than 1");
  EmitState &state = n.importer.emitState();
  if (ratio != 0 && (state.training || training)) {
    // A step of training gives key and counter itself, and tells dropouts apart by their streams.
    if (state.training) requireDrawOfSteps(n);
    Value key = n.scalar(0, n.i64()), counter = key;
    if (!state.training) {
      RandomWords words(n);
      key = words.key, counter = words.counter;
    }
    NamedAttribute stream = n.attr("stream", state.training ? state.dropouts++ : 0);
    auto dropped = [&](Value v) { return n.op<ir::DropoutOp>({v, key, counter}, {n.real("ratio", ratio), stream}); };
    n.out(dropped(x));
    // The same stream drops the same elements of ones, which no folding may know.
    if (n.wants(1)) {
      Value ones = n.cast(n.compare(ir::ComparePredicate::eq, x, x), Emit::elem(x));
      Value kept = n.compare(ir::ComparePredicate::ne, dropped(ones), n.scalar(0, Emit::elem(x)));
      n.out(n.opset < 10 ? n.cast(kept, Emit::elem(x)) : kept, 1);
    }
    return;
  }
  n.out(x);
  if (!n.wants(1)) return;
  // Before opset 10 the mask has the type of the data.
  n.out(n.splat(1, Emit::shape(x), n.opset < 10 ? Emit::elem(x) : n.i1()), 1);
}

} // namespace

void addShapes(Table &t) {
  t.add("Reshape", {5, 13, 14, 19, 21, 23, 24, 25}, reshape);
  t.add("Flatten", {1, 9, 11, 13, 21, 23, 24, 25}, flatten);
  t.add("Squeeze", {1, 11, 13, 21, 23, 24, 25}, squeeze);
  t.add("Unsqueeze", {1, 11, 13, 21, 23, 24, 25}, unsqueeze);
  t.add("Transpose", {1, 13, 21, 23, 24, 25}, transpose);
  t.add("Identity", {1, 13, 14, 16, 19, 21, 23, 24, 25}, identity);
  t.add("Expand", {8, 13}, expand);
  t.add("Tile", {6, 13}, tile);
  t.add("DepthToSpace", {1, 11, 13, 28}, depthToSpace);
  t.add("SpaceToDepth", {1, 13, 28}, spaceToDepth);
  t.add("Concat", {4, 11, 13}, concat);
  t.add("Shape", {1, 13, 15, 19, 21, 23, 24, 25}, shapeOf);
  t.add("Size", {1, 13, 19, 21, 23, 24, 25}, sizeOf);
  t.add("Dropout", {6, 7, 10, 12, 13, 22}, dropout);
  t.draws("Dropout", [](const onnx::NodeProto &node) { return node.input_size() > 2; }); // in training mode
}

} // namespace sprig::onnximport
