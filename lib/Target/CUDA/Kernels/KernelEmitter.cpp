#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include "lib/Target/CUDA/Kernels/Builder/GpuBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

const GpuEmitter *sprig::cuda::findGpuEmitter(kernel::DispatchOp dispatch, GpuScope scope) {
  const GpuEmitter *slow = nullptr;
  for (const GpuEmitter *emitter : gpuEmitters()) {
    if (!emitter->matches(dispatch)) continue;
    if (scope == GpuScope::grid || !emitter->isSlowInBlock(dispatch)) return emitter;
    if (!slow) slow = emitter;
  }
  return slow;
}

static const GpuEmitter *findOrReport(kernel::DispatchOp dispatch, GpuScope scope = GpuScope::grid) {
  const GpuEmitter *emitter = findGpuEmitter(dispatch, scope);
  if (!emitter) {
    InFlightDiagnostic diagnostic = dispatch.emitOpError("has no kernel for CUDA yet");
    for (Operation &op : dispatch->getRegion(0).front().without_terminator())
      diagnostic.attachNote(op.getLoc()) << "it holds '" << op.getName() << "', which gives " << op.getResultTypes();
  }
  return emitter;
}

FailureOr<KernelPlan> sprig::cuda::planCudaDispatch(kernel::DispatchOp dispatch) {
  const GpuEmitter *emitter = findOrReport(dispatch);
  if (!emitter) return failure();
  GpuPlan plan = emitter->plan(dispatch);
  return KernelPlan{plan.tiles, plan.scratchBytes};
}

bool sprig::cuda::mayOverwriteOnCuda(kernel::DispatchOp dispatch, unsigned operand, unsigned result, GpuScope scope) {
  if (dispatch->getOperand(operand).getType() != dispatch->getResult(result).getType()) return false;
  if (llvm::count(dispatch->getOperands(), dispatch->getOperand(operand)) != 1) return false;
  const GpuEmitter *emitter = findGpuEmitter(dispatch, scope);
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

gpu::GPUFuncOp sprig::cuda::makeGpuFunction(gpu::GPUModuleOp module, Location loc, StringRef name, TypeRange operands,
                                            TypeRange results, const GpuPlan &plan) {
  MLIRContext *context = module.getContext();
  context
      ->loadDialect<arith::ArithDialect, gpu::GPUDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                    nvgpu::NVGPUDialect, NVVM::NVVMDialect, scf::SCFDialect, vector::VectorDialect>();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<Type> arguments;
  for (TypeRange types : {operands, results})
    for (Type type : types) arguments.push_back(bufferType(cast<RankedTensorType>(type)));
  arguments.append({LLVM::LLVMPointerType::get(context), MemRefType::get({plan.scratchBytes}, builder.getI8Type()),
                    builder.getI32Type()});
  auto function = gpu::GPUFuncOp::create(builder, loc, name, builder.getFunctionType(arguments, TypeRange()));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  // Then ranges of thread numbers are known, and ptxas knows how many registers there are.
  function.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr({int32_t(plan.threads), 1, 1}));
  return function;
}

void sprig::cuda::finishGpuFunction(GpuBuilder &kernel) {
  gpu::ReturnOp::create(kernel.b, kernel.loc);
  boundShifts(kernel.function);
}

FailureOr<CudaKernel> sprig::cuda::emitCudaKernel(kernel::DispatchOp dispatch, StringRef name, gpu::GPUModuleOp module,
                                                  const CudaArch &arch, int32_t firstOperation, GpuScope scope) {
  const GpuEmitter *emitter = findOrReport(dispatch, scope);
  if (!emitter) return failure();
  GpuPlan plan = emitter->plan(dispatch);
  gpu::GPUFuncOp function =
      makeGpuFunction(module, dispatch.getLoc(), name, dispatch->getOperandTypes(), dispatch->getResultTypes(), plan);
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  GpuBuilder kernel(builder, function, dispatch->getNumOperands(), dispatch->getNumResults(), arch, firstOperation);
  Value first = arith::IndexCastUIOp::create(builder, kernel.loc, builder.getIndexType(), kernel.firstTile());
  Value block = gpu::BlockIdOp::create(builder, kernel.loc, gpu::Dimension::x);
  Value tile = kernel.add(block, first), count = kernel.index(plan.tiles);
  // So that index arithmetic is known to fit 32 bits, where it does.
  LLVM::AssumeOp::create(builder, kernel.loc,
                         arith::CmpIOp::create(builder, kernel.loc, arith::CmpIPredicate::ult, tile, count));
  LogicalResult emitted = plan.tiles ? emitter->emit(dispatch, kernel, tile) : success();
  if (failed(emitted)) {
    function.erase();
    return failure();
  }
  finishGpuFunction(kernel);
  return CudaKernel{function, {uint32_t(plan.threads), kernel.dynamicSharedBytes}, plan.tiles};
}

void sprig::cuda::registerCudaKernelDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, gpu::GPUDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  nvgpu::NVGPUDialect, NVVM::NVVMDialect, scf::SCFDialect, vector::VectorDialect>();
}
