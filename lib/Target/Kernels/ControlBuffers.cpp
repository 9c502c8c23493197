#include "lib/Target/Kernels/ControlBuffers.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/Kernel/OperationNumbers.h"

using namespace mlir;
using namespace sprig;

RegionBuffers::RegionBuffers(ElementBuilder &kernel, Block &block, ArrayRef<Value> arguments,
                             const RegionPlaces &places, int32_t firstOperation)
    : block(block), firstOperation(firstOperation), k(kernel), places(places) {
  for (auto [argument, buffer] : llvm::zip_equal(block.getArguments(), arguments)) buffers[argument] = buffer;
}

int32_t RegionBuffers::nextOperation() const {
  size_t number = firstOperation;
  for (auto part : block.getOps<kernel::DispatchOp>()) number += kernel::operationsOf(part).size();
  return int32_t(number);
}

// All at once, before anything is computed: what comes after the region reads them too, wherever in it they are
// written.
void RegionBuffers::layOut() {
  for (Operation &op : block.without_terminator()) {
    if (sharesStorage(&op)) {
      buffers[op.getResult(0)] = viewAs(k.b, op.getLoc(), bufferOf(op.getOperand(0)), op.getResult(0).getType());
      continue;
    }
    for (Value result : op.getResults())
      if (Value &buffer = buffers[result]; !buffer)
        buffer = k.scratchBuffer(places.offsets.lookup(result), bufferType(cast<RankedTensorType>(result.getType())));
  }
}

void LoopBuffers::start() {
  ir::WhileOp loop = places.loop;
  for (auto [i, operand] : llvm::enumerate(loop->getOperands())) {
    Value given = k.bufferOf(cast<BlockArgument>(operand));
    if (i >= loop.getNumCarried()) {
      buffers.push_back(given);
      continue;
    }
    Value own = places.current[i] < 0 ? k.resultBuffer(*positionInDispatch(dispatch, loop.getResult(i)))
                                      : k.scratchBuffer(places.current[i], cast<MemRefType>(given.getType()));
    copy(given, own);
    buffers.push_back(own);
  }
  meet();
}

void LoopBuffers::placeResults(RegionBuffers &step) const {
  for (auto [value, carried] : places.direct) step.place(value, buffers[carried]);
}

void LoopBuffers::carryOver(const RegionBuffers &step) {
  // Values that change places are put aside before any of them is overwritten, each element by the thread that
  // overwrites it.
  llvm::DenseMap<unsigned, Value> aside;
  for (auto [carried, offset] : places.saved) {
    Value from = step.bufferOf(places.next[carried]);
    Value to = aside[carried] = k.scratchBuffer(offset, cast<MemRefType>(from.getType()));
    copy(from, to);
  }
  for (unsigned i = 0; i < places.next.size(); ++i) {
    if (places.isInPlace(i)) continue;
    Value from = aside.lookup(i);
    copy(from ? from : step.bufferOf(places.next[i]), buffers[i]);
  }
  meet();
}
