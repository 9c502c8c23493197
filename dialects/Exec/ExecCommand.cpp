// Commands: what they touch, where they may stand.
#include "dialects/Exec/Exec.h"

using namespace mlir;
using namespace sprig::exec;

FlatSymbolRefAttr sprig::exec::deviceOfCommand(Operation *command) {
  return command->getParentOfType<LaneOp>().getDeviceAttr();
}

LogicalResult sprig::exec::verifyWritable(Operation *command, Value value) {
  auto buffer = value.getDefiningOp<BufferOp>();
  if (!buffer || (buffer.getKind() != BufferKind::input && buffer.getKind() != BufferKind::constant)) return success();
  return (command->emitOpError("writes a buffer of kind ") << stringifyBufferKind(buffer.getKind()))
             .attachNote(buffer.getLoc())
         << "the buffer is here";
}

LogicalResult DispatchOp::verify() {
  int64_t count = getBuffers().size();
  for (OverwriteAttr over : overwrites()) {
    auto isBuffer = [&](int64_t index) { return index >= 0 && index < count; };
    if (!isBuffer(over.getOperand()) || !isBuffer(over.getResult()) || over.getOperand() == over.getResult())
      return emitOpError("has ") << over << ", expected two of " << count << " buffers";
  }
  return success();
}

void DispatchOp::setOverwrites(ArrayRef<OverwriteAttr> list) {
  if (list.empty()) return;
  setOverwritableAttr(ArrayAttr::get(getContext(), SmallVector<Attribute>(list.begin(), list.end())));
}

LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyKernelUse(*this, getKernelAttr(), getBuffers(), symbols))) return failure();
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(getOperation()->getParentOfType<ModuleOp>(), getKernelAttr());
  for (auto [buffer, mode] : llvm::zip(getBuffers(), kernel.getOperandAccess(symbols)))
    if (writes(mode) && failed(verifyWritable(*this, buffer))) return failure();
  if (!getFirstTile()) return success();
  int64_t first = *getFirstTile(), end = *getEndTile(), tiles = kernel.getTiles();
  if (first >= 0 && first < end && end <= tiles) return success();
  return emitOpError("runs tiles ") << first << " to " << end << " of a kernel of " << tiles;
}

int64_t DispatchOp::countFlops(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(getOperation()->getParentOfType<ModuleOp>(), getKernelAttr());
  if (!getFirstTile()) return kernel.getFlops();
  double share = double(*getEndTile() - *getFirstTile()) / double(kernel.getTiles());
  return int64_t(share * double(kernel.getFlops()));
}

// Operands with ranges of tiles count by those of its own tiles. Operands in which data says where to look count by the
// share of the work that it does.
sprig::Touched DispatchOp::countTouched(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(getOperation()->getParentOfType<ModuleOp>(), getKernelAttr());
  SmallVector<BufferAccess> accesses;
  getAccesses(symbols, accesses);
  Touched sum;
  for (const BufferAccess &access : accesses) sum.bytes += access.end - access.begin;
  double share = isPart() ? double(*getEndTile() - *getFirstTile()) / double(kernel.getTiles()) : 1;
  for (auto [buffer, own] : llvm::zip_equal(getBuffers(), kernel.getTouched(symbols))) {
    int64_t size = byteSize(buffer.getType());
    if (!own.accesses && own.bytes >= size) continue;
    sum.bytes -= int64_t(double(size) * share);
    sum += own.times(share);
  }
  sum.bytes = std::max<int64_t>(sum.bytes, 0);
  return sum;
}

StringRef DispatchOp::getTitle() { return getLabel().value_or(getKernel()); }

void DispatchOp::getAccesses(SymbolTableCollection &symbols, SmallVectorImpl<BufferAccess> &accesses) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(getOperation()->getParentOfType<ModuleOp>(), getKernelAttr());
  SmallVector<AccessMode> modes = kernel.getOperandAccess(symbols);
  int64_t first = getFirstTile().value_or(0), end = getEndTile().value_or(kernel.getTiles());
  SmallVector<TileRangeAttr> ranges = kernel.tileRanges();
  for (auto [index, buffer, mode] : llvm::enumerate(getBuffers(), modes)) {
    if (mode == AccessMode::none) continue;
    int64_t size = byteSize(buffer.getType());
    bool isWhole = true;
    for (TileRangeAttr range : ranges) {
      if (range.getOperand() != int64_t(index)) continue;
      auto [from, to] = range.bytesOf(first, end, size);
      if (from < to) accesses.push_back({buffer, mode, int64_t(from), int64_t(to)});
      isWhole = false;
    }
    if (isWhole) accesses.push_back({buffer, mode, 0, size});
  }
}

LogicalResult CopyOp::verify() {
  int64_t source = byteSize(getSource().getType()), target = byteSize(getTarget().getType());
  if (source != target) return emitOpError("copies ") << source << " bytes to a buffer of " << target;
  return verifyWritable(*this, getTarget());
}

bool CopyOp::crossesDevices() { return true; }

void CopyOp::getAccesses(SymbolTableCollection &, SmallVectorImpl<BufferAccess> &accesses) {
  int64_t size = byteSize(getSource().getType());
  accesses.push_back({getSource(), AccessMode::read, 0, size});
  accesses.push_back({getTarget(), AccessMode::write, 0, size});
}

std::optional<int64_t> RecordOp::getRecordedEvent() { return getEvent(); }
std::optional<int64_t> WaitOp::getAwaitedEvent() { return getEvent(); }
