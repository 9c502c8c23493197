// From exec.kernel operations to functions with the kernel ABI.
#include "lib/Target/CPU/CodeGen/CodeGen.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/CodeGen/KernelLowering.h"
#include "lib/Target/CPU/CodeGen/KernelUnit.h"
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include "lib/Target/OperationNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "sprig/rt/kernel.h"
#include "llvm/ADT/StringSet.h"
#include <cstddef>

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

std::string sprig::cpu::kernelFunctionName(exec::KernelOp kernel) { return ("kernel_" + kernel.getSymName()).str(); }

static std::string bodyName(StringRef stem) { return ("body." + stem).str(); }

namespace {
// Builds `int32_t name(const sprig_rt_args *)` around the lowered bodies.
class AbiBuilder {
public:
  AbiBuilder(ModuleOp module, KernelStems stems)
      : b(OpBuilder::atBlockEnd(module.getBody())), module(module), stems(stems) {}

  /// `ownsBody`: nobody else calls the body of a kernel that is no composite, and it becomes the function's.
  void build(exec::KernelOp kernel, StringRef name, bool ownsBody);

private:
  struct Frame {
    Value buffers, begin, end, scratch, status;
  };
  Value field(Value args, Type type, size_t offset);
  Value buffer(Frame &frame, unsigned index);
  LLVM::LLVMFuncOp bodyOf(exec::KernelOp leaf);
  SmallVector<Value> ownArguments(exec::KernelOp kernel, Frame &frame);
  Value listOf(ArrayRef<Value> buffers);
  Value callBody(exec::KernelOp leaf, Frame &frame, Value begin, Value end, ArrayRef<Value> buffers);
  Value operandOf(Value buffer, Frame &frame, Value tile);
  void takeBody(LLVM::LLVMFuncOp function, LLVM::LLVMFuncOp body, ArrayRef<Value> arguments);
  void shiftOpIndex(Frame &frame, int32_t base);
  Value constant(int64_t value) { return LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }
  std::pair<Value, Value> wholeOf(exec::KernelOp leaf);
  std::pair<Value, Value> shareOf(exec::CallOp call, exec::KernelOp leaf, Frame &frame);
  void endOnError(Value result, LLVM::LLVMFuncOp function, Frame &frame, int32_t opBase, Block *next);
  void buildComposite(exec::KernelOp kernel, LLVM::LLVMFuncOp function, Frame &frame);
  void buildPieces(exec::KernelOp kernel, LLVM::LLVMFuncOp function, Frame &frame);

  OpBuilder b;
  ModuleOp module;
  KernelStems stems;
  Location loc = b.getUnknownLoc();
};

Value AbiBuilder::field(Value args, Type type, size_t offset) {
  Value address = args;
  if (offset)
    address = LLVM::GEPOp::create(b, loc, args.getType(), b.getI8Type(), args, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  return LLVM::LoadOp::create(b, loc, type, address);
}

Value AbiBuilder::buffer(Frame &frame, unsigned index) {
  return field(frame.buffers, frame.buffers.getType(), index * sizeof(void *));
}

static bool readsList(exec::KernelOp leaf) { return readsBufferList(leaf.getBody().front()); }

// The function of a leaf's body; it may be in an object of its own.
LLVM::LLVMFuncOp AbiBuilder::bodyOf(exec::KernelOp leaf) {
  std::string name = bodyName(stems(leaf));
  if (auto body = module.lookupSymbol<LLVM::LLVMFuncOp>(name)) return body;
  Type i64 = b.getI64Type(), pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> arguments{i64, i64, pointer, pointer};
  arguments.append(readsList(leaf) ? 1 : leaf.getOperandTypes().size(), pointer);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  return LLVM::LLVMFuncOp::create(b, loc, name, LLVM::LLVMFunctionType::get(b.getI32Type(), arguments));
}

// The arguments of a kernel that takes the buffers of the frame and runs all tiles that the call asks for.
SmallVector<Value> AbiBuilder::ownArguments(exec::KernelOp kernel, Frame &frame) {
  SmallVector<Value> arguments{frame.begin, frame.end, frame.scratch, frame.status};
  if (readsList(kernel)) {
    arguments.push_back(frame.buffers);
    return arguments;
  }
  for (unsigned operand = 0; operand < kernel.getOperandTypes().size(); ++operand)
    arguments.push_back(buffer(frame, operand));
  return arguments;
}

Value AbiBuilder::callBody(exec::KernelOp leaf, Frame &frame, Value begin, Value end, ArrayRef<Value> buffers) {
  SmallVector<Value> arguments{begin, end, frame.scratch, frame.status};
  if (readsList(leaf))
    arguments.push_back(listOf(buffers));
  else
    arguments.append(buffers.begin(), buffers.end());
  return LLVM::CallOp::create(b, loc, bodyOf(leaf), arguments).getResult();
}

// On the stack of the function at hand.
Value AbiBuilder::listOf(ArrayRef<Value> buffers) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value list;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&b.getInsertionBlock()->getParent()->front());
    list = LLVM::AllocaOp::create(b, loc, pointer, pointer, constant(int64_t(buffers.size())));
  }
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    Value place = LLVM::GEPOp::create(b, loc, pointer, pointer, list, ArrayRef<LLVM::GEPArg>{int32_t(index)});
    LLVM::StoreOp::create(b, loc, buffer, place);
  }
  return list;
}

// Moves the body's blocks to the end of the function, whose results it gives. LLVM's inliner would copy them.
void AbiBuilder::takeBody(LLVM::LLVMFuncOp function, LLVM::LLVMFuncOp body, ArrayRef<Value> arguments) {
  Block &entry = body.getBody().front();
  for (auto [argument, value] : llvm::zip_equal(entry.getArguments(), arguments)) argument.replaceAllUsesWith(value);
  Block *last = b.getInsertionBlock();
  last->getOperations().splice(last->end(), entry.getOperations());
  auto &blocks = body.getBody().getBlocks();
  function.getBody().getBlocks().splice(function.getBody().end(), blocks, std::next(blocks.begin()), blocks.end());
  body.erase();
}

// A composite's operation names are those of its parts, one after the other.
void AbiBuilder::shiftOpIndex(Frame &frame, int32_t base) {
  if (base == 0) return;
  Type i32 = b.getI32Type();
  Value address = LLVM::GEPOp::create(b, loc, frame.status.getType(), b.getI8Type(), frame.status,
                                      ArrayRef<LLVM::GEPArg>{int32_t(offsetof(sprig_rt_kernel_status, op))});
  Value index = LLVM::LoadOp::create(b, loc, i32, address);
  Value shifted = LLVM::AddOp::create(b, loc, index, LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(base)));
  LLVM::StoreOp::create(b, loc, shifted, address);
}

std::pair<Value, Value> AbiBuilder::wholeOf(exec::KernelOp leaf) { return {constant(0), constant(leaf.getTiles())}; }

// The callee's tiles that belong to the composite's tiles of this run; none where the first is not below the last.
std::pair<Value, Value> AbiBuilder::shareOf(exec::CallOp call, exec::KernelOp leaf, Frame &frame) {
  Value first = constant(call.firstTile()), last = constant(call.endTile());
  auto scaled = [&](Value tile) -> Value {
    tile = LLVM::SMinOp::create(b, loc, LLVM::SMaxOp::create(b, loc, tile, first), last);
    Value own = LLVM::SubOp::create(b, loc, tile, first);
    if (call.countTiles() == int64_t(leaf.getTiles())) return own;
    Value product = LLVM::MulOp::create(b, loc, own, constant(leaf.getTiles()));
    return LLVM::UDivOp::create(b, loc, product, constant(call.countTiles()));
  };
  return {scaled(frame.begin), scaled(frame.end)};
}

// The first error ends the composite: what follows must not run on unfinished data.
void AbiBuilder::endOnError(Value result, LLVM::LLVMFuncOp function, Frame &frame, int32_t opBase, Block *next) {
  Value ok = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(SPRIG_RT_KERNEL_OK));
  Value failedHere = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, result, ok);
  Block *leave = function.addBlock();
  LLVM::CondBrOp::create(b, loc, failedHere, leave, next);
  b.setInsertionPointToStart(leave);
  shiftOpIndex(frame, opBase);
  LLVM::ReturnOp::create(b, loc, result);
  b.setInsertionPointToStart(next);
}

// A pointer to what a call in each tile takes, in a tile.
Value AbiBuilder::operandOf(Value operand, Frame &frame, Value tile) {
  auto offset = [&](Value base, LLVM::GEPArg bytes) -> Value {
    return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
  };
  if (auto scratch = operand.getDefiningOp<exec::ScratchOp>())
    return offset(frame.scratch, constant(int64_t(scratch.getOffset())));
  Value base = buffer(frame, *exec::CallOp::argumentOf(operand));
  if (!operand.getDefiningOp<exec::PieceOp>()) return base;
  return offset(base, LLVM::MulOp::create(b, loc, tile, constant(exec::byteSize(operand.getType()))).getResult());
}

// A loop over the tiles of this run, each of which has all calls.
void AbiBuilder::buildPieces(exec::KernelOp kernel, LLVM::LLVMFuncOp function, Frame &frame) {
  SymbolTable symbols(kernel->getParentOfType<ModuleOp>());
  Block *head = function.addBlock(), *body = function.addBlock(), *done = function.addBlock();
  Value tile = head->addArgument(b.getI64Type(), loc);
  LLVM::BrOp::create(b, loc, ValueRange{frame.begin}, head);
  b.setInsertionPointToStart(head);
  LLVM::CondBrOp::create(b, loc, LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, tile, frame.end), body, done);
  b.setInsertionPointToStart(body);
  int32_t opBase = 0;
  for (auto call : kernel.getBody().getOps<exec::CallOp>()) {
    auto leaf = symbols.lookup<exec::KernelOp>(call.getKernel());
    auto [begin, end] = wholeOf(leaf);
    SmallVector<Value> buffers;
    for (Value operand : call.getBuffers()) buffers.push_back(operandOf(operand, frame, tile));
    endOnError(callBody(leaf, frame, begin, end, buffers), function, frame, opBase, function.addBlock());
    opBase += kernelOpNames(leaf).size();
  }
  Value next = LLVM::AddOp::create(b, loc, tile, constant(1));
  LLVM::BrOp::create(b, loc, ValueRange{next}, head);
  b.setInsertionPointToStart(done);
  LLVM::ReturnOp::create(b, loc, LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(SPRIG_RT_KERNEL_OK)));
}

void AbiBuilder::buildComposite(exec::KernelOp kernel, LLVM::LLVMFuncOp function, Frame &frame) {
  if ((*kernel.getBody().getOps<exec::CallOp>().begin()).getEach()) return buildPieces(kernel, function, frame);
  SymbolTable symbols(kernel->getParentOfType<ModuleOp>());
  int32_t opBase = 0;
  for (auto call : kernel.getBody().getOps<exec::CallOp>()) {
    auto leaf = symbols.lookup<exec::KernelOp>(call.getKernel());
    // Another tile's call is passed by.
    Block *after = nullptr;
    auto [begin, end] = kernel.getTiles() == 1 ? wholeOf(leaf) : shareOf(call, leaf, frame);
    if (kernel.getTiles() > 1) {
      Block *run = function.addBlock();
      after = function.addBlock();
      LLVM::CondBrOp::create(b, loc, LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, begin, end), run, after);
      b.setInsertionPointToStart(run);
    }
    SmallVector<Value> buffers;
    for (Value operand : call.getBuffers()) buffers.push_back(buffer(frame, *exec::CallOp::argumentOf(operand)));
    Value result = callBody(leaf, frame, begin, end, buffers);
    endOnError(result, function, frame, opBase, after ? after : function.addBlock());
    opBase += kernelOpNames(leaf).size();
  }
  LLVM::ReturnOp::create(b, loc, LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(SPRIG_RT_KERNEL_OK)));
}

void AbiBuilder::build(exec::KernelOp kernel, StringRef name, bool ownsBody) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  OpBuilder::InsertionGuard guard(b);
  auto function = LLVM::LLVMFuncOp::create(b, loc, name, LLVM::LLVMFunctionType::get(b.getI32Type(), {pointer}));
  b.setInsertionPointToStart(function.addEntryBlock(b));
  Value args = function.getArgument(0);
  Frame frame;
  frame.buffers = field(args, pointer, offsetof(sprig_rt_args, buffers));
  frame.scratch = field(args, pointer, offsetof(sprig_rt_args, scratch));
  frame.status = field(args, pointer, offsetof(sprig_rt_args, status));
  frame.begin = field(args, i64, offsetof(sprig_rt_args, tile_begin));
  frame.end = field(args, i64, offsetof(sprig_rt_args, tile_end));
  if (kernel.isComposite()) return buildComposite(kernel, function, frame);
  SmallVector<Value> arguments = ownArguments(kernel, frame);
  // The pointers go from the buffer list into registers, not over the stack.
  if (ownsBody) return takeBody(function, bodyOf(kernel), arguments);
  LLVM::ReturnOp::create(b, loc, LLVM::CallOp::create(b, loc, bodyOf(kernel), arguments).getResult());
}
} // namespace

static FailureOr<func::FuncOp> emitBody(exec::KernelOp kernel, StringRef stem, const CpuArch &target, ModuleOp module) {
  KernelGraph graph{&kernel.getBody().front(), kernel.getPlaces().value_or(ArrayRef<int64_t>()),
                    int64_t(kernel.getScratch())};
  return emitKernelGraph(graph, bodyName(stem), target, module);
}

FailureOr<OwningOpRef<ModuleOp>> sprig::cpu::emitKernelModule(ModuleOp program, const CpuArch &target, bool lower) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(program.getContext()));
  for (auto kernel : program.getOps<exec::KernelOp>()) {
    if (kernel.isComposite()) continue;
    auto function = emitBody(kernel, kernel.getSymName(), target, *module);
    if (failed(function)) return failure();
    function->setPrivate();
  }
  if (!lower) return module;
  if (failed(lowerKernelsToLLVM(*module, target))) return failure();
  for (auto body : module->getOps<LLVM::LLVMFuncOp>())
    if (!body.isExternal()) body.setLinkage(LLVM::Linkage::Internal);
  llvm::StringSet<> called;
  program.walk([&](exec::CallOp call) { called.insert(call.getKernel()); });
  auto stems = [](exec::KernelOp kernel) { return kernel.getSymName(); };
  AbiBuilder abi(*module, stems);
  for (exec::KernelOp kernel : exec::launchedKernels(program))
    abi.build(kernel, kernelFunctionName(kernel), /*ownsBody=*/!called.contains(kernel.getSymName()));
  return module;
}

FailureOr<OwningOpRef<ModuleOp>> sprig::cpu::emitUnit(const KernelUnit &unit, KernelStems stems, const CpuArch &target,
                                                      const KernelLowering &lowering) {
  exec::KernelOp kernel = unit.kernel;
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(kernel.getContext()));
  if (!kernel.isComposite()) {
    if (failed(emitBody(kernel, unit.stem, target, *module))) return failure();
    if (failed(lowering.run(*module))) return failure();
  }
  if (unit.launched) AbiBuilder(*module, stems).build(kernel, unitFunctionName(unit), /*ownsBody=*/!unit.called);
  return module;
}
