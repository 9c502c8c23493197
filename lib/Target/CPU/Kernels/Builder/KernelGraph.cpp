// The function of one dispatch is that of its emitter. Of several, each is emitted alone and its body moved into the
// common function with a constant range of tiles, so that trip counts, offsets and conditions fold and nothing is
// called. What passes between them lies in scratch memory.
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include "dialects/Kernel/OperationNumbers.h"
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"
#include "lib/Target/Kernels/ControlPlaces.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "runtime/include/sprig/rt/kernel.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
class GraphEmitter {
public:
  GraphEmitter(const KernelGraph &graph, func::FuncOp function, const CpuArch &target, ModuleOp module)
      : graph(graph), function(function), target(target), module(module), b(function.getContext()) {}

  LogicalResult emit();

private:
  FailureOr<Value> emitFrom(Block::iterator operation, int32_t firstOp);
  FailureOr<Value> emitDispatch(kernel::DispatchOp dispatch);
  FailureOr<Value> bufferOfResult(OpResult result);
  Value code(Location loc, int32_t value) { return arith::ConstantIntOp::create(b, loc, value, 32); }

  const KernelGraph &graph;
  func::FuncOp function;
  const CpuArch &target;
  ModuleOp module;
  OpBuilder b;
  DenseMap<Value, Value> buffers;
  size_t nextPlace = 0;
};

// A yielded result is written where the caller wants it, any other to its place in scratch.
FailureOr<Value> GraphEmitter::bufferOfResult(OpResult result) {
  for (auto [index, value] : llvm::enumerate(graph.body->getTerminator()->getOperands()))
    if (value == result) return Value(function.getArgument(4 + graph.body->getNumArguments() + index));
  if (nextPlace >= graph.places.size())
    return result.getOwner()->emitOpError("has a result without a place in scratch; the kernel has ")
           << graph.places.size();
  Location loc = result.getLoc();
  Value offset = arith::ConstantIndexOp::create(b, loc, graph.places[nextPlace++]);
  auto type = bufferType(cast<RankedTensorType>(result.getType()));
  return memref::ViewOp::create(b, loc, type, function.getArgument(2), offset, ValueRange{}).getResult();
}

// The value that the dispatch's own function would return.
FailureOr<Value> GraphEmitter::emitDispatch(kernel::DispatchOp dispatch) {
  SmallVector<Value> parts;
  for (Value operand : dispatch->getOperands()) parts.push_back(buffers.lookup(operand));
  for (OpResult result : dispatch->getResults()) {
    FailureOr<Value> buffer = bufferOfResult(result);
    if (failed(buffer)) return failure();
    parts.push_back(buffers[result] = *buffer);
  }
  return emitPart(b, function, dispatch, parts, target, module);
}

// Everything from an operation on; gives the code that the function returns.
FailureOr<Value> GraphEmitter::emitFrom(Block::iterator operation, int32_t firstOp) {
  Location loc = operation->getLoc();
  if (&*operation == graph.body->getTerminator()) return code(loc, SPRIG_RT_KERNEL_OK);
  if (sharesStorage(&*operation)) {
    Value result = operation->getResult(0);
    buffers[result] = viewAs(b, loc, buffers.lookup(operation->getOperand(0)), result.getType());
    return emitFrom(std::next(operation), firstOp);
  }
  auto dispatch = dyn_cast<kernel::DispatchOp>(*operation);
  if (!dispatch) return operation->emitOpError("is no dispatch, so no code can be made of it");
  FailureOr<Value> result = emitDispatch(dispatch);
  if (failed(result)) return failure();
  int32_t next = firstOp + static_cast<int32_t>(kernel::operationsOf(dispatch).size());
  if (getConstantIntValue(OpFoldResult(*result)) == SPRIG_RT_KERNEL_OK) return emitFrom(std::next(operation), next);
  // What follows an error must not run on unfinished data.
  Value fine = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, *result, code(loc, SPRIG_RT_KERNEL_OK));
  auto rest = scf::IfOp::create(b, loc, TypeRange{b.getI32Type()}, fine, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rest.elseBlock());
  shiftOperationNumber(b, loc, function.getArgument(3), firstOp);
  scf::YieldOp::create(b, loc, *result);
  b.setInsertionPointToStart(rest.thenBlock());
  FailureOr<Value> last = emitFrom(std::next(operation), next);
  if (failed(last)) return failure();
  scf::YieldOp::create(b, loc, *last);
  return rest.getResult(0);
}

LogicalResult GraphEmitter::emit() {
  for (BlockArgument argument : graph.body->getArguments())
    buffers[argument] = function.getArgument(4 + argument.getArgNumber());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  FailureOr<Value> result = emitFrom(graph.body->begin(), 0);
  if (failed(result)) return failure();
  b.setInsertionPointToEnd(&function.getBody().front());
  func::ReturnOp::create(b, function.getLoc(), *result);
  return success();
}
} // namespace

// Loops of one tile, conditions on the last tile, index arithmetic: all constant now.
static LogicalResult fold(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  scf::ForOp::getCanonicalizationPatterns(patterns, function.getContext());
  scf::IfOp::getCanonicalizationPatterns(patterns, function.getContext());
  return applyPatternsGreedily(function, std::move(patterns));
}

bool sprig::cpu::readsBufferList(Block &body) {
  if (!llvm::hasSingleElement(body.without_terminator())) return false;
  auto dispatch = dyn_cast<kernel::DispatchOp>(body.front());
  const KernelEmitter *emitter = dispatch ? findKernelEmitter(dispatch) : nullptr;
  return emitter && emitter->readsBufferList(dispatch);
}

FailureOr<func::FuncOp> sprig::cpu::emitKernelGraph(const KernelGraph &graph, StringRef name, const CpuArch &target,
                                                    ModuleOp module) {
  Operation *yield = graph.body->getTerminator();
  for (Value value : yield->getOperands())
    if (!isa_and_nonnull<kernel::DispatchOp>(value.getDefiningOp()) || llvm::count(yield->getOperands(), value) != 1)
      return yield->emitOpError("gives something else than different results of dispatches"), failure();
  auto operations = graph.body->without_terminator();
  if (llvm::hasSingleElement(operations)) {
    auto dispatch = dyn_cast<kernel::DispatchOp>(*operations.begin());
    // Its function has the kernel's buffers when it passes them through.
    if (dispatch && dispatch->getOperands() == ValueRange(graph.body->getArguments()) &&
        dispatch->getResults() == yield->getOperands())
      return emitKernel(dispatch, name, target, module);
    return yield->emitOpError("ends a kernel of one dispatch that takes or gives other values than the kernel"),
           failure();
  }
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Type index = builder.getIndexType();
  builder.getContext()->loadDialect<LLVM::LLVMDialect, memref::MemRefDialect, func::FuncDialect>();
  SmallVector<Type> arguments{index, index, MemRefType::get({graph.scratchBytes}, builder.getI8Type()),
                              LLVM::LLVMPointerType::get(builder.getContext())};
  for (Type type : graph.body->getArgumentTypes()) arguments.push_back(bufferType(cast<RankedTensorType>(type)));
  for (Type type : yield->getOperandTypes()) arguments.push_back(bufferType(cast<RankedTensorType>(type)));
  auto function = func::FuncOp::create(builder, graph.body->getParentOp()->getLoc(), name,
                                       builder.getFunctionType(arguments, builder.getI32Type()));
  function.addEntryBlock();
  if (failed(GraphEmitter(graph, function, target, module).emit()) || failed(fold(function))) {
    function.erase();
    return failure();
  }
  return function;
}
