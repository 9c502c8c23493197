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

// The bytes that are fetched less, over all dispatches, for each kernel that would be shared where it is not, or not
// where it is.
static llvm::MapVector<Operation *, double> bytesSaved(const Neighbours &neighbours) {
  llvm::MapVector<Operation *, double> saved;
  for (const Handed &buffer : neighbours.buffers)
    for (KernelUse writer : buffer.writers)
      for (KernelUse reader : buffer.readers) {
        bool writing = isShared(writer.kernel), reading = isShared(reader.kernel);
        double now = bytesFetched(writer, writing, reader, reading, buffer.bytes);
        bool isOne = writer.kernel == reader.kernel;
        saved[writer.kernel] += now - bytesFetched(writer, !writing, reader, isOne != reading, buffer.bytes);
        if (!isOne) saved[reader.kernel] += now - bytesFetched(writer, writing, reader, !reading, buffer.bytes);
      }
  return saved;
}

namespace {
class Neighbourhood {
public:
  Neighbourhood(ModuleOp module, const llvm::MapVector<Operation *, double> &shares, const SharingCost &cost)
      : neighbours(findNeighbours(module, shares)), shares(shares), cost(cost) {}

  llvm::DenseSet<Operation *> settle() {
    // A program that leaves nothing for a second thread becomes one kernel, which is worth more than a little.
    constexpr double kSharesOfOneKernel = 1;
    bool isAnyShared = llvm::any_of(shares, [](const auto &entry) { return isShared(cast<KernelOp>(entry.first)); });
    // Halves first: they are what others are shared beside.
    repeat(/*halve=*/true);
    if (!isAnyShared && gained < kSharesOfOneKernel) {
      for (Operation *op : settled) leaveToOne(cast<KernelOp>(op));
      return {};
    }
    repeat(/*halve=*/false);
    return std::move(settled);
  }

private:
  // Each round may give others a neighbour that is shared, or take one from them; so far behind one there is little to
  // gain.
  void repeat(bool halve) {
    constexpr int kRounds = 8;
    bool changed = true;
    for (int round = 0; changed && round < kRounds; ++round) {
      changed = false;
      for (auto [op, bytes] : bytesSaved(neighbours))
        if (auto kernel = cast<KernelOp>(op); isShared(kernel) != halve) changed |= reconsider(kernel, bytes);
    }
  }
  static void leaveToOne(KernelOp kernel) { kernel.setGrain(kernel.getTiles()); }

  bool reconsider(KernelOp kernel, double bytes) {
    if (kernel.getTiles() < 2 || settled.contains(kernel)) return false;
    auto dispatches = double(neighbours.dispatches.lookup(kernel));
    double fetching = bytes / cost.bytesFetchedPerShare;
    double halfOfWork = dispatches * (shares.lookup(kernel) / 2 - cost.sharesOfHandOff);
    bool wasShared = isShared(kernel);
    // What is saved by not fetching pays for what half of the work is worth, or the other way round.
    double gain = wasShared ? fetching - halfOfWork : fetching + halfOfWork;
    if (gain < 0) return false;
    if (wasShared)
      leaveToOne(kernel);
    else
      kernel.setGrain(kernel.getTiles() / 2);
    settled.insert(kernel);
    gained += gain;
    return true;
  }

  Neighbours neighbours;
  const llvm::MapVector<Operation *, double> &shares;
  SharingCost cost;
  llvm::DenseSet<Operation *> settled;
  double gained = 0; // in shares of work
};
} // namespace

llvm::DenseSet<Operation *>
sprig::shareAsNeighbours(ModuleOp module, const llvm::MapVector<Operation *, double> &shares, const SharingCost &cost) {
  return Neighbourhood(module, shares, cost).settle();
}
