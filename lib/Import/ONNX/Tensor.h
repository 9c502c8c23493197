// ONNX tensors and element types as MLIR ones.
// For the importer. Checks sizes, data and external files before it takes memory for them.
#pragma once
#include "lib/Import/ONNX/Model.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace sprig::onnximport {

/// The element type of an ONNX data type, or null where Sprig has none (strings, complex) or only stores
/// it (Narrow.h).
mlir::Type elementType(mlir::MLIRContext *context, int dataType);
/// ONNX's number of an element type; 0 when it has none.
int dataTypeOf(mlir::Type elementType);
/// How errors call an ONNX data type: f32, i64, string, float8e4m3fn, ...
std::string dataTypeName(int dataType);
/// "tensor(float)", as operator schemas write it.
std::string schemaTypeName(mlir::Type elementType);

/// The product of the sizes, or nothing when it does not fit.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);
/// 32x128, as shapes print.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// The value of a tensor. `what` is how errors call it: "initializer 'w1'". `owner` keeps the tensor, and with it large
/// constants that are bytes of it; null: nobody does, they are copied.
mlir::ElementsAttr readTensor(mlir::MLIRContext *context, const Model &model, const onnx::TensorProto &tensor,
                              const std::string &what, int64_t maxBytes, std::shared_ptr<const void> owner);
/// Who keeps the tensors of the model itself.
std::shared_ptr<const void> ownerOf(const Model &model);
/// Its type alone, checked like the whole.
mlir::RankedTensorType readTensorType(mlir::MLIRContext *context, const Model &model, const onnx::TensorProto &tensor,
                                      const std::string &what, int64_t maxBytes);

} // namespace sprig::onnximport
