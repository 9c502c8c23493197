// Constant tensors as bytes, whichever attribute holds them.
// For importers, folders, packers and the package writer. Layout: row-major, little-endian, an i1 is one byte (0 or 1);
// a splat is one element. The attribute must outlive its view.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <memory>
#include <vector>

namespace sprig::ir {

class ConstantView {
public:
  explicit ConstantView(mlir::ElementsAttr attribute);

  mlir::RankedTensorType type() const { return tensorType; }
  mlir::Type elementType() const { return tensorType.getElementType(); }
  int64_t size() const { return tensorType.getNumElements(); }
  bool isSplat() const { return splat; }
  /// All elements, or one when splat.
  llvm::ArrayRef<char> bytes() const { return owned.empty() ? view : llvm::ArrayRef<char>(owned); }
  /// The bytes of one element; works on splats too.
  llvm::ArrayRef<char> element(int64_t index) const {
    return bytes().slice(splat ? 0 : index * elementBytes, elementBytes);
  }
  /// All elements, splats repeated.
  std::vector<char> expanded() const;
  /// One element as a number; integers above 2^53 round in the first.
  double asDouble(int64_t index) const;
  int64_t asInt64(int64_t index) const;

private:
  mlir::RankedTensorType tensorType;
  int64_t elementBytes = 0;
  bool splat = false;
  llvm::ArrayRef<char> view;
  std::vector<char> owned; // where the attribute stores another form
};

/// Whether a view can be made of the attribute: dense, or a dense resource whose blob is there and has the type's size.
/// Otherwise `reason` says why not.
bool isReadableConstant(mlir::ElementsAttr attribute, std::string &reason);

/// A constant of the given bytes: those of all elements, or of one (a splat). Equal elements become a splat; small
/// constants are uniqued by content, large ones are kept as a resource, unhashed.
mlir::ElementsAttr makeConstant(mlir::RankedTensorType type, std::vector<char> bytes);
mlir::ElementsAttr makeConstant(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes);
/// Of bytes that `owner` keeps, aligned to their elements; a large constant keeps it and copies nothing.
mlir::ElementsAttr makeConstant(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes,
                                std::shared_ptr<const void> owner);

/// A splat of a number, rounded to the element type.
mlir::ElementsAttr makeSplat(mlir::RankedTensorType type, double value);
/// An nn.constant of it; the type is a tensor's.
mlir::Value createSplat(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, double value);

/// The value of an nn.constant whose elements are all equal; null for everything else, null included.
mlir::DenseElementsAttr splatOf(mlir::Operation *op);
inline mlir::DenseElementsAttr splatOf(mlir::Value value) { return splatOf(value.getDefiningOp()); }

/// A number truncated to an integer type, or the end of the type that lies nearest; of NaN 0, of i1 whether it is not
/// 0.
llvm::APInt nearestInteger(double value, mlir::IntegerType type);

} // namespace sprig::ir
