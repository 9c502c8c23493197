#include "dialects/Interfaces/DimensionRule.h"
#include "dialects/Interfaces/DerivedRule.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

#include "dialects/Interfaces/DimensionRuleInterface.cpp.inc"

namespace sprig {

static int64_t rankOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getRank() : 0;
}

DimensionRule::DimensionRule(Operation *op) : sums(op->getNumResults()) {
  for (Type type : op->getOperandTypes()) operands.emplace_back(size_t(rankOf(type)));
  for (Type type : op->getResultTypes()) results.emplace_back(size_t(rankOf(type)));
}

unsigned DimensionRule::addFactor(int64_t size, FactorKind kind) {
  factors.push_back({size, kind});
  return unsigned(factors.size() - 1);
}

bool DimensionRule::isPartial(unsigned result, unsigned factor) const {
  auto has = [&](const Dim &dim) { return llvm::is_contained(dim, factor); };
  const Factor &own = factors[factor];
  return own.isReduced() && llvm::none_of(results[result], has) && !llvm::is_contained(own.unaffected, result);
}

bool DimensionRule::isWhole(const Dim &dim) const {
  return llvm::all_of(dim, [&](unsigned factor) { return factors[factor].kind == FactorKind::whole; });
}

// A dimension of the result is that of every operand that does not broadcast along it.
DimensionRule elementwiseDimensionRule(Operation *op, DimensionRule::OperandSets linear) {
  DimensionRule rule(op);
  rule.linear = std::move(linear);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    unsigned factor = rule.addFactor(type.getDimSize(dim));
    for (unsigned i = 0; i < op->getNumResults(); ++i) rule.result(i, dim, factor);
    for (auto [i, operand] : llvm::enumerate(op->getOperandTypes())) {
      auto from = cast<RankedTensorType>(operand);
      int64_t own = dim - type.getRank() + from.getRank();
      if (own >= 0 && from.getDimSize(own) == type.getDimSize(dim)) rule.operand(unsigned(i), own, factor);
    }
  }
  return rule;
}

/// Without factors of one position that share a dimension with others: none is a part of what it stands for.
static DimensionRule withoutUnits(DimensionRule rule) {
  auto isUnit = [&](unsigned factor) { return rule.factors[factor].size == 1; };
  SmallVector<unsigned> shared;
  for (DimensionRule::Map &map : llvm::concat<DimensionRule::Map>(rule.operands, rule.results))
    for (DimensionRule::Dim &dim : map)
      if (dim.size() > 1) llvm::append_range(shared, llvm::make_filter_range(dim, isUnit));
  if (shared.empty()) return rule;
  for (DimensionRule::Map &map : llvm::concat<DimensionRule::Map>(rule.operands, rule.results))
    for (DimensionRule::Dim &dim : map)
      llvm::erase_if(dim, [&](unsigned factor) { return llvm::is_contained(shared, factor); });
  return rule;
}

DimensionRule dimensionRuleOf(Operation *op) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  if (!llvm::all_of(op->getResultTypes(), isTensor) || !llvm::all_of(op->getOperandTypes(), isTensor))
    return DimensionRule(op);
  if (auto own = dyn_cast<DimensionRuleOpInterface>(op)) return withoutUnits(own.getDimensionRule());
  if (isa<ElementwiseOpInterface>(op)) return elementwiseDimensionRule(op);
  if (isa<DecomposableOpInterface>(op)) return decompositionRule(op);
  return DimensionRule(op);
}

bool hasDimensionRule(OperationName name) {
  return name.hasInterface<DimensionRuleOpInterface>() || name.hasInterface<ElementwiseOpInterface>() ||
         name.hasInterface<DecomposableOpInterface>();
}

Type localType(Type type, const DimensionRule::Map &map, ArrayRef<int64_t> sizes) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) return type;
  SmallVector<int64_t> shape(tensor.getShape());
  for (auto [size, dim] : llvm::zip_equal(shape, map)) {
    if (dim.empty()) continue;
    size = llvm::product_of(llvm::map_range(dim, [&](unsigned factor) { return sizes[factor]; }));
  }
  return tensor.clone(shape);
}

Operation *detail::cloneLocal(Operation *op, const DimensionRule &rule, OpBuilder &builder, ValueRange operands,
                              ArrayRef<int64_t> sizes) {
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  for (auto [i, result] : llvm::enumerate(copy->getResults()))
    result.setType(localType(result.getType(), rule.results[i], sizes));
  return copy;
}

Operation *buildLocal(Operation *op, OpBuilder &builder, ValueRange operands, ArrayRef<int64_t> sizes) {
  if (auto own = dyn_cast<DimensionRuleOpInterface>(op)) return own.buildOnParts(builder, operands, sizes);
  return detail::cloneLocal(op, dimensionRuleOf(op), builder, operands, sizes);
}

} // namespace sprig
