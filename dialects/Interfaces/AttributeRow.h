// Discardable attributes that dialects state as rows of a table: where one stands, and of what type it is.
// For the dialects' verifiers.
#ifndef SPRIG_INTERFACES_ATTRIBUTEROW_H
#define SPRIG_INTERFACES_ATTRIBUTEROW_H

#include "mlir/IR/Operation.h"

namespace sprig::ir {

struct AttributeRow {
  llvm::StringRef name, place;
  bool (*standsOn)(mlir::Operation *); ///< null: it stands on arguments and results
  llvm::StringRef type;
  bool (*hasType)(mlir::Attribute);
};

template <typename OpT> bool isOn(mlir::Operation *op) { return llvm::isa<OpT>(op); }
template <typename AttrT> bool isOf(mlir::Attribute value) { return llvm::isa<AttrT>(value); }

/// An error where the attribute stands elsewhere than its row says, or is of another type. `port` says of which
/// argument or result it is; empty for the operation itself.
inline mlir::LogicalResult verifyByRow(const AttributeRow &row, mlir::Operation *op, const llvm::Twine &port,
                                       mlir::Attribute value) {
  auto error = [&] { return op->emitOpError("has '") << row.name << "'" << port; };
  bool isPlace = port.isTriviallyEmpty() ? row.standsOn && row.standsOn(op) : !row.standsOn;
  if (!isPlace) return error() << ", which stands on " << row.place;
  if (!row.hasType(value)) return error() << " = " << value << ", expected " << row.type;
  return mlir::success();
}

} // namespace sprig::ir

#endif
