// Programs, buffers, lanes and commands: syntax and verification.
#include "dialects/Exec/Exec.h"
#include "dialects/Interfaces/ParseAttributes.h"
#include "runtime/collective/Piece.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace sprig::exec;

// `("x": tensor<4xf32>, "y": tensor<i64>)`
static ParseResult parsePorts(OpAsmParser &parser, ArrayAttr &names, ArrayAttr &types) {
  SmallVector<Attribute> nameList, typeList;
  auto parsePort = [&]() -> ParseResult {
    std::string name;
    Type type;
    if (parser.parseString(&name) || parser.parseColonType(type)) return failure();
    nameList.push_back(StringAttr::get(parser.getContext(), name));
    typeList.push_back(TypeAttr::get(type));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parsePort)) return failure();
  names = ArrayAttr::get(parser.getContext(), nameList);
  types = ArrayAttr::get(parser.getContext(), typeList);
  return success();
}

static void printPorts(OpAsmPrinter &printer, ArrayAttr names, ArrayAttr types) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(names, types), printer,
                        [&](auto port) { printer << std::get<0>(port) << ": " << std::get<1>(port); });
  printer << ')';
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  ArrayAttr inputNames, inputTypes, outputNames, outputTypes;
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(), result.attributes) ||
      parser.parseKeyword("inputs") || parsePorts(parser, inputNames, inputTypes) || parser.parseKeyword("outputs") ||
      parsePorts(parser, outputNames, outputTypes))
    return failure();
  result.addAttribute(getInputNamesAttrName(result.name), inputNames);
  result.addAttribute(getInputTypesAttrName(result.name), inputTypes);
  result.addAttribute(getOutputNamesAttrName(result.name), outputNames);
  result.addAttribute(getOutputTypesAttrName(result.name), outputTypes);
  if (succeeded(parser.parseOptionalKeyword("arena"))) {
    SmallVector<int64_t> arenas;
    if (parser.parseCommaSeparatedList([&] { return parser.parseInteger(arenas.emplace_back()); })) return failure();
    result.addAttribute(getArenasAttrName(result.name), parser.getBuilder().getDenseI64ArrayAttr(arenas));
  }
  if (succeeded(parser.parseOptionalKeyword("independent_samples")))
    result.addAttribute(getIndependentSamplesAttrName(result.name), parser.getBuilder().getUnitAttr());
  if (parseAttributes(parser, result)) return failure();
  Region *body = result.addRegion();
  if (parser.parseRegion(*body)) return failure();
  if (body->empty()) body->emplaceBlock();
  return success();
}

void ProgramOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << " inputs";
  printPorts(printer, getInputNames(), getInputTypes());
  printer << " outputs";
  printPorts(printer, getOutputNames(), getOutputTypes());
  if (getArenas()) {
    printer << " arena ";
    llvm::interleaveComma(*getArenas(), printer);
  }
  if (getIndependentSamples()) printer << " independent_samples";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {SymbolTable::getSymbolAttrName(), getInputNamesAttrName(),
                                            getInputTypesAttrName(), getOutputNamesAttrName(), getOutputTypesAttrName(),
                                            getArenasAttrName(), getIndependentSamplesAttrName()});
  printer << ' ';
  printer.printRegion(getBody());
}

static LogicalResult verifyPorts(ProgramOp program, StringRef what, ArrayAttr names, ArrayAttr types) {
  if (names.size() != types.size())
    return program.emitOpError("has ") << names.size() << " " << what << " names and " << types.size() << " types";
  for (auto [name, type] : llvm::zip(names, types)) {
    auto tensor = dyn_cast<RankedTensorType>(cast<TypeAttr>(type).getValue());
    if (!tensor || !tensor.hasStaticShape())
      return program.emitOpError("has ") << what << " " << name << " of type " << type << ", expected a static tensor";
  }
  return success();
}

// Pieces lie in their wholes, whose elements can be counted.
static LogicalResult verifyPieces(ProgramOp program, StringRef what, ArrayAttr types, std::optional<ArrayAttr> pieces) {
  if (!pieces) return success();
  if (!program.getRank()) return program.emitOpError("has pieces and is no one rank's");
  if (pieces->size() != types.size())
    return program.emitOpError("has pieces of ") << pieces->size() << " " << what << "s, expected " << types.size();
  for (auto [number, each] : llvm::enumerate(pieces->getAsRange<DenseI64ArrayAttr>())) {
    auto type = cast<RankedTensorType>(cast<TypeAttr>(types[number]).getValue());
    ArrayRef<int64_t> numbers = each;
    if (numbers.empty()) continue;
    if (int64_t(numbers.size()) != 2 * type.getRank())
      return program.emitOpError("has ") << numbers.size() << " numbers for a piece of rank " << type.getRank() << ", "
                                         << what << " " << number << ", expected two for each dimension";
    if (int dim = sprig::rt::collective::dimOutside(type.getShape(), numbers); dim >= 0)
      return program.emitOpError("has ") << type.getDimSize(dim) << " from " << numbers[size_t(type.getRank() + dim)]
                                         << " on of a dimension of " << numbers[size_t(dim)] << " as " << what << " "
                                         << number;
    if (!sprig::rt::collective::isCountable(numbers.take_front(size_t(type.getRank()))))
      return program.emitOpError("has a piece of more than 2^48 elements together as ") << what << " " << number;
  }
  return success();
}

namespace {
// The module's devices, by the order of which programs name their arenas.
struct ProgramDevices {
  explicit ProgramDevices(ProgramOp program) {
    for (auto device : program->getParentOfType<ModuleOp>().getOps<DeviceOp>())
      index.try_emplace(device.getSymNameAttr(), index.size());
  }
  int64_t arenaOf(ProgramOp program, BufferOp buffer) const {
    auto found = buffer.getDevice() ? index.find(buffer.getDeviceAttr().getAttr()) : index.end();
    size_t device = found == index.end() ? 0 : found->second;
    return device < program.getArenas()->size() ? (*program.getArenas())[device] : 0;
  }

  llvm::DenseMap<StringAttr, size_t> index;
};
} // namespace

// What is written lies on one device: an output, a state.
static LogicalResult verifyOneDevice(ProgramOp program) {
  DenseMap<std::pair<Attribute, Attribute>, BufferOp> first;
  for (auto buffer : program.getBody().getOps<BufferOp>()) {
    if (buffer.getKind() != BufferKind::output && buffer.getKind() != BufferKind::state) continue;
    auto [place, fresh] = first.try_emplace({buffer.getIndexAttr(), buffer.getSourceAttr()}, buffer);
    if (fresh || place->second.getPlace() == buffer.getPlace()) continue;
    return (buffer.emitOpError("lies on ") << buffer.getPlace() << ", expected all buffers of one "
                                           << stringifyBufferKind(buffer.getKind()) << " on one device")
               .attachNote(place->second.getLoc())
           << "another lies on " << place->second.getPlace();
  }
  return success();
}

// Buffers of inputs and outputs lie in their port, arena buffers in the arena.
static LogicalResult verifyPlace(ProgramOp program, BufferOp buffer, const ProgramDevices &devices) {
  int64_t end = buffer.getOffset().value_or(0) + byteSize(buffer.getType());
  auto verifyPort = [&](StringRef what, ArrayAttr types) -> LogicalResult {
    int64_t index = *buffer.getIndex();
    if (index >= int64_t(types.size()))
      return buffer.emitOpError("names ") << what << " " << index << " of a program with " << types.size();
    Type type = cast<TypeAttr>(types[index]).getValue();
    if (end > byteSize(type))
      return buffer.emitOpError("ends at byte ")
             << end << " of " << what << " " << index << ", which has " << byteSize(type);
    return success();
  };
  switch (buffer.getKind()) {
  case BufferKind::input: return verifyPort("input", program.getInputTypes());
  case BufferKind::output: return verifyPort("output", program.getOutputTypes());
  case BufferKind::arena: {
    if (!program.getArenas()) return success();
    int64_t arena = devices.arenaOf(program, buffer);
    if (!buffer.getOffset())
      return buffer.emitOpError("has no offset in a program with an arena of ") << arena << " bytes";
    if (end > arena) return buffer.emitOpError("ends at byte ") << end << " of an arena of " << arena << " bytes";
    return success();
  }
  case BufferKind::constant:
  case BufferKind::state: return success(); // checked with the symbol
  }
  return success();
}

// Its sizes multiply to the ranks: each has one place.
static LogicalResult verifyMesh(ProgramOp program) {
  std::optional<ArrayAttr> axes = program.getMeshAxes();
  std::optional<ArrayRef<int64_t>> sizes = program.getMeshSizes();
  if (!axes && !sizes) return success();
  size_t named = axes ? axes->size() : 0, sized = sizes ? sizes->size() : 0;
  if (named != sized) return program.emitOpError("has a mesh of ") << named << " axes and " << sized << " sizes";
  if (!named) return program.emitOpError("has a mesh of no axes");
  for (Attribute name : *axes)
    if (llvm::count(*axes, name) > 1) return program.emitOpError("has a mesh with two axes ") << name;
  int64_t ranks = int64_t(program.getRanks().value_or(1)), count = 1;
  for (int64_t size : *sizes) {
    if (size < 1) return program.emitOpError("has an axis of ") << size << " ranks, expected at least one";
    count = size > ranks / count ? ranks + 1 : count * size;
  }
  if (count == ranks) return success();
  return program.emitOpError("is of ") << ranks << " ranks, and its mesh of " << program.getMeshSizesAttr();
}

std::optional<SmallVector<uint32_t>> ProgramOp::findAxes(ArrayAttr names) {
  SmallVector<uint32_t> numbers;
  for (Attribute name : names) {
    auto axes = getMeshAxes().value_or(ArrayAttr());
    auto found = axes ? llvm::find(axes, name) : nullptr;
    if (!axes || found == axes.end()) return std::nullopt;
    numbers.push_back(uint32_t(found - axes.begin()));
  }
  return numbers;
}

// What commands are checked by.
LogicalResult ProgramOp::verify() {
  int64_t ranks = getRanks().value_or(1);
  constexpr int64_t kMostRanks = 1 << 20; // of a package
  if (ranks < 1 || ranks > kMostRanks) return emitOpError("is of ") << ranks << " ranks, expected 1 to " << kMostRanks;
  if (getRank() && (*getRank() < 0 || int64_t(*getRank()) >= ranks))
    return emitOpError("is of rank ") << int64_t(*getRank()) << ", expected one below " << ranks;
  return verifyMesh(*this);
}

LogicalResult ProgramOp::verifyRegions() {
  if (failed(verifyPorts(*this, "input", getInputNames(), getInputTypes())) ||
      failed(verifyPorts(*this, "output", getOutputNames(), getOutputTypes())) ||
      failed(verifyPieces(*this, "input", getInputTypes(), getInputPieces())) ||
      failed(verifyPieces(*this, "output", getOutputTypes(), getOutputPieces())))
    return failure();
  if (int64_t(getSamplesOfRanks().value_or(0)) < 0)
    return emitOpError("has ") << int64_t(*getSamplesOfRanks()) << " samples of all ranks, expected at least 0";
  ProgramDevices devices(*this);
  for (int64_t arena : getArenas().value_or(ArrayRef<int64_t>()))
    if (arena < 0) return emitOpError("has an arena of ") << arena << " bytes, expected at least 0";
  if (getArenas() && getArenas()->size() > std::max<size_t>(1, devices.index.size()))
    return emitOpError("has ") << getArenas()->size() << " arenas, expected at most one for each of "
                               << devices.index.size() << " devices";
  DenseMap<int64_t, CommandOpInterface> recorded;
  SmallVector<CommandOpInterface> waits;
  for (Operation &op : getBody().front()) {
    if (auto buffer = dyn_cast<BufferOp>(op)) {
      if (failed(verifyPlace(*this, buffer, devices))) return failure();
      continue;
    }
    auto lane = dyn_cast<LaneOp>(op);
    if (!lane)
      return emitOpError("holds buffers and lanes only").attachNote(op.getLoc()) << "found '" << op.getName() << "'";
    for (Operation &op : lane.getBody().front()) {
      auto command = dyn_cast<CommandOpInterface>(op);
      if (!command)
        return lane.emitOpError("holds commands only").attachNote(op.getLoc()) << "found '" << op.getName() << "'";
      if (command.getAwaitedEvent()) waits.push_back(command);
      if (!command.getRecordedEvent()) continue;
      auto [place, fresh] = recorded.try_emplace(*command.getRecordedEvent(), command);
      if (fresh) continue;
      return (op.emitOpError("records event ") << *command.getRecordedEvent() << " a second time")
                 .attachNote(place->second->getLoc())
             << "it is recorded here first";
    }
  }
  for (CommandOpInterface wait : waits)
    if (!recorded.contains(*wait.getAwaitedEvent()))
      return wait->emitOpError("waits for event ") << *wait.getAwaitedEvent() << ", which no lane records";
  return verifyOneDevice(*this);
}

FlatSymbolRefAttr BufferOp::getPlace() {
  if (getDevice()) return getDeviceAttr();
  auto devices = getOperation()->getParentOfType<ModuleOp>().getOps<DeviceOp>();
  return devices.empty() ? FlatSymbolRefAttr() : FlatSymbolRefAttr::get((*devices.begin()).getSymNameAttr());
}

int64_t ProgramOp::getArenaBytes() {
  int64_t bytes = 0;
  for (int64_t arena : getArenas().value_or(ArrayRef<int64_t>())) bytes += arena;
  return bytes;
}

LogicalResult DeviceOp::verify() {
  if (int64_t(getOrdinal()) < 0) return emitOpError("has ordinal ") << int64_t(getOrdinal()) << ", expected at least 0";
  return success();
}

LogicalResult DeviceOp::verifySymbolUses(SymbolTableCollection &) {
  for (auto other : getOperation()->getParentOfType<ModuleOp>().getOps<DeviceOp>()) {
    if (other == *this) break;
    if (other.getKind() != getKind() || other.getOrdinal() != getOrdinal()) continue;
    return (emitOpError("is ") << getKind() << ":" << getOrdinal() << " a second time").attachNote(other.getLoc())
           << "it is here first";
  }
  return success();
}

LogicalResult BufferOp::verify() {
  StringRef kind = stringifyBufferKind(getKind());
  bool wantsIndex = getKind() == BufferKind::input || getKind() == BufferKind::output;
  bool wantsSource = getKind() == BufferKind::constant || getKind() == BufferKind::state;
  if (wantsIndex != getIndex().has_value())
    return emitOpError("is of kind ") << kind << (wantsIndex ? " and has no index" : ", which takes no index");
  if (wantsSource != getSource().has_value())
    return emitOpError("is of kind ") << kind << (wantsSource ? " and has no source" : ", which takes no source");
  if (getIndex() && int64_t(*getIndex()) < 0)
    return emitOpError("has index ") << int64_t(*getIndex()) << ", expected at least 0";
  if (!getOffset()) return success();
  int64_t offset = *getOffset();
  if (offset < 0 || offset % kBufferAlignment)
    return emitOpError("is at byte ") << offset << ", expected a multiple of " << kBufferAlignment;
  return success();
}

LogicalResult BufferOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getDevice() &&
      !symbols.lookupNearestSymbolFrom<DeviceOp>(getOperation()->getParentOfType<ModuleOp>(), getDeviceAttr()))
    return emitOpError("lies on ") << getDeviceAttr() << ", which is no exec.device of the module";
  if (!getSource()) return success();
  Operation *module = getOperation()->getParentOfType<ModuleOp>();
  Operation *symbol = symbols.lookupNearestSymbolFrom(module, getSourceAttr());
  // A state is any symbol with initial bytes: the parameters of `nn`.
  auto value = symbol ? symbol->getAttrOfType<ElementsAttr>("value") : ElementsAttr();
  if (!symbol && !value) return emitOpError("names ") << getSourceAttr() << ", which the module does not have";
  bool isConstant = isa<ConstantOp>(symbol);
  if (!value || isConstant != (getKind() == BufferKind::constant))
    return (emitOpError("is of kind ") << stringifyBufferKind(getKind()) << ", but " << getSourceAttr() << " is '"
                                       << symbol->getName() << "'")
               .attachNote(symbol->getLoc())
           << "it is here";
  int64_t end = getOffset().value_or(0) + byteSize(getType());
  if (end > byteSize(value.getType()))
    return emitOpError("ends at byte ") << end << " of " << getSourceAttr() << ", which has "
                                        << byteSize(value.getType());
  return success();
}

LogicalResult LaneOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<DeviceOp>(getOperation()->getParentOfType<ModuleOp>(), getDeviceAttr()))
    return emitOpError("runs on ") << getDeviceAttr() << ", which is no exec.device of the module";
  for (Operation &op : getBody().front()) {
    auto command = dyn_cast<CommandOpInterface>(op);
    if (!command || op.getNumOperands() == 0) continue; // the program's verifier tells what is no command
    auto isThere = [&](Value buffer) {
      auto def = buffer.getDefiningOp<BufferOp>();
      return def && def.getPlace() == getDeviceAttr();
    };
    if (command.crossesDevices() ? llvm::any_of(op.getOperands(), isThere) : llvm::all_of(op.getOperands(), isThere))
      continue;
    Value other = *llvm::find_if_not(op.getOperands(), isThere);
    return (op.emitOpError("runs on ") << getDeviceAttr() << " and uses a buffer that is not there")
               .attachNote(other.getLoc())
           << "the buffer is here";
  }
  return success();
}
