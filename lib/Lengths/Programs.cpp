#include "lib/Lengths/Programs.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/NN/NNShapeOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sprig {

Programs::Programs(std::string axis, SmallVector<Program> programs) : axis(std::move(axis)), all(std::move(programs)) {
  llvm::sort(all, [](const Program &a, const Program &b) { return a.length > b.length; });
  known.push_back(Length::axis());
}

InFlightDiagnostic Programs::refuse(Operation *op) const {
  return op->emitError() << "'" << op->getName() << "' cannot grow with '" << axis << "': ";
}

/// Gives each use of a constant one of its own, right before it: constants that are one at some length because their
/// values are equal there are several at others.
static void separateConstants(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    for (OpOperand &use : op.getOpOperands()) {
      auto constant = use.get().getDefiningOp<ir::ConstantOp>();
      if (!constant) continue;
      if (constant->hasOneUse()) {
        constant->moveBefore(&op);
      } else {
        OpBuilder builder(&op);
        use.set(builder.clone(*constant)->getResult(0));
      }
    }
}

LogicalResult Programs::begin() {
  for (Program &program : all) {
    Block &block = program.function.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op)) op.erase();
    separateConstants(block);
    following.push_back(&block.front());
    if (program.function.getNumArguments() != main().getNumArguments() ||
        program.function.getNumResults() != main().getNumResults())
      return main().emitError() << "takes other inputs, or gives other outputs, where '" << axis << "' is "
                                << program.length << " than where it is " << last();
  }
  at.resize(all.size());
  for (BlockArgument argument : main().getArguments())
    for (Program &program : llvm::drop_begin(all))
      others[argument].push_back(program.function.getArgument(argument.getArgNumber()));
  return success();
}

Operation *Programs::next() {
  at = following;
  if (at.front())
    for (auto [op, behind] : llvm::zip_equal(at, following)) behind = op ? op->getNextNode() : nullptr;
  return at.front();
}

/// Whether two operations differ in nothing but the types of values, their regions too.
static bool sameButTypes(Operation *a, Operation *b, ArrayRef<StringRef> but) {
  if (a->getName() != b->getName() || a->getNumOperands() != b->getNumOperands() ||
      a->getNumResults() != b->getNumResults() || a->getNumRegions() != b->getNumRegions())
    return false;
  DictionaryAttr ofB = b->getAttrDictionary();
  for (NamedAttribute attribute : a->getAttrDictionary())
    if (!llvm::is_contained(but, attribute.getName().getValue()) &&
        ofB.get(attribute.getName()) != attribute.getValue())
      return false;
  for (auto [left, right] : llvm::zip_equal(a->getRegions(), b->getRegions())) {
    if (!llvm::hasSingleElement(left) || !llvm::hasSingleElement(right)) return false;
    DenseMap<Value, Value> pairs;
    Block &inLeft = left.front(), &inRight = right.front();
    if (inLeft.getNumArguments() != inRight.getNumArguments() ||
        inLeft.getOperations().size() != inRight.getOperations().size())
      return false;
    for (auto [x, y] : llvm::zip_equal(inLeft.getArguments(), inRight.getArguments())) pairs[x] = y;
    for (auto [inner, other] : llvm::zip_equal(inLeft, inRight)) {
      if (!sameButTypes(&inner, &other, {})) return false;
      for (auto [x, y] : llvm::zip_equal(inner.getOperands(), other.getOperands()))
        if (auto found = pairs.find(x); found == pairs.end() || found->second != y) return false;
      for (auto [x, y] : llvm::zip_equal(inner.getResults(), other.getResults())) pairs[x] = y;
    }
  }
  return true;
}

LogicalResult Programs::areSame(ArrayRef<StringRef> but) const {
  Operation *op = at.front();
  for (auto [i, other] : llvm::enumerate(llvm::drop_begin(at))) {
    int64_t length = all[i + 1].length;
    auto differs = [&]() -> InFlightDiagnostic {
      return refuse(op) << "where the length is " << length << " the model is another program than where it is "
                        << last();
    };
    if (!other) return differs();
    if (op->getName() != other->getName()) return differs() << " ('" << other->getName() << "' here)";
    if (!sameButTypes(op, other, but)) return differs() << ", with other attributes or constants here";
    for (auto [x, y] : llvm::zip_equal(op->getOperands(), other->getOperands()))
      if (auto found = others.find(x); found == others.end() || found->second[i] != y)
        return differs() << ", on other operands here";
    for (auto [x, y] : llvm::zip_equal(op->getResults(), other->getResults())) {
      auto type = dyn_cast<RankedTensorType>(x.getType()), otherType = dyn_cast<RankedTensorType>(y.getType());
      if (!type != !otherType ||
          (type && (type.getElementType() != otherType.getElementType() || type.getRank() != otherType.getRank())))
        return differs() << ", with results of other types here";
    }
  }
  return success();
}

void Programs::pair() {
  for (auto [i, result] : llvm::enumerate(at.front()->getResults())) {
    SmallVector<Value> &values = others[result];
    values.clear();
    for (Operation *other : llvm::drop_begin(at)) values.push_back(other->getResult(unsigned(i)));
  }
}

LogicalResult Programs::decompose() {
  for (auto [op, behind] : llvm::zip_equal(at, following)) {
    Operation *before = op->getPrevNode();
    Block *block = op->getBlock();
    if (failed(decomposeInPlace(cast<DecomposableOpInterface>(op)))) return failure();
    behind = before ? before->getNextNode() : &block->front();
  }
  return success();
}

void Programs::replace(Value value, Value with, Operation *by) {
  SmallVector<Value> paired = others.lookup(value);
  others[with] = std::move(paired);
  value.replaceAllUsesExcept(with, by);
}

SmallVector<int64_t> Programs::sizes(Value value, int64_t dim) const {
  auto sizeOf = [&](Value each) { return cast<RankedTensorType>(each.getType()).getDimSize(dim); };
  SmallVector<int64_t> found{sizeOf(value)};
  if (auto paired = others.find(value); paired != others.end())
    for (Value other : paired->second) found.push_back(sizeOf(other));
  return found;
}

bool Programs::varies(Value value, int64_t dim) const { return !llvm::all_equal(sizes(value, dim)); }

bool Programs::varies(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && llvm::any_of(llvm::seq<int64_t>(0, type.getRank()), [&](int64_t dim) { return varies(value, dim); });
}

bool Programs::fits(const Length &length, ArrayRef<int64_t> sizes) const {
  return llvm::all_of(llvm::zip_equal(all, sizes),
                      [&](auto pair) { return length.at(std::get<0>(pair).length) == std::get<1>(pair); });
}

std::optional<Length> Programs::lengthOf(ArrayRef<int64_t> sizes) const {
  if (llvm::all_equal(sizes)) return Length::fixed(sizes.front());
  for (const Length &length : known)
    if (fits(length, sizes)) return length;
  int64_t steps = all[0].length - all[1].length, rise = sizes[0] - sizes[1];
  if (rise % steps == 0) {
    Length line{rise / steps, sizes[0] - rise / steps * all[0].length, 1};
    if (fits(line, sizes)) return line;
  }
  return shareOf(sizes);
}

/// A rounded-down share of the axis, such as half of it: the one with the smallest divisor, where it is the only one.
std::optional<Length> Programs::shareOf(ArrayRef<int64_t> sizes) const {
  constexpr int64_t kLargestDivisor = 4;
  int64_t range = last() - first(), rise = sizes.front() - sizes.back();
  if (rise <= 0 || rise > (int64_t(1) << 40)) return std::nullopt;
  for (int64_t divisor = 2; divisor <= kLargestDivisor; ++divisor) {
    int64_t multiple = (2 * rise * divisor + range) / (2 * range);
    std::optional<Length> found;
    for (int64_t rest = 0; rest < divisor; ++rest) {
      Length share{multiple, divisor * sizes.front() - multiple * last() + rest, divisor};
      if (share.multiple * first() + share.add < 0 || !fits(share, sizes)) continue;
      auto differs = [&](int64_t t) { return share.at(t) != found->at(t); };
      if (found && llvm::any_of(llvm::seq_inclusive(first(), last()), differs)) return std::nullopt;
      if (!found) found = share;
    }
    if (found) return found;
  }
  return std::nullopt;
}

std::optional<std::pair<Length, int64_t>> Programs::multipleOf(ArrayRef<int64_t> numbers) const {
  if (std::optional<Length> length = lengthOf(numbers)) return std::pair(*length, int64_t(1));
  for (const Length &length : known) {
    int64_t longest = length.at(all.front().length), times = longest ? numbers.front() / longest : 0;
    bool isMultiple = llvm::all_of(llvm::zip_equal(all, numbers), [&](auto pair) {
      return length.at(std::get<0>(pair).length) * times == std::get<1>(pair);
    });
    if (isMultiple) return std::pair(length, times);
  }
  return std::nullopt;
}

void Programs::remember(const Length &length) {
  if (!length.isFixed() && !llvm::is_contained(known, length)) known.push_back(length);
}

} // namespace sprig
