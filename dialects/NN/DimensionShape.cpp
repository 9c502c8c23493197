// Dimension rules of operations that move elements to places that are known.
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/DimensionRules.h"

using namespace mlir;

namespace sprig::ir {

// Equal elements are so in every part.
static DimensionRule ruleOf(ConstantOp op) {
  DimensionRule rule(op);
  bool isSplat = bool(splatOf(op.getOperation()));
  for (auto [dim, size] : llvm::enumerate(tensorOf(op.getResult()).getShape()))
    rule.result(0, int64_t(dim), rule.addFactor(size, isSplat ? FactorKind::passes : FactorKind::whole));
  return rule;
}
static void fitParts(ConstantOp part, const DimensionRule &, ArrayRef<int64_t>) {
  if (DenseElementsAttr splat = splatOf(part.getOperation())) part.setValueAttr(splat.resizeSplat(part.getType()));
}

static DimensionRule ruleOf(IotaOp op) {
  DimensionRule rule(op);
  for (auto [dim, size] : llvm::enumerate(tensorOf(op.getResult()).getShape()))
    rule.result(0, int64_t(dim),
                rule.addFactor(size, int64_t(dim) == int64_t(op.getAxis()) ? FactorKind::whole : FactorKind::passes));
  return rule;
}

static DimensionRule ruleOf(BroadcastOp op) { return elementwiseDimensionRule(op, {{0}}); }

static DimensionRule ruleOf(TransposeOp op) {
  DimensionRule rule(op);
  for (auto [to, from] : llvm::enumerate(op.getPermutation())) passDim(rule, op, 0, from, int64_t(to));
  rule.linear = {{0}};
  return rule;
}

namespace {
/// A group of dimensions of the operand and one of the result with the same elements.
struct ReshapeGroup {
  DimensionRule &rule;
  ArrayRef<int64_t> from, to;
  int64_t fromBegin, fromEnd, toBegin, toEnd;

  /// Cuts both into factors where each boundary of one is a boundary within a dimension of the other.
  void factorize() {
    SmallVector<std::pair<int64_t, unsigned>> operand, result;
    int64_t i = fromBegin, j = toBegin, left = 1, right = 1;
    for (;;) {
      // What is left of the dimensions at hand: 1 asks for the next one.
      while (left == 1 && i < fromEnd) left = from[i++];
      while (right == 1 && j < toEnd) right = to[j++];
      if (left == 1 && right == 1) break;
      int64_t size = std::min(left, right);
      if (left % size || right % size) return; // as 6 x 4 to 4 x 6: all of it whole
      unsigned factor = rule.addFactor(size);
      operand.push_back({i - 1, factor});
      result.push_back({j - 1, factor});
      left /= size, right /= size;
    }
    for (auto [dim, factor] : operand) rule.operands[0][size_t(dim)].push_back(factor);
    for (auto [dim, factor] : result) rule.results[0][size_t(dim)].push_back(factor);
  }
};
} // namespace

/// A first dimension of one position that the other side has not belongs to the first one there: a batch of one sample
/// is all of its rows.
static void passUnit(DimensionRule &rule, ArrayRef<int64_t> shape, MutableArrayRef<DimensionRule::Dim> own,
                     MutableArrayRef<DimensionRule::Dim> other) {
  if (shape.empty() || shape[0] != 1 || !own[0].empty() || other.empty() || other[0].empty()) return;
  unsigned factor = rule.addFactor(1);
  own[0].push_back(factor);
  other[0].insert(other[0].begin(), factor);
}

static DimensionRule ruleOf(ReshapeOp op) {
  DimensionRule rule(op);
  rule.linear = {{0}};
  ArrayRef<int64_t> from = tensorOf(op.getOperand()).getShape(), to = tensorOf(op.getResult()).getShape();
  if (llvm::is_contained(from, 0)) return rule;
  int64_t i = 0, j = 0, fromRank = int64_t(from.size()), toRank = int64_t(to.size());
  while (i < fromRank || j < toRank) {
    if (i < fromRank && j < toRank && from[i] == to[j]) { // also 1 and 1
      unsigned factor = rule.addFactor(from[i]);
      rule.operand(0, i++, factor), rule.result(0, j++, factor);
      continue;
    }
    if (i < fromRank && from[i] == 1) {
      ++i;
      continue;
    }
    if (j < toRank && to[j] == 1) {
      ++j;
      continue;
    }
    ReshapeGroup group{rule, from, to, i, i + 1, j, j + 1};
    int64_t left = from[i++], right = to[j++];
    while (left != right) (left < right ? left *= from[i++] : right *= to[j++]);
    group.fromEnd = i, group.toEnd = j;
    group.factorize();
  }
  passUnit(rule, from, rule.operands[0], rule.results[0]);
  passUnit(rule, to, rule.results[0], rule.operands[0]);
  return rule;
}

static DimensionRule ruleOf(SliceOp op) {
  DimensionRule rule(op);
  for (auto [dim, size] : llvm::enumerate(tensorOf(op.getOperand()).getShape())) {
    int64_t taken = op.getSizes()[dim];
    if (taken == size && op.getStarts()[dim] == 0 && (size <= 1 || op.getSteps()[dim] == 1)) {
      passDim(rule, op, 0, int64_t(dim), int64_t(dim));
    } else {
      rule.wholeOperand(0, int64_t(dim), size);
      rule.wholeResult(0, int64_t(dim), taken);
    }
  }
  rule.linear = {{0}};
  return rule;
}
static void fitParts(SliceOp part, const DimensionRule &, ArrayRef<int64_t>) {
  part.setSizes(tensorOf(part.getResult()).getShape());
}

static DimensionRule ruleOf(ConcatOp op) {
  DimensionRule rule(op);
  RankedTensorType type = tensorOf(op.getResult());
  rule.linear.emplace_back();
  for (unsigned i = 0; i < op->getNumOperands(); ++i) rule.linear.front().push_back(i);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool isAxis = dim == int64_t(op.getAxis());
    unsigned shared = rule.addFactor(type.getDimSize(dim), isAxis ? FactorKind::whole : FactorKind::passes);
    rule.result(0, dim, shared);
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      if (isAxis)
        rule.wholeOperand(unsigned(i), dim, tensorOf(operand).getDimSize(dim));
      else
        rule.operand(unsigned(i), dim, shared);
    }
  }
  return rule;
}

static DimensionRule ruleOf(PadOp op) {
  DimensionRule rule(op);
  for (auto [dim, size] : llvm::enumerate(tensorOf(op.getOperand()).getShape())) {
    if (op.getLow()[dim] == 0 && op.getHigh()[dim] == 0) {
      passDim(rule, op, 0, int64_t(dim), int64_t(dim));
    } else {
      rule.wholeOperand(0, int64_t(dim), size);
      rule.wholeResult(0, int64_t(dim), tensorOf(op.getResult()).getDimSize(int64_t(dim)));
    }
  }
  return rule;
}

void attachShapeDimensionRules(MLIRContext *context) {
  attachDimensionRules<ConstantOp, IotaOp, BroadcastOp, TransposeOp, ReshapeOp, SliceOp, ConcatOp, PadOp>(context);
}

} // namespace sprig::ir
