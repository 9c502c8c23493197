// Inputs and outputs of models that are no packages.
#include "lib/Import/ONNX/ImportONNX.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "tools/sprig/compile/ImportModel.h"

namespace sprig::cli {
namespace {

std::vector<InputSpec> toSpecs(const std::vector<InterfaceValue> &values) {
  std::vector<InputSpec> specs;
  for (const InterfaceValue &value : values) {
    InputSpec spec{value.name, value.dtype, {}, value.hasShape, value.holder};
    for (const InterfaceDim &dim : value.dims) spec.dims.push_back({dim.size, dim.symbol});
    specs.push_back(std::move(spec));
  }
  return specs;
}

InputSpec specOf(const std::string &name, mlir::Type type) {
  auto tensor = llvm::cast<mlir::RankedTensorType>(type);
  std::string element;
  llvm::raw_string_ostream(element) << tensor.getElementType();
  InputSpec spec{name, element, {}, true};
  for (int64_t size : tensor.getShape()) spec.dims.push_back({size, ""});
  return spec;
}

// Inputs or outputs of the first function of an MLIR module.
std::vector<InputSpec> specsOfText(const Model &model, bool inputs) {
  ImportedModel imported(model, {}, {});
  auto names = imported.entryNames();
  auto function = imported.module().lookupSymbol<mlir::func::FuncOp>(names.empty() ? "" : names.front());
  if (!function) badInput(model.path + ": has no public function");
  auto labels = inputs ? ir::argumentNames(function) : ir::resultNames(function);
  auto types = inputs ? function.getArgumentTypes() : function.getResultTypes();
  std::vector<InputSpec> specs;
  for (size_t i = 0; i < types.size(); ++i) {
    if (!llvm::isa<mlir::RankedTensorType>(types[i]))
      badInput(model.path + ": function '" + names.front() + "' takes something other than ranked tensors");
    specs.push_back(specOf(labels[i], types[i]));
  }
  return specs;
}

} // namespace

std::vector<InputSpec> inputsOf(const Model &model) {
  if (model.kind == ModelKind::mlir) return specsOfText(model, /*inputs=*/true);
  return toSpecs(inspectONNX(parsedONNX(model)).inputs);
}

std::vector<InputSpec> outputsOf(const Model &model) {
  if (model.kind == ModelKind::mlir) return specsOfText(model, /*inputs=*/false);
  return toSpecs(inspectONNX(parsedONNX(model)).outputs);
}

bool drawsRandomNumbers(const Model &model) {
  return model.kind == ModelKind::onnx && inspectONNX(parsedONNX(model)).drawsRandomNumbers;
}

} // namespace sprig::cli
