#include "lib/Target/CPU/Kernels/Control/ControlRegion.h"
#include "dialects/NN/NNControl.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "dialects/Kernel/OperationNumbers.h"
#include "lib/Target/CPU/Kernels/Builder/KernelPart.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"
#include "llvm/Support/MathExtras.h"
#include "runtime/include/sprig/rt/kernel.h"

using namespace mlir;
using namespace sprig;

static constexpr int64_t kAlignment = 64;

Operation *sprig::controlIn(kernel::DispatchOp dispatch) {
  Block &body = dispatch->getRegion(0).front();
  if (!llvm::hasSingleElement(body.without_terminator())) return nullptr;
  Operation *op = &body.front();
  if (!isa<ir::CondOp, ir::WhileOp>(op)) return nullptr;
  for (Value operand : op->getOperands())
    if (!isa<BlockArgument>(operand)) return nullptr;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.front().without_terminator()) {
      auto part = dyn_cast<kernel::DispatchOp>(inner);
      if (part ? !findKernelEmitter(part) : !sharesStorage(&inner)) return nullptr;
    }
  return op;
}

int64_t sprig::partScratch(Operation *control) {
  int64_t bytes = 0;
  for (Region &region : control->getRegions())
    for (auto part : region.front().getOps<kernel::DispatchOp>())
      bytes = std::max(bytes, findKernelEmitter(part)->plan(part).scratchBytes);
  return llvm::alignTo(bytes, kAlignment);
}

static int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * storageBytes(tensor.getElementType());
}

// Results in program order, each as low as what is alive beside it allows.
RegionPlaces::RegionPlaces(Block &block, const llvm::DenseSet<Value> &elsewhere, int64_t start) : end(start) {
  llvm::DenseMap<Value, int64_t> last; // when a result is read last, through views too
  int64_t time = 0;
  for (Operation &op : block) {
    for (Value operand : op.getOperands()) last[storageOf(operand)] = time;
    ++time;
  }
  struct Place {
    int64_t offset, end, last;
  };
  SmallVector<Place> places; // by offset
  time = 0;
  for (Operation &op : block) {
    llvm::erase_if(places, [&](const Place &place) { return place.last < time; });
    if (isa<kernel::DispatchOp>(op))
      for (Value result : op.getResults()) {
        if (elsewhere.contains(result)) continue;
        int64_t bytes = llvm::alignTo(bytesOf(result.getType()), kAlignment), offset = start;
        auto at = places.begin();
        for (; at != places.end() && at->offset < offset + bytes; ++at) offset = std::max(offset, at->end);
        at = llvm::find_if(places, [&](const Place &place) { return place.offset >= offset; });
        // A result that nothing reads is still written.
        places.insert(at, {offset, offset + bytes, std::max(time, last.lookup(result))});
        offsets[result] = offset;
        end = std::max(end, offset + bytes);
      }
    ++time;
  }
}

std::optional<unsigned> sprig::positionInDispatch(kernel::DispatchOp dispatch, Value result) {
  for (auto [i, value] : llvm::enumerate(dispatch->getRegion(0).front().getTerminator()->getOperands()))
    if (value == result) return i;
  return std::nullopt;
}

ControlRegion::ControlRegion(KernelBuilder &kernel, Block &block, ArrayRef<Value> arguments, const RegionPlaces &places,
                             int32_t firstOperation)
    : k(kernel), block(block), places(places), firstOperation(firstOperation) {
  for (auto [argument, buffer] : llvm::zip_equal(block.getArguments(), arguments)) buffers[argument] = buffer;
}

int32_t ControlRegion::nextOperation() const {
  size_t number = firstOperation;
  for (auto part : block.getOps<kernel::DispatchOp>()) number += kernel::operationsOf(part).size();
  return int32_t(number);
}

FailureOr<Value> ControlRegion::emit() {
  // Buffers first: what comes after the region reads them too, wherever in it they are written.
  for (Operation &op : block.without_terminator()) {
    if (sharesStorage(&op)) {
      buffers[op.getResult(0)] = viewAs(k.b, op.getLoc(), buffers.lookup(op.getOperand(0)), op.getResult(0).getType());
      continue;
    }
    for (Value result : op.getResults())
      if (Value &buffer = buffers[result]; !buffer)
        buffer = k.scratchBuffer(places.offsets.lookup(result), bufferType(cast<RankedTensorType>(result.getType())));
  }
  return emitFrom(block.begin(), firstOperation);
}

FailureOr<Value> ControlRegion::emitFrom(Block::iterator operation, int32_t number) {
  Value fine = arith::ConstantIntOp::create(k.b, k.loc, SPRIG_RT_KERNEL_OK, 32);
  for (; &*operation != block.getTerminator(); ++operation) {
    auto part = dyn_cast<kernel::DispatchOp>(*operation);
    if (!part) continue;
    Location loc = part.getLoc();
    SmallVector<Value> partBuffers;
    for (Value operand : part->getOperands()) partBuffers.push_back(buffers.lookup(operand));
    for (Value result : part->getResults()) partBuffers.push_back(buffers.lookup(result));
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

void sprig::copyBuffer(KernelBuilder &k, Value from, Value to) {
  int64_t count = cast<MemRefType>(from.getType()).getNumElements();
  if (count > 0 && from != to) copyRow(k, k.flat(from), k.index(0), k.flat(to), k.index(0), count);
}

Value sprig::loadFlag(KernelBuilder &k, Value buffer) { return k.load(k.flat(buffer), k.index(0), k.b.getI1Type()); }
