#include "lib/Schedule/Composite.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

// What a call writes over its operand, the composite does too where the operand's other calls come before in the same
// tile, and the result's after it. By the calls' own buffers; `buffers` are the new command's.
static SmallVector<OverwriteAttr> overwritesOf(ArrayRef<CompositeCall> calls, ArrayRef<Value> buffers) {
  llvm::DenseMap<Value, SmallVector<const CompositeCall *>> uses; // in the order of the calls
  for (const CompositeCall &call : calls)
    for (Value buffer : exec::DispatchOp(call.command).getBuffers()) uses[buffer].push_back(&call);
  SmallVector<OverwriteAttr> pairs;
  for (const CompositeCall &call : calls) {
    exec::DispatchOp command = call.command;
    auto isBeforeInTile = [&](const CompositeCall *other) {
      return other < &call && other->firstTile == call.firstTile && call.endTile == call.firstTile + 1;
    };
    for (OverwriteAttr over : command.overwrites()) {
      Value operand = command.getBuffers()[over.getOperand()], result = command.getBuffers()[over.getResult()];
      ArrayRef<const CompositeCall *> touched = uses[operand];
      bool isLast = llvm::count(touched, &call) == 1 && touched.back() == &call;
      bool isFirst = llvm::count(uses[result], &call) == 1 && uses[result].front() == &call;
      if (!isLast || !isFirst || !llvm::all_of(touched.drop_back(), isBeforeInTile)) continue;
      auto placeOf = [&](Value buffer) { return llvm::find(buffers, buffer) - buffers.begin(); };
      pairs.push_back(OverwriteAttr::get(command.getContext(), placeOf(operand), placeOf(result)));
    }
  }
  return pairs;
}

SmallVector<SmallVector<exec::DispatchOp>> sprig::runsOfDispatches(LaneOp lane) {
  SmallVector<SmallVector<exec::DispatchOp>> runs(1);
  for (Operation &command : lane.getBody().front())
    if (auto dispatch = dyn_cast<exec::DispatchOp>(command))
      runs.back().push_back(dispatch);
    else if (!runs.back().empty())
      runs.emplace_back();
  if (runs.back().empty()) runs.pop_back();
  return runs;
}

std::string sprig::titleOf(ArrayRef<exec::DispatchOp> commands) {
  std::string title = exec::DispatchOp(commands.front()).getTitle().str();
  return commands.size() == 1 ? title : title + " and " + std::to_string(commands.size() - 1) + " more";
}

JoinedWork sprig::workOf(ArrayRef<exec::DispatchOp> commands, const SymbolTable &symbols) {
  SmallVector<Location> locations;
  for (exec::DispatchOp command : commands) locations.push_back(command.getLoc());
  JoinedWork work{.loc = FusedLoc::get(commands.front()->getContext(), locations)};
  for (exec::DispatchOp command : commands) {
    auto kernel = symbols.lookup<KernelOp>(command.getKernel());
    work.scratch = std::max<int64_t>(work.scratch, kernel.getScratch());
    work.flops += kernel.getFlops();
    work.bytes += kernel.getBytes();
  }
  return work;
}

exec::DispatchOp sprig::makeComposite(StringRef kernelName, StringRef title, ArrayRef<CompositeCall> calls,
                                      int64_t tiles, SymbolTable &symbols) {
  auto commands = llvm::map_to_vector(calls, [](const CompositeCall &call) { return call.command; });
  llvm::SetVector<Value> buffers;
  for (exec::DispatchOp command : commands) buffers.insert(command.getBuffers().begin(), command.getBuffers().end());
  auto [scratch, flops, bytes, loc] = workOf(commands, symbols);
  exec::DispatchOp first = commands.front();
  OpBuilder b(first->getParentOfType<ProgramOp>());
  StringAttr label = b.getStringAttr(kernelName);
  auto type = b.getFunctionType(ValueRange(buffers.getArrayRef()).getTypes(), {});
  auto kernel = KernelOp::create(b, loc, label.getValue(), type, tiles, /*grain=*/1, scratch, flops, bytes, label,
                                 /*places=*/{});
  Block &body = kernel.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value buffer : buffers) mapping.map(buffer, body.addArgument(buffer.getType(), buffer.getLoc()));
  b.setInsertionPointToStart(&body);
  for (const CompositeCall &call : calls) {
    exec::DispatchOp command = call.command;
    SmallVector<Value> arguments;
    for (Value buffer : command.getBuffers()) arguments.push_back(mapping.lookup(buffer));
    CallOp::create(b, command.getLoc(), command.getKernelAttr(), arguments, call.firstTile, call.endTile);
  }
  symbols.insert(kernel);
  b.setInsertionPoint(first);
  auto joined = exec::DispatchOp::create(b, loc, FlatSymbolRefAttr::get(kernel.getSymNameAttr()), buffers.getArrayRef(),
                                         b.getStringAttr(title));
  joined.setOverwrites(overwritesOf(calls, buffers.getArrayRef()));
  for (const CompositeCall &call : calls) exec::DispatchOp(call.command).erase();
  return joined;
}
