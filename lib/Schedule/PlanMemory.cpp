#define GEN_PASS_DEF_PLANMEMORY
#include "lib/Schedule/Passes.h"
#include "lib/Schedule/InPlace.h"
#include "lib/Schedule/MemoryPlan.h"
#include "lib/Schedule/Order.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;
namespace order = sprig::rt::order;

// Whether nothing after the command, or before it, touches the buffer.
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

namespace {
// The commands of a lane that touch a buffer.
struct LaneUse {
  uint32_t lane, first, last;
};

struct Lifetime {
  MemoryRequest request;
  SmallVector<LaneUse, 1> uses;
};

// The lifetimes of a program's arena buffers. On one lane, time is the place in it; on several, the place in one order
// in which the commands can run, and lifetimes that are apart there need not be in another.
class Lifetimes {
public:
  explicit Lifetimes(ProgramOp program) {
    if (llvm::hasNItemsOrMore(program.getBody().getOps<LaneOp>(), 2)) {
      order::Schedule schedule = orderOf(program, /*symbols=*/nullptr).schedule;
      before.emplace(schedule);
      times.assign(schedule.commands.size(), 0);
      for (auto [time, command] : llvm::enumerate(before->order())) times[command] = int64_t(time);
    }
    uint32_t lane = 0;
    int64_t begin = 0;
    for (auto laneOp : program.getBody().getOps<LaneOp>()) {
      uint32_t index = 0;
      for (Operation &command : laneOp.getBody().front()) {
        for (Value operand : command.getOperands())
          add(operand, before ? times[begin + index] : index, {lane, index, index});
        ++index;
      }
      begin += index;
      ++lane;
    }
  }

  // Places all buffers on one device and returns its plan.
  MemoryPlan place(FlatSymbolRefAttr device) {
    SmallVector<BufferOp> buffers;
    SmallVector<MemoryRequest> requests;
    for (auto &[op, lifetime] : lifetimes) {
      auto buffer = cast<BufferOp>(op);
      if (buffer.getPlace() != device) continue;
      buffers.push_back(buffer);
      requests.push_back(lifetime.request);
      separate += alignBuffer(lifetime.request.bytes);
    }
    auto mayMeet = [&](size_t a, size_t b) {
      const Lifetime &one = lifetimes[buffers[a]], &other = lifetimes[buffers[b]];
      return !isOver(one, other) && !isOver(other, one);
    };
    MemoryPlan plan = before ? planMemory(requests, kBufferAlignment, mayMeet) : planMemory(requests, kBufferAlignment);
    Builder builder(device.getContext());
    for (auto [buffer, offset] : llvm::zip_equal(buffers, plan.offsets))
      buffer.setOffsetAttr(builder.getI64IntegerAttr(offset));
    return plan;
  }

  size_t size() const { return lifetimes.size(); }
  // Bytes of what was placed, without sharing.
  int64_t separate = 0;

private:
  void add(Value operand, int64_t time, LaneUse use) {
    auto buffer = operand.getDefiningOp<BufferOp>();
    if (!buffer || buffer.getKind() != BufferKind::arena) return;
    auto [place, fresh] = lifetimes.try_emplace(buffer, Lifetime{{byteSize(buffer.getType()), time, time}, {use}});
    if (fresh) return;
    Lifetime &lifetime = place->second;
    lifetime.request.first = std::min(lifetime.request.first, time);
    lifetime.request.last = std::max(lifetime.request.last, time);
    if (lifetime.uses.back().lane == use.lane)
      lifetime.uses.back().last = use.last;
    else
      lifetime.uses.push_back(use);
  }

  // Whether all that touches the one is over before anything touches the other.
  bool isOver(const Lifetime &one, const Lifetime &other) const {
    return llvm::all_of(one.uses, [&](const LaneUse &last) {
      return llvm::all_of(other.uses, [&](const LaneUse &first) {
        return before->isBefore({last.lane, last.last}, {first.lane, first.first});
      });
    });
  }

  std::optional<order::HappensBefore> before; // of several lanes
  SmallVector<int64_t> times;                 // of their commands
  llvm::MapVector<Operation *, Lifetime> lifetimes;
};

struct PlanMemory : sprig::impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    unsigned inPlace = writeOutputsInPlace(program);
    for (auto buffer : llvm::make_early_inc_range(program.getBody().getOps<BufferOp>()))
      if (buffer.getKind() == BufferKind::arena && buffer->use_empty()) buffer.erase();
    unsigned updated = writeStatesInPlace(program);
    unsigned over = writeOverOperands(program);

    Lifetimes lifetimes(program);
    SmallVector<int64_t> arenas;
    int64_t bytes = 0, lowerBound = 0;
    for (auto device : program->getParentOfType<ModuleOp>().getOps<DeviceOp>()) {
      MemoryPlan plan = lifetimes.place(FlatSymbolRefAttr::get(device.getSymNameAttr()));
      arenas.push_back(plan.bytes);
      bytes += plan.bytes;
      lowerBound += plan.lowerBound;
    }
    if (arenas.empty()) arenas.push_back(0);
    program.setArenas(arenas);
    std::string text = llvm::formatv(
        "program '{0}': arena of {1} bytes for {2} buffers; most alive at once {3}, without "
        "sharing {4}; {5} outputs and {6} states written in place, {7} results over an operand",
        program.getSymName(), bytes, lifetimes.size(), lowerBound, lifetimes.separate, inPlace, updated, over);
    remark::analysis(program.getLoc(), remark::RemarkOpts::name("arena").category("memory")) << text;
  }
};
} // namespace
