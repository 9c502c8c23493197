#include "lib/Training/Quantizers.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/IntegerBounds.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "dialects/NN/NNUnary.h"
#include "sprig/error.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace sprig::training {
namespace {

/// What a constant or a parameter holds before training; null for what is computed.
ElementsAttr knownValue(Value value) {
  if (auto constant = value.getDefiningOp<ir::ConstantOp>()) return constant.getValue();
  auto read = value.getDefiningOp<ir::GetParamOp>();
  if (!read) return {};
  auto param =
      dyn_cast_or_null<ir::ParamOp>(SymbolTable::lookupSymbolIn(read->getParentOfType<ModuleOp>(), read.getParam()));
  return param ? param.getValueAttr() : ElementsAttr();
}

bool isEqual(ElementsAttr first, ElementsAttr second) {
  if (first == second) return true;
  std::string reason;
  return ir::isReadableConstant(first, reason) && ir::isReadableConstant(second, reason) &&
         ir::ConstantView(first).expanded() == ir::ConstantView(second).expanded();
}

/// Whether two numbers of quantisers are the same: importers write each with moves of its own.
bool isSameValue(Value first, Value second) {
  while (first != second) {
    if (first.getType() != second.getType()) return false;
    ElementsAttr known = knownValue(first), other = knownValue(second);
    if (known && other) return isEqual(known, other);
    Operation *a = first.getDefiningOp(), *b = second.getDefiningOp();
    if (!a || !b || a->getName() != b->getName() || a->getAttrDictionary() != b->getAttrDictionary() ||
        !isa<ir::ReshapeOp, ir::CastOp, ir::BroadcastOp, ir::SliceOp, ir::TransposeOp>(a))
      return false;
    first = a->getOperand(0);
    second = b->getOperand(0);
  }
  return true;
}

/// The number that all elements of a known value are.
std::optional<int64_t> knownInteger(Value value) {
  ElementsAttr known = knownValue(value);
  std::string reason;
  if (!known || !ir::isReadableConstant(known, reason)) return std::nullopt;
  ir::ConstantView view(known);
  if (!view.size() || (!view.isSplat() && view.size() > 1)) return std::nullopt;
  return view.asInt64(0);
}

/// nn.max or nn.min of integers and a number, on either side.
struct ClipStep {
  Value operand;
  int64_t bound;
  bool isLow;
};
std::optional<ClipStep> clipStep(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<ir::MaxOp, ir::MinOp>(op)) return std::nullopt;
  for (unsigned side : {1u, 0u})
    if (auto bound = knownInteger(op->getOperand(side)); bound && op->getOperand(1 - side).getType() == value.getType())
      return ClipStep{op->getOperand(1 - side), *bound, isa<ir::MaxOp>(op)};
  return std::nullopt;
}

/// Whether a quantiser's integers go into ends of pairs alone.
bool endsInPairs(Value integers) {
  return llvm::all_of(integers.getUsers(), [](Operation *user) {
    if (isa<ir::MaxOp, ir::MinOp>(user)) return clipStep(user->getResult(0)) && endsInPairs(user->getResult(0));
    auto narrow = dyn_cast<ir::DequantizeOp>(user);
    return narrow && pairOf(narrow);
  });
}

std::string nameOf(Operation *op) {
  auto name = op->getLoc()->findInstanceOf<NameLoc>();
  return name ? " " + name.getName().str() : "";
}

/// Whether floats come from nn.round, but for a zero point and a clip.
bool isRounded(Value value, int depth = 4) {
  Operation *op = value.getDefiningOp();
  if (depth && isa_and_nonnull<ir::AddOp, ir::MaxOp, ir::MinOp>(op))
    return llvm::any_of(op->getOperands(), [&](Value v) { return isRounded(v, depth - 1); });
  return isa_and_nonnull<ir::RoundOp>(op);
}

/// Whether integers become floats again, but for a zero point and moves.
bool becomesFloats(Value value, int depth = 8) {
  return depth && llvm::any_of(value.getUsers(), [&](Operation *user) {
           if (!isa<ir::CastOp, ir::AddOp, ir::SubOp, ir::MaxOp, ir::MinOp, ir::ReshapeOp, ir::TransposeOp,
                    ir::DequantizeOp>(user))
             return false;
           Value result = user->getResult(0);
           return isa<FloatType>(cast<RankedTensorType>(result.getType()).getElementType()) ||
                  becomesFloats(result, depth - 1);
         });
}

/// What is imported of quantisers to types that nn.quantize has not, as of four bits.
bool isWrittenOut(ir::CastOp cast) {
  return isa<IntegerType>(getElementTypeOrSelf(cast.getType())) && isRounded(cast.getOperand()) &&
         becomesFloats(cast.getResult());
}

[[noreturn]] void refuse(StringRef model, Operation *quantizer, StringRef expected) {
  unsupported(model.str() + ": the quantiser" + nameOf(quantizer) +
              " lets no gradient through to what is trained in front of it: expected " + expected.str());
}

/// Whether a quantiser reads the value as its scale, through moves at most.
bool isScale(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<ir::ReshapeOp, ir::CastOp, ir::BroadcastOp, ir::SliceOp>(user)) return isScale(user->getResult(0));
    return isa<ir::QuantizeOp, ir::DequantizeOp>(user) && use.getOperandNumber() == 1;
  });
}

} // namespace

std::optional<QuantizerPair> pairOf(ir::DequantizeOp narrow) {
  Value integers = narrow.getOperand();
  SmallVector<ClipStep> steps;
  while (auto step = clipStep(integers)) {
    steps.push_back(*step);
    integers = step->operand;
  }
  auto quantize = integers.getDefiningOp<ir::QuantizeOp>();
  if (!quantize || !isSameValue(quantize.getScale(), narrow.getScale()) ||
      !isSameValue(quantize.getZero(), narrow.getZero()))
    return std::nullopt;
  // Clips one after the other clip to what they leave of all integers.
  ir::IntegerBounds all = ir::integersOf(cast<RankedTensorType>(quantize.getType()).getElementType()), kept = all;
  for (const ClipStep &step : llvm::reverse(steps)) {
    auto clip = [&](int64_t v) { return step.isLow ? std::max(v, step.bound) : std::min(v, step.bound); };
    kept = {clip(kept.low), clip(kept.high)};
  }
  if (kept.low >= kept.high) return std::nullopt;
  QuantizerPair pair{quantize, std::nullopt, std::nullopt};
  if (kept.low != all.low) pair.low = kept.low;
  if (kept.high != all.high) pair.high = kept.high;
  return pair;
}

bool isQuantizersParameter(Value value) {
  if (isScale(value)) return true;
  if (value.use_empty()) return false;
  SmallVector<Value> left{value};
  llvm::DenseSet<Value> seen{value};
  while (!left.empty())
    for (OpOperand &use : left.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (isa<ir::QuantizeOp, ir::DequantizeOp>(user)) {
        if (use.getOperandNumber() == 0) return false;
        continue;
      }
      if (user->getNumResults() == 0 || isa<ir::FakeQuantizeOp>(user)) return false;
      for (Value result : user->getResults())
        if (seen.insert(result).second) left.push_back(result);
    }
  return true;
}

void requirePairs(func::FuncOp forward, ArrayRef<std::string> trained, StringRef model) {
  llvm::DenseSet<Value> moves; // with the parameters
  for (Operation &op : forward.getBody().front()) {
    bool isReading = false;
    op.walk([&](Operation *inner) {
      if (auto read = dyn_cast<ir::GetParamOp>(inner)) isReading |= llvm::is_contained(trained, read.getParam());
      isReading |= llvm::any_of(inner->getOperands(), [&](Value v) { return moves.contains(v); });
    });
    if (!isReading) continue;
    moves.insert(op.result_begin(), op.result_end());
    op.walk([&](Operation *inner) {
      if (auto cast = dyn_cast<ir::CastOp>(inner); cast && isWrittenOut(cast))
        refuse(model, inner, "one to integers of 8 or 16 bits");
      auto quantize = dyn_cast<ir::QuantizeOp>(inner);
      if (!quantize) return;
      if (inner != &op) refuse(model, inner, "none inside a branch or a loop");
      if (moves.contains(quantize.getOperand()) && !endsInPairs(quantize.getResult()))
        refuse(model, inner,
               "its integers to go into DequantizeLinear of the same scale and zero point alone, or through a Clip by "
               "constants");
    });
  }
}

} // namespace sprig::training
