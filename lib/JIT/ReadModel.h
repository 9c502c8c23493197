// A model of any form as a module in the nn dialect.
// For the JIT; throws sprig::Error.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "sprig/compile.h"

namespace sprig {

/// The content of a model, read from its file if it is one.
std::string readContent(const Model &model);

/// Whether the content is a package.
bool isPackage(const std::string &content);

/// One set of sizes per entry: the cross product of `dims`.
std::vector<std::map<std::string, int64_t>> entrySizes(const CompileOptions &options);

/// Imports ONNX, one function for each set of sizes, in their order, with the options' shapes and values; they are
/// entries of one name. For training, what an inference does without stays.
mlir::OwningOpRef<mlir::ModuleOp> readEntries(mlir::MLIRContext &context, const Model &model,
                                              const std::string &content,
                                              const std::vector<std::map<std::string, int64_t>> &sizes,
                                              const CompileOptions &options, bool training);

/// Imports ONNX or parses text; the module is verified. Entries get the attribute `nn.entry`, their common name.
mlir::OwningOpRef<mlir::ModuleOp> readModule(mlir::MLIRContext &context, const Model &model, const std::string &content,
                                             const CompileOptions &options);

} // namespace sprig
