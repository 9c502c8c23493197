// Operators that cut and pad.
#include "lib/Import/ONNX/CheckOperands.h"
#include "lib/Import/ONNX/Table.h"

namespace sprig::onnximport {

namespace {

void slice(Node &n) {
  Value x = n.in(0);
  int64_t rank = Emit::rank(x);
  bool inputs = n.opset >= 10;
  Ints starts = inputs ? n.knownInts(1) : n.intsAttr("starts").value_or(Ints());
  Ints ends = inputs ? n.knownInts(2) : n.intsAttr("ends").value_or(Ints());
  size_t count = starts.size();
  Ints axes, steps(count, 1);
  for (size_t i = 0; i < count; ++i) axes.push_back(int64_t(i));
  if (inputs && n.has(3)) axes = n.knownInts(3);
  if (!inputs) axes = n.intsAttr("axes").value_or(axes);
  if (inputs && n.has(4)) steps = n.knownInts(4);
  n.require(ends.size() == count && axes.size() == count && steps.size() == count,
            "has " + std::to_string(count) + " starts, " + std::to_string(ends.size()) + " ends, " +
                std::to_string(axes.size()) + " axes and " + std::to_string(steps.size()) + " steps");
  n.axes(axes, rank); // in range and unique
  Ints from(size_t(rank), 0), sizes(Emit::shape(x)), by(size_t(rank), 1);
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = n.axis(axes[i], rank), size = Emit::shape(x)[axis], step = steps[i];
    n.require(step != 0, "has step 0 along axis " + std::to_string(axis));
    auto wrap = [&](int64_t at) { return at < 0 ? at + size : at; }; // no overflow: at is negative where size is added
    int64_t start = wrap(starts[i]), end = wrap(ends[i]);
    if (step > 0) {
      start = std::clamp<int64_t>(start, 0, size);
      end = std::clamp<int64_t>(end, 0, size);
    } else {
      start = std::clamp<int64_t>(start, -1, size - 1);
      end = std::clamp<int64_t>(end, -1, size - 1);
    }
    // A step longer than the dimension takes one element, as any such step does.
    step = std::clamp<int64_t>(step, -std::max<int64_t>(size, 1), std::max<int64_t>(size, 1));
    int64_t taken = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
    sizes[axis] = std::max<int64_t>(taken, 0);
    from[axis] = sizes[axis] == 0 ? 0 : start;
    by[axis] = step;
  }
  n.out(n.slice(x, from, sizes, by));
}

void split(Node &n) {
  Value x = n.in(0);
  int64_t axis = n.axis(n.intAttr("axis", 0), Emit::rank(x)), size = Emit::shape(x)[axis];
  int64_t parts = n.proto.output_size();
  std::optional<Ints> given = n.opset < 13 ? n.intsAttr("split")
                              : n.has(1)   ? std::optional<Ints>(n.knownInts(1))
                                           : std::nullopt;
  n.require(!given || n.opset < 18 || !n.attribute("num_outputs"), "has both 'split' and 'num_outputs'");
  Ints sizes;
  if (given) {
    sizes = *given;
    n.require(int64_t(sizes.size()) == parts,
              "splits into " + std::to_string(sizes.size()) + " parts, but has " + std::to_string(parts) + " outputs");
  } else {
    if (n.opset >= 18) {
      int64_t wanted = n.intAttr("num_outputs", parts);
      n.require(wanted == parts,
                "has num_outputs " + std::to_string(wanted) + ", but " + std::to_string(parts) + " outputs");
    } else {
      n.require(size % parts == 0,
                "splits " + std::to_string(size) + " elements into " + std::to_string(parts) + " equal parts");
    }
    // Equal parts; the last one may be smaller.
    int64_t each = (size + parts - 1) / parts;
    for (int64_t i = 0; i < parts; ++i) sizes.push_back(std::clamp<int64_t>(size - i * each, 0, each));
  }
  int64_t total = 0;
  for (int64_t part : sizes) {
    n.require(part >= 0 && part <= size,
              "splits off " + std::to_string(part) + " of " + std::to_string(size) + " elements");
    total += part;
  }
  n.require(total == size,
            "splits " + std::to_string(size) + " elements into parts of " + std::to_string(total) + " together");
  int64_t start = 0;
  for (size_t i = 0; i < sizes.size(); start += sizes[i++]) n.out(n.sliceAxis(x, axis, start, sizes[i]), unsigned(i));
}

void pad(Node &n) {
  Value x = n.in(0);
  int64_t rank = Emit::rank(x);
  bool inputs = n.opset >= 11;
  Ints pads = inputs ? n.knownInts(1) : n.intsAttr("pads").value_or(Ints());
  Ints axes;
  for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  if (n.opset >= 18 && n.has(3)) axes = n.knownInts(3);
  n.axes(axes, rank); // in range and unique
  n.require(pads.size() == 2 * axes.size(), "has " + std::to_string(pads.size()) + " pads for " +
                                                std::to_string(axes.size()) + " axes of " + typeText(x));
  Ints low(size_t(rank), 0), high(size_t(rank), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = n.axis(axes[i], rank);
    low[axis] = pads[i];
    high[axis] = pads[i + axes.size()];
  }
  std::string modeName = n.stringAttr("mode", "constant");
  ir::PadMode mode = ir::PadMode::constant;
  if (modeName == "edge")
    mode = ir::PadMode::edge;
  else if (modeName == "reflect")
    mode = ir::PadMode::reflect;
  else if (modeName == "wrap" && n.opset >= 19)
    mode = ir::PadMode::wrap;
  else
    n.require(modeName == "constant",
              "has mode '" + modeName + "'; known are constant, edge, reflect and (since opset 19) wrap");
  Value value = n.scalar(inputs ? 0 : n.realAttr("value", 0), Emit::elem(x));
  if (inputs && n.has(2)) {
    n.require(Emit::count(n.in(2)) == 1, "pads with " + typeText(n.in(2)) + "; expected a scalar");
    value = n.reshape(n.in(2), {});
  }
  // Negative amounts cut.
  Ints starts, sizes, ones(size_t(rank), 1);
  for (int64_t i = 0; i < rank; ++i) {
    constexpr int64_t kLargest = int64_t(1) << 40;
    auto isPad = [](int64_t v) { return v > -kLargest && v < kLargest; };
    n.require(isPad(low[i]) && isPad(high[i]), "pads dimension " + std::to_string(i) + " by " + std::to_string(low[i]) +
                                                   " and " + std::to_string(high[i]));
    int64_t cutLow = std::max<int64_t>(-low[i], 0), cutHigh = std::max<int64_t>(-high[i], 0), size = Emit::shape(x)[i];
    n.require(cutLow + cutHigh <= size, "cuts " + std::to_string(cutLow) + " and " + std::to_string(cutHigh) +
                                            " off dimension " + std::to_string(i) + " of " + typeText(x));
    starts.push_back(cutLow);
    sizes.push_back(size - cutLow - cutHigh);
    low[i] = std::max<int64_t>(low[i], 0);
    high[i] = std::max<int64_t>(high[i], 0);
    n.require(mode == ir::PadMode::constant || sizes[i] > 0 || low[i] + high[i] == 0,
              "repeats elements of dimension " + std::to_string(i) + " of " + typeText(x) + ", which is empty");
  }
  Value kept = n.slice(x, starts, sizes, ones);
  Ints result(sizes);
  for (int64_t i = 0; i < rank; ++i) result[i] += low[i] + high[i];
  n.tensor(result, Emit::elem(x));
  n.out(n.pad(mode, kept, value, low, high));
}

void centerCropPad(Node &n) {
  Value x = n.in(0);
  int64_t rank = Emit::rank(x);
  Ints target = n.knownInts(1), axes;
  for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  if (auto given = n.intsAttr("axes")) axes = *given;
  n.axes(axes, rank); // in range and unique
  n.require(target.size() == axes.size(),
            "has " + std::to_string(target.size()) + " sizes for " + std::to_string(axes.size()) + " axes");
  Ints starts(size_t(rank), 0), kept(Emit::shape(x)), ones(size_t(rank), 1), low(size_t(rank), 0),
      high(size_t(rank), 0), result(Emit::shape(x));
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = n.axis(axes[i], rank), size = Emit::shape(x)[axis];
    n.require(target[i] >= 0, "has size " + std::to_string(target[i]) + " for axis " + std::to_string(axis));
    result[axis] = target[i];
    kept[axis] = std::min(size, target[i]);
    // An odd element goes to the end.
    starts[axis] = (size - kept[axis]) / 2;
    low[axis] = (target[i] - kept[axis]) / 2;
    high[axis] = target[i] - kept[axis] - low[axis];
  }
  n.tensor(result, Emit::elem(x));
  n.out(n.pad(ir::PadMode::constant, n.slice(x, starts, kept, ones), n.scalar(0, Emit::elem(x)), low, high));
}

void trilu(Node &n) {
  Value x = n.in(0);
  int64_t rank = Emit::rank(x);
  n.require(rank >= 2, "takes a triangle of " + typeText(x) + "; expected matrices");
  int64_t rows = Emit::shape(x)[rank - 2], columns = Emit::shape(x)[rank - 1];
  // Past the corners every diagonal means the same.
  int64_t k = n.has(1) ? std::clamp<int64_t>(n.knownInt(1), -rows - 1, columns + 1) : 0;
  bool upper = n.intAttr("upper", 1) != 0;
  Value row = n.iota({rows, 1}, n.i64(), 0), column = n.iota({1, columns}, n.i64(), 1);
  Value kept =
      n.compare(upper ? ir::ComparePredicate::ge : ir::ComparePredicate::le, column, n.add(row, n.ints({k}, {})));
  n.out(n.select(kept, x, n.scalar(0, Emit::elem(x))));
}

void reverseSequence(Node &n) {
  Value x = n.in(0), lengths = n.in(1);
  int64_t rank = Emit::rank(x);
  n.require(rank >= 2, "reverses sequences of " + typeText(x) + "; expected batch and time");
  int64_t batch = n.intAttr("batch_axis", 1), time = n.intAttr("time_axis", 0);
  n.require((batch == 0 && time == 1) || (batch == 1 && time == 0), "has batch_axis " + std::to_string(batch) +
                                                                        " and time_axis " + std::to_string(time) +
                                                                        "; expected 0 and 1 or 1 and 0");
  int64_t steps = Emit::shape(x)[time], rows = Emit::shape(x)[batch];
  n.require(Emit::shape(lengths) == IntsRef{rows},
            "has lengths " + typeText(lengths) + " for a batch of " + std::to_string(rows));
  checkLengths(n, lengths, steps);
  // Position t of a sequence of length l comes from l - 1 - t where that is in the sequence, else from t.
  Value at = n.iota(time == 0 ? IntsRef{steps, 1} : IntsRef{1, steps}, n.i64(), time == 0 ? 0 : 1);
  Value length = n.reshape(n.cast(lengths, n.i64()), time == 0 ? IntsRef{1, rows} : IntsRef{rows, 1});
  Value mirrored = n.sub(n.sub(length, n.ints({1}, {})), at);
  Value inside = n.compare(ir::ComparePredicate::lt, at, length);
  Value source = n.select(inside, mirrored, at);
  Ints shape(Emit::shape(source));
  shape.append(size_t(rank - 2), 1);
  n.out(n.gatherElements(x, n.broadcast(n.reshape(source, shape), Emit::shape(x)), time));
}

} // namespace

void addSlicing(Table &t) {
  t.add("Slice", {1, 10, 11, 13}, slice);
  t.add("Split", {2, 11, 13, 18}, split);
  t.add("Pad", {2, 11, 13, 18, 19, 21, 23, 24, 25}, pad);
  t.add("CenterCropPad", {18}, centerCropPad);
  t.add("Trilu", {14}, trilu);
  t.add("ReverseSequence", {10, 28}, reverseSequence);
}

} // namespace sprig::onnximport
