// Kernels and the operations inside them: syntax and verification.
#include "dialects/Exec/Exec.h"
#include "dialects/Interfaces/ParseAttributes.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace sprig::exec;
namespace order = sprig::rt::order;

LogicalResult ConstantOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getValue().getType());
  if (!type) return emitOpError("holds ") << getValue().getType() << ", expected a ranked tensor";
  return success();
}

SmallVector<Type> KernelOp::getOperandTypes() {
  SmallVector<Type> types(getFunctionType().getInputs());
  llvm::append_range(types, getFunctionType().getResults());
  return types;
}

SmallVector<AccessMode> KernelOp::getOperandAccess(SymbolTableCollection &symbols) {
  if (!isComposite()) {
    SmallVector<AccessMode> access(getNumInputs(), AccessMode::read);
    access.append(getFunctionType().getNumResults(), AccessMode::write);
    return access;
  }
  SmallVector<AccessMode> access(getNumInputs(), AccessMode::none);
  for (auto call : getBody().getOps<CallOp>()) {
    auto callee = symbols.lookupNearestSymbolFrom<KernelOp>((*this)->getParentOfType<ModuleOp>(), call.getKernelAttr());
    if (!callee || callee.isComposite()) continue; // the call's verifier tells
    for (auto [buffer, mode] : llvm::zip(call.getBuffers(), callee.getOperandAccess(symbols))) {
      std::optional<unsigned> argument = CallOp::argumentOf(buffer);
      if (!argument) continue;
      AccessMode &all = access[*argument];
      all = AccessMode(uint8_t(all) | uint8_t(mode));
    }
  }
  return access;
}

SmallVector<sprig::Touched> KernelOp::getTouched(SymbolTableCollection &symbols) {
  Block &body = getBody().front();
  SmallVector<Touched> touched;
  if (!isComposite()) {
    for (BlockArgument argument : body.getArguments()) touched.push_back(touchedOf(argument));
    for (Value result : body.back().getOperands()) touched.push_back(touchedToMake(result));
    return touched;
  }
  touched.resize(body.getNumArguments());
  for (auto call : body.getOps<CallOp>()) {
    auto callee = symbols.lookupNearestSymbolFrom<KernelOp>((*this)->getParentOfType<ModuleOp>(), call.getKernelAttr());
    for (auto [buffer, ofRun] : llvm::zip_equal(call.getBuffers(), callee.getTouched(symbols)))
      if (std::optional<unsigned> argument = CallOp::argumentOf(buffer))
        touched[*argument] += ofRun.times(double(call.countRuns()));
  }
  for (auto [all, argument] : llvm::zip_equal(touched, body.getArguments()))
    all = all.upTo(byteSize(argument.getType()));
  return touched;
}

void KernelOp::setTileRanges(ArrayRef<TileRangeAttr> list) {
  if (list.empty()) return;
  setRangesAttr(ArrayAttr::get(getContext(), SmallVector<Attribute>(list.begin(), list.end())));
}

order::ByteRange TileRangeAttr::bytesOf(int64_t firstTile, int64_t endTile, int64_t bytes) const {
  order::TileBytes tiles = {getFirst(), getStep(), uint64_t(getSize()), uint64_t(getPer())};
  return order::bytesOfTiles(tiles, firstTile, endTile, uint64_t(bytes));
}

bool KernelOp::isComposite() { return !getBody().front().empty() && isa<CallOp>(getBody().front().back()); }

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> inputs, results;
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(), result.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseOptionalArrowTypeList(results) || parseAttributes(parser, result))
    return failure();
  for (const OpAsmParser::Argument &argument : arguments) inputs.push_back(argument.type);
  result.addAttribute(getFunctionTypeAttrName(result.name),
                      TypeAttr::get(FunctionType::get(parser.getContext(), inputs, results)));
  return parser.parseRegion(*result.addRegion(), arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(getBody().getArguments(), printer, [&](BlockArgument a) { printer.printRegionArgument(a); });
  printer << ')';
  printer.printOptionalArrowTypeList(getFunctionType().getResults());
  SmallVector<StringRef> hidden = {SymbolTable::getSymbolAttrName(), getFunctionTypeAttrName().getValue()};
  // Defaults say nothing.
  if (getGrain() == 1) hidden.push_back(getGrainAttrName());
  if (getScratch() == 0) hidden.push_back(getScratchAttrName());
  if (getFlops() == 0) hidden.push_back(getFlopsAttrName());
  if (getBytes() == 0) hidden.push_back(getBytesAttrName());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), hidden);
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

// What tiles touch lies in the operand; of a result, all of it is written.
static LogicalResult verifyRanges(KernelOp kernel) {
  SmallVector<Type> types = kernel.getOperandTypes();
  int64_t tiles = kernel.getTiles(), before = -1;
  for (TileRangeAttr range : kernel.tileRanges()) {
    int64_t operand = range.getOperand();
    if (operand < 0 || operand >= int64_t(types.size()) || range.getSize() < 0 || range.getPer() < 1)
      return kernel.emitOpError("has ") << range << ", expected one of " << types.size()
                                        << " operands, a size of at least 0 and a range per 1 tile or more";
    if (operand < before)
      return kernel.emitOpError("has ") << range << " after one of operand " << before
                                        << ", expected ranges in the order of operands";
    bool isFirst = std::exchange(before, operand) != operand;
    auto shaped = dyn_cast<ShapedType>(types[operand]);
    if (!shaped || !shaped.hasStaticShape() || tiles < 1) continue;
    int64_t bytes = byteSize(shaped);
    for (int64_t tile : {int64_t(0), tiles - 1})
      if (auto [begin, end] = range.bytesOf(tile, tile + 1, bytes); begin >= end)
        return kernel.emitOpError("has ")
               << range << ", by which tile " << tile << " touches none of the " << bytes << " bytes";
    if (operand < int64_t(kernel.getNumInputs()) || !isFirst) continue;
    auto [begin, end] = range.bytesOf(0, tiles, bytes);
    bool hasGaps = tiles > range.getPer() && range.getSize() < std::abs(range.getStep());
    if (begin > 0 || int64_t(end) < bytes || hasGaps)
      return kernel.emitOpError("has ") << range << ", which leaves out bytes of a result of " << bytes;
  }
  return success();
}

// Each tile of a composite kernel has a call that it runs.
static LogicalResult verifyTilesOfCalls(KernelOp kernel) {
  int64_t tiles = kernel.getTiles();
  auto calls = kernel.getBody().getOps<CallOp>();
  bool hasPieces = (*calls.begin()).getEach();
  for (Operation &op : kernel.getBody().front())
    if (auto call = dyn_cast<CallOp>(op); call ? call.getEach() != hasPieces : !hasPieces)
      return kernel.emitOpError("mixes calls in each tile with calls in some").attachNote(op.getLoc())
             << "such as this";
  SmallVector<std::pair<int64_t, int64_t>> ranges;
  for (CallOp call : calls) {
    int64_t first = call.firstTile(), end = call.endTile();
    if (first < 0 || first >= end || end > tiles)
      return (kernel.emitOpError("has ") << tiles << " tiles").attachNote(call.getLoc())
             << "a call is in those from " << first << " to " << end;
    ranges.push_back({first, end});
  }
  llvm::sort(ranges);
  int64_t covered = 0;
  for (auto [first, end] : ranges) {
    if (first > covered) break;
    covered = std::max(covered, end);
  }
  if (covered == tiles) return success();
  return kernel.emitOpError("has ") << tiles << " tiles, and no call in tile " << covered;
}

LogicalResult KernelOp::verifyRegions() {
  using Limit = std::tuple<StringRef, int64_t, int64_t>;
  for (auto [what, value, least] :
       {Limit("tiles", getTiles(), 0), Limit("grain", getGrain(), 1), Limit("scratch", getScratch(), 0),
        Limit("flops", getFlops(), 0), Limit("bytes", getBytes(), 0)})
    if (value < least) return emitOpError("has ") << what << " " << value << ", expected at least " << least;
  if (failed(verifyRanges(*this))) return failure();
  Block &body = getBody().front();
  if (body.getArgumentTypes() != TypeRange(getFunctionType().getInputs()))
    return emitOpError("has a body of ") << body.getNumArguments() << " arguments and a type of "
                                         << getFunctionType().getNumInputs() << ", or they differ in type";
  if (isComposite()) {
    for (Type type : getOperandTypes())
      if (!isa<MemRefType>(type)) return emitOpError("calls kernels, so takes buffers only, found ") << type;
    if (getFunctionType().getNumResults()) return emitOpError("calls kernels, so has no results");
    for (Operation &op : body)
      if (!isa<CallOp, PieceOp, ScratchOp>(op))
        return emitOpError("mixes calls of kernels with other operations").attachNote(op.getLoc())
               << "such as '" << op.getName() << "'";
    return verifyTilesOfCalls(*this);
  }
  auto yield = body.empty() ? nullptr : dyn_cast<YieldOp>(body.back());
  if (!yield) return emitOpError("has a body that neither calls kernels nor ends in exec.yield");
  for (Type type : getOperandTypes())
    if (!isa<RankedTensorType>(type)) return emitOpError("computes tensors, found ") << type;
  if (yield.getOperandTypes() != TypeRange(getFunctionType().getResults()))
    return (emitOpError("has results (") << getFunctionType().getResults() << ")").attachNote(yield.getLoc())
           << "its body yields (" << yield.getOperandTypes() << ")";
  return success();
}

SmallVector<KernelOp> sprig::exec::launchedKernels(ModuleOp module) {
  llvm::DenseSet<StringAttr> launched;
  module.walk([&](DispatchOp dispatch) { launched.insert(dispatch.getKernelAttr().getAttr()); });
  SmallVector<KernelOp> kernels;
  for (auto kernel : module.getOps<KernelOp>())
    if (launched.contains(kernel.getSymNameAttr())) kernels.push_back(kernel);
  return kernels;
}

StringRef sprig::exec::nameOf(Location location) {
  if (auto name = dyn_cast<NameLoc>(location)) return name.getName();
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (StringRef name = nameOf(part); !name.empty()) return name;
  return {};
}

StringRef sprig::exec::descriptionOf(Location location) {
  auto fused = dyn_cast<FusedLoc>(location);
  if (!fused) return {};
  if (auto text = dyn_cast_if_present<StringAttr>(fused.getMetadata())) return text.getValue();
  for (Location part : fused.getLocations())
    if (StringRef text = descriptionOf(part); !text.empty()) return text;
  return {};
}

LogicalResult sprig::exec::verifyKernelUse(Operation *user, FlatSymbolRefAttr name, ValueRange buffers,
                                           SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(user->getParentOfType<ModuleOp>(), name);
  if (!kernel) return user->emitOpError("names ") << name << ", which is no exec.kernel of the module";
  auto fail = [&](const Twine &text) -> LogicalResult {
    return user->emitOpError(text).attachNote(kernel.getLoc()) << "kernel " << name << " is here";
  };
  SmallVector<Type> types = kernel.getOperandTypes();
  if (buffers.size() != types.size())
    return fail("passes " + Twine(buffers.size()) + " buffers to a kernel of " + Twine(types.size()));
  for (auto [index, buffer, type] : llvm::enumerate(buffers, types)) {
    Type have = cast<ShapedType>(buffer.getType()).getElementType(), want = cast<ShapedType>(type).getElementType();
    if (have != want || byteSize(buffer.getType()) != byteSize(type))
      return fail("passes " + describe(buffer.getType()) + " as operand " + Twine(index) + ", the kernel has " +
                  describe(type));
  }
  return success();
}

int64_t CallOp::endTile() {
  if (getEach()) return int64_t((*this)->getParentOfType<KernelOp>().getTiles());
  return getEndTile().value_or(1);
}

std::optional<unsigned> CallOp::argumentOf(Value buffer) {
  if (auto piece = buffer.getDefiningOp<PieceOp>()) buffer = piece.getBuffer();
  if (auto argument = dyn_cast<BlockArgument>(buffer)) return argument.getArgNumber();
  return std::nullopt;
}

LogicalResult PieceOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!isa<BlockArgument>(getBuffer())) return emitOpError("is a piece of what is no argument of its kernel");
  auto whole = cast<MemRefType>(getBuffer().getType()), piece = cast<MemRefType>(getType());
  if (whole.getElementType() == piece.getElementType() &&
      byteSize(piece) * int64_t(kernel.getTiles()) == byteSize(whole))
    return success();
  return emitOpError("is ") << describe(piece) << " of " << describe(whole) << ", expected a part for each of "
                            << kernel.getTiles() << " tiles";
}

LogicalResult ScratchOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  int64_t first = int64_t(getOffset()), end = first + byteSize(getType());
  if (first >= 0 && end <= int64_t(kernel.getScratch())) return success();
  return emitOpError("is bytes ") << first << " to " << end << " of the thread's, its kernel has "
                                  << kernel.getScratch();
}

// What two calls do with one buffer; whether they may run side by side.
static bool mayRunBeside(CallOp one, KernelOp oneKernel, CallOp other, KernelOp otherKernel,
                         SymbolTableCollection &symbols) {
  SmallVector<AccessMode> oneModes = oneKernel.getOperandAccess(symbols),
                          otherModes = otherKernel.getOperandAccess(symbols);
  for (auto [buffer, mode] : llvm::zip(one.getBuffers(), oneModes))
    for (auto [otherBuffer, otherMode] : llvm::zip(other.getBuffers(), otherModes))
      if (buffer == otherBuffer && (writes(mode) || writes(otherMode))) return false;
  return true;
}

// What a call in each tile writes is the tile's own.
static LogicalResult verifyCallPieces(CallOp call, KernelOp kernel, SymbolTableCollection &symbols) {
  for (auto [buffer, mode] : llvm::zip(call.getBuffers(), kernel.getOperandAccess(symbols))) {
    auto piece = buffer.getDefiningOp<PieceOp>();
    if (!writes(mode) || buffer.getDefiningOp<ScratchOp>()) continue;
    auto isPiece = [](Operation *user) { return isa<PieceOp>(user); };
    if (piece && llvm::all_of(piece.getBuffer().getUsers(), isPiece)) continue;
    return call.emitOpError("is in each tile and writes a buffer that other tiles touch");
  }
  return success();
}

// A callee's tiles are shared out over the call's, and what calls of different tiles touch is apart.
static LogicalResult verifySideBySide(CallOp call, KernelOp kernel, SymbolTableCollection &symbols) {
  if (call.getEach()) return verifyCallPieces(call, kernel, symbols);
  if (int64_t(kernel.getTiles()) < call.countTiles())
    return call.emitOpError("shares ") << kernel.getTiles() << " tiles of " << call.getKernelAttr() << " out over "
                                       << call.countTiles();
  auto parent = call->getParentOfType<KernelOp>();
  if (parent.getTiles() == 1) return success();
  for (auto other : parent.getBody().getOps<CallOp>()) {
    if (other == call) break;
    bool isInOneTile = call.countTiles() == 1 && other.countTiles() == 1 && call.firstTile() == other.firstTile();
    auto otherKernel =
        symbols.lookupNearestSymbolFrom<KernelOp>(call->getParentOfType<ModuleOp>(), other.getKernelAttr());
    if (isInOneTile || !otherKernel || otherKernel.isComposite() ||
        mayRunBeside(call, kernel, other, otherKernel, symbols))
      continue;
    return call.emitOpError("touches what a call in other tiles touches, and one of the two writes")
               .attachNote(other.getLoc())
           << "the other call is here";
  }
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // A callee is a leaf: composites do not nest, so there is no recursion either.
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(getOperation()->getParentOfType<ModuleOp>(), getKernelAttr());
  if (kernel && kernel.isComposite()) return emitOpError("calls ") << getKernelAttr() << ", which itself calls kernels";
  if (failed(verifyKernelUse(*this, getKernelAttr(), getBuffers(), symbols))) return failure();
  return verifySideBySide(*this, kernel, symbols);
}
