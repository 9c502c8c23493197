// Arrays as the interpreter takes them. For interpret and bisectModel.
#pragma once
#include "lib/Interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/sprig/Model.h"

namespace sprig::cli {

/// The arrays as the function's inputs, in its order; they must outlive the tensors.
llvm::SmallVector<interp::Tensor> inputTensors(mlir::func::FuncOp function, const BoundInputs &inputs);

} // namespace sprig::cli
