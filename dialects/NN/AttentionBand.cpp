#include "dialects/NN/AttentionBand.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNUnary.h"
#include <limits>

using namespace mlir;

namespace sprig::ir {

static Band intersect(Band a, Band b) { return {std::min(a.lower, b.lower), std::min(a.upper, b.upper)}; }
static Band hull(Band a, Band b) { return {std::max(a.lower, b.lower), std::max(a.upper, b.upper)}; }

// Whether nothing but the scores, indices and numbers make the weights: no other mask and no bias, with which a row may
// lose the keys that its band leaves to it.
static bool isMaskAlone(const Attention &attention) {
  SmallVector<Value> left{attention.weights()};
  llvm::DenseSet<Value> seen;
  while (!left.empty()) {
    Value value = left.pop_back_val();
    if (!seen.insert(value).second) continue;
    Operation *op = value.getDefiningOp();
    if (!op) return false;
    if (op != MatmulOp(attention.scores).getOperation()) llvm::append_range(left, op->getOperands());
  }
  return true;
}

namespace {
/// An integer that is the index of a row or of a key, or nothing of both, and a number.
struct Index {
  enum Kind { none, row, key } kind = none;
  int64_t offset = 0;
};

class BandAnalysis {
public:
  explicit BandAnalysis(const Attention &attention)
      : attention(attention), shape(cast<RankedTensorType>(MatmulOp(attention.scores).getType()).getShape()),
        lowest(isMaskAlone(attention) ? kLow : -std::numeric_limits<double>::infinity()) {}

  std::optional<Band> run() {
    std::optional<Band> band = outside(attention.weights(), Zero);
    for (Operation *op : attention.rows) {
      auto reduce = dyn_cast<ReduceOp>(op);
      if (!reduce || !band) continue;
      // What it takes from outside of its own band must be nothing to it.
      bool isNeutral = reduce.getKind() == ReduceKind::max || reduce.getKind() == ReduceKind::sum;
      auto own =
          isNeutral ? outside(reduce.getOperand(), reduce.getKind() == ReduceKind::max ? Lowest : Zero) : std::nullopt;
      band = own ? std::optional(hull(*band, *own)) : std::nullopt;
    }
    if (!band || band->isEverything() || !band->reachesAll(shape.end()[-2], shape.back())) return std::nullopt;
    return band;
  }

private:
  enum Number { Lowest, Zero }; // minus infinity or what is as low for a softmax, 0
  // Exporters' low numbers (-1e9, the lowest float) leave a masked key a weight of 0 where the row has another one, and
  // scores are nowhere near as large.
  static constexpr double kLow = -1e9;

  static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }
  bool is(double value, Number number) const { return number == Zero ? value == 0 : value <= lowest; }
  bool isEverywhere(Value value, Number number) const {
    auto splat = splatOf(value);
    return splat && isFloat(value) && is(ConstantView(splat).asDouble(0), number);
  }

  /// The band outside of which a float value is that number.
  std::optional<Band> outside(Value value, Number number) const {
    Operation *op = value.getDefiningOp();
    if (!op) return std::nullopt;
    if (auto select = dyn_cast<SelectOp>(op)) {
      Value yes = select.getOperand(1), no = select.getOperand(2);
      Band all;
      if (isEverywhere(no, number))
        return intersect(where(select.getOperand(0), true), outside(yes, number).value_or(all));
      if (isEverywhere(yes, number))
        return intersect(where(select.getOperand(0), false), outside(no, number).value_or(all));
      return std::nullopt;
    }
    if (isa<CastOp>(op)) {
      // Integers have a lowest number that is no infinity.
      bool keeps = number == Zero || (isFloat(value) && isFloat(op->getOperand(0)));
      return keeps ? outside(op->getOperand(0), number) : std::nullopt;
    }
    if (number == Lowest) {
      if (isa<AddOp>(op)) return either(op, number);
      if (isa<SubOp>(op)) return outside(op->getOperand(0), number);
      return std::nullopt;
    }
    if (isa<ExpOp>(op)) return outside(op->getOperand(0), Lowest);
    if (isa<MulOp>(op)) return either(op, number);
    if (isa<DivOp>(op)) return outside(op->getOperand(0), number);
    return std::nullopt;
  }
  std::optional<Band> either(Operation *op, Number number) const {
    std::optional<Band> left = outside(op->getOperand(0), number), right = outside(op->getOperand(1), number);
    return left && right ? std::optional(intersect(*left, *right)) : left ? left : right;
  }

  /// A band that has all places at which a condition holds, or does not hold.
  Band where(Value condition, bool holds) const {
    Operation *op = condition.getDefiningOp();
    if (!op) return {};
    if (isa<NotOp>(op)) return where(op->getOperand(0), !holds);
    if (isa<AndOp>(op) == holds && isa<AndOp, OrOp>(op))
      return intersect(where(op->getOperand(0), holds), where(op->getOperand(1), holds));
    if (auto compare = dyn_cast<CompareOp>(op)) return where(compare, holds);
    return {};
  }
  Band where(CompareOp compare, bool holds) const {
    std::optional<Index> left = index(compare.getLhs()), right = index(compare.getRhs());
    if (!left || !right || left->kind == Index::none || right->kind == Index::none || left->kind == right->kind)
      return {};
    // key - row against a number.
    bool isKeyLeft = left->kind == Index::key;
    int64_t number = isKeyLeft ? right->offset - left->offset : left->offset - right->offset;
    auto atMost = [&](int64_t upper) { return Band{Band::kUnbounded, upper}; };
    auto atLeast = [&](int64_t least) { return Band{-least, Band::kUnbounded}; };
    ComparePredicate predicate = compare.getPredicate();
    bool isLess = predicate == ComparePredicate::lt || predicate == ComparePredicate::le;
    bool isGreater = predicate == ComparePredicate::gt || predicate == ComparePredicate::ge;
    bool withEqual = predicate == ComparePredicate::le || predicate == ComparePredicate::ge;
    if (!isLess && !isGreater) return {};
    if (!holds) std::swap(isLess, isGreater), withEqual = !withEqual;
    if (!isKeyLeft) std::swap(isLess, isGreater);
    return isLess ? atMost(withEqual ? number : number - 1) : atLeast(withEqual ? number : number + 1);
  }

  std::optional<Index> index(Value value) const {
    Operation *op = value.getDefiningOp();
    auto type = cast<RankedTensorType>(value.getType());
    // Numbers without a sign would wrap below zero.
    if (!op || !type.getElementType().isSignlessInteger() || type.getElementType().isInteger(1)) return std::nullopt;
    if (auto iota = dyn_cast<IotaOp>(op)) {
      int64_t axis = iota.getAxis(), fromEnd = type.getRank() - axis;
      if (fromEnd > 2 || type.getElementTypeBitWidth() < 32) return std::nullopt;
      if (type.getDimSize(axis) == 1) return Index{};
      return Index{fromEnd == 1 ? Index::key : Index::row, 0};
    }
    if (auto splat = splatOf(value)) {
      constexpr int64_t kMost = 1 << 28; // so that no sum of few of them and an index wraps
      int64_t number = ConstantView(splat).asInt64(0);
      return number < -kMost || number > kMost ? std::nullopt : std::optional(Index{Index::none, number});
    }
    if (!isa<AddOp, SubOp>(op)) return std::nullopt;
    std::optional<Index> left = index(op->getOperand(0)), right = index(op->getOperand(1));
    bool isSum = isa<AddOp>(op);
    if (!left || !right || (left->kind && right->kind) || (!isSum && right->kind)) return std::nullopt;
    return Index{left->kind ? left->kind : right->kind, left->offset + (isSum ? right->offset : -right->offset)};
  }

  const Attention &attention;
  ArrayRef<int64_t> shape;
  double lowest;
};
} // namespace

std::optional<Band> bandOf(const Attention &attention) { return BandAnalysis(attention).run(); }

} // namespace sprig::ir
