// Constants that depend on a length: longer ones that begin as the shorter, and numbers that follow from it.
#include "dialects/NN/Constants.h"
#include "lib/Lengths/LengthRules.h"

using namespace mlir;

namespace sprig {

/// Whether the smaller of two constants is where the larger begins, along all dimensions.
static bool begins(const ir::ConstantView &small, const ir::ConstantView &large) {
  ArrayRef<int64_t> inner = small.type().getShape(), outer = large.type().getShape();
  if (small.isSplat() && large.isSplat()) return small.bytes() == large.bytes();
  SmallVector<int64_t> at(inner.size(), 0);
  for (int64_t i = 0; i < small.size(); ++i) {
    int64_t place = 0;
    for (auto [index, size] : llvm::zip_equal(at, outer)) place = place * size + index;
    if (small.element(i) != large.element(place)) return false;
    for (size_t dim = at.size(); dim-- > 0;) {
      if (++at[dim] < inner[dim]) break;
      at[dim] = 0;
    }
  }
  return true;
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
  if (programs.varies(op.getResult())) {
    for (const ir::ConstantView &view : llvm::drop_begin(views))
      if (!begins(view, views.front()))
        return refuse(op) << "the constant of a shorter length is not what a longer one's begins with";
    return settleBySizes(op);
  }
  if (llvm::all_of(llvm::drop_begin(views), [&](const ir::ConstantView &view) { return begins(view, views.front()); }))
    return settleBySizes(op); // of one value, in two forms
  std::optional<Numbers> numbers = numbersOf(programs, views);
  if (!numbers) return refuse(op) << "its numbers follow from the length in a way that is not known";

  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  ir::Expression e(builder, op.getLoc());
  Value number = compute(e, masks, *numbers, op.getType());
  if (failed(settleBySizes(op))) return failure();
  programs.replace(op.getResult(), number, number.getDefiningOp());
  lengths[number] = Lengths(of(op.getResult()));
  return success();
}

} // namespace sprig
