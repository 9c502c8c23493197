#include "dialects/Interfaces/DerivedRule.h"
#include "dialects/Interfaces/DecomposeCopy.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace sprig {

static int64_t rankOfValue(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? tensor.getRank() : 0;
}

unsigned DerivedRule::nodeOf(Value value, int64_t dim) {
  auto [at, isNew] = firstNode.try_emplace(value, unsigned(parent.size()));
  if (isNew) {
    values.push_back(value);
    for (int64_t i = 0; i < rankOfValue(value); ++i) {
      parent.push_back(unsigned(parent.size()));
      isWhole.push_back(false);
    }
  }
  return at->second + unsigned(dim);
}

unsigned DerivedRule::find(unsigned node) {
  while (parent[node] != node) node = parent[node] = parent[parent[node]];
  return node;
}

void DerivedRule::join(unsigned a, unsigned b) {
  a = find(a), b = find(b);
  if (a == b) return;
  parent[std::max(a, b)] = std::min(a, b);
  isWhole[std::min(a, b)] = isWhole[a] || isWhole[b];
}

void DerivedRule::tie(Value a, Value b, int64_t skip) {
  for (int64_t dim = 0; dim < rankOfValue(b); ++dim) join(nodeOf(a, dim + skip), nodeOf(b, dim));
}

void DerivedRule::visit(Block &block) {
  for (Operation &inner : block)
    if (!inner.hasTrait<OpTrait::IsTerminator>()) visit(inner);
}

void DerivedRule::visit(Operation &inner) {
  DimensionRule rule = dimensionRuleOf(&inner);
  SmallVector<SmallVector<unsigned>> nodes(rule.factors.size());
  SmallVector<bool> isHeld;
  for (const Factor &factor : rule.factors) {
    bool isSum = factor.kind == FactorKind::sum && factor.addends.empty() && !factor.axes;
    isHeld.push_back(factor.kind != FactorKind::passes && !(keepsSums && isSum));
  }
  auto take = [&](Value value, const DimensionRule::Map &map) {
    for (auto [dim, parts] : llvm::enumerate(map)) {
      unsigned node = nodeOf(value, int64_t(dim));
      if (parts.empty()) isWhole[find(node)] = true;
      for (unsigned factor : parts) {
        nodes[factor].push_back(node);
        isHeld[factor] = isHeld[factor] || parts.size() > 1;
      }
    }
  };
  for (auto [i, operand] : llvm::enumerate(inner.getOperands())) take(operand, rule.operands[i]);
  for (auto [i, result] : llvm::enumerate(inner.getResults())) take(result, rule.results[i]);
  for (auto [factor, places] : llvm::enumerate(nodes)) {
    for (unsigned node : places) {
      if (isHeld[factor]) isWhole[find(node)] = true;
      if (!isHeld[factor]) join(places.front(), node);
    }
  }
  if (keepsSums) inside.insert({&inner, std::move(rule)});
}

// A value whose dimensions are one class would be split twice by the same ranks.
void DerivedRule::holdRepeated() {
  for (Value value : values) {
    llvm::SmallSet<unsigned, 4> seen;
    for (int64_t dim = 0; dim < rankOfValue(value); ++dim) {
      unsigned root = find(nodeOf(value, dim));
      if (!seen.insert(root).second) isWhole[root] = true;
    }
  }
}

// Every factor is a dimension of some operand or result.
unsigned DerivedRule::classOf(Operation &inner, const DimensionRule &rule, unsigned factor) {
  auto search = [&](ValueRange values, ArrayRef<DimensionRule::Map> maps) -> std::optional<unsigned> {
    for (auto [value, map] : llvm::zip_equal(values, maps))
      for (auto [dim, parts] : llvm::enumerate(map))
        if (llvm::is_contained(parts, factor)) return find(nodeOf(value, int64_t(dim)));
    return std::nullopt;
  };
  std::optional<unsigned> found = search(inner.getOperands(), rule.operands);
  return found ? *found : search(inner.getResults(), rule.results).value();
}

// First what depends on a sum at all, around the loop; then whether all of it is linear.
void DerivedRule::followSums() {
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    auto add = [&](Value to, const Classes &classes) {
      for (unsigned each : classes) hasChanged |= partOf[to].insert(each);
    };
    for (auto &[inner, rule] : inside)
      for (auto [i, result] : llvm::enumerate(inner->getResults())) {
        for (Value operand : inner->getOperands()) add(result, partOf.lookup(operand));
        for (unsigned factor = 0; factor < rule.factors.size(); ++factor)
          if (unsigned root; rule.isPartial(unsigned(i), factor) && !isWhole[root = classOf(*inner, rule, factor)])
            add(result, Classes(&root, &root + 1));
      }
    for (const Carried &each : carried) add(each.argument, partOf.lookup(each.value));
  }
  for (auto &[inner, rule] : inside) holdUnlessLinear(*inner, rule);
}

void DerivedRule::holdUnlessLinear(Operation &inner, const DimensionRule &rule) {
  Classes taken;
  for (Value operand : inner.getOperands()) taken.insert_range(partOf.lookup(operand));
  for (unsigned root : taken) {
    auto passesThrough = [&](ArrayRef<unsigned> set) {
      return llvm::all_of(llvm::enumerate(inner.getOperands()), [&](auto each) {
        return partOf.lookup(each.value()).contains(root) == llvm::is_contained(set, each.index());
      });
    };
    auto isOfClass = [&](unsigned factor) { return classOf(inner, rule, factor) == root; };
    if (llvm::any_of(llvm::seq<unsigned>(0, unsigned(rule.factors.size())), isOfClass) ||
        llvm::none_of(rule.linear, passesThrough))
      isWhole[root] = true;
  }
}

// The classes that results are parts of sums over are sums; what a carried value starts with is a term.
void DerivedRule::stateSums(DimensionRule &rule) {
  for (auto [root, number] : factors) {
    Factor &factor = rule.factors[number];
    auto isPart = [&, root = root](Value value) { return partOf.lookup(value).contains(root); };
    if (llvm::none_of(results, [&](const Anchor &result) { return isPart(result.inner); })) continue;
    factor.kind = FactorKind::sum;
    for (const Anchor &result : results)
      if (!isPart(result.inner)) factor.unaffected.push_back(result.index);
    for (const Carried &each : carried)
      if (isPart(each.argument)) factor.addends.push_back(each.operand);
  }
}

unsigned DerivedRule::factorOf(DimensionRule &rule, unsigned node, int64_t size) {
  unsigned root = find(node);
  if (isWhole[root]) return rule.addFactor(size, FactorKind::whole);
  auto [at, isNew] = factors.try_emplace(root, 0);
  if (isNew) at->second = rule.addFactor(size);
  return at->second;
}

DimensionRule DerivedRule::rule() {
  for (ArrayRef<Anchor> anchors : {ArrayRef(operands), ArrayRef(results)})
    for (const Anchor &anchor : anchors) nodeOf(anchor.inner, 0);
  holdRepeated();
  followSums();
  DimensionRule rule(op);
  auto give = [&](ArrayRef<Anchor> anchors, SmallVectorImpl<DimensionRule::Map> &maps, ValueRange outer) {
    for (const Anchor &anchor : anchors)
      for (int64_t dim = 0; dim < rankOfValue(anchor.inner); ++dim) {
        int64_t size = cast<RankedTensorType>(outer[anchor.index].getType()).getDimSize(dim + anchor.skip);
        maps[anchor.index][size_t(dim + anchor.skip)].push_back(factorOf(rule, nodeOf(anchor.inner, dim), size));
      }
  };
  give(operands, rule.operands, op->getOperands());
  give(results, rule.results, op->getResults());
  stateSums(rule);
  return rule;
}

int64_t DerivedRule::sizeOf(Value value, int64_t dim, ArrayRef<int64_t> sizes) {
  auto found = factors.find(find(nodeOf(value, dim)));
  if (found != factors.end()) return sizes[found->second];
  return cast<RankedTensorType>(value.getType()).getDimSize(dim);
}

Type DerivedRule::typeOf(Value inner, ArrayRef<int64_t> sizes) {
  auto tensor = dyn_cast<RankedTensorType>(inner.getType());
  if (!tensor) return inner.getType();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < tensor.getRank(); ++dim) shape.push_back(sizeOf(inner, dim, sizes));
  return tensor.clone(shape);
}

void DerivedRule::buildBlock(Block &from, Block &to, ArrayRef<int64_t> sizes) {
  IRMapping mapping;
  mapping.map(from.getArguments(), to.getArguments());
  OpBuilder b = OpBuilder::atBlockEnd(&to);
  for (Operation &inner : from) {
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands()) operands.push_back(mapping.lookup(operand));
    if (inner.hasTrait<OpTrait::IsTerminator>()) {
      b.clone(inner)->setOperands(operands);
      continue;
    }
    DimensionRule rule = dimensionRuleOf(&inner);
    SmallVector<int64_t> own;
    for (const Factor &factor : rule.factors) own.push_back(factor.size);
    auto take = [&](Value value, const DimensionRule::Map &map) {
      for (auto [dim, parts] : llvm::enumerate(map))
        if (parts.size() == 1) own[parts.front()] = sizeOf(value, int64_t(dim), sizes);
    };
    for (auto [i, operand] : llvm::enumerate(inner.getOperands())) take(operand, rule.operands[i]);
    for (auto [i, result] : llvm::enumerate(inner.getResults())) take(result, rule.results[i]);
    mapping.map(inner.getResults(), buildLocal(&inner, b, operands, own)->getResults());
  }
}

DimensionRule decompositionRule(Operation *op) {
  Block block;
  FailureOr<SmallVector<Value>> values = decomposeCopy(op, block);
  if (failed(values)) return DimensionRule(op);
  DerivedRule derived(op);
  derived.visit(block);
  for (auto [i, argument] : llvm::enumerate(block.getArguments())) derived.setOperand(unsigned(i), argument);
  for (auto [i, value] : llvm::enumerate(*values)) derived.setResult(unsigned(i), value);
  return derived.rule();
}

} // namespace sprig
