// NonMaxSuppression: a loop that picks the best box of each class in all images at once, as long as there is one.
#include "dialects/NN/NNControl.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/NNYield.h"
#include "lib/Import/ONNX/Counted.h"
#include "lib/Import/ONNX/DataControl.h"
#include "lib/Import/ONNX/Table.h"
#include "runtime/base/Decimal.h"

namespace sprig::onnximport {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity(); ///< score of a box that is out

/// Sides of boxes and their areas, each [batch, 1, boxes] or [batch, classes, 1].
struct Boxes {
  Value top, left, bottom, right;

  static constexpr unsigned kSides = 4;
  Values sides() const { return {top, left, bottom, right}; }
  static Boxes of(llvm::ArrayRef<Value> sides) { return {sides[0], sides[1], sides[2], sides[3]}; }
};

Boxes readBoxes(Node &n, Value boxes, int64_t batch, int64_t count) {
  Values columns;
  for (int64_t i = 0; i < 4; ++i) columns.push_back(n.reshape(n.sliceAxis(boxes, 2, i, 1), {batch, 1, count}));
  if (n.intAttr("center_point_box", 0) != 0) { // x, y, width, height
    Value halfWidth = n.mul(columns[2], 0.5), halfHeight = n.mul(columns[3], 0.5);
    return {n.sub(columns[1], halfHeight), n.sub(columns[0], halfWidth), n.add(columns[1], halfHeight),
            n.add(columns[0], halfWidth)};
  }
  // Two corners, whichever.
  return {n.min(columns[0], columns[2]), n.min(columns[1], columns[3]), n.max(columns[0], columns[2]),
          n.max(columns[1], columns[3])};
}

Value areaOf(Emit &n, const Boxes &b) { return n.mul(n.sub(b.bottom, b.top), n.sub(b.right, b.left)); }

Value both(Emit &n, Value a, Value b) { return n.op<ir::AndOp>({a, b}); }

/// Whether the share of the union that two boxes have in common is above the threshold. Boxes without an area have
/// nothing in common with others.
Value overlaps(Emit &n, const Boxes &a, const Boxes &b, Value threshold) {
  Value zero = n.scalar(0, n.f32());
  auto isPositive = [&](Value v) { return n.compare(ir::ComparePredicate::gt, v, zero); };
  Value height = n.sub(n.min(a.bottom, b.bottom), n.max(a.top, b.top));
  Value width = n.sub(n.min(a.right, b.right), n.max(a.left, b.left));
  Value common = n.mul(n.max(height, zero), n.max(width, zero)), areaA = areaOf(n, a), areaB = areaOf(n, b);
  Value all = n.sub(n.add(areaA, areaB), common);
  Value isProper = both(n, both(n, isPositive(areaA), isPositive(areaB)), isPositive(all));
  return both(n, isProper, n.compare(ir::ComparePredicate::gt, n.div(common, all), threshold));
}

/// A step of all classes: the box with the best score is kept, what overlaps it is out. Carried: the step's number, the
/// scores, and of boxes that are kept in which step, -1 of others.
Values suppressionStep(Node &n, llvm::ArrayRef<Value> carried, const Boxes &boxes, Value threshold) {
  Value step = carried[0], scores = carried[1], kept = carried[2];
  int64_t batch = Emit::shape(scores)[0], count = Emit::shape(scores)[2];
  Value none = n.scalar(kNone, n.f32());
  Value at = n.argReduce(ir::ReduceKind::max, scores, 2, /*keepDims=*/true, /*lastIndex=*/false);
  Value best = n.reduce(ir::ReduceKind::max, scores, {2}, /*keepDims=*/true);
  Value isAny = n.compare(ir::ComparePredicate::gt, best, none);
  Value isBest = both(n, isAny, n.compare(ir::ComparePredicate::eq, n.iota({1, 1, count}, n.i64(), 2), at));
  Value flat = n.add(at, n.mul(n.iota({batch, 1, 1}, n.i64(), 0), n.ints({count}, {})));
  Values picked;
  for (Value side : boxes.sides()) picked.push_back(n.gather(n.reshape(side, {batch * count}), flat, 0));
  Value isOut = n.op<ir::OrOp>({isBest, both(n, isAny, overlaps(n, Boxes::of(picked), boxes, threshold))});
  return {n.add(step, n.ints({1}, {})), n.select(isOut, none, scores), n.select(isBest, step, kept)};
}

/// Of each box in which step it was kept, -1 where it was not.
Value keptSteps(Node &n, const Boxes &boxes, Value scores, Value threshold, int64_t steps) {
  mlir::OpBuilder &b = n.state.builder;
  Values start{n.ints({0}, {}), scores, n.splat(-1, Emit::shape(scores), n.i64())}, invariants = boxes.sides();
  invariants.push_back(threshold);
  Values operands(start);
  operands.append(invariants.begin(), invariants.end());
  auto yield = [&](BodyBlock &block, ValueRange values) {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&*block);
    ir::YieldOp::create(b, n.loc, values);
  };
  // Constants that a region makes move in front of it, and are what it captures.
  BodyBlock step(n, ValueRange(operands).getTypes()), test(n, ValueRange(operands).getTypes());
  Values next, goesOn;
  step.run([&] {
    Values arguments(step->getArguments());
    llvm::ArrayRef<Value> all(arguments);
    next =
        suppressionStep(n, all.take_front(start.size()), Boxes::of(all.slice(start.size(), Boxes::kSides)), all.back());
    return Items();
  });
  test.run([&] {
    Value best = n.reduce(ir::ReduceKind::max, test->getArgument(1), {0, 1, 2}, /*keepDims=*/false);
    goesOn = {n.compare(ir::ComparePredicate::gt, best, n.scalar(kNone, n.f32()))};
    return Items();
  });
  yield(step, next);
  yield(test, goesOn);
  Values captured;
  test.capture(captured);
  step.capture(captured);
  for (Value value : llvm::ArrayRef(captured).drop_front(test->getNumArguments() - operands.size()))
    test->addArgument(value.getType(), n.loc);
  invariants.append(captured);
  auto loop =
      ir::WhileOp::create(b, n.loc, ValueRange(start).getTypes(), start, invariants, b.getI64IntegerAttr(steps));
  test.become(loop.getCondition());
  step.become(loop.getBody());
  return loop.getResult(2);
}

/// Rows (image, class, box) of what was kept: by image, then class, then step.
void keptRows(Node &n, Value kept, int64_t steps) {
  int64_t batch = Emit::shape(kept)[0], classes = Emit::shape(kept)[1], count = Emit::shape(kept)[2];
  int64_t all = batch * classes * count, bound = std::max(batch * classes * steps, kFewestRows);
  Value isKept = n.compare(ir::ComparePredicate::ge, kept, n.ints({0}, {}));
  Value inClass = n.reduce(ir::ReduceKind::sum, n.cast(isKept, n.i64()), {2}, /*keepDims=*/false);
  Value before = sumBefore(n, n.reshape(inClass, {batch * classes}));
  Value place = n.add(n.reshape(before, {batch, classes, 1}), kept);
  place = n.reshape(n.select(isKept, place, n.ints({bound}, {})), {all});
  Value boxes = elementsAt(n, place, bound);
  auto number = [&](int64_t value) { return n.ints({value}, {}); };
  auto column = [&](Value v) { return n.reshape(v, {bound, 1}); };
  Value group = n.div(boxes, number(count));
  Value rows = n.concat({column(n.div(group, number(classes))), column(n.op<ir::ModOp>({group, number(classes)})),
                         column(n.op<ir::ModOp>({boxes, number(count)}))},
                        1);
  outCounted(n, rows, {0, n.reduce(ir::ReduceKind::sum, inClass, {0, 1}, /*keepDims=*/false)});
}

Value scalarOf(Node &n, unsigned input, double otherwise) {
  if (!n.has(input)) return n.scalar(otherwise, n.f32());
  n.require(Emit::count(n.in(input)) == 1,
            "has input " + std::to_string(input) + " " + typeText(n.in(input)) + "; expected a scalar");
  return n.reshape(n.in(input), {});
}

/// The share of a union from which on boxes are one; checked when it runs where it is not known before.
Value shareOf(Node &n) {
  Value share = scalarOf(n, 3, 0);
  if (ElementsAttr known = n.constantOf(share)) {
    double value = realsOf(known)[0];
    n.require(value >= 0 && value <= 1, "has iou_threshold " + decimal::shortest(value) + "; expected 0 to 1");
    return share;
  }
  return n.op<ir::InRangeOp>({share}, {n.real("low", 0), n.real("high", 1)});
}

/// Boxes behind those that count are none: their scores are above nothing.
Value scoresThatCount(Node &n, Value scores) {
  for (unsigned i = 0; i < n.inputs(); ++i) {
    if (!n.items[i].counted) continue;
    if (i > 1 || n.items[i].counted->axis != (i == 0 ? 1 : 2)) requireCount(n, i);
    scores = padded(n, scores, {2, n.items[i].counted->count}, kNone);
  }
  return scores;
}

void nonMaxSuppression(Node &n) {
  Value boxes = n.in(0), scores = n.in(1);
  IntsRef b = Emit::shape(boxes), s = Emit::shape(scores);
  n.require(b.size() == 3 && s.size() == 3 && b[2] == 4 && b[0] == s[0] && b[1] == s[2],
            "has boxes " + typeText(boxes) + " and scores " + typeText(scores) +
                "; expected images, boxes and 4, and images, classes and boxes");
  int64_t form = n.intAttr("center_point_box", 0);
  n.require(form == 0 || form == 1, "has center_point_box " + std::to_string(form) + "; known are 0 and 1");
  int64_t most = n.has(2) ? std::clamp<int64_t>(n.knownInt(2), 0, b[1]) : 0;
  if (most == 0 || s[0] == 0 || s[1] == 0) return n.out(n.ints({}, {0, 3}));
  int64_t rows = 0;
  if (__builtin_mul_overflow(s[0] * s[1], most, &rows)) n.tensor({s[0], s[1], most}, n.i64());
  n.tensor({rows, 3}, n.i64());
  // A score that is not a number is above no threshold; without one every box is in.
  Value lowest = n.scalar(kNone, n.f32()), threshold = scalarOf(n, 4, kNone);
  Value otherwise = n.has(4) ? lowest : n.scalar(-std::numeric_limits<float>::max(), n.f32());
  scores = n.select(n.compare(ir::ComparePredicate::gt, scores, threshold), scores, otherwise);
  scores = scoresThatCount(n, scores);
  Value kept = keptSteps(n, readBoxes(n, boxes, b[0], b[1]), scores, shareOf(n), most);
  keptRows(n, kept, most);
}

} // namespace

void addSuppression(Table &t) { t.add("NonMaxSuppression", {10, 11}, nonMaxSuppression); }

} // namespace sprig::onnximport
