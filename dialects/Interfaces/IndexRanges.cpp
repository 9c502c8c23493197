#include "dialects/Interfaces/IndexRanges.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include <algorithm>

using namespace mlir;
using namespace sprig;

namespace {
// Larger tensors, and inputs with more ranges, keep the one range that will do for all elements.
constexpr int64_t kMostElements = int64_t(1) << 24, kMostRanges = 4096;

int64_t countElements(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

bool holdsIntegers(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && isa<IntegerType>(tensor.getElementType()) && tensor.getElementTypeBitWidth() > 1;
}

int64_t saturatingDifference(int64_t value, int64_t amount) {
  int64_t result = 0;
  if (!__builtin_sub_overflow(value, amount, &result)) return result;
  return amount > 0 ? IntegerRange::kLowest : IntegerRange::kHighest;
}
} // namespace

IntegerRange sprig::commonRange(ArrayRef<IntegerRange> ranges) {
  IntegerRange all;
  for (IntegerRange range : ranges) all = all.within(range);
  return all;
}

IntegerRange IntegerRange::before(int64_t added) const {
  return {low == kLowest ? low : saturatingDifference(low, added),
          high == kHighest ? high : saturatingDifference(high, added)};
}

void IndexRanges::visit(Block &block) {
  for (Operation &op : llvm::reverse(block))
    if (auto user = dyn_cast<IndexRangeOpInterface>(op))
      user.narrowOperands(*this);
    else if (sharesStorage(&op))
      narrow(op.getOperand(0), of(op.getResult(0)));
}

ArrayRef<IntegerRange> IndexRanges::of(Value value) const {
  auto found = ranges.find(value);
  return found == ranges.end() ? ArrayRef<IntegerRange>() : ArrayRef<IntegerRange>(found->second);
}

void IndexRanges::narrow(Value value, IntegerRange range) { narrow(value, ArrayRef(range)); }

void IndexRanges::narrow(Value value, ArrayRef<IntegerRange> wanted) {
  if (!holdsIntegers(value) || wanted.empty()) return;
  // Not a reference to the map's own, which may move.
  std::vector<IntegerRange> given(wanted.begin(), wanted.end()), &kept = ranges[value];
  if (kept.empty()) kept.resize(1);
  if (kept.size() < given.size()) kept.resize(given.size(), IntegerRange(kept.front()));
  for (auto [i, range] : llvm::enumerate(kept)) range = range.within(given[given.size() == 1 ? 0 : i]);
}

void IndexRanges::narrowPlaces(Value value, Value result, llvm::function_ref<int64_t(int64_t)> places,
                               llvm::function_ref<IntegerRange(IntegerRange, int64_t)> range) {
  ArrayRef<IntegerRange> wanted = of(result);
  if (!holdsIntegers(value) || wanted.empty()) return;
  int64_t count = countElements(value), results = countElements(result);
  auto at = [&](int64_t i) {
    IntegerRange own = wanted[wanted.size() == 1 ? 0 : size_t(i)];
    return range ? range(own, i) : own;
  };
  bool isLarge = std::max(count, results) > kMostElements;
  std::vector<IntegerRange> own(isLarge ? 1 : size_t(count));
  for (int64_t i = 0; i < results; ++i) {
    IntegerRange &here = own[isLarge ? 0 : size_t(places(i))];
    here = here.within(at(i));
  }
  if (llvm::all_equal(own)) own.resize(std::min<size_t>(own.size(), 1));
  narrow(value, own);
}

Value IndexRanges::sourceOf(Value value) const {
  for (auto found = sources.find(value); found != sources.end(); found = sources.find(value)) value = found->second;
  return value;
}

// An open end is drawn near the other one. A range that holds nothing becomes its lower end.
static IntegerRange closedRange(IntegerRange range) {
  if (range == IntegerRange()) return {0, 1};
  if (range.low == IntegerRange::kLowest) range.low = std::min<int64_t>(0, range.high);
  if (range.high == IntegerRange::kHighest) range.high = std::max<int64_t>(1, range.low);
  return {range.low, std::max(range.low, range.high)};
}

// One for each place along dimensions by which ranges differ.
static std::vector<int64_t> encodedRanges(ArrayRef<int64_t> shape, ArrayRef<IntegerRange> ranges) {
  if (llvm::all_of(ranges, [](IntegerRange range) { return range == IntegerRange(); })) return {};
  std::vector<IntegerRange> rest(ranges.begin(), ranges.end());
  std::vector<int64_t> text(shape.size(), 0);
  int64_t inner = 1; // elements behind the dimension that are left
  for (size_t d = shape.size(); rest.size() > 1 && d-- > 0;) {
    int64_t size = shape[d], outer = int64_t(rest.size()) / (size * inner);
    auto at = [&](int64_t o, int64_t i, int64_t j) { return rest[size_t((o * size + i) * inner + j)]; };
    bool differs = false;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 1; i < size; ++i)
        for (int64_t j = 0; j < inner; ++j) differs |= !(at(o, i, j) == at(o, 0, j));
    text[d] = differs;
    if (differs) {
      inner *= size;
      continue;
    }
    std::vector<IntegerRange> kept;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t j = 0; j < inner; ++j) kept.push_back(at(o, 0, j));
    rest = std::move(kept);
  }
  if (int64_t(rest.size()) > kMostRanges) {
    text.assign(shape.size(), 0);
    rest.assign(1, commonRange(rest));
  }
  for (IntegerRange range : rest) {
    range = closedRange(range);
    text.insert(text.end(), {range.low, range.high});
  }
  return text;
}

std::vector<std::vector<int64_t>> sprig::indexRangesOf(FunctionOpInterface function) {
  IndexRanges ranges;
  if (!function.isExternal()) ranges.visit(function.front());
  std::vector<std::vector<int64_t>> all;
  for (BlockArgument argument : function.getArguments())
    all.push_back(holdsIntegers(argument)
                      ? encodedRanges(cast<RankedTensorType>(argument.getType()).getShape(), ranges.of(argument))
                      : std::vector<int64_t>());
  return all;
}

#include "dialects/Interfaces/IndexRangeInterface.cpp.inc"
