#define GEN_PASS_DEF_CHOOSETHREADS
#include "lib/Schedule/Passes.h"
#include "lib/Schedule/SharedNeighbours.h"
#include "lib/Schedule/ThreadCost.h"
#include "runtime/base/Decimal.h"
#include "runtime/format/Units.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

namespace {
// A share is worth its hand-off when it takes several times as long, and more of them where threads then read what
// others have written: a few hundred lines of another processor's cache, a hundred nanoseconds for some.
constexpr double kHandOffs = 6, kHandOffsAndLines = 8;
// Here and back, in shares of the latter kind.
constexpr double kSharesOfHandOff = 2 / kHandOffsAndLines;

/// The number of tiles behind which all results are at the beginning of a cache line again.
int64_t tilesOfWholeLines(KernelOp kernel) {
  int64_t tiles = 1;
  for (TileRangeAttr range : kernel.tileRanges()) {
    int64_t step = range.getStep();
    if (range.getOperand() < int64_t(kernel.getNumInputs()) || step == 0) continue;
    tiles = std::lcm(tiles, range.getPer() * (kCacheLine / std::gcd(kCacheLine, step)));
  }
  return tiles;
}

struct ChooseThreads : sprig::impl::ChooseThreadsBase<ChooseThreads> {
  using ChooseThreadsBase::ChooseThreadsBase;

  void runOnOperation() override {
    // Constants stay in the cache of the processor that reads its part of them in every run.
    llvm::DenseMap<StringRef, int64_t> constantBytes;
    SymbolTableCollection symbols;
    getOperation().walk([&](exec::DispatchOp dispatch) {
      auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(getOperation(), dispatch.getKernelAttr());
      int64_t bytes = 0;
      for (auto [buffer, touched] : llvm::zip_equal(dispatch.getBuffers(), kernel.getTouched(symbols)))
        if (buffer.getDefiningOp<BufferOp>().getKind() == BufferKind::constant) bytes += touched.total();
      constantBytes[dispatch.getKernel()] = bytes;
    });
    llvm::MapVector<Operation *, double> sharesOfKernels;
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      if (kernel.isComposite()) continue;
      double shares = sharesOf(kernel, constantBytes.lookup(kernel.getSymName()));
      kernel.setGrain(grainOf(kernel, shares));
      sharesOfKernels[kernel] = shares;
    }
    llvm::DenseSet<Operation *> byNeighbours;
    if (threads != 1)
      byNeighbours = shareAsNeighbours(getOperation(), sharesOfKernels,
                                       {kSharesOfHandOff, double(bytesFetchedPerShare), double(bytesOfLatency),
                                        double(bytesByLines), double(bytesOfCache)});
    if (threads != 1)
      for (auto &[op, shares] : sharesOfKernels) keepLinesWhole(cast<KernelOp>(op));
    int64_t shared = 0;
    for (auto [op, shares] : sharesOfKernels) {
      auto kernel = cast<KernelOp>(op);
      if (auto remark = remark::analysis(kernel.getLoc(), remark::RemarkOpts::name("grain").category("schedule")))
        remark << llvm::formatv("'{0}': {1} shares of work worth a thread, {2} of {3} tiles each{4}",
                                kernel.getLabel().value_or(kernel.getSymName()), decimal::fixed(shares, 1),
                                kernel.getGrain(), kernel.getTiles(),
                                byNeighbours.contains(op) ? ", as its neighbours" : "")
                      .str();
      shared += isShared(kernel);
    }
    remark::analysis(getOperation().getLoc(), remark::RemarkOpts::name("threads").category("schedule"))
        << std::to_string(shared) + " of " + std::to_string(sharesOfKernels.size()) +
               " kernels are worth a second thread";
  }

private:
  double sharesOf(KernelOp kernel, int64_t constants) {
    return std::max({double(kernel.getFlops()) / double(flopsPerShare),
                     double(kernel.getBytes()) / double(bytesPerShare), double(constants) / double(constantsPerShare)});
  }
  int64_t grainOf(KernelOp kernel, double shares) {
    auto tiles = std::max<int64_t>(kernel.getTiles(), 1);
    if (threads == 1 || shares < 2) return tiles;
    if (threads > 0) shares = std::min(shares, double(threads) * kSharesPerThread);
    return std::clamp<int64_t>(static_cast<int64_t>(double(tiles) / shares), 1, tiles);
  }

  // Two processors that write to one cache line take it from each other each time. Where larger units would leave
  // fewer threads with work, these lines are the lesser loss.
  void keepLinesWhole(KernelOp kernel) {
    int64_t tiles = kernel.getTiles(), grain = kernel.getGrain();
    if (!isShared(kernel)) return;
    auto unit = uint64_t(rt::format::tilesOfUnit(tiles, grain)), whole = uint64_t(tilesOfWholeLines(kernel));
    if (unit % whole == 0) return;
    int64_t larger = rt::format::kUnitsOfGrain * int64_t(llvm::alignTo(unit, whole));
    int64_t most = threads > 0 ? int64_t(threads) : kSharesPerThread;
    if (tiles / larger >= std::min(tiles / grain, most)) kernel.setGrain(larger);
  }

  // Beyond what the threads can take, finer shares only cost counting.
  static constexpr int kSharesPerThread = 16;
};
} // namespace

ChooseThreadsOptions sprig::threadShares(const machine::MachineModel &model, int64_t threads) {
  auto perShare = [&](double handOffs, double rate) {
    return std::max<int64_t>(1, int64_t(handOffs * model.handOff * machine::MachineModel::kKernelEfficiency * rate));
  };
  ChooseThreadsOptions shares;
  shares.threads = threads;
  shares.flopsPerShare = perShare(kHandOffsAndLines, model.fmaFlops);
  // What they read is mostly in the second-level cache.
  shares.bytesPerShare = perShare(kHandOffsAndLines, model.l2().read);
  double fetchRate = model.crossCore.bytesPerSecond * model.kScatteredShare;
  shares.bytesFetchedPerShare = perShare(kHandOffsAndLines, fetchRate);
  shares.bytesOfLatency = int64_t(model.crossCore.latency * fetchRate);
  shares.bytesByLines = model.l1().bytes;
  shares.bytesOfCache = model.l2().bytes;
  shares.constantsPerShare = perShare(kHandOffs, model.l2().read);
  return shares;
}
