// Programs, buffers, lanes and commands: syntax and verification.
#include "dialects/Exec/Exec.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNStructure.h"
#include "dialects/Interfaces/ParseAttributes.h"
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
    int64_t arena;
    if (parser.parseInteger(arena)) return failure();
    result.addAttribute(getArenaAttrName(result.name), parser.getBuilder().getI64IntegerAttr(arena));
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
  if (getArena()) printer << " arena " << *getArena();
  if (getIndependentSamples()) printer << " independent_samples";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {SymbolTable::getSymbolAttrName(), getInputNamesAttrName(),
                                            getInputTypesAttrName(), getOutputNamesAttrName(), getOutputTypesAttrName(),
                                            getArenaAttrName(), getIndependentSamplesAttrName()});
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

// Buffers of inputs and outputs lie in their port, arena buffers in the arena.
static LogicalResult verifyPlace(ProgramOp program, BufferOp buffer) {
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
  case BufferKind::arena:
    if (!program.getArena()) return success();
    if (!buffer.getOffset())
      return buffer.emitOpError("has no offset in a program with an arena of ") << *program.getArena() << " bytes";
    if (end > int64_t(*program.getArena()))
      return buffer.emitOpError("ends at byte ") << end << " of an arena of " << *program.getArena() << " bytes";
    return success();
  case BufferKind::constant:
  case BufferKind::state: return success(); // checked with the symbol
  }
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  if (failed(verifyPorts(*this, "input", getInputNames(), getInputTypes())) ||
      failed(verifyPorts(*this, "output", getOutputNames(), getOutputTypes())))
    return failure();
  if (getArena() && int64_t(*getArena()) < 0)
    return emitOpError("has an arena of ") << int64_t(*getArena()) << " bytes, expected at least 0";
  DenseMap<int64_t, RecordOp> recorded;
  SmallVector<WaitOp> waits;
  for (Operation &op : getBody().front()) {
    if (auto buffer = dyn_cast<BufferOp>(op)) {
      if (failed(verifyPlace(*this, buffer))) return failure();
      continue;
    }
    auto lane = dyn_cast<LaneOp>(op);
    if (!lane) {
      InFlightDiagnostic error = emitOpError("holds buffers and lanes only");
      error.attachNote(op.getLoc()) << "found '" << op.getName() << "'";
      return error;
    }
    for (Operation &command : lane.getBody().front()) {
      if (auto record = dyn_cast<RecordOp>(command)) {
        auto [place, fresh] = recorded.try_emplace(record.getEvent(), record);
        if (fresh) continue;
        InFlightDiagnostic error = record.emitOpError("records event ") << record.getEvent() << " a second time";
        error.attachNote(place->second.getLoc()) << "it is recorded here first";
        return error;
      }
      if (auto wait = dyn_cast<WaitOp>(command))
        waits.push_back(wait);
      else if (!isa<DispatchOp, CopyOp>(command)) {
        InFlightDiagnostic error = lane.emitOpError("holds commands only");
        error.attachNote(command.getLoc()) << "found '" << command.getName() << "'";
        return error;
      }
    }
  }
  for (WaitOp wait : waits)
    if (!recorded.contains(wait.getEvent()))
      return wait.emitOpError("waits for event ") << wait.getEvent() << ", which no lane records";
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
  if (!getSource()) return success();
  Operation *module = getOperation()->getParentOfType<ModuleOp>();
  Operation *symbol = symbols.lookupNearestSymbolFrom(module, getSourceAttr());
  // A state is any symbol with initial bytes: the parameters of `nn`.
  auto value = symbol ? symbol->getAttrOfType<ElementsAttr>("value") : ElementsAttr();
  if (!symbol && !value) return emitOpError("names ") << getSourceAttr() << ", which the module does not have";
  bool isConstant = isa<ConstantOp>(symbol);
  if (!value || isConstant != (getKind() == BufferKind::constant)) {
    InFlightDiagnostic error = emitOpError("is of kind ") << stringifyBufferKind(getKind()) << ", but "
                                                          << getSourceAttr() << " is '" << symbol->getName() << "'";
    error.attachNote(symbol->getLoc()) << "it is here";
    return error;
  }
  int64_t end = getOffset().value_or(0) + byteSize(getType());
  if (end > byteSize(value.getType()))
    return emitOpError("ends at byte ") << end << " of " << getSourceAttr() << ", which has "
                                        << byteSize(value.getType());
  return success();
}

LogicalResult LaneOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (symbols.lookupNearestSymbolFrom<DeviceOp>(getOperation()->getParentOfType<ModuleOp>(), getDeviceAttr()))
    return success();
  return emitOpError("runs on ") << getDeviceAttr() << ", which is no exec.device of the module";
}

LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyKernelUse(*this, getKernelAttr(), getBuffers(), symbols);
}

LogicalResult CopyOp::verify() {
  int64_t source = byteSize(getSource().getType()), target = byteSize(getTarget().getType());
  if (source != target) return emitOpError("copies ") << source << " bytes to a buffer of " << target;
  return success();
}
