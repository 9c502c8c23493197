// The function of one dispatch is that of its emitter. Of several, each is emitted alone and its body moved into the
// common function with a constant range of tiles, so that trip counts, offsets and conditions fold and nothing is
// called. What passes between them lies in scratch memory.
#include "lib/Conversion/NNToCPU/KernelGraph.h"
#include "lib/Conversion/NNToCPU/KernelBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "runtime/include/sprig/rt/kernel.h"
#include <cstddef>

using namespace mlir;
using namespace sprig;

namespace {
class GraphEmitter {
public:
  GraphEmitter(const KernelGraph &graph, func::FuncOp function, const CpuTarget &target, ModuleOp module)
      : graph(graph), function(function), target(target), module(module), b(function.getContext()) {}

  LogicalResult emit();

private:
  FailureOr<Value> emitFrom(Block::iterator operation, int32_t firstOp);
  FailureOr<Value> emitDispatch(nn::DispatchOp dispatch);
  LogicalResult viewReshape(nn::ReshapeOp reshape);
  FailureOr<Value> bufferOfResult(OpResult result);
  void shiftOpIndex(Location loc, int32_t base);
  Value code(Location loc, int32_t value) { return arith::ConstantIntOp::create(b, loc, value, 32); }

  const KernelGraph &graph;
  func::FuncOp function;
  const CpuTarget &target;
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
FailureOr<Value> GraphEmitter::emitDispatch(nn::DispatchOp dispatch) {
  FailureOr<KernelPlan> plan = planDispatch(dispatch);
  if (failed(plan)) return failure();
  auto part = emitKernel(dispatch, "part", target, module);
  if (failed(part)) return failure();
  Location loc = dispatch.getLoc();
  Block &body = part->getBody().front();
  IRMapping mapping;
  mapping.map(body.getArgument(0), arith::ConstantIndexOp::create(b, loc, 0).getResult());
  mapping.map(body.getArgument(1), arith::ConstantIndexOp::create(b, loc, plan->tiles).getResult());
  auto own = cast<MemRefType>(body.getArgument(2).getType());
  if (!body.getArgument(2).use_empty()) {
    Value start = arith::ConstantIndexOp::create(b, loc, 0);
    mapping.map(body.getArgument(2),
                memref::ViewOp::create(b, loc, own, function.getArgument(2), start, ValueRange{}).getResult());
  }
  mapping.map(body.getArgument(3), function.getArgument(3));
  unsigned argument = 4;
  for (Value operand : dispatch->getOperands()) mapping.map(body.getArgument(argument++), buffers.lookup(operand));
  for (OpResult result : dispatch->getResults()) {
    FailureOr<Value> buffer = bufferOfResult(result);
    if (failed(buffer)) return failure();
    mapping.map(body.getArgument(argument++), buffers[result] = *buffer);
  }
  for (Operation &op : body.without_terminator()) {
    // Stack memory is taken once, at the start.
    OpBuilder::InsertionGuard guard(b);
    if (isa<memref::AllocaOp>(op)) b.setInsertionPointToStart(&function.getBody().front());
    b.clone(op, mapping);
  }
  Value result = mapping.lookup(body.getTerminator()->getOperand(0));
  part->erase();
  return result;
}

LogicalResult GraphEmitter::viewReshape(nn::ReshapeOp reshape) {
  auto type = bufferType(cast<RankedTensorType>(reshape.getType()));
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset))) return failure();
  buffers[reshape.getResult()] =
      memref::ReinterpretCastOp::create(b, reshape.getLoc(), type, buffers.lookup(reshape.getOperand()),
                                        /*offset=*/int64_t{0}, type.getShape(), strides);
  return success();
}

// The numbers of operations in errors go on from dispatch to dispatch.
void GraphEmitter::shiftOpIndex(Location loc, int32_t base) {
  if (base == 0) return;
  Value status = function.getArgument(3);
  Value address = LLVM::GEPOp::create(b, loc, status.getType(), b.getI8Type(), status,
                                      ArrayRef<LLVM::GEPArg>{int32_t(offsetof(sprig_rt_kernel_status, op))});
  Value index = LLVM::LoadOp::create(b, loc, b.getI32Type(), address);
  LLVM::StoreOp::create(b, loc, arith::AddIOp::create(b, loc, index, code(loc, base)), address);
}

// Everything from an operation on; gives the code that the function returns.
FailureOr<Value> GraphEmitter::emitFrom(Block::iterator operation, int32_t firstOp) {
  Location loc = operation->getLoc();
  if (&*operation == graph.body->getTerminator()) return code(loc, SPRIG_RT_KERNEL_OK);
  if (auto reshape = dyn_cast<nn::ReshapeOp>(*operation)) {
    if (failed(viewReshape(reshape))) return failure();
    return emitFrom(std::next(operation), firstOp);
  }
  auto dispatch = dyn_cast<nn::DispatchOp>(*operation);
  if (!dispatch) return operation->emitOpError("is no dispatch, so no code can be made of it");
  FailureOr<Value> result = emitDispatch(dispatch);
  if (failed(result)) return failure();
  auto operations = dispatch->getRegion(0).front().without_terminator();
  int32_t next = firstOp + static_cast<int32_t>(std::distance(operations.begin(), operations.end()));
  if (getConstantIntValue(OpFoldResult(*result)) == SPRIG_RT_KERNEL_OK) return emitFrom(std::next(operation), next);
  // What follows an error must not run on unfinished data.
  Value fine = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, *result, code(loc, SPRIG_RT_KERNEL_OK));
  auto rest = scf::IfOp::create(b, loc, TypeRange{b.getI32Type()}, fine, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rest.elseBlock());
  shiftOpIndex(loc, firstOp);
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

FailureOr<func::FuncOp> sprig::emitKernelGraph(const KernelGraph &graph, StringRef name, const CpuTarget &target,
                                               ModuleOp module) {
  Operation *yield = graph.body->getTerminator();
  for (Value value : yield->getOperands())
    if (!isa_and_nonnull<nn::DispatchOp>(value.getDefiningOp()) || llvm::count(yield->getOperands(), value) != 1)
      return yield->emitOpError("gives something else than different results of dispatches"), failure();
  auto operations = graph.body->without_terminator();
  if (llvm::hasSingleElement(operations)) {
    auto dispatch = dyn_cast<nn::DispatchOp>(*operations.begin());
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
