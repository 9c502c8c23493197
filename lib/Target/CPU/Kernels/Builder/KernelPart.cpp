#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "runtime/include/sprig/rt/kernel.h"
#include <cstddef>

using namespace mlir;

FailureOr<Value> sprig::cpu::emitPart(OpBuilder &b, func::FuncOp function, kernel::DispatchOp dispatch,
                                      ArrayRef<Value> buffers, const CpuArch &target, ModuleOp module) {
  FailureOr<KernelPlan> plan = planDispatch(dispatch);
  if (failed(plan)) return failure();
  auto part = emitKernel(dispatch, "part", target, module, /*isPart=*/true);
  if (failed(part)) return failure();
  Location loc = dispatch.getLoc();
  Block &body = part->getBody().front();
  IRMapping mapping;
  mapping.map(body.getArgument(0), arith::ConstantIndexOp::create(b, loc, 0).getResult());
  mapping.map(body.getArgument(1), arith::ConstantIndexOp::create(b, loc, plan->tiles).getResult());
  auto own = cast<MemRefType>(body.getArgument(2).getType());
  if (!body.getArgument(2).use_empty()) {
    Value start = arith::ConstantIndexOp::create(b, loc, 0);
    mapping.map(body.getArgument(2),
                memref::ViewOp::create(b, loc, own, function.getArgument(2), start, ValueRange{}).getResult());
  }
  mapping.map(body.getArgument(3), function.getArgument(3));
  for (auto [argument, buffer] : llvm::zip_equal(body.getArguments().drop_front(4), buffers))
    mapping.map(argument, buffer);
  for (Operation &op : body.without_terminator()) {
    // Stack memory is taken once, at the start.
    OpBuilder::InsertionGuard guard(b);
    if (isa<memref::AllocaOp>(op)) b.setInsertionPointToStart(&function.getBody().front());
    b.clone(op, mapping);
  }
  Value result = mapping.lookup(body.getTerminator()->getOperand(0));
  part->erase();
  return result;
}

void sprig::cpu::shiftOperationNumber(OpBuilder &b, Location loc, Value status, int32_t base) {
  if (base == 0) return;
  Value address = LLVM::GEPOp::create(b, loc, status.getType(), b.getI8Type(), status,
                                      ArrayRef<LLVM::GEPArg>{int32_t(offsetof(sprig_rt_kernel_status, op))});
  Value index = LLVM::LoadOp::create(b, loc, b.getI32Type(), address);
  Value shift = arith::ConstantIntOp::create(b, loc, base, 32);
  LLVM::StoreOp::create(b, loc, arith::AddIOp::create(b, loc, index, shift), address);
}
