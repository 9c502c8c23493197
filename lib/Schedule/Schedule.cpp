#define GEN_PASS_DEF_SCHEDULE
#include "lib/Schedule/Passes.h"
#include "dialects/Interfaces/IndexRanges.h"
#include "dialects/Interfaces/Touch.h"
#include "dialects/Kernel/EqualDispatch.h"
#include "dialects/Kernel/InOrder.h"
#include "dialects/Kernel/OperationNumbers.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "dialects/NN/PortNames.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/Registry.h"
#include "lib/Schedule/RankPrograms.h"
#include "lib/Schedule/SplitLanes.h"
#include "lib/Schedule/StateOrder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

namespace {
class Scheduler {
public:
  Scheduler(ModuleOp module, const Target &target)
      : module(module), target(target), symbols(module), b(module.getContext()) {}

  LogicalResult run();

private:
  LogicalResult runOnFunction(func::FuncOp function);
  LogicalResult runOnOperation(Operation &op);
  LogicalResult addDispatch(kernel::DispatchOp dispatch);
  LogicalResult addCollective(Operation &op);
  FailureOr<KernelOp> kernelFor(kernel::DispatchOp dispatch);
  FlatSymbolRefAttr constantFor(ir::ConstantOp constant);
  LogicalResult addReturn(func::ReturnOp op);
  void addUpdates();
  void stateIndexRanges(func::FuncOp function);

  void makeDevices();
  unsigned homeOf(FlatSymbolRefAttr param);
  Value makeBuffer(Location loc, BufferKind kind, Type tensor, int64_t index, FlatSymbolRefAttr source, StringRef name,
                   unsigned device);
  Value bufferOf(Value value) { return buffers.lookup(value); }
  unsigned deviceOf(Value buffer) const { return deviceOfBuffer.lookup(buffer); }
  Value bufferOn(Value value, unsigned device, Location reader);
  void addCopy(Location loc, Value source, Value target);

  ModuleOp module;
  const Target &target;
  SymbolTable symbols;
  OpBuilder b;
  SmallVector<DeviceOp> devices;
  // By the kind of device that they run on, where the target has several: other plans, other code.
  llvm::StringMap<DenseMap<Operation *, KernelOp, kernel::EqualDispatch>> kernelsOfKind;
  DenseMap<Attribute, FlatSymbolRefAttr> constants;
  // Of the function at hand.
  DenseMap<Value, Value> buffers;
  DenseMap<Value, unsigned> deviceOfBuffer;              // where it is not the first
  DenseMap<std::pair<Value, unsigned>, Value> elsewhere; // buffers with the value of one, on another device
  DenseMap<Value, Operation *> writers;                  // commands that compute buffers
  LaneCommands commands;
  SmallVector<ir::SetParamOp> updates;
  ProgramOp program;
  LaneOp lane;
};

// One of the target's kind, or those that operations were placed on.
void Scheduler::makeDevices() {
  b.setInsertionPointToStart(module.getBody());
  auto placed = module->getAttrOfType<ArrayAttr>(kernel::kDevicesAttr);
  if (!placed) {
    devices.push_back(DeviceOp::create(b, module.getLoc(), target.kind(), target.kind()));
  } else {
    for (auto name : placed.getAsRange<StringAttr>()) {
      auto [kind, number] = name.getValue().split(':');
      uint64_t ordinal = 0;
      (void)number.getAsInteger(10, ordinal);
      devices.push_back(DeviceOp::create(b, module.getLoc(), (kind + number).str(), kind,
                                         /*architecture=*/StringAttr(), ordinal));
    }
  }
  for (DeviceOp device : devices) symbols.insert(device);
}

unsigned Scheduler::homeOf(FlatSymbolRefAttr param) {
  auto declared = symbols.lookup<ir::ParamOp>(param.getValue());
  return declared ? kernel::deviceOf(declared) : 0;
}

Value Scheduler::makeBuffer(Location loc, BufferKind kind, Type tensor, int64_t index, FlatSymbolRefAttr source,
                            StringRef name, unsigned device) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(lane);
  auto type = MemRefType::get(cast<ShapedType>(tensor).getShape(), cast<ShapedType>(tensor).getElementType());
  auto place = device ? FlatSymbolRefAttr::get(devices[device].getSymNameAttr()) : FlatSymbolRefAttr();
  Value buffer = BufferOp::create(b, loc, type, kind, index < 0 ? IntegerAttr() : b.getI64IntegerAttr(index), source,
                                  /*offset=*/IntegerAttr(), name.empty() ? StringAttr() : b.getStringAttr(name), place);
  if (device) deviceOfBuffer[buffer] = device;
  return buffer;
}

// The device that has the value does it, where there are two on a lane of its own.
void Scheduler::addCopy(Location loc, Value source, Value target) {
  auto copy = CopyOp::create(b, loc, source, target);
  unsigned from = deviceOf(source), to = deviceOf(target);
  if (from) commands.device[copy] = from;
  if (from != to) commands.copiesTo[copy] = to;
}

// What all devices have is there; else a copy, made where the value is and as soon as it is: of a state, before
// anything runs, so that its update need not wait long. Its location is that of the operation that reads it first, for
// warnings of copies.
Value Scheduler::bufferOn(Value value, unsigned device, Location reader) {
  Value own = bufferOf(value);
  unsigned home = deviceOf(own);
  if (home == device) return own;
  Value &there = elsewhere[{own, device}];
  if (there) return there;
  auto buffer = own.getDefiningOp<BufferOp>();
  StringRef name = buffer.getLabel().value_or("");
  if (buffer.getKind() == BufferKind::input || buffer.getKind() == BufferKind::constant)
    return there =
               makeBuffer(buffer.getLoc(), buffer.getKind(), buffer.getType(),
                          buffer.getIndex() ? int64_t(*buffer.getIndex()) : -1, buffer.getSourceAttr(), name, device);
  there = makeBuffer(buffer.getLoc(), BufferKind::arena, buffer.getType(), -1, {}, name, device);
  if (byteSize(buffer.getType()) == 0) return there;
  OpBuilder::InsertionGuard guard(b);
  if (Operation *writer = writers.lookup(own))
    b.setInsertionPointAfter(writer);
  else
    b.setInsertionPointToStart(&lane.getBody().front());
  addCopy(reader, own, there);
  return there;
}

FlatSymbolRefAttr Scheduler::constantFor(ir::ConstantOp constant) {
  FlatSymbolRefAttr &symbol = constants[constant.getValue()];
  if (symbol) return symbol;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(program);
  StringRef name = nameOf(constant.getLoc());
  auto op = ConstantOp::create(b, constant.getLoc(), name.empty() ? "constant" : name, constant.getValue());
  symbols.insert(op);
  return symbol = FlatSymbolRefAttr::get(op.getSymNameAttr());
}

FailureOr<KernelOp> Scheduler::kernelFor(kernel::DispatchOp dispatch) {
  StringRef kind = target.deviceKinds().size() > 1 ? devices[kernel::deviceOf(dispatch)].getKind() : target.kind();
  auto &kernels = kernelsOfKind[kind];
  auto found = kernels.find(dispatch);
  if (found != kernels.end()) return found->second;
  FailureOr<KernelPlan> plan = target.plan(dispatch);
  if (failed(plan)) return failure();
  StringAttr label = dispatch.getLabelAttr() ? dispatch.getLabelAttr() : b.getStringAttr("kernel");

  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(program);
  auto type = b.getFunctionType(dispatch->getOperandTypes(), dispatch->getResultTypes());
  auto kernel =
      KernelOp::create(b, dispatch.getLoc(), label.getValue(), type, plan->tiles, /*grain=*/1, plan->scratchBytes,
                       flopsOf(dispatch.getBody().front()), touchedAt(dispatch).total(), label, /*places=*/{});
  kernel.setTileRanges(llvm::map_to_vector(plan->ranges, [&](const TileRange &range) {
    return TileRangeAttr::get(b.getContext(), range.operand, range.first, range.step, range.size, range.per);
  }));
  Block &body = kernel.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value operand : dispatch->getOperands())
    // An operand passed twice is one argument twice.
    mapping.map(operand, body.addArgument(operand.getType(), operand.getLoc()));
  b.setInsertionPointToStart(&body);
  auto clone = cast<kernel::DispatchOp>(b.clone(*dispatch, mapping));
  clone->removeAttr(kernel::kDeviceAttr);
  for (auto [index, argument] : llvm::enumerate(body.getArguments())) clone->setOperand(index, argument);
  YieldOp::create(b, dispatch.getLoc(), clone->getResults());
  symbols.insert(kernel);
  kernels[clone] = kernel;
  return kernel;
}

// Dispatches that share a kernel keep the places of their own operations, for profiles.
static Location placesOf(kernel::DispatchOp dispatch) {
  SmallVector<Attribute> places;
  for (Operation *op : kernel::operationsOf(dispatch)) places.push_back(op->getLoc());
  return FusedLoc::get({dispatch.getLoc()}, ArrayAttr::get(dispatch.getContext(), places), dispatch.getContext());
}

static SmallVector<OverwriteAttr> overwritableOperands(kernel::DispatchOp dispatch, const Target &target) {
  SmallVector<OverwriteAttr> pairs;
  for (unsigned operand = 0; operand < dispatch->getNumOperands(); ++operand)
    for (unsigned result = 0; result < dispatch->getNumResults(); ++result)
      if (target.mayOverwrite(dispatch, operand, result))
        pairs.push_back(OverwriteAttr::get(dispatch.getContext(), operand, dispatch->getNumOperands() + result));
  return pairs;
}

// Uses are in no order of the program.
static Operation *earliestUser(BlockArgument argument) {
  Block *block = argument.getOwner();
  Operation *earliest = nullptr;
  for (Operation *user : argument.getUsers())
    if (Operation *here = block->findAncestorOpInBlock(*user); !earliest || here->isBeforeInBlock(earliest))
      earliest = here;
  return earliest;
}

LogicalResult Scheduler::addDispatch(kernel::DispatchOp dispatch) {
  unsigned device = kernel::deviceOf(dispatch);
  SmallVector<Value> operands;
  for (auto [operand, argument] : llvm::zip_equal(dispatch->getOperands(), dispatch->getRegion(0).getArguments())) {
    Location reader = argument.use_empty() ? dispatch.getLoc() : earliestUser(argument)->getLoc();
    operands.push_back(bufferOn(operand, device, reader));
  }
  bool hasWork = false;
  for (Value result : dispatch->getResults()) {
    Value buffer =
        makeBuffer(result.getLoc(), BufferKind::arena, result.getType(), -1, {}, nameOf(result.getLoc()), device);
    buffers[result] = buffer;
    operands.push_back(buffer);
    hasWork |= cast<RankedTensorType>(result.getType()).getNumElements() > 0;
  }
  if (!hasWork) return success();
  FailureOr<KernelOp> kernel = kernelFor(dispatch);
  if (failed(kernel)) return failure();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&lane.getBody().front());
  StringRef name = nameOf(dispatch.getLoc());
  auto command = exec::DispatchOp::create(b, placesOf(dispatch), FlatSymbolRefAttr::get(kernel->getSymNameAttr()),
                                          operands, name.empty() ? StringAttr() : b.getStringAttr(name));
  command.setOverwrites(overwritableOperands(dispatch, target));
  if (device) commands.device[command] = device;
  for (Value result : dispatch->getResults()) writers[bufferOf(result)] = command;
  return success();
}

/// Whether a command makes the value and nothing else reads its bytes, by whatever name.
static bool isReadHereAlone(Value value) {
  while (value.hasOneUse() && value.getDefiningOp() && sharesStorage(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  Operation *writer = value.getDefiningOp();
  return value.hasOneUse() && writer && (isa<kernel::DispatchOp>(writer) || isCollective(writer));
}

// What is worked on in place is the operand where nothing else reads it, else a copy, which is made as soon as the
// operand is there. Of what has no elements on any rank nothing is done.
LogicalResult Scheduler::addCollective(Operation &op) {
  if (failed(checkCollective(&op)) || failed(checkRanks(&op, program))) return failure();
  if (devices.size() > 1) return op.emitOpError("is in a program of several devices, which has no collectives yet");
  CollectiveShape shape = shapeOf(&op);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&lane.getBody().front());
  SmallVector<Value> sources, targets;
  for (auto [i, operand, result] : llvm::enumerate(op.getOperands(), op.getResults())) {
    Value own = bufferOf(operand), buffer = own;
    bool isFree = shape.changesOperand ? isReadHereAlone(operand) : !llvm::is_contained(sources, own);
    if (!isFree) {
      buffer = makeBuffer(op.getLoc(), BufferKind::arena, own.getType(), -1, {}, nameOf(operand.getLoc()), 0);
      OpBuilder::InsertionGuard beside(b);
      if (Operation *writer = writers.lookup(own))
        b.setInsertionPointAfter(writer);
      else
        b.setInsertionPointToStart(&lane.getBody().front());
      if (byteSize(own.getType())) addCopy(op.getLoc(), own, buffer);
    }
    Value to = buffer;
    if (!shape.isInPlace)
      to = makeBuffer(op.getLoc(), BufferKind::arena, result.getType(), -1, {}, nameOf(result.getLoc()), 0);
    buffers[result] = to;
    if (isEmpty(&op, unsigned(i))) continue;
    sources.push_back(buffer);
    if (!shape.isInPlace) targets.push_back(to);
  }
  addCommand(b, &op, sources, targets);
  for (Value buffer : shape.isInPlace ? sources : targets) writers[buffer] = &lane.getBody().front().back();
  return success();
}

LogicalResult Scheduler::addReturn(func::ReturnOp op) {
  for (auto [index, value] : llvm::enumerate(op.getOperands())) {
    StringRef name = cast<StringAttr>(program.getOutputNames()[index]).getValue();
    unsigned device = deviceOf(bufferOf(value));
    Value output = makeBuffer(op.getLoc(), BufferKind::output, value.getType(), index, {}, name, device);
    if (byteSize(value.getType()) == 0) continue;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&lane.getBody().front());
    addCopy(op.getLoc(), bufferOf(value), output);
  }
  return success();
}

// After everything that reads state. A value that is itself the old value of a state is put aside first: that state
// may be set, too.
void Scheduler::addUpdates() {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&lane.getBody().front());
  SmallVector<Value> sources;
  for (ir::SetParamOp set : updates) {
    Value source = bufferOf(set.getValue());
    if (source.getDefiningOp<BufferOp>().getKind() == BufferKind::state && byteSize(source.getType())) {
      unsigned device = deviceOf(source);
      Value aside =
          makeBuffer(set.getLoc(), BufferKind::arena, set.getValue().getType(), -1, {}, set.getParam(), device);
      addCopy(set.getLoc(), source, aside);
      source = aside;
    }
    sources.push_back(source);
  }
  for (auto [set, source] : llvm::zip_equal(updates, sources)) {
    if (byteSize(source.getType()) == 0) continue;
    unsigned home = homeOf(set.getParamAttr());
    Value state = makeBuffer(set.getLoc(), BufferKind::state, set.getValue().getType(), -1, set.getParamAttr(),
                             set.getParam(), home);
    addCopy(set.getLoc(), source, state);
    if (Operation *writer = writers.lookup(source); writer && deviceOf(source) == home)
      commands.updates[writer].push_back(state);
  }
}

LogicalResult Scheduler::runOnOperation(Operation &op) {
  if (auto dispatch = dyn_cast<kernel::DispatchOp>(op)) return addDispatch(dispatch);
  if (isCollective(&op)) return addCollective(op);
  if (sharesStorage(&op)) {
    buffers[op.getResult(0)] = bufferOf(op.getOperand(0));
    return success();
  }
  if (auto set = dyn_cast<ir::SetParamOp>(op)) {
    updates.push_back(set);
    return success();
  }
  if (auto constant = dyn_cast<ir::ConstantOp>(op)) {
    FlatSymbolRefAttr symbol = constantFor(constant);
    buffers[constant.getResult()] =
        makeBuffer(op.getLoc(), BufferKind::constant, constant.getType(), -1, symbol, nameOf(op.getLoc()), 0);
    return success();
  }
  if (auto get = dyn_cast<ir::GetParamOp>(op)) {
    buffers[get.getResult()] = makeBuffer(op.getLoc(), BufferKind::state, get.getType(), -1, get.getParamAttr(),
                                          get.getParam(), homeOf(get.getParamAttr()));
    return success();
  }
  if (auto ret = dyn_cast<func::ReturnOp>(op)) {
    if (failed(addReturn(ret))) return failure();
    addUpdates();
    return success();
  }
  return op.emitOpError("is in no dispatch, so it cannot be scheduled");
}

void Scheduler::stateIndexRanges(func::FuncOp function) {
  std::vector<std::vector<int64_t>> ranges = indexRangesOf(function);
  if (llvm::all_of(ranges, [](const std::vector<int64_t> &input) { return input.empty(); })) return;
  program->setAttr(kIndexRangesAttr, b.getArrayAttr(llvm::map_to_vector(ranges, [&](const auto &input) -> Attribute {
    return b.getDenseI64ArrayAttr(input);
  })));
}

LogicalResult Scheduler::runOnFunction(func::FuncOp function) {
  if (!function.getBody().hasOneBlock()) return function.emitOpError("has control flow, which no program can hold");
  FunctionType type = function.getFunctionType();
  for (Type port : llvm::concat<const Type>(type.getInputs(), type.getResults())) {
    auto tensor = dyn_cast<RankedTensorType>(port);
    if (!tensor || !tensor.hasStaticShape())
      return function.emitOpError("takes or gives ") << port << ", expected tensors of static shape";
  }
  b.setInsertionPoint(function);
  auto stringsOf = [&](const std::vector<std::string> &names) {
    return b.getStrArrayAttr(SmallVector<StringRef>(names.begin(), names.end()));
  };
  program = ProgramOp::create(
      b, function.getLoc(), function.getSymName(), stringsOf(ir::argumentNames(function)),
      b.getTypeArrayAttr(type.getInputs()), stringsOf(ir::resultNames(function)), b.getTypeArrayAttr(type.getResults()),
      /*arenas=*/DenseI64ArrayAttr(), function->hasAttr(ir::kIndependentSamplesAttr),
      function->getAttrOfType<StringAttr>(ir::kEntryAttr),
      /*ranks=*/IntegerAttr(), /*rank=*/IntegerAttr(), /*samples_of_ranks=*/IntegerAttr(), /*mesh_axes=*/ArrayAttr(),
      /*mesh_sizes=*/DenseI64ArrayAttr(), /*input_pieces=*/ArrayAttr(), /*output_pieces=*/ArrayAttr());
  stateRanks(program, function);
  for (StringRef name : {ir::kLengthsAttr, ir::kRepeatAttr, ir::kRepeatEntryAttr, ir::kRepeatTurnAttr,
                         kernel::kPiecesAttr, kernel::kInOrderAttr})
    if (Attribute value = function->getAttr(name)) program->setAttr(name, value);
  stateIndexRanges(function);
  b.setInsertionPointToStart(&program.getBody().emplaceBlock());
  lane = LaneOp::create(b, function.getLoc(), FlatSymbolRefAttr::get(devices.front().getSymNameAttr()));
  lane.getBody().emplaceBlock();

  buffers.clear();
  deviceOfBuffer.clear();
  elsewhere.clear();
  writers.clear();
  commands = LaneCommands();
  updates.clear();
  readStateBeforeUpdates(function.getBody().front());
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    buffers[argument] = makeBuffer(argument.getLoc(), BufferKind::input, argument.getType(), index, {},
                                   cast<StringAttr>(program.getInputNames()[index]).getValue(), 0);
  }
  for (Operation &op : function.getBody().front())
    if (failed(runOnOperation(op))) return failure();
  // Constants and parameters that nothing reads.
  for (auto buffer : llvm::make_early_inc_range(program.getBody().getOps<BufferOp>()))
    if (buffer->use_empty() && buffer.getKind() != BufferKind::input && buffer.getKind() != BufferKind::output)
      buffer.erase();
  symbols.remove(function);
  function.erase();
  symbols.insert(program);
  if (devices.size() > 1) splitLane(lane, devices, commands);
  return success();
}

LogicalResult Scheduler::run() {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || function.isPrivate())
      return function.emitOpError("is private or has no body; a program is made of public functions only");
    functions.push_back(function);
  }
  makeDevices();
  for (func::FuncOp function : functions)
    if (failed(runOnFunction(function))) return failure();
  for (auto param : module.getOps<ir::ParamOp>()) param->removeAttr(kernel::kDeviceAttr);
  module->removeAttr(kernel::kDevicesAttr); // which the target was asked by
  for (auto mesh : llvm::make_early_inc_range(module.getOps<ir::dist::MeshOp>())) mesh.erase();
  size_t count = 0;
  for (auto &kernels : kernelsOfKind) count += kernels.second.size();
  remark::analysis(module.getLoc(), remark::RemarkOpts::name("kernels").category("schedule"))
      << std::to_string(functions.size()) + " programs, " + std::to_string(count) + " different kernels";
  return success();
}

struct Schedule : sprig::impl::ScheduleBase<Schedule> {
  using ScheduleBase::ScheduleBase;

  void runOnOperation() override {
    const Target *device = targetForPass(getOperation(), target);
    if (!device || failed(Scheduler(getOperation(), *device).run())) signalPassFailure();
  }
};
} // namespace
