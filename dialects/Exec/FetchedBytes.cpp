#include "dialects/Exec/FetchedBytes.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

SmallVector<Handed> exec::handedBuffers(Operation *root, SymbolTableCollection &symbols,
                                        llvm::function_ref<bool(KernelOp)> isLeft) {
  SmallVector<Handed> buffers;
  llvm::DenseMap<Operation *, SmallVector<Touched>> touched; // of each kernel's operands
  root->walk([&](BufferOp buffer) {
    if (buffer.getKind() == BufferKind::constant) return;
    Handed handed{byteSize(buffer.getType()), {}, {}};
    for (OpOperand &use : buffer->getUses())
      if (auto dispatch = dyn_cast<exec::DispatchOp>(use.getOwner())) {
        auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(dispatch, dispatch.getKernelAttr());
        if (!kernel || isLeft(kernel)) continue;
        SmallVector<Touched> &own = touched[kernel];
        if (own.empty()) own = kernel.getTouched(symbols);
        bool writes = use.getOperandNumber() >= kernel.getNumInputs();
        (writes ? handed.writers : handed.readers)
            .push_back({kernel, use.getOperandNumber(), dispatch, own[use.getOperandNumber()].total()});
      }
    if (!handed.writers.empty() && !handed.readers.empty()) buffers.push_back(std::move(handed));
  });
  return buffers;
}

// Whether the first half of the tiles touches little more than the first half of the buffer: each of two threads has
// the same part of it in whatever does.
static bool followsRows(KernelUse use, int64_t bytes) {
  constexpr double kHalfAndHalo = 0.75;
  return llvm::any_of(use.kernel.tileRanges(), [&](TileRangeAttr range) {
    if (range.getOperand() != use.operand) return false;
    rt::order::ByteRange half = range.bytesOf(0, use.kernel.getTiles() / 2, bytes);
    return double(half.end - half.begin) <= kHalfAndHalo * double(bytes);
  });
}

double exec::bytesFetched(KernelUse writer, bool writerIsShared, KernelUse reader, bool readerIsShared, int64_t size) {
  if (!writerIsShared && !readerIsShared) return 0;
  auto bytes = double(std::min(size, reader.touched));
  bool readsPart = readerIsShared && followsRows(reader, size);
  if (!writerIsShared) return readsPart ? bytes / 2 : bytes;
  if (!readsPart) return bytes / 2;
  return followsRows(writer, size) ? 0 : bytes / 4;
}

llvm::DenseMap<Operation *, int64_t> exec::fetchedBytes(ProgramOp program, SymbolTableCollection &symbols) {
  llvm::DenseMap<Operation *, int64_t> fetched;
  for (const Handed &handed : handedBuffers(program, symbols, [](KernelOp) { return false; }))
    for (KernelUse reader : handed.readers) {
      double most = 0;
      for (KernelUse writer : handed.writers)
        most = std::max(most,
                        bytesFetched(writer, isShared(writer.kernel), reader, isShared(reader.kernel), handed.bytes));
      if (most > 0) fetched[reader.dispatch] += int64_t(most);
    }
  return fetched;
}
