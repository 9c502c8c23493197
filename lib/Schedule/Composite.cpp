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

exec::DispatchOp sprig::makeComposite(StringRef kernelName, StringRef title, ArrayRef<CompositeCall> calls,
                                      int64_t tiles, SymbolTable &symbols) {
  llvm::SetVector<Value> buffers;
  int64_t scratch = 0, flops = 0, bytes = 0;
  SmallVector<Location> locations;
  for (const CompositeCall &call : calls) {
    exec::DispatchOp command = call.command;
    auto kernel = symbols.lookup<KernelOp>(command.getKernel());
    buffers.insert(command.getBuffers().begin(), command.getBuffers().end());
    scratch = std::max<int64_t>(scratch, kernel.getScratch());
    flops += kernel.getFlops();
    bytes += kernel.getBytes();
    locations.push_back(command.getLoc());
  }
  exec::DispatchOp first = calls.front().command;
  OpBuilder b(first->getParentOfType<ProgramOp>());
  Location loc = b.getFusedLoc(locations);
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
