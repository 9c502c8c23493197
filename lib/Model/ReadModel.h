// A model that is no package as a module in the nn dialect.
// For the command line and the JIT, which differ in how they are asked alone; throws sprig::Error.
#pragma once
#include "lib/Import/ONNX/ImportONNX.h"
#include "lib/Model/ModelKind.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <string_view>

namespace sprig {

/// A model's content, and what is known of it.
struct ModelSource {
  std::string_view content;
  std::string name;   ///< as errors call it
  std::string folder; ///< of external data; empty: there is none
  ModelKind kind = ModelKind::onnx;
};

ParsedONNX parseONNX(const ModelSource &model);

/// Imports ONNX, one function for each of the options' entries and in their order. They are entries of one name,
/// `main`: the runtime picks among them by shape.
mlir::OwningOpRef<mlir::ModuleOp> importEntries(mlir::MLIRContext &context, const onnximport::Model &model,
                                                const ImportOptions &options);

/// Parses and checks MLIR text or bytecode, which is to start from the phase `compileFrom` (ReadText.h).
mlir::OwningOpRef<mlir::ModuleOp> readProgram(mlir::MLIRContext &context, const ModelSource &model,
                                              const std::string &compileFrom);

/// Throws usage where `what` is asked of MLIR text, whose inputs are as they are written.
[[noreturn]] void refuseOfText(const std::string &name, const std::string &what);

} // namespace sprig
