#include "lib/Target/CPU/Kernels/Control/ControlRegion.h"
#include "dialects/Kernel/OperationNumbers.h"
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"
#include "runtime/include/sprig/rt/kernel.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
class CpuParts : public ControlParts {
public:
  bool hasKernel(kernel::DispatchOp part) const override { return findKernelEmitter(part); }
  bool mayOverwrite(kernel::DispatchOp part, unsigned operand, unsigned result) const override {
    return sprig::cpu::mayOverwrite(part, operand, result);
  }
};
} // namespace

const ControlParts &sprig::cpu::cpuParts() {
  static const CpuParts parts;
  return parts;
}

int64_t sprig::cpu::partScratch(Operation *control) {
  int64_t bytes = 0;
  for (kernel::DispatchOp part : partsOf(control))
    bytes = std::max(bytes, findKernelEmitter(part)->plan(part).scratchBytes);
  return bytes;
}

FailureOr<Value> ControlRegion::emit() {
  layOut();
  return emitFrom(block.begin(), firstOperation);
}

FailureOr<Value> ControlRegion::emitFrom(Block::iterator operation, int32_t number) {
  Value fine = arith::ConstantIntOp::create(k.b, k.loc, SPRIG_RT_KERNEL_OK, 32);
  for (; &*operation != block.getTerminator(); ++operation) {
    auto part = dyn_cast<kernel::DispatchOp>(*operation);
    if (!part) continue;
    Location loc = part.getLoc();
    SmallVector<Value> partBuffers;
    for (Value operand : part->getOperands()) partBuffers.push_back(bufferOf(operand));
    for (Value result : part->getResults()) partBuffers.push_back(bufferOf(result));
    FailureOr<Value> code =
        emitPart(k.b, k.function, part, partBuffers, k.target, k.function->getParentOfType<ModuleOp>());
    if (failed(code)) return failure();
    int32_t first = number;
    number += int32_t(kernel::operationsOf(part).size());
    if (getConstantIntValue(OpFoldResult(*code)) == SPRIG_RT_KERNEL_OK) continue;
    // What follows an error must not run on unfinished data.
    Value isFine = arith::CmpIOp::create(k.b, loc, arith::CmpIPredicate::eq, *code, fine);
    auto rest = scf::IfOp::create(k.b, loc, TypeRange{k.b.getI32Type()}, isFine, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(k.b);
    k.b.setInsertionPointToStart(rest.elseBlock());
    shiftOperationNumber(k.b, loc, k.status(), first);
    scf::YieldOp::create(k.b, loc, *code);
    k.b.setInsertionPointToStart(rest.thenBlock());
    FailureOr<Value> last = emitFrom(std::next(operation), number);
    if (failed(last)) return failure();
    scf::YieldOp::create(k.b, loc, *last);
    return rest.getResult(0);
  }
  return fine;
}

void sprig::cpu::copyBuffer(KernelBuilder &k, Value from, Value to) {
  int64_t count = cast<MemRefType>(from.getType()).getNumElements();
  if (count > 0 && from != to) copyRow(k, k.flat(from), k.index(0), k.flat(to), k.index(0), count);
}

Value sprig::cpu::loadFlag(KernelBuilder &k, Value buffer) {
  return k.load(k.flat(buffer), k.index(0), k.b.getI1Type());
}
