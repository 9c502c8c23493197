// A model as an MLIR module in the nn dialect, with the diagnostics that reading it made.
// For commands that look at the IR: inspect, check --interpreter, --emit mlir.
#pragma once
#include "lib/Data/Array.h"
#include "dialects/NN/PortNames.h"
#include "lib/Model/ReadModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "tools/sprig/Model.h"
#include <memory>

namespace sprig::cli {

class ImportedModel {
public:
  /// Imports ONNX with one function per entry, or parses MLIR text. Throws what is wrong with the model.
  /// For training, what an inference does without stays (ImportOptions).
  ImportedModel(const Model &model, const std::vector<EntryRequest> &entries, const Settings &settings,
                bool training = false);

  mlir::MLIRContext &context() { return *owner; }
  mlir::ModuleOp module() { return *moduleRef; }
  std::vector<std::string> entryNames() const;

private:
  std::unique_ptr<mlir::MLIRContext> owner;
  mlir::OwningOpRef<mlir::ModuleOp> moduleRef;
};

/// As the reader of models takes it; external data is looked for beside the file.
ModelSource sourceOf(const Model &model);

/// The model, parsed; once for all that ask before it is imported.
const onnximport::Model &parsedONNX(const Model &model);

/// The type of an array as a tensor.
mlir::RankedTensorType tensorType(mlir::MLIRContext &context, const data::Array &array);

} // namespace sprig::cli
