// What a program that somebody wrote or changed by hand may have wrong that no verifier of a single operation sees; see
// Passes.td.
#define GEN_PASS_DEF_VERIFYPROGRAM
#include "lib/Schedule/Passes.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Schedule/Order.h"
#include "lib/Schedule/Overwritable.h"
#include "lib/Target/Registry.h"
#include <map>

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;
namespace order = sprig::rt::order;

namespace {
/// Bytes of a space, as intervals that do not touch.
class Bytes {
public:
  void add(int64_t begin, int64_t end) {
    if (begin >= end) return;
    auto at = intervals.upper_bound(begin);
    if (at != intervals.begin() && std::prev(at)->second >= begin) {
      --at;
      begin = at->first;
    }
    while (at != intervals.end() && at->first <= end) {
      end = std::max(end, at->second);
      at = intervals.erase(at);
    }
    intervals[begin] = end;
  }
  bool hold(int64_t begin, int64_t end) const {
    auto at = intervals.upper_bound(begin);
    return begin >= end || (at != intervals.begin() && std::prev(at)->second >= end);
  }

private:
  std::map<int64_t, int64_t> intervals;
};

class ProgramCheck {
public:
  /// `targets`: of the kernels that compute tensors.
  ProgramCheck(ProgramOp program, SymbolTableCollection &symbols,
               const llvm::DenseMap<Operation *, const Target *> &targets)
      : program(program), symbols(symbols), targets(targets), order(orderOf(program, /*symbols=*/nullptr)) {}

  LogicalResult run() {
    if (failed(checkArenas()) || failed(play()) || failed(checkOutputs())) return failure();
    for (CommandOpInterface command : order.commands)
      if (auto dispatch = dyn_cast<exec::DispatchOp>(*command); dispatch && failed(checkOverwrites(dispatch)))
        return failure();
    return success();
  }

private:
  LogicalResult checkArenas();
  LogicalResult play();
  LogicalResult play(CommandOpInterface command);
  LogicalResult checkOutputs();
  LogicalResult checkOverwrites(exec::DispatchOp dispatch);

  static int64_t startOf(BufferOp buffer) { return int64_t(buffer.getOffset().value_or(0)); }
  static bool sharesBytes(BufferOp a, BufferOp b);

  ProgramOp program;
  SymbolTableCollection &symbols;
  const llvm::DenseMap<Operation *, const Target *> &targets;
  ProgramOrder order;
  std::map<Space, Bytes> written;
};

// "buffer 'fc1'", "output 0".
std::string described(BufferOp buffer) {
  if (buffer.getIndex()) return (stringifyBufferKind(buffer.getKind()) + " " + Twine(*buffer.getIndex())).str();
  if (!buffer.getLabel()) return "a buffer without a name";
  return ("buffer '" + buffer.getLabel().value_or("") + "'").str();
}

// Buffers with places in an arena are of a program that says how large it is.
LogicalResult ProgramCheck::checkArenas() {
  for (auto buffer : program.getBody().getOps<BufferOp>())
    if (buffer.getKind() == BufferKind::arena && buffer.getOffset() && !program.getArenas())
      return buffer.emitOpError("has a place in an arena whose size its program does not state ('arena BYTES')");
  return success();
}

LogicalResult ProgramCheck::play(CommandOpInterface command) {
  SmallVector<BufferAccess> accesses;
  command.getAccesses(symbols, accesses);
  for (const BufferAccess &access : accesses) {
    // Calls of a composite kernel read what others of them write.
    if (reads(access.mode) && writes(access.mode)) continue;
    auto buffer = access.buffer.getDefiningOp<BufferOp>();
    bool isMade = buffer.getKind() == BufferKind::arena || buffer.getKind() == BufferKind::output;
    int64_t start = startOf(buffer);
    if (reads(access.mode) && isMade && !written[spaceOf(buffer)].hold(start + access.begin, start + access.end))
      return command->emitOpError("reads ") << described(buffer) << ", which no command before it has written";
  }
  for (const BufferAccess &access : accesses) {
    auto buffer = access.buffer.getDefiningOp<BufferOp>();
    int64_t start = startOf(buffer);
    if (writes(access.mode)) written[spaceOf(buffer)].add(start + access.begin, start + access.end);
  }
  return success();
}

// In one order in which the lanes can run: that there is one, and that it stands for all, is proved before.
LogicalResult ProgramCheck::play() {
  order::HappensBefore before(order.schedule);
  for (uint32_t command : before.order())
    if (failed(play(order.commands[command]))) return failure();
  return success();
}

LogicalResult ProgramCheck::checkOutputs() {
  // Of ranks a program may give some of them, or pieces.
  if (program.getOutputPiecesAttr()) return success();
  for (unsigned i = 0; i < program.getOutputNames().size(); ++i) {
    int64_t size = byteSize(program.getOutputType(i));
    bool isWritten = size == 0;
    for (auto &[space, bytes] : written)
      isWritten |= std::get<0>(space) == BufferKind::output && std::get<3>(space) == int64_t(i) && bytes.hold(0, size);
    if (!isWritten)
      return program.emitOpError("gives output ")
             << i << " (" << program.getOutputNames()[i] << "), which no command writes, or not all of it";
  }
  return success();
}

bool ProgramCheck::sharesBytes(BufferOp a, BufferOp b) {
  int64_t first = startOf(a), second = startOf(b);
  return spaceOf(a) == spaceOf(b) && first < second + byteSize(b.getType()) && second < first + byteSize(a.getType());
}

// A result lies where an operand does in one piece, and where the kernel may write it there.
LogicalResult ProgramCheck::checkOverwrites(exec::DispatchOp dispatch) {
  auto kernel =
      symbols.lookupNearestSymbolFrom<KernelOp>(program->getParentOfType<ModuleOp>(), dispatch.getKernelAttr());
  if (kernel.isComposite()) return success(); // of its calls one may read what another writes
  SmallVector<AccessMode> modes = kernel.getOperandAccess(symbols);
  auto bufferAt = [&](size_t i) { return dispatch.getBuffers()[i].getDefiningOp<BufferOp>(); };
  for (size_t result = kernel.getNumInputs(); result < modes.size(); ++result)
    for (size_t operand = 0; operand < result; ++operand) {
      BufferOp from = bufferAt(operand), to = bufferAt(result);
      if (modes[operand] == AccessMode::none || byteSize(from.getType()) == 0 || byteSize(to.getType()) == 0) continue;
      if (!sharesBytes(from, to)) continue;
      auto pair = OverwriteAttr::get(kernel.getContext(), int64_t(operand), int64_t(result));
      bool isAllowed = startOf(from) == startOf(to) &&
                       llvm::is_contained(overwritableOperands(kernel, *targets.lookup(kernel)), pair);
      if (!isAllowed)
        return dispatch.emitOpError("writes ") << described(to) << " where " << described(from)
                                               << " is, which its kernel reads or writes at the same time";
    }
  return success();
}

// The target of the devices that a kernel is for.
const Target *targetFor(KernelOp kernel, ModuleOp module, StringRef kind) {
  const Target *target = targetForPass(kernel, kind);
  if (!target || target->deviceKinds().size() < 2) return target;
  const Target *own = nullptr;
  module.walk([&](exec::DispatchOp dispatch) {
    if (dispatch.getKernelAttr().getAttr() != kernel.getSymNameAttr()) return;
    auto device =
        dyn_cast_if_present<DeviceOp>(SymbolTable::lookupNearestSymbolFrom(module, deviceOfCommand(dispatch)));
    if (device) own = targetForPass(kernel, device.getKind());
  });
  return own ? own : target;
}

// Tiles, their bytes and scratch memory follow from what a kernel computes: its code reckons with them.
LogicalResult checkKernel(KernelOp kernel, const Target &target) {
  auto refuse = [&](StringRef what, int64_t found, StringRef least, int64_t wanted) {
    return kernel.emitOpError("has ") << what << " " << found << ", and its code " << least << " " << wanted;
  };
  SmallVector<KernelPlan> plans;
  int64_t scratch = 0;
  for (auto dispatch : kernel.getBody().front().getOps<kernel::DispatchOp>()) {
    FailureOr<KernelPlan> plan = target.plan(dispatch);
    if (failed(plan)) return failure();
    scratch = std::max(scratch, plan->scratchBytes);
    plans.push_back(std::move(*plan));
  }
  if (int64_t(kernel.getScratch()) < scratch)
    return refuse("scratch", int64_t(kernel.getScratch()), "needs at least", scratch);
  if (plans.size() != 1 || kernel.getPlaces()) {
    if (kernel.getTiles() != 1) return refuse("tiles", kernel.getTiles(), "has", 1);
    return success();
  }
  const KernelPlan &plan = plans.front();
  if (int64_t(kernel.getTiles()) != plan.tiles) return refuse("tiles", kernel.getTiles(), "has", plan.tiles);
  // Of operands that it leaves out, any tile may touch all bytes.
  SmallVector<TileRangeAttr> stated = kernel.tileRanges(), own;
  for (const TileRange &range : plan.ranges)
    if (llvm::any_of(stated, [&](TileRangeAttr each) { return each.getOperand() == int64_t(range.operand); }))
      own.push_back(
          TileRangeAttr::get(kernel.getContext(), range.operand, range.first, range.step, range.size, range.per));
  if (stated != own) return kernel.emitOpError("states other bytes for its tiles ('ranges') than its code touches");
  return success();
}

struct VerifyProgram : sprig::impl::VerifyProgramBase<VerifyProgram> {
  using VerifyProgramBase::VerifyProgramBase;

  void runOnOperation() override {
    SymbolTableCollection symbols;
    llvm::DenseMap<Operation *, const Target *> targets;
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      if (kernel.isComposite()) continue;
      const Target *own = targets[kernel] = targetFor(kernel, getOperation(), target);
      if (!own || failed(checkKernel(kernel, *own))) return signalPassFailure();
    }
    for (auto program : getOperation().getOps<ProgramOp>())
      if (failed(verifyOrder(program, symbols)) || failed(ProgramCheck(program, symbols, targets).run()))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
