#include "test/unit/OpTable/Cuda/CudaRows.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include "lib/Target/CodeGen/KernelIdentity.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "test/unit/OpTable/Rows.h"
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

int64_t bytesOf(mlir::Type type) {
  auto tensor = llvm::cast<mlir::RankedTensorType>(type);
  return tensor.getNumElements() * storageBytes(tensor.getElementType());
}

mlir::MLIRContext *loadedContext() {
  sharedContext().loadAllAvailableDialects();
  return &sharedContext();
}

} // namespace

CudaRows::CudaRows(std::unique_ptr<KernelRunner> given)
    : runner(std::move(given)), lowering(loadedContext()),
      emitter(llvm::cantFail(cuda::PtxEmitter::create(runner->arch(), /*level=*/2))), text(ptxHead(runner->arch())) {}

std::string CudaRows::take(mlir::func::FuncOp function) {
  std::string why;
  mlir::ScopedDiagnosticHandler handler(&sharedContext(), [&](mlir::Diagnostic &diagnostic) {
    why += (why.empty() ? "" : "; ") + diagnostic.str();
    for (mlir::Diagnostic &note : diagnostic.getNotes()) why += ", " + note.str();
    return mlir::success();
  });
  mlir::OwningOpRef<mlir::ModuleOp> holder = mlir::ModuleOp::create(function.getLoc());
  mlir::OpBuilder b = mlir::OpBuilder::atBlockEnd(holder->getBody());
  auto module = mlir::gpu::GPUModuleOp::create(b, function.getLoc(), "kernels");
  std::map<mlir::Operation *, RowKernel> made;
  std::map<std::string, RowKernel> fresh;
  int number = 0;
  for (auto dispatch : function.getBody().front().getOps<kernel::DispatchOp>()) {
    auto plan = cuda::planCudaDispatch(dispatch);
    if (mlir::failed(plan)) return why;
    // Steps of a loop over time, unrolled, are equal: one of them is made.
    std::string description = describeForCode(dispatch);
    const RowKernel *equal = nullptr;
    for (auto *known : {&kernelsByDescription, &fresh})
      if (auto found = known->find(description); found != known->end()) equal = &found->second;
    if (equal) {
      made[dispatch] = *equal;
      continue;
    }
    std::string name = function.getName().str() + "_" + std::to_string(number++);
    auto kernel = emitCudaKernel(dispatch, name, module, runner->arch());
    if (mlir::failed(kernel)) return why;
    made[dispatch] = fresh[description] = {name, kernel->launch, plan->tiles, plan->scratchBytes};
  }
  if (!fresh.empty()) {
    if (mlir::failed(mlir::verify(*holder)) || mlir::failed(lowering.run(module)))
      return why.empty() ? "not valid" : why;
    auto functions = emitter.functions(module);
    if (!functions) return llvm::toString(functions.takeError());
    text += *functions;
  }
  kernels.merge(made);
  kernelsByDescription.merge(fresh);
  return "";
}

std::vector<Bytes> CudaRows::run(mlir::func::FuncOp function, const std::vector<interp::Tensor> &inputs,
                                 const std::string &name, sprig_rt_kernel_status *error) {
  llvm::DenseMap<mlir::Value, Bytes> values;
  mlir::Block &body = function.getBody().front();
  for (auto [argument, input] : llvm::zip_equal(body.getArguments(), inputs)) values[argument] = input.bytes();
  for (mlir::Operation &op : body.without_terminator()) {
    if (auto constant = llvm::dyn_cast<ir::ConstantOp>(op)) {
      values[constant.getResult()] = ir::ConstantView(llvm::cast<mlir::ElementsAttr>(constant.getValue())).expanded();
    } else if (sharesStorage(&op)) {
      Bytes bytes = values.lookup(op.getOperand(0));
      values[op.getResult(0)] = std::move(bytes);
    } else if (auto dispatch = llvm::dyn_cast<kernel::DispatchOp>(op)) {
      std::vector<Bytes> copies;
      for (mlir::Value operand : dispatch->getOperands()) copies.push_back(values.lookup(operand));
      for (mlir::Type type : dispatch->getResultTypes()) copies.emplace_back(bytesOf(type), char(0xa5));
      std::vector<Bytes *> buffers;
      for (Bytes &bytes : copies) buffers.push_back(&bytes);
      if (const RowKernel &kernel = kernels.at(dispatch); kernel.tiles > 0) {
        sprig_rt_kernel_status status{};
        runner->run(kernel, buffers, status, name);
        if (!error) EXPECT_EQ(status.code, SPRIG_RT_KERNEL_OK) << name;
        if (error && status.code) *error = status;
      }
      for (auto [i, result] : llvm::enumerate(dispatch->getResults()))
        values[result] = copies[dispatch->getNumOperands() + i];
    } else {
      ADD_FAILURE() << name << ": holds " << op.getName().getStringRef().str();
    }
  }
  std::vector<Bytes> outputs;
  for (mlir::Value value : body.getTerminator()->getOperands()) outputs.push_back(values.lookup(value));
  return outputs;
}

} // namespace sprig::optable
