#include "lib/Schedule/SharedNeighbours.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

namespace {
// A kernel's operand, where some dispatch passes a buffer.
struct Use {
  KernelOp kernel;
  unsigned operand;
};
// What kernels hand to each other.
struct Handed {
  int64_t bytes;
  SmallVector<Use> writers, readers;
};
struct Neighbours {
  SmallVector<Handed> buffers;
  llvm::DenseMap<Operation *, int64_t> dispatches; // of each kernel
};
} // namespace

static Neighbours findNeighbours(ModuleOp module, const llvm::MapVector<Operation *, double> &shares) {
  Neighbours neighbours;
  SymbolTableCollection symbols;
  auto leafOf = [&](exec::DispatchOp dispatch) {
    auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(dispatch, dispatch.getKernelAttr());
    return shares.contains(kernel) ? kernel : KernelOp();
  };
  module.walk([&](exec::DispatchOp dispatch) {
    if (KernelOp kernel = leafOf(dispatch)) ++neighbours.dispatches[kernel];
  });
  module.walk([&](BufferOp buffer) {
    if (buffer.getKind() == BufferKind::constant) return;
    Handed handed{byteSize(buffer.getType()), {}, {}};
    for (OpOperand &use : buffer->getUses())
      if (auto dispatch = dyn_cast<exec::DispatchOp>(use.getOwner()))
        if (KernelOp kernel = leafOf(dispatch)) {
          bool writes = use.getOperandNumber() >= kernel.getNumInputs();
          (writes ? handed.writers : handed.readers).push_back({kernel, use.getOperandNumber()});
        }
    if (!handed.writers.empty() && !handed.readers.empty()) neighbours.buffers.push_back(std::move(handed));
  });
  return neighbours;
}

// Whether the first half of the tiles touches little more than the first half of the buffer: each of two threads has
// the same part of it in whatever does.
static bool followsRows(Use use, int64_t bytes) {
  constexpr double kHalfAndHalo = 0.75;
  return llvm::any_of(use.kernel.tileRanges(), [&](TileRangeAttr range) {
    if (range.getOperand() != use.operand) return false;
    rt::order::ByteRange half = range.bytesOf(0, use.kernel.getTiles() / 2, bytes);
    return double(half.end - half.begin) <= kHalfAndHalo * double(bytes);
  });
}

// What the one of two threads that fetches more has to fetch of what the other one wrote.
static double bytesFetched(Use writer, bool writerIsShared, Use reader, bool readerIsShared, int64_t size) {
  if (!writerIsShared && !readerIsShared) return 0;
  double bytes = double(size);
  bool readsPart = readerIsShared && followsRows(reader, size);
  if (!writerIsShared) return readsPart ? bytes / 2 : bytes;
  if (!readsPart) return bytes / 2;
  return followsRows(writer, size) ? 0 : bytes / 4;
}

// The bytes that are fetched less, over all dispatches, for each kernel that is not shared and would be.
static llvm::MapVector<Operation *, double> bytesSaved(const Neighbours &neighbours) {
  llvm::MapVector<Operation *, double> saved;
  for (const Handed &buffer : neighbours.buffers)
    for (Use writer : buffer.writers)
      for (Use reader : buffer.readers) {
        bool writing = isShared(writer.kernel), reading = isShared(reader.kernel);
        bool isOne = writer.kernel == reader.kernel;
        double now = bytesFetched(writer, writing, reader, reading, buffer.bytes);
        if (!writing) saved[writer.kernel] += now - bytesFetched(writer, true, reader, reading || isOne, buffer.bytes);
        if (!reading && !isOne) saved[reader.kernel] += now - bytesFetched(writer, writing, reader, true, buffer.bytes);
      }
  return saved;
}

llvm::DenseSet<Operation *> sprig::shareBesideShared(ModuleOp module,
                                                     const llvm::MapVector<Operation *, double> &shares,
                                                     double sharesOfHandOff, double bytesFetchedPerShare) {
  Neighbours neighbours = findNeighbours(module, shares);
  llvm::DenseSet<Operation *> halved;
  // Each round may give others a shared neighbour; so far behind one there is little to gain.
  constexpr int kRounds = 8;
  bool changed = true;
  for (int round = 0; changed && round < kRounds; ++round) {
    changed = false;
    for (auto [op, bytes] : bytesSaved(neighbours)) {
      auto kernel = cast<KernelOp>(op);
      auto dispatches = double(neighbours.dispatches.lookup(op));
      double gain = dispatches * shares.lookup(op) / 2 + bytes / bytesFetchedPerShare;
      if (kernel.getTiles() < 2 || gain < dispatches * sharesOfHandOff) continue;
      kernel.setGrain(kernel.getTiles() / 2);
      halved.insert(op);
      changed = true;
    }
  }
  return halved;
}
