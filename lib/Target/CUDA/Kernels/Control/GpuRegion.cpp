#include "lib/Target/CUDA/Kernels/Control/GpuRegion.h"
#include "dialects/Kernel/OperationNumbers.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"
#include "runtime/include/sprig/rt/kernel.h"
#include <cstddef>

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
class GpuParts : public ControlParts {
public:
  bool hasKernel(kernel::DispatchOp part) const override { return findGpuEmitter(part, GpuScope::block); }
  bool mayOverwrite(kernel::DispatchOp part, unsigned operand, unsigned result) const override {
    return mayOverwriteOnCuda(part, operand, result, GpuScope::block);
  }
};
} // namespace

const ControlParts &sprig::cuda::gpuParts() {
  static const GpuParts parts;
  return parts;
}

GpuPlan sprig::cuda::planOfParts(Operation *control) {
  GpuPlan plan;
  plan.tiles = 1;
  for (kernel::DispatchOp part : partsOf(control)) {
    GpuPlan own = findGpuEmitter(part, GpuScope::block)->plan(part);
    plan.threads = std::max(plan.threads, own.threads);
    plan.scratchBytes = std::max(plan.scratchBytes, own.scratchBytes);
  }
  return plan;
}

LogicalResult GpuRegion::emit() {
  layOut();
  int32_t number = firstOperation;
  for (auto part : block.getOps<kernel::DispatchOp>()) {
    if (failed(emitPart(part, number))) return failure();
    k.barrier();
    number += int32_t(kernel::operationsOf(part).size());
  }
  return success();
}

// Barriers of the whole block become such of the threads that compute the part, under a number of their own: threads
// that have no work wait at another. Of branches and loops inside, all threads of the block have work.
static LogicalResult narrowBarriers(Operation *op, int64_t threads) {
  WalkResult result = op->walk([&](Operation *inner) {
    if (isa<NVVM::BarrierOp>(inner)) {
      inner->emitError("--target cuda: a branch or loop is nested in one of more threads");
      return WalkResult::interrupt();
    }
    if (!isa<gpu::BarrierOp>(inner)) return WalkResult::advance();
    OpBuilder b(inner);
    auto number = [&](int64_t i) -> Value { return LLVM::ConstantOp::create(b, inner->getLoc(), b.getI32Type(), i); };
    NVVM::BarrierOp::create(b, inner->getLoc(), TypeRange(), number(1), number(threads), {}, Value());
    inner->erase();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

// The part is emitted as a kernel of its own, whose body comes here, in a loop over its tiles. Shared memory is the
// same for all parts.
LogicalResult GpuRegion::emitPart(kernel::DispatchOp part, int32_t number) {
  auto module = k.function->getParentOfType<gpu::GPUModuleOp>();
  auto made = emitCudaKernel(part, "part", module, k.arch, number, GpuScope::block);
  if (failed(made)) return failure();
  const int64_t tiles = made->tiles;
  gpu::GPUFuncOp function = made->function;
  k.dynamicSharedBytes = std::max(k.dynamicSharedBytes, made->launch.sharedBytes);

  Location loc = part.getLoc();
  IRMapping mapping;
  unsigned next = 0;
  auto take = [&](Value value) { mapping.map(function.getArgument(next++), value); };
  for (Value operand : part->getOperands()) take(bufferOf(operand));
  for (Value result : part->getResults()) take(bufferOf(result));
  reports |= !function.getArgument(next).use_empty();
  take(k.status());
  auto scratch = cast<MemRefType>(function.getArgument(next).getType());
  take(function.getArgument(next).use_empty() ? Value() : k.scratchBuffer(0, scratch));
  take(arith::ConstantIntOp::create(k.b, loc, 0, 32));
  int64_t sharedBytes = 0;
  for (BlockArgument shared : function.getWorkgroupAttributions()) {
    constexpr int64_t kSharedAlignment = 128;
    auto type = cast<MemRefType>(shared.getType());
    mapping.map(shared, k.sharedView(sharedBytes, type));
    sharedBytes +=
        llvm::alignTo(type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8), kSharedAlignment);
  }

  bool isNarrow = made->launch.threads < k.threads;
  LogicalResult cloned = success();
  auto narrow = [&](Operation *op) {
    if (isNarrow && failed(narrowBarriers(op, made->launch.threads))) cloned = failure();
  };
  auto emitTile = [&](Value tile) {
    for (Operation &op : function.getBody().front().without_terminator()) {
      if (isa<gpu::BlockIdOp>(op)) {
        mapping.map(op.getResult(0), tile);
        continue;
      }
      narrow(k.b.clone(op, mapping));
    }
    bool sharesMemory = sharedBytes || made->launch.sharedBytes;
    if (sharesMemory && tiles > 1) narrow(gpu::BarrierOp::create(k.b, loc)); // another tile has the same memory
  };
  auto emitTiles = [&] { k.loop(k.index(0), k.index(tiles), 1, emitTile); };
  if (isNarrow) {
    Value mine = arith::CmpIOp::create(k.b, loc, arith::CmpIPredicate::ult, k.thread(), k.index(made->launch.threads));
    k.ifThen(mine, emitTiles);
  } else {
    emitTiles();
  }
  function.erase();
  return cloned;
}

Value sprig::cuda::isFineSoFar(GpuBuilder &k) {
  Value address = LLVM::GEPOp::create(k.b, k.loc, k.status().getType(), k.b.getI8Type(), k.status(),
                                      ArrayRef<LLVM::GEPArg>{int32_t(offsetof(sprig_rt_kernel_status, code))});
  Value code = LLVM::LoadOp::create(k.b, k.loc, k.b.getI32Type(), address);
  Value fine = arith::ConstantIntOp::create(k.b, k.loc, SPRIG_RT_KERNEL_OK, 32);
  Value isFine = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, code, fine);
  k.barrier(); // before a thread may report what comes next
  return isFine;
}

Value sprig::cuda::loadFlag(GpuBuilder &k, Value buffer) {
  Value flag = k.load(k.flat(buffer), k.index(0), k.b.getI1Type());
  k.barrier();
  return flag;
}

void sprig::cuda::copyBuffer(GpuBuilder &k, Value from, Value to) {
  int64_t count = cast<MemRefType>(from.getType()).getNumElements();
  if (count == 0 || from == to) return;
  Value source = k.flat(from), target = k.flat(to);
  k.loop(k.thread(), k.index(count), k.threads, [&](Value i) {
    memref::StoreOp::create(k.b, k.loc, memref::LoadOp::create(k.b, k.loc, source, i), target, i);
  });
}
