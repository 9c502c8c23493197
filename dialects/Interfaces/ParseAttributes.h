// For parsers of operations that are written by hand.
#pragma once
#include "mlir/IR/OpImplementation.h"

namespace sprig {

/// `attributes {...}`, where it stands: an operation's own attributes must have their types. Generated parsers look at
/// that; whatever else makes the operation takes an attribute of another type for one that is not there.
inline mlir::ParseResult parseAttributes(mlir::OpAsmParser &parser, mlir::OperationState &result) {
  llvm::SMLoc place = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes)) return mlir::failure();
  auto error = [&] { return parser.emitError(place) << "'" << result.name.getStringRef() << "' op "; };
  return result.name.getRegisteredInfo()->verifyInherentAttrs(result.attributes, error);
}

} // namespace sprig
