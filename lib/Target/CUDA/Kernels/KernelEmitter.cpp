#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include "lib/Target/CUDA/Kernels/Builder/GpuBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sprig;

const GpuEmitter *sprig::findGpuEmitter(kernel::DispatchOp dispatch) {
  for (const GpuEmitter *emitter : gpuEmitters())
    if (emitter->matches(dispatch)) return emitter;
  return nullptr;
}

static const GpuEmitter *findOrReport(kernel::DispatchOp dispatch) {
  const GpuEmitter *emitter = findGpuEmitter(dispatch);
  if (!emitter) {
    InFlightDiagnostic diagnostic = dispatch.emitOpError("has no kernel for CUDA yet");
    for (Operation &op : dispatch->getRegion(0).front().without_terminator())
      diagnostic.attachNote(op.getLoc()) << "it holds '" << op.getName() << "', which gives " << op.getResultTypes();
  }
  return emitter;
}

FailureOr<KernelPlan> sprig::planCudaDispatch(kernel::DispatchOp dispatch) {
  const GpuEmitter *emitter = findOrReport(dispatch);
  if (!emitter) return failure();
  GpuPlan plan = emitter->plan(dispatch);
  return KernelPlan{plan.tiles, plan.scratchBytes};
}

bool sprig::mayOverwriteOnCuda(kernel::DispatchOp dispatch, unsigned operand, unsigned result) {
  if (dispatch->getOperand(operand).getType() != dispatch->getResult(result).getType()) return false;
  if (llvm::count(dispatch->getOperands(), dispatch->getOperand(operand)) != 1) return false;
  const GpuEmitter *emitter = findGpuEmitter(dispatch);
  return emitter && emitter->mayOverwrite(dispatch, operand, result);
}

// LLVM 22 joins a shift and the choice of zero for amounts that are too large into one instruction, which takes the
// amount's lower 32 bits alone. Of an amount that is bounded before it does not.
static void boundShifts(gpu::GPUFuncOp function) {
  function.walk([](Operation *op) {
    if (!isa<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>(op)) return;
    Type type = op->getResult(0).getType();
    Value amount = op->getOperand(1);
    if (!getElementTypeOrSelf(type).isInteger(64) || matchPattern(amount, m_Constant())) return;
    if (amount.getDefiningOp<arith::MinUIOp>()) return; // in a part of a kernel, which has been here
    OpBuilder b(op);
    TypedAttr most = b.getI64IntegerAttr(63);
    if (auto vector = dyn_cast<VectorType>(type)) most = DenseElementsAttr::get(vector, ArrayRef<int64_t>(63));
    Value bound = arith::ConstantOp::create(b, op->getLoc(), type, most);
    op->setOperand(1, arith::MinUIOp::create(b, op->getLoc(), amount, bound));
  });
}

FailureOr<CudaKernel> sprig::emitCudaKernel(kernel::DispatchOp dispatch, StringRef name, gpu::GPUModuleOp module,
                                            const CudaArch &arch, int32_t firstOperation) {
  const GpuEmitter *emitter = findOrReport(dispatch);
  if (!emitter) return failure();
  MLIRContext *context = dispatch.getContext();
  context
      ->loadDialect<arith::ArithDialect, gpu::GPUDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                    nvgpu::NVGPUDialect, NVVM::NVVMDialect, scf::SCFDialect, vector::VectorDialect>();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> arguments;
  for (Type type : dispatch->getOperandTypes()) arguments.push_back(bufferType(cast<RankedTensorType>(type)));
  for (Type type : dispatch->getResultTypes()) arguments.push_back(bufferType(cast<RankedTensorType>(type)));
  GpuPlan plan = emitter->plan(dispatch);
  arguments.append({pointer, MemRefType::get({plan.scratchBytes}, builder.getI8Type()), builder.getI32Type()});
  auto function =
      gpu::GPUFuncOp::create(builder, dispatch.getLoc(), name, builder.getFunctionType(arguments, TypeRange()));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  // Then ranges of thread numbers are known, and ptxas knows how many registers there are.
  function.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr({int32_t(plan.threads), 1, 1}));

  builder.setInsertionPointToStart(&function.getBody().front());
  GpuBuilder kernel(builder, function, dispatch, plan.threads, arch, firstOperation);
  Value first = arith::IndexCastUIOp::create(builder, kernel.loc, builder.getIndexType(), kernel.firstTile());
  Value block = gpu::BlockIdOp::create(builder, kernel.loc, gpu::Dimension::x);
  LogicalResult emitted = plan.tiles ? emitter->emit(dispatch, kernel, kernel.add(block, first)) : success();
  if (failed(emitted)) {
    function.erase();
    return failure();
  }
  gpu::ReturnOp::create(builder, kernel.loc);
  boundShifts(function);
  return CudaKernel{function, {uint32_t(plan.threads), kernel.dynamicSharedBytes}};
}

void sprig::registerCudaKernelDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, gpu::GPUDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  nvgpu::NVGPUDialect, NVVM::NVVMDialect, scf::SCFDialect, vector::VectorDialect>();
}
