// Types, attributes and places of recorded operations in MLIR, and back.
// For the files of this folder.
#pragma once
#include "lib/Frontend/Graph.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"

namespace sprig::frontend::bridge {

mlir::RankedTensorType toType(mlir::MLIRContext *context, const TensorType &type);
/// Throws Error (internal) for what is no tensor of the dialect.
TensorType fromType(mlir::Type type);

/// "train.cpp:12: linear (layer 'encoder.0')", of a file without its folders; `op` is an operation's name.
std::string describePlace(const Source &source, llvm::StringRef op, const std::string *layer);
/// What an error's text says after the place, without MLIR's way to name operations.
std::string withoutOpNames(const std::string &text);

/// The line, below it the layer's name, and what errors call the operation. Where it has a device, that too, as
/// `lib/Place` keeps it: so what passes make of the operation has it.
mlir::Location locationOf(mlir::MLIRContext *context, const GraphNode &node);
/// The device that a location keeps; null: none.
mlir::StringAttr deviceIn(mlir::Location location);
struct Place {
  Source source;
  const std::string *layer = nullptr;
};
/// The first that the location knows; `otherwise` where it knows none.
Place placeOf(mlir::Location location, const Place &otherwise);

/// Of an operation of a gradient: the name of the forward operation, as it was recorded; else null.
const std::string *forwardIn(mlir::Location location, const Place &place);

/// Writes attributes of one kind of operation after another; texts are parsed once.
class AttributeWriter {
public:
  /// Throws Error (usage) for one that the operation has not, or that is of another kind.
  void write(mlir::Operation *op, const Attr &attr);

private:
  mlir::Attribute parse(mlir::Operation *op, const Attr &attr, const std::string &text);
  llvm::StringMap<mlir::Attribute> parsed;
};
/// An operation's own attributes; what passes put on it is left out.
AttrList attributesOf(mlir::Operation *op);

} // namespace sprig::frontend::bridge
