#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

const sprig::cpu::KernelEmitter *sprig::cpu::findKernelEmitter(kernel::DispatchOp dispatch) {
  for (const KernelEmitter *emitter : kernelEmitters())
    if (emitter->matches(dispatch)) return emitter;
  return nullptr;
}

static const sprig::cpu::KernelEmitter *findOrReport(sprig::kernel::DispatchOp dispatch) {
  const sprig::cpu::KernelEmitter *emitter = sprig::cpu::findKernelEmitter(dispatch);
  if (!emitter) {
    InFlightDiagnostic diagnostic = dispatch.emitOpError("has no kernel for the CPU");
    for (Operation &op : dispatch->getRegion(0).front().without_terminator())
      diagnostic.attachNote(op.getLoc()) << "it holds '" << op.getName() << "'";
  }
  return emitter;
}

FailureOr<sprig::KernelPlan> sprig::cpu::planDispatch(kernel::DispatchOp dispatch) {
  const KernelEmitter *emitter = findOrReport(dispatch);
  if (!emitter) return failure();
  return emitter->plan(dispatch);
}

bool sprig::cpu::mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned result) {
  if (dispatch->getOperand(operand).getType() != dispatch->getResult(result).getType()) return false;
  if (llvm::count(dispatch->getOperands(), dispatch->getOperand(operand)) != 1) return false;
  const KernelEmitter *emitter = findKernelEmitter(dispatch);
  return emitter && emitter->mayOverwrite(dispatch, operand, result);
}

sprig::cpu::CpuArch sprig::cpu::tunedTarget(kernel::DispatchOp dispatch, const CpuArch &target) {
  CpuArch tuned = target;
  auto tile = dyn_cast_if_present<kernel::RegisterTileAttr>(dispatch.getTileAttr());
  // A dump may be edited by hand: what does not fit is no choice.
  if (!tile || tile.getRows() > 14 || !llvm::is_contained({1, 2, 4, 8}, tile.getVectors())) return tuned;
  tuned.tileRows = tile.getRows();
  tuned.tileVectors = tile.getVectors();
  return tuned;
}

FailureOr<func::FuncOp> sprig::cpu::emitKernel(kernel::DispatchOp dispatch, StringRef name, const CpuArch &target,
                                               ModuleOp module, bool isPart) {
  const KernelEmitter *emitter = findOrReport(dispatch);
  if (!emitter) return failure();
  MLIRContext *context = dispatch.getContext();
  context->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                       memref::MemRefDialect, scf::SCFDialect, vector::VectorDialect>();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Type index = builder.getIndexType();
  SmallVector<Type> arguments{index, index,
                              MemRefType::get({emitter->plan(dispatch).scratchBytes}, builder.getI8Type()),
                              LLVM::LLVMPointerType::get(context)};
  if (!isPart && emitter->readsBufferList(dispatch)) {
    arguments.push_back(LLVM::LLVMPointerType::get(context));
  } else {
    for (Type type : dispatch->getOperandTypes()) arguments.push_back(bufferType(cast<RankedTensorType>(type)));
    for (Type type : dispatch->getResultTypes()) arguments.push_back(bufferType(cast<RankedTensorType>(type)));
  }
  auto function =
      func::FuncOp::create(builder, dispatch.getLoc(), name, builder.getFunctionType(arguments, builder.getI32Type()));
  builder.setInsertionPointToStart(function.addEntryBlock());
  CpuArch tuned = tunedTarget(dispatch, target);
  KernelBuilder kernel(builder, function, dispatch, tuned);
  if (failed(emitter->emit(dispatch, kernel))) {
    function.erase();
    return failure();
  }
  // An emitter that has a code of its own to give ends the function itself.
  Block &body = function.getBody().back();
  if (body.empty() || !body.back().hasTrait<OpTrait::IsTerminator>()) kernel.finish();
  return function;
}

void sprig::cpu::registerKernelDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  scf::SCFDialect, vector::VectorDialect>();
}
