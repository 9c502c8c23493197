#include "lib/Schedule/SharedNeighbours.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

namespace {
struct Neighbours {
  SmallVector<Handed> buffers;
  llvm::DenseMap<Operation *, int64_t> dispatches; // of each kernel
};
} // namespace

static Neighbours findNeighbours(ModuleOp module, const llvm::MapVector<Operation *, double> &shares) {
  Neighbours neighbours;
  SymbolTableCollection symbols;
  module.walk([&](exec::DispatchOp dispatch) {
    auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(dispatch, dispatch.getKernelAttr());
    if (shares.contains(kernel)) ++neighbours.dispatches[kernel];
  });
  neighbours.buffers = handedBuffers(module, symbols, [&](KernelOp kernel) { return !shares.contains(kernel); });
  return neighbours;
}

// The bytes that are fetched less, over all dispatches, for each kernel that is not shared and would be.
static llvm::MapVector<Operation *, double> bytesSaved(const Neighbours &neighbours) {
  llvm::MapVector<Operation *, double> saved;
  for (const Handed &buffer : neighbours.buffers)
    for (KernelUse writer : buffer.writers)
      for (KernelUse reader : buffer.readers) {
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
