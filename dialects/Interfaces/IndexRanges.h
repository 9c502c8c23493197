// Which integers the elements of values may be, so that no operation that uses them finds an index out of range.
// For random inputs of a model (sprig bench, profile, --random-inputs), which the program of a package states.
#pragma once
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <limits>
#include <vector>

namespace sprig {

/// On a program: an ArrayAttr of a DenseI64ArrayAttr for each input, as indexRangesOf gives them. The nn dialect
/// verifies it (dialects/NN/Attributes.cpp).
inline constexpr llvm::StringLiteral kIndexRangesAttr = "nn.index_ranges";

/// Both ends are in it.
struct IntegerRange {
  static constexpr int64_t kLowest = std::numeric_limits<int64_t>::min(),
                           kHighest = std::numeric_limits<int64_t>::max();
  int64_t low = kLowest, high = kHighest;

  bool operator==(const IntegerRange &) const = default;
  IntegerRange within(IntegerRange other) const {
    return {low > other.low ? low : other.low, high < other.high ? high : other.high};
  }
  /// Of what is in it after an integer was added.
  IntegerRange before(int64_t added) const;
};

/// What is in all of them.
IntegerRange commonRange(llvm::ArrayRef<IntegerRange> ranges);

class IndexRanges {
public:
  /// Asks a block's operations (IndexRangeOpInterface), the last first: users come before what they use.
  void visit(mlir::Block &block);

  /// One range for each element, or one for all; none where any integer will do.
  llvm::ArrayRef<IntegerRange> of(mlir::Value value) const;
  /// All elements. Of values that are no integers, nothing is kept.
  void narrow(mlir::Value value, IntegerRange range);
  /// One range for each element, or one for all; or none.
  void narrow(mlir::Value value, llvm::ArrayRef<IntegerRange> ranges);
  /// Element `places(i)` of a value is what element i of `result` is made of: by `range` of what that may be, where it
  /// is not free, else by nothing. Without `range` it is the same integer.
  void narrowPlaces(mlir::Value value, mlir::Value result, llvm::function_ref<int64_t(int64_t)> places,
                    llvm::function_ref<IntegerRange(IntegerRange, int64_t)> range = {});
  /// An argument of a region is the operand, or a part of it.
  void bind(mlir::BlockArgument argument, mlir::Value operand) { sources[argument] = operand; }
  /// The value outside that an argument is.
  mlir::Value sourceOf(mlir::Value value) const;

private:
  llvm::DenseMap<mlir::Value, std::vector<IntegerRange>> ranges;
  llvm::DenseMap<mlir::Value, mlir::Value> sources;
};

/// For each argument of a function, ranges as packages state them: for each dimension 1 where they differ along it,
/// else 0; then the least and the greatest integer of each place along those dimensions. Empty where any integer will
/// do.
std::vector<std::vector<int64_t>> indexRangesOf(mlir::FunctionOpInterface function);

} // namespace sprig

#include "dialects/Interfaces/IndexRangeInterface.h.inc"
