#include "lib/Schedule/SharedNeighbours.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "dialects/NN/NNRecurrent.h"
#include "lib/Machine/MachineModel.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

namespace {
struct Neighbours {
  SmallVector<Handed> buffers;
  llvm::DenseMap<Operation *, int64_t> dispatches;                              // of each kernel
  llvm::MapVector<Operation *, llvm::MapVector<Operation *, int64_t>> programs; // the same of each program
};
} // namespace

static Neighbours findNeighbours(ModuleOp module, const llvm::MapVector<Operation *, double> &shares) {
  Neighbours neighbours;
  SymbolTableCollection symbols;
  module.walk([&](exec::DispatchOp dispatch) {
    auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(dispatch, dispatch.getKernelAttr());
    if (!shares.contains(kernel)) return;
    ++neighbours.dispatches[kernel];
    ++neighbours.programs[dispatch->getParentOfType<ProgramOp>()][kernel];
  });
  neighbours.buffers = handedBuffers(module, symbols, [&](KernelOp kernel) { return !shares.contains(kernel); });
  return neighbours;
}

// In how many pieces a kernel reads an operand, each when all before it is computed: the steps of a loop over time.
static int64_t piecesOf(KernelUse use) {
  int64_t pieces = 1;
  for (OpOperand &passed : use.kernel.getBody().getArgument(use.operand).getUses()) {
    auto dispatch = dyn_cast<kernel::DispatchOp>(passed.getOwner());
    if (!dispatch) continue;
    BlockArgument inner = dispatch.getBody().getArgument(passed.getOperandNumber());
    for (Operation *user : inner.getUsers())
      if (auto scan = dyn_cast<ir::ScanOp>(user); scan && llvm::is_contained(scan.getInputs(), inner))
        pieces = std::max(pieces, int64_t(scan.getSteps()));
  }
  return pieces;
}

// As bytesFetched, by lines: a stream of them counts less, what no processor's own cache holds nothing, as one thread
// reads it from behind them, too. With what arrives in the time that the first lines take, which of a stream are
// nothing; of a loop over time each step has to wait for its own.
static double bytesAwaited(KernelUse writer, bool writerIsShared, KernelUse reader, bool readerIsShared, int64_t size,
                           const SharingCost &cost) {
  double fetched = bytesFetched(writer, writerIsShared, reader, readerIsShared, size);
  double cached = std::min(fetched, cost.bytesOfCache), byLines = std::min(cached, cost.bytesByLines);
  double bytes = byLines + (cached - byLines) * machine::MachineModel::kScatteredShare;
  if (int64_t pieces = fetched > 0 ? piecesOf(reader) : 1; pieces > 1)
    bytes += double(pieces) * fetched / double(size) * cost.bytesOfLatency;
  return bytes;
}

// The bytes that are fetched less, over all dispatches, for each kernel that would be shared where it is not, or not
// where it is.
static llvm::MapVector<Operation *, double> bytesSaved(const Neighbours &neighbours, const SharingCost &cost) {
  llvm::MapVector<Operation *, double> saved;
  for (const Handed &buffer : neighbours.buffers)
    for (KernelUse writer : buffer.writers)
      for (KernelUse reader : buffer.readers) {
        bool writing = isShared(writer.kernel), reading = isShared(reader.kernel);
        auto awaited = [&](bool writerIsShared, bool readerIsShared) {
          return bytesAwaited(writer, writerIsShared, reader, readerIsShared, buffer.bytes, cost);
        };
        double now = awaited(writing, reading);
        bool isOne = writer.kernel == reader.kernel;
        saved[writer.kernel] += now - awaited(!writing, isOne != reading);
        if (!isOne) saved[reader.kernel] += now - awaited(writing, !reading);
      }
  return saved;
}

namespace {
class Neighbourhood {
public:
  Neighbourhood(ModuleOp module, const llvm::MapVector<Operation *, double> &shares, const SharingCost &cost)
      : neighbours(findNeighbours(module, shares)), shares(shares), cost(cost) {}

  llvm::DenseSet<Operation *> settle() {
    // Halves first: they are what others are shared beside.
    repeat(/*halve=*/true);
    repeat(/*halve=*/false);
    // Commands that leave nothing for a second thread become one kernel, and wait for nobody, which is worth more than
    // a little.
    constexpr double kSharesOfOneKernel = 2;
    for (const auto &[program, dispatches] : neighbours.programs)
      if (isSeveral(dispatches) && gainOf(program, dispatches) < kSharesOfOneKernel)
        for (auto [op, count] : dispatches) leaveToOne(cast<KernelOp>(op), count);
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
      for (auto [op, bytes] : bytesSaved(neighbours, cost))
        if (auto kernel = cast<KernelOp>(op); isShared(kernel) != halve) changed |= reconsider(kernel, bytes);
    }
  }
  static void leaveToOne(KernelOp kernel) { kernel.setGrain(kernel.getTiles()); }
  // What so many dispatches are not all of is left to the other programs.
  void leaveToOne(KernelOp kernel, int64_t dispatches) {
    if (!isShared(kernel) || dispatches < neighbours.dispatches.lookup(kernel)) return;
    leaveToOne(kernel);
    // Back to what its work alone would have made of it is no change.
    if (!settled.erase(kernel)) settled.insert(kernel);
  }

  static bool isSeveral(const llvm::MapVector<Operation *, int64_t> &dispatches) {
    return dispatches.size() > 1 || dispatches.front().second > 1;
  }
  // What sharing is worth to a program, in shares of work.
  double gainOf(Operation *program, const llvm::MapVector<Operation *, int64_t> &dispatches) {
    double gain = 0;
    for (auto [op, count] : dispatches)
      if (isShared(cast<KernelOp>(op))) gain += double(count) * (shares.lookup(op) / 2 - cost.sharesOfHandOff);
    for (const Handed &buffer : neighbours.buffers) {
      if (buffer.readers.front().dispatch->getParentOfType<ProgramOp>() != program) continue;
      double most = 0;
      for (KernelUse writer : buffer.writers)
        for (KernelUse reader : buffer.readers)
          most = std::max(
              most, bytesAwaited(writer, isShared(writer.kernel), reader, isShared(reader.kernel), buffer.bytes, cost));
      if (most > 0) gain -= (most + cost.bytesOfLatency) / cost.bytesFetchedPerShare;
    }
    return gain;
  }

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
    return true;
  }

  Neighbours neighbours;
  const llvm::MapVector<Operation *, double> &shares;
  SharingCost cost;
  llvm::DenseSet<Operation *> settled;
};
} // namespace

llvm::DenseSet<Operation *>
sprig::shareAsNeighbours(ModuleOp module, const llvm::MapVector<Operation *, double> &shares, const SharingCost &cost) {
  return Neighbourhood(module, shares, cost).settle();
}
