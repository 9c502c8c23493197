#include "dialects/Kernel/OperationNumbers.h"
#include "dialects/NN/NNShapeOps.h"
#define GEN_PASS_DEF_INLINEDISPATCHES
#include "lib/Schedule/Passes.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Schedule/MemoryPlan.h"
#include "lib/Schedule/Overwritable.h"
#include "lib/Target/Registry.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

static RankedTensorType tensorOfBuffer(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

namespace {
// The kernel of a run of dispatches: what their kernels compute, from buffers back to values.
class KernelJoiner {
public:
  KernelJoiner(ArrayRef<exec::DispatchOp> run, SymbolTable &symbols) : run(run), symbols(symbols) {}

  // False when some buffer is used in a way that values cannot express.
  bool collectBuffers();
  KernelOp makeKernel(OpBuilder &b, Location loc, StringAttr label);
  SmallVector<Value> operands() const;

private:
  void cloneBody(OpBuilder &b, exec::DispatchOp dispatch);
  void planScratch(KernelOp kernel);

  ArrayRef<exec::DispatchOp> run;
  SymbolTable &symbols;
  llvm::SetVector<Value> inputs, results, written;
  llvm::DenseMap<Value, Value> values; // of buffers
};

bool KernelJoiner::collectBuffers() {
  llvm::DenseSet<Operation *> inside(run.begin(), run.end());
  for (exec::DispatchOp dispatch : run) {
    unsigned count = symbols.lookup<KernelOp>(dispatch.getKernel()).getNumInputs();
    for (Value read : dispatch.getBuffers().take_front(count))
      if (!written.contains(read)) inputs.insert(read);
    for (Value result : dispatch.getBuffers().drop_front(count)) {
      // Each buffer has one value; memory that is read before it is written, or written twice, is none.
      auto buffer = result.getDefiningOp<BufferOp>();
      if (buffer.getKind() == BufferKind::state || inputs.contains(result) || !written.insert(result)) return false;
      bool leaves = buffer.getKind() != BufferKind::arena ||
                    llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); });
      if (leaves) results.insert(result);
    }
  }
  return true;
}

SmallVector<Value> KernelJoiner::operands() const {
  SmallVector<Value> all(inputs.begin(), inputs.end());
  all.append(results.begin(), results.end());
  return all;
}

// Equal dispatches share a kernel, whose operations have the places of one of them; those of this use stand at the
// command (placesOf in Schedule.cpp).
static void placeOperations(kernel::DispatchOp clone, Location use) {
  auto fused = dyn_cast<FusedLoc>(use);
  auto places = fused ? dyn_cast_if_present<ArrayAttr>(fused.getMetadata()) : ArrayAttr();
  SmallVector<Operation *> operations = kernel::operationsOf(clone);
  if (!places || places.size() != operations.size()) return;
  for (auto [op, place] : llvm::zip_equal(operations, places))
    if (auto location = dyn_cast<LocationAttr>(place)) op->setLoc(Location(location));
}

void KernelJoiner::cloneBody(OpBuilder &b, exec::DispatchOp dispatch) {
  auto kernel = symbols.lookup<KernelOp>(dispatch.getKernel());
  Block &body = kernel.getBody().front();
  IRMapping mapping;
  for (auto [argument, buffer] : llvm::zip(body.getArguments(), dispatch.getBuffers())) {
    Value value = values.lookup(buffer);
    if (value.getType() != argument.getType())
      value = ir::ReshapeOp::create(b, dispatch.getLoc(), argument.getType(), value);
    mapping.map(argument, value);
  }
  for (Operation &op : body.without_terminator())
    if (auto clone = dyn_cast<kernel::DispatchOp>(b.clone(op, mapping))) placeOperations(clone, dispatch.getLoc());
  for (auto [value, buffer] :
       llvm::zip_equal(body.getTerminator()->getOperands(), dispatch.getBuffers().drop_front(kernel.getNumInputs())))
    values[buffer] = mapping.lookup(value);
}

// After what the dispatches need themselves; in the order in which code generation meets the results.
void KernelJoiner::planScratch(KernelOp kernel) {
  int64_t own = 0;
  for (exec::DispatchOp dispatch : run)
    own = std::max<int64_t>(own, symbols.lookup<KernelOp>(dispatch.getKernel()).getScratch());
  own = alignBuffer(own);
  Block &body = kernel.getBody().front();
  SmallVector<MemoryRequest> requests;
  llvm::DenseMap<Value, size_t> requestOf; // of a result or a view of it
  int64_t time = 0;
  for (Operation &op : body) {
    for (Value operand : op.getOperands())
      if (auto found = requestOf.find(operand); found != requestOf.end()) requests[found->second].last = time;
    if (sharesStorage(&op)) {
      if (auto found = requestOf.find(op.getOperand(0)); found != requestOf.end())
        requestOf[op.getResult(0)] = found->second;
    } else {
      for (Value result : op.getResults()) {
        if (llvm::is_contained(body.getTerminator()->getOperands(), result)) continue;
        requestOf[result] = requests.size();
        requests.push_back({byteSize(result.getType()), time, time});
      }
    }
    ++time;
  }
  MemoryPlan plan = planMemory(requests, kBufferAlignment);
  for (int64_t &offset : plan.offsets) offset += own;
  kernel.setScratch(own + plan.bytes);
  if (!plan.offsets.empty()) kernel.setPlaces(plan.offsets);
}

KernelOp KernelJoiner::makeKernel(OpBuilder &b, Location loc, StringAttr label) {
  SmallVector<Type> inputTypes, resultTypes;
  for (Value input : inputs) inputTypes.push_back(tensorOfBuffer(input));
  for (Value result : results) resultTypes.push_back(tensorOfBuffer(result));
  int64_t flops = 0, bytes = 0;
  for (exec::DispatchOp dispatch : run) {
    auto kernel = symbols.lookup<KernelOp>(dispatch.getKernel());
    flops += kernel.getFlops();
    bytes += kernel.getBytes();
  }
  auto kernel = KernelOp::create(b, loc, label.getValue(), b.getFunctionType(inputTypes, resultTypes), /*tiles=*/1,
                                 /*grain=*/1, /*scratch=*/0, flops, bytes, label, /*places=*/{});
  Block &body = kernel.getBody().emplaceBlock();
  for (Value input : inputs) values[input] = body.addArgument(tensorOfBuffer(input), input.getLoc());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&body);
  for (exec::DispatchOp dispatch : run) cloneBody(b, dispatch);
  SmallVector<Value> yielded;
  for (Value result : results) yielded.push_back(values.lookup(result));
  YieldOp::create(b, loc, yielded);
  planScratch(kernel);
  return kernel;
}

struct InlineDispatches : sprig::impl::InlineDispatchesBase<InlineDispatches> {
  using InlineDispatchesBase::InlineDispatchesBase;

  void runOnOperation() override {
    device = targetForPass(getOperation(), target);
    if (!device) return signalPassFailure();
    limit = device->inlinedProgram().orGiven(maxFlops, maxBytes);
    SymbolTable symbols(getOperation());
    for (auto program : llvm::to_vector(getOperation().getOps<ProgramOp>())) {
      auto lanes = llvm::to_vector(program.getBody().getOps<LaneOp>());
      // Several lanes: their work is meant to run side by side.
      if (lanes.size() == 1) inlineLane(program, lanes.front(), symbols);
    }
    eraseUnused(symbols);
  }

private:
  void inlineLane(ProgramOp program, LaneOp lane, SymbolTable &symbols) {
    SmallVector<exec::DispatchOp> run;
    llvm::DenseSet<Operation *> kernels;
    int64_t flops = 0, bytes = 0;
    for (Operation &command : lane.getBody().front()) {
      auto dispatch = dyn_cast<exec::DispatchOp>(command);
      if (!dispatch) {
        // Other work may come after all kernels; events order lanes.
        if (cast<CommandOpInterface>(command).isEvent() || !isLast(command)) return;
        continue;
      }
      auto kernel = symbols.lookup<KernelOp>(dispatch.getKernel());
      if (kernel.isComposite() || kernel.getPlaces() || dispatch.isPart()) return;
      auto isShort = [&](Operation &op) {
        auto part = dyn_cast<kernel::DispatchOp>(op);
        return part && device->isShort(part, kernel.getTiles(), kernel.getGrain());
      };
      if (!llvm::all_of(kernel.getBody().front().without_terminator(), isShort)) return;
      flops += kernel.getFlops();
      bytes += kernel.getBytes();
      kernels.insert(kernel);
      run.push_back(dispatch);
    }
    if (run.size() < 2 || flops > limit.flops || bytes > limit.bytes) return;
    int64_t repeats = int64_t(run.size()) - int64_t(kernels.size());
    if (repeats > maxRepeats) {
      remark::missed(program.getLoc(), remark::RemarkOpts::name("inline").category("schedule"))
          << ("'" + program.getSymName() + "' is no single kernel: it repeats kernels " + std::to_string(repeats) +
              " times, the limit is " + std::to_string(maxRepeats))
                 .str();
      return;
    }
    KernelJoiner joiner(run, symbols);
    if (!joiner.collectBuffers()) return;
    OpBuilder b(program);
    SmallVector<Location> locations;
    for (exec::DispatchOp dispatch : run) locations.push_back(dispatch.getLoc());
    Location loc = b.getFusedLoc(locations);
    KernelOp kernel = joiner.makeKernel(b, loc, b.getStringAttr(program.getSymName() + "_network"));
    symbols.insert(kernel);
    b.setInsertionPoint(run.front());
    auto command = exec::DispatchOp::create(b, loc, FlatSymbolRefAttr::get(kernel.getSymNameAttr()), joiner.operands(),
                                            b.getStringAttr(program.getSymName()));
    command.setOverwrites(overwritableOperands(kernel, *device));
    for (exec::DispatchOp dispatch : run) dispatch.erase();
    remark::passed(program.getLoc(), remark::RemarkOpts::name("inline").category("schedule"))
        << ("'" + program.getSymName() + "' is one kernel of " + std::to_string(run.size()) + " dispatches, with " +
            std::to_string(kernel.getScratch()) + " bytes of scratch memory")
               .str();
  }

  // Whether a command writes nothing but outputs that nothing else touches, or comes after all kernels.
  static bool isLast(Operation &command) {
    SymbolTableCollection symbols;
    SmallVector<BufferAccess> accesses;
    cast<CommandOpInterface>(command).getAccesses(symbols, accesses);
    auto isOwnOutput = [](const BufferAccess &access) {
      auto buffer = access.buffer.getDefiningOp<BufferOp>();
      return !writes(access.mode) || (buffer.getKind() == BufferKind::output && buffer->hasOneUse());
    };
    if (llvm::all_of(accesses, isOwnOutput)) return true;
    for (Operation *next = command.getNextNode(); next; next = next->getNextNode())
      if (isa<exec::DispatchOp>(next)) return false;
    return true;
  }

  const Target *device = nullptr;
  SmallProgram limit;

  void eraseUnused(SymbolTable &symbols) {
    llvm::DenseSet<StringAttr> used;
    getOperation().walk([&](Operation *op) {
      if (auto dispatch = dyn_cast<exec::DispatchOp>(op)) used.insert(dispatch.getKernelAttr().getAttr());
      if (auto call = dyn_cast<CallOp>(op)) used.insert(call.getKernelAttr().getAttr());
    });
    for (auto kernel : llvm::to_vector(getOperation().getOps<KernelOp>()))
      if (!used.contains(kernel.getSymNameAttr())) symbols.erase(kernel);
  }
};
} // namespace
