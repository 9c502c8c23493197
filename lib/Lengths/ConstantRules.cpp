// Constants that depend on a length: longer ones that begin as the shorter, integers that count from an end or stop at
// it, and numbers that follow from the length.
#include "dialects/NN/Constants.h"
#include "lib/Lengths/LengthRules.h"

using namespace mlir;

namespace sprig {

/// Whether all elements of the smaller of two constants are `same` as those where the larger begins, along all
/// dimensions. Both are given by their positions.
static bool allBegin(const ir::ConstantView &small, const ir::ConstantView &large,
                     llvm::function_ref<bool(int64_t, int64_t)> same) {
  ArrayRef<int64_t> inner = small.type().getShape(), outer = large.type().getShape();
  SmallVector<int64_t> at(inner.size(), 0);
  for (int64_t i = 0; i < small.size(); ++i) {
    int64_t place = 0;
    for (auto [index, size] : llvm::zip_equal(at, outer)) place = place * size + index;
    if (!same(i, place)) return false;
    for (size_t dim = at.size(); dim-- > 0;) {
      if (++at[dim] < inner[dim]) break;
      at[dim] = 0;
    }
  }
  return true;
}

static bool begins(const ir::ConstantView &small, const ir::ConstantView &large) {
  if (small.isSplat() && large.isSplat()) return small.bytes() == large.bytes();
  return allBegin(small, large, [&](int64_t i, int64_t place) { return small.element(i) == large.element(place); });
}

namespace {
/// Integers that follow an end: each is that of the longest length and `shift` (they count from the end), or that of
/// the longest but at most `top` (they stop there).
struct EndNumbers {
  std::optional<Length> shift, top;
};
} // namespace

static std::optional<EndNumbers> endNumbersOf(const Programs &programs, ArrayRef<ir::ConstantView> views) {
  Type element = views.front().elementType();
  if (!element.isInteger(64) && !element.isInteger(32)) return std::nullopt;
  const ir::ConstantView &longest = views.front();
  SmallVector<int64_t> shifts, tops;
  bool isShifted = true, isStopped = true;
  for (const ir::ConstantView &view : views) {
    if (view.size() == 0) return std::nullopt;
    shifts.push_back(view.asInt64(0) - longest.asInt64(0));
    tops.push_back(view.asInt64(0));
    for (int64_t i = 1; i < view.size(); ++i) tops.back() = std::max(tops.back(), view.asInt64(i));
    isShifted &= allBegin(view, longest, [&](int64_t i, int64_t place) {
      return view.asInt64(i) == longest.asInt64(place) + shifts.back();
    });
    isStopped &= allBegin(view, longest, [&](int64_t i, int64_t place) {
      return view.asInt64(i) == std::min(longest.asInt64(place), tops.back());
    });
  }
  EndNumbers found;
  if (isShifted) found.shift = programs.lengthOf(shifts);
  if (isStopped) found.top = programs.lengthOf(tops);
  return found.shift || found.top ? std::optional(found) : std::nullopt;
}

namespace {
/// The numbers of a constant, as what they are of the length.
struct Numbers {
  SmallVector<std::pair<Length, int64_t>> elements; ///< a length, and how many times it
  bool isReciprocal = false;
};
} // namespace

static std::optional<Numbers> numbersOf(const Programs &programs, ArrayRef<ir::ConstantView> views) {
  Type element = views.front().elementType();
  bool isWhole = element.isInteger(64) || element.isInteger(32), isReal = element.isF32() || element.isF64();
  if (!isWhole && !isReal) return std::nullopt;
  auto collect = [&](bool isReciprocal) -> std::optional<Numbers> {
    Numbers found{{}, isReciprocal};
    for (int64_t i = 0; i < views.front().size(); ++i) {
      SmallVector<int64_t> values;
      for (const ir::ConstantView &view : views) {
        double number = view.asDouble(i), whole = std::round(isReciprocal ? 1 / number : number);
        if (!(std::abs(whole) < (1 << 24))) return std::nullopt; // f32 holds it
        double back = isReciprocal ? 1 / whole : whole;
        if ((element.isF32() ? double(float(back)) : back) != number) return std::nullopt;
        values.push_back(int64_t(whole));
      }
      auto multiple = programs.multipleOf(values);
      if (!multiple || (isReciprocal && multiple->first.isFixed())) return std::nullopt;
      found.elements.push_back(*multiple);
    }
    return found;
  };
  if (std::optional<Numbers> direct = collect(false)) return direct;
  return isReal ? collect(true) : std::nullopt;
}

/// The numbers in the constant's own type.
static Value compute(ir::Expression &e, const Masks &masks, const Numbers &numbers, RankedTensorType type) {
  SmallVector<Value> elements;
  auto one = RankedTensorType::get({1}, e.b.getI64Type());
  for (auto &[length, times] : numbers.elements) {
    Value factor = ir::ConstantOp::create(e.b, e.loc, one, DenseElementsAttr::get(one, times));
    elements.push_back(e.mul(masks.number(e, length), factor));
  }
  Value all = elements.size() == 1 ? elements.front() : ir::ConcatOp::create(e.b, e.loc, elements, 0).getResult();
  all = e.cast(e.reshape(all, type.getShape()), type.getElementType());
  return numbers.isReciprocal ? e.div(e.splat(all, 1), all) : all;
}

LogicalResult LengthRules::visitConstant(ir::ConstantOp op) {
  SmallVector<ir::ConstantView> views;
  bool areEqual = true;
  for (Operation *each : programs.current()) {
    ElementsAttr value = cast<ir::ConstantOp>(each).getValue();
    views.emplace_back(value);
    areEqual &= value == op.getValue();
  }
  if (areEqual) return settleBySizes(op);
  if (llvm::all_of(llvm::drop_begin(views), [&](const ir::ConstantView &view) { return begins(view, views.front()); }))
    return settleBySizes(op); // or of one value, in two forms

  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  ir::Expression e(builder, op.getLoc());
  Value number;
  if (programs.varies(op.getResult())) {
    std::optional<EndNumbers> numbers = endNumbersOf(programs, views);
    if (!numbers) return refuse(op) << "the constant of a shorter length is not what a longer one's begins with";
    auto of = [&](const Length &length) { return e.cast(masks.number(e, length), op.getType().getElementType()); };
    number = numbers->shift ? e.add(op.getResult(), of(*numbers->shift))
                            : e.binary<ir::MinOp>(op.getResult(), of(*numbers->top));
  } else {
    std::optional<Numbers> numbers = numbersOf(programs, views);
    if (!numbers) return refuse(op) << "its numbers follow from the length in a way that is not known";
    number = compute(e, masks, *numbers, op.getType());
  }
  if (failed(settleBySizes(op))) return failure();
  programs.replace(op.getResult(), number, number.getDefiningOp());
  lengths[number] = Lengths(of(op.getResult()));
  return success();
}

} // namespace sprig
