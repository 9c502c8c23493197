#include "tools/sprig/run/Interpret.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Pipeline/Diagnostics.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/sprig/compile/ImportModel.h"
#include "tools/sprig/run/InterpreterInputs.h"

using namespace mlir;

namespace sprig::cli {
namespace {

data::Array toArray(const interp::Tensor &tensor, const std::string &name) {
  data::Array array;
  array.name = name;
  std::string type;
  llvm::raw_string_ostream(type) << tensor.elementType();
  array.dtype = dtypeOf(type).value();
  array.shape.assign(tensor.shape().begin(), tensor.shape().end());
  array.bytes = tensor.bytes();
  return array;
}

} // namespace

llvm::SmallVector<interp::Tensor> inputTensors(func::FuncOp function, const BoundInputs &inputs) {
  llvm::SmallVector<interp::Tensor> tensors;
  std::vector<std::string> names = ir::argumentNames(function);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto array = inputs.arrays.find(names[i]);
    if (array == inputs.arrays.end()) badUse("input '" + names[i] + "' is not given");
    tensors.push_back(
        interp::Tensor::viewBytes(cast<RankedTensorType>(function.getArgument(i).getType()), array->second.bytes));
  }
  return tensors;
}

std::vector<data::Array> interpret(const Model &model, const BoundInputs &inputs, const Settings &settings) {
  ImportedModel imported(model, {inputs.entry}, settings);
  auto function = imported.module().lookupSymbol<func::FuncOp>(imported.entryNames().front());
  llvm::SmallVector<interp::Tensor> tensors = inputTensors(function, inputs);
  DiagnosticText diagnostics(&imported.context());
  auto results = interp::run(function, tensors);
  if (failed(results)) diagnostics.raise(ErrorKind::badInput, model.path + ": the interpreter failed");
  std::vector<data::Array> arrays;
  std::vector<std::string> outputNames = ir::resultNames(function);
  for (auto [i, tensor] : llvm::enumerate(*results)) arrays.push_back(toArray(tensor, outputNames[i]));
  return arrays;
}

} // namespace sprig::cli
