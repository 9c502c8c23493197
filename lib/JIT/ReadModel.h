// What the JIT is asked, as the reader of models (lib/Model) takes it.
// For the functions of this library; throws sprig::Error.
#pragma once
#include "lib/Model/ReadModel.h"
#include "sprig/compile.h"

namespace sprig {

/// The content of a model, read from its file if it is one.
std::string readContent(const Model &model);

/// Of that content, which has to live as long. External data of a model in memory are nowhere.
ModelSource sourceOf(const Model &model, const std::string &content);

/// One set of sizes per entry: the cross product of `dims`.
std::vector<std::map<std::string, int64_t>> entrySizes(const CompileOptions &options);

/// An entry for each set of sizes, in their order, with the options' shapes and values. For training, what an inference
/// does without stays.
ImportOptions importOptions(const std::vector<std::map<std::string, int64_t>> &sizes, const CompileOptions &options,
                            bool training);

/// MLIR; refuses sizes and values that the options have for inputs.
mlir::OwningOpRef<mlir::ModuleOp> readText(mlir::MLIRContext &context, const ModelSource &model,
                                           const CompileOptions &options);

} // namespace sprig
