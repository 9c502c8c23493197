// Marks of operations that are kept in their locations, which rewrites keep: what an operation is replaced by has them,
// too. For what users say of operations before the graph is rewritten: devices, values to compute again, what gradients
// are of.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

namespace sprig::ir {

/// A UnitAttr: what the operation computes is not kept for the backward pass, but computed again. For remat.
inline constexpr llvm::StringLiteral kRecomputeMark = "nn.recompute";
/// A StringAttr: the operation is part of the gradient of the forward operation of this name, at the same place.
inline constexpr llvm::StringLiteral kGradientMark = "nn.gradient_of";

inline mlir::Location withMark(mlir::Location location, llvm::StringRef name, mlir::Attribute value) {
  mlir::MLIRContext *context = location.getContext();
  mlir::NamedAttribute mark(mlir::StringAttr::get(context, name), value);
  return mlir::FusedLoc::get({location}, mlir::DictionaryAttr::get(context, mark), context);
}

/// Where the gradient of an operation is.
inline mlir::Location gradientLoc(mlir::Operation *forward) {
  return withMark(forward->getLoc(), kGradientMark, forward->getName().getIdentifier());
}

/// Null where there is none of that name.
inline mlir::Attribute markIn(mlir::Location location, llvm::StringRef name) {
  mlir::Attribute found;
  location->walk([&](mlir::Location part) {
    if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(part))
      if (auto marks = mlir::dyn_cast_if_present<mlir::DictionaryAttr>(fused.getMetadata()))
        if ((found = marks.get(name))) return mlir::WalkResult::interrupt();
    return mlir::WalkResult::advance();
  });
  return found;
}

} // namespace sprig::ir
