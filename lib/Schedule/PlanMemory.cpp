#include "lib/Schedule/MemoryPlan.h"
#include "lib/Schedule/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace sprig {
#define GEN_PASS_DEF_PLANMEMORY
#include "lib/Schedule/Passes.h.inc"
} // namespace sprig

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

// A whole arena buffer that is copied to a whole output can be that output, unless it already is another one.
static unsigned writeOutputsInPlace(ProgramOp program) {
  unsigned removed = 0;
  SmallVector<CopyOp> copies;
  program.walk([&](CopyOp copy) { copies.push_back(copy); });
  for (CopyOp copy : copies) {
    auto source = copy.getSource().getDefiningOp<BufferOp>(), target = copy.getTarget().getDefiningOp<BufferOp>();
    if (source.getKind() != BufferKind::arena || target.getKind() != BufferKind::output) continue;
    // Another command on the output, or a second copy into it, would see the value too early.
    if (!target->hasOneUse() || target.getOffset().value_or(0) != 0) continue;
    if (byteSize(source.getType()) != byteSize(program.getOutputType(*target.getIndex()))) continue;
    source->moveBefore(target);
    source.setKind(BufferKind::output);
    source.setIndexAttr(target.getIndexAttr());
    if (target.getLabelAttr()) source.setLabelAttr(target.getLabelAttr());
    copy.erase();
    target.erase();
    ++removed;
  }
  return removed;
}

// Whether nothing behind the command, or before it, touches the buffer.
static bool isUsedOnlyUntil(BufferOp buffer, Operation *command) {
  return llvm::all_of(buffer->getUsers(), [&](Operation *user) {
    return user->getBlock() == command->getBlock() && !command->isBeforeInBlock(user);
  });
}
static bool isUsedOnlyFrom(BufferOp buffer, Operation *command) {
  return llvm::all_of(buffer->getUsers(), [&](Operation *user) {
    return user->getBlock() == command->getBlock() && !user->isBeforeInBlock(command);
  });
}

/// Whether a command may write `result` over the operand of this use.
static bool mayTakePlaceOf(Operation *command, BufferOp result, OpOperand &use) {
  auto dispatch = dyn_cast<exec::DispatchOp>(command);
  return dispatch && llvm::any_of(dispatch.overwrites(), [&](OverwriteAttr over) {
           return over.getOperand() == use.getOperandNumber() &&
                  dispatch.getBuffers()[over.getResult()] == result.getResult();
         });
}

// A new value of a state that is copied there in the end is written there in the first place, where every other command
// that touches the state comes before the one that computes the value, or is that one and may overwrite it.
static unsigned writeStatesInPlace(ProgramOp program) {
  unsigned removed = 0;
  llvm::DenseMap<Attribute, SmallVector<BufferOp>> states;
  for (auto buffer : program.getBody().getOps<BufferOp>())
    if (buffer.getKind() == BufferKind::state) states[buffer.getSourceAttr()].push_back(buffer);
  SmallVector<CopyOp> copies;
  program.walk([&](CopyOp copy) { copies.push_back(copy); });
  for (CopyOp copy : copies) {
    auto source = copy.getSource().getDefiningOp<BufferOp>(), target = copy.getTarget().getDefiningOp<BufferOp>();
    if (source.getKind() != BufferKind::arena || target.getKind() != BufferKind::state) continue;
    auto isInLane = [&](Operation *user) { return user->getBlock() == copy->getBlock(); };
    if (target.getOffset().value_or(0) != 0 || !llvm::all_of(source->getUsers(), isInLane)) continue;
    Operation *producer = copy;
    for (Operation *user : source->getUsers())
      if (user->isBeforeInBlock(producer)) producer = user;
    auto mayTouch = [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (user == copy) return true;
      if (!isInLane(user)) return false;
      return user == producer ? mayTakePlaceOf(producer, source, use) : user->isBeforeInBlock(producer);
    };
    SmallVector<BufferOp> &views = states[target.getSourceAttr()];
    if (producer == copy ||
        !llvm::all_of(views, [&](BufferOp view) { return llvm::all_of(view->getUses(), mayTouch); }))
      continue;
    source.setKind(BufferKind::state);
    source.setSourceAttr(target.getSourceAttr());
    if (target.getLabelAttr()) source.setLabelAttr(target.getLabelAttr());
    copy.erase();
    views.push_back(source);
    if (target->use_empty()) {
      llvm::erase(views, target);
      target.erase();
    }
    ++removed;
  }
  return removed;
}

// Whether a result may take the bytes of an operand that the kernel allows to be overwritten.
static bool mayTake(exec::DispatchOp command, BufferOp operand, BufferOp result) {
  if (operand.getKind() != BufferKind::arena || result.getKind() != BufferKind::arena || operand == result)
    return false;
  if (!isUsedOnlyUntil(operand, command) || !isUsedOnlyFrom(result, command)) return false;
  auto type = cast<MemRefType>(operand.getType()), resultType = cast<MemRefType>(result.getType());
  if (type.getElementType() != resultType.getElementType() || byteSize(type) != byteSize(resultType)) return false;
  // Read elsewhere in the same command, or taken by another result, it must stay as it is.
  return llvm::count(command.getBuffers(), operand.getResult()) == 1 &&
         llvm::count(command.getBuffers(), result.getResult()) == 1;
}

// A result takes the bytes of an operand that dies with the command, where the kernel allows it: nothing is alive
// twice.
static unsigned writeOverOperands(ProgramOp program) {
  unsigned merged = 0;
  SmallVector<exec::DispatchOp> commands;
  program.walk([&](exec::DispatchOp command) { commands.push_back(command); });
  for (exec::DispatchOp command : commands) {
    SmallVector<OverwriteAttr> overwrites = command.overwrites();
    command.removeOverwritableAttr();
    for (OverwriteAttr over : overwrites) {
      auto operand = command.getBuffers()[over.getOperand()].getDefiningOp<BufferOp>();
      auto result = command.getBuffers()[over.getResult()].getDefiningOp<BufferOp>();
      if (!mayTake(command, operand, result)) continue;
      result.getResult().replaceAllUsesWith(operand.getResult());
      result.erase();
      ++merged;
    }
  }
  return merged;
}

static llvm::MapVector<Operation *, MemoryRequest> collectRequests(ProgramOp program) {
  llvm::MapVector<Operation *, MemoryRequest> requests;
  int lane = 0;
  for (auto laneOp : program.getBody().getOps<LaneOp>()) {
    int64_t time = 0;
    for (Operation &command : laneOp.getBody().front()) {
      for (Value operand : command.getOperands()) {
        auto buffer = operand.getDefiningOp<BufferOp>();
        if (!buffer || buffer.getKind() != BufferKind::arena) continue;
        auto [place, fresh] = requests.try_emplace(buffer, MemoryRequest{byteSize(buffer.getType()), time, time, lane});
        MemoryRequest &request = place->second;
        if (request.lane != lane) request.lane = -1;
        request.last = std::max(request.last, time);
      }
      ++time;
    }
    ++lane;
  }
  return requests;
}

namespace {
struct PlanMemory : sprig::impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    unsigned inPlace = writeOutputsInPlace(program);
    for (auto buffer : llvm::make_early_inc_range(program.getBody().getOps<BufferOp>()))
      if (buffer.getKind() == BufferKind::arena && buffer->use_empty()) buffer.erase();
    unsigned updated = writeStatesInPlace(program);
    unsigned over = writeOverOperands(program);

    auto requests = collectRequests(program);
    SmallVector<MemoryRequest> list;
    int64_t separate = 0;
    for (auto &[op, request] : requests) {
      list.push_back(request);
      separate += alignBuffer(request.bytes);
    }
    MemoryPlan plan = planMemory(list, kBufferAlignment);
    Builder builder(&getContext());
    for (auto [entry, offset] : llvm::zip_equal(requests, plan.offsets))
      cast<BufferOp>(entry.first).setOffsetAttr(builder.getI64IntegerAttr(offset));
    program.setArenasAttr(builder.getDenseI64ArrayAttr(plan.bytes));
    std::string text =
        llvm::formatv("program '{0}': arena of {1} bytes for {2} buffers; most alive at once {3}, without "
                      "sharing {4}; {5} outputs and {6} states written in place, {7} results over an operand",
                      program.getSymName(), plan.bytes, list.size(), plan.lowerBound, separate, inPlace, updated, over);
    remark::analysis(program.getLoc(), remark::RemarkOpts::name("arena").category("memory")) << text;
  }
};
} // namespace
