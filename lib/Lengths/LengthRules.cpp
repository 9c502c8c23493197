#include "lib/Lengths/LengthRules.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/Interfaces/DimensionRule.h"
#include "dialects/NN/NNControl.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNRandom.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace sprig {

static int64_t rankOfShaped(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

bool LengthRules::grows(Value value) const {
  return llvm::any_of(of(value), [](const Length &length) { return !length.isFixed(); });
}

template <typename FillT> void LengthRules::maskOperand(Operation *op, Place place, FillT fill) {
  OpBuilder builder(op);
  ir::Expression e(builder, op->getLoc());
  Value operand = op->getOperand(place.operand);
  Value masked = masks.mask(e, operand, place.dim, of(operand)[size_t(place.dim)], fill);
  lengths[masked] = Lengths(of(operand));
  op->setOperand(place.operand, masked);
}
template void LengthRules::maskOperand(Operation *, Place, Neutral);

template <typename FillT> void LengthRules::maskAll(Operation *op, unsigned operand, FillT fill) {
  for (int64_t dim = 0; dim < rankOfShaped(op->getOperand(operand)); ++dim)
    if (grows(op->getOperand(operand), dim)) maskOperand(op, {operand, dim}, fill);
}
template void LengthRules::maskAll(Operation *, unsigned, Neutral);

LogicalResult LengthRules::settle(Value result, Lengths found) {
  for (auto [dim, length] : llvm::enumerate(found)) {
    if (!programs.fits(length, programs.sizes(result, int64_t(dim))))
      return refuse(result.getDefiningOp())
             << "nothing tells how dimension " << dim << " of its result follows from the length";
    programs.remember(length);
  }
  lengths[result] = std::move(found);
  return success();
}

LogicalResult LengthRules::settleBySizes(Operation *op) {
  for (Value result : op->getResults()) {
    Lengths found;
    for (int64_t dim = 0; dim < rankOfShaped(result); ++dim) {
      std::optional<Length> length = programs.lengthOf(programs.sizes(result, dim));
      if (!length) return refuse(op) << "dimension " << dim << " of its result is no multiple of the length and a rest";
      found.push_back(*length);
    }
    if (failed(settle(result, std::move(found)))) return failure();
  }
  return success();
}

LogicalResult LengthRules::setArgument(BlockArgument argument) {
  Lengths found;
  for (int64_t dim = 0; dim < rankOfShaped(argument); ++dim) {
    std::optional<Length> length = programs.lengthOf(programs.sizes(argument, dim));
    if (!length)
      return programs.main().emitError() << "dimension " << dim << " of input " << argument.getArgNumber()
                                         << " is no multiple of '" << programs.axis << "' and a rest";
    programs.remember(*length);
    found.push_back(*length);
  }
  lengths[argument] = std::move(found);
  return success();
}

LogicalResult LengthRules::run() {
  while (Operation *op = programs.next())
    if (failed(visit(op))) return failure();
  return success();
}

/// A number within the bounds of values that are checked.
static double insideOf(ir::InRangeOp op) {
  double low = op.getLow().convertToDouble(), high = op.getHigh().convertToDouble();
  for (double number : {0.0, 1.0})
    if (low <= number && number <= high) return number;
  return std::isfinite(low) ? low : high;
}

// What nobody gave may be no index, no divisor, and out of range. Zeros are given to kernels where the caller gave
// nothing. Indices into what grows are checked, and masked, by countFromEnd.
void LengthRules::guardIndices(Operation *op) {
  auto isInside = [&](unsigned operand) { // zeros, or known
    Value value = op->getOperand(operand);
    return isa<BlockArgument>(value) || isa_and_present<ir::ConstantOp>(value.getDefiningOp());
  };
  auto axisGrows = [&](auto gather) { return grows(gather.getOperand(), int64_t(gather.getAxis())); };
  if (auto gather = dyn_cast<ir::GatherOp>(op); gather && axisGrows(gather)) return;
  if (auto gather = dyn_cast<ir::GatherElementsOp>(op); gather && axisGrows(gather)) return;
  if (isa<ir::GatherOp, ir::GatherElementsOp, ir::GatherNdOp, ir::ScatterElementsOp, ir::ScatterNdOp>(op)) {
    if (!isInside(1)) maskAll(op, 1, Neutral::zero);
  } else if (isa<ir::ClassIndexOp>(op)) {
    if (!isInside(0)) maskAll(op, 0, Neutral::zero);
  } else if (auto checked = dyn_cast<ir::InRangeOp>(op)) {
    double inside = insideOf(checked);
    if (isInside(0) && inside == 0) return;
    OpBuilder builder(op);
    maskAll(op, 0, ir::Expression(builder, op->getLoc()).splat(checked.getOperand(), inside));
  } else if (isa<ir::DivOp, ir::RemOp, ir::ModOp>(op) && getElementTypeOrSelf(op->getResult(0)).isInteger()) {
    maskAll(op, 1, Neutral::one);
  }
}

// Whether dimensions of operands that grow are those of results, and no more.
bool LengthRules::passesAll(Operation *op) const {
  DimensionRule rule = dimensionRuleOf(op);
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    for (int64_t dim = 0; dim < rankOfShaped(operand); ++dim) {
      if (!grows(operand, dim)) continue;
      const DimensionRule::Dim &factors = rule.operands[i][size_t(dim)];
      if (factors.size() != 1 || rule.factors[factors.front()].kind != FactorKind::passes) return false;
    }
  return true;
}

LogicalResult LengthRules::followRule(Operation *op, ArrayRef<Place> done, ArrayRef<ResultLength> given) {
  DimensionRule rule = dimensionRuleOf(op);
  SmallVector<std::optional<Length>> known(rule.factors.size());
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    for (int64_t dim = 0; dim < rankOfShaped(operand); ++dim) {
      const Length &length = of(operand)[size_t(dim)];
      if (length.isFixed() || llvm::is_contained(done, Place{unsigned(i), dim})) continue;
      const DimensionRule::Dim &factors = rule.operands[i][size_t(dim)];
      if (factors.size() != 1 || rule.factors[factors.front()].kind != FactorKind::passes)
        return refuse(op) << "it needs all of dimension " << dim << " of operand " << i
                          << " at once; pad that to a few sizes, with what changes no result (as 0 in a sum)";
      std::optional<Length> &ofFactor = known[factors.front()];
      if (ofFactor && *ofFactor != length)
        return refuse(op) << "dimensions of " << ofFactor->text() << " and of " << length.text() << " elements meet";
      ofFactor = length;
    }
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    for (int64_t dim = 0; dim < rankOfShaped(operand); ++dim)
      for (unsigned factor : rule.operands[i][size_t(dim)])
        if (known[factor] && !grows(operand, dim))
          return refuse(op) << "a dimension of " << known[factor]->text() << " elements meets one of always "
                            << cast<RankedTensorType>(operand.getType()).getDimSize(dim);
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    Lengths found;
    for (int64_t dim = 0; dim < rankOfShaped(result); ++dim) {
      Length length = Length::fixed(cast<RankedTensorType>(result.getType()).getDimSize(dim));
      for (unsigned factor : rule.results[i][size_t(dim)])
        if (known[factor]) length = *known[factor];
      for (const ResultLength &each : given)
        if (each.result == i && each.dim == dim) length = each.length;
      found.push_back(length);
    }
    if (failed(settle(result, std::move(found)))) return failure();
  }
  return success();
}

bool LengthRules::checksInside(Operation *op) {
  return op
      ->walk([&](Operation *inner) {
        return inner != op && ir::isCheckedAtRunTime(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

// Inside, nothing is masked: what could fail on what nobody gave, or go on for ever, stays out.
LogicalResult LengthRules::visitRegions(Operation *op) {
  if (isa<ir::WhileOp>(op)) return refuse(op) << "how often it runs would follow from what nobody gave";
  if (checksInside(op)) return refuse(op) << "its body checks indices or divisors";
  return followRule(op);
}

LogicalResult LengthRules::visit(Operation *op) {
  if (isa<func::ReturnOp>(op)) return programs.areSame({});
  SmallVector<StringRef> own;
  if (isa<ir::SliceOp>(op)) own = {"starts", "sizes"};
  if (isa<ir::ScanOp>(op)) own = {"steps"};
  if (isa<ir::ClassIndexOp>(op)) own = {"classes"};
  if (isa<ir::ConstantOp>(op)) own = {"value"};
  if (failed(programs.areSame(own))) return failure();
  programs.pair();
  if (auto constant = dyn_cast<ir::ConstantOp>(op)) return visitConstant(constant);
  if (isa<ir::IotaOp>(op)) return settleBySizes(op);
  if (auto slice = dyn_cast<ir::SliceOp>(op)) return visitSlice(slice);
  if (auto classes = dyn_cast<ir::ClassIndexOp>(op)) return visitClassIndex(classes);
  if (auto broadcast = dyn_cast<ir::BroadcastOp>(op)) return visitBroadcast(broadcast);
  bool isTouched = llvm::any_of(op->getOperands(), [&](Value operand) { return grows(operand); });
  if (!isTouched) { // fixed, or refused
    for (Value result : op->getResults()) {
      Lengths found;
      for (int64_t dim = 0; dim < rankOfShaped(result); ++dim)
        found.push_back(Length::fixed(cast<RankedTensorType>(result.getType()).getDimSize(dim)));
      if (failed(settle(result, std::move(found)))) return failure();
    }
    return success();
  }
  guardIndices(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ir::ReshapeOp each) { return visitReshape(each); })
      .Case([&](ir::ConcatOp each) { return visitConcat(each); })
      .Case([&](ir::PadOp each) { return visitPad(each); })
      .Case([&](ir::GatherOp each) { return visitGather(each); })
      .Case([&](ir::GatherElementsOp each) { return visitGatherElements(each); })
      .Case([&](ir::MatmulOp each) { return visitMatmul(each); })
      .Case([&](ir::ReduceOp each) { return visitReduce(each); })
      .Case<ir::SoftmaxOp, ir::LogSoftmaxOp, ir::CumulativeOp, ir::ArgReduceOp, ir::TopKOp>(
          [&](auto each) { return visitAlong(each, int64_t(each.getAxis())); })
      .Case<ir::ConvOp, ir::ConvTransposeOp, ir::PoolOp>([&](auto each) { return visitWindows(each); })
      .Case<ir::RnnOp, ir::GruOp, ir::LstmOp, ir::LstmIntegerOp>([&](auto each) { return visitRecurrent(each); })
      .Case([&](ir::ScanOp each) { return visitScan(each); })
      .Case<ir::PhiloxOp, ir::DropoutOp>(
          [&](auto each) -> LogicalResult { return refuse(each) << "it is random, by the size of the whole"; })
      .Case<ir::BceLossOp, ir::CrossEntropyOp, ir::NllLossOp>(
          [&](auto) { return programs.decompose(); }) // what they check inside is guarded there
      .Default([&](Operation *each) -> LogicalResult {
        if (each->getNumRegions()) return visitRegions(each);
        if (isa<DecomposableOpInterface>(each) && !passesAll(each)) return programs.decompose();
        return followRule(each);
      });
}

} // namespace sprig
