// nn.scan: all steps in one kernel. A tile is a block of rows, which goes through time on its own; all rows where they
// meet.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/NN/NNRecurrent.h"
#include "lib/Target/CPU/Kernels/Control/ScanStep.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"
#include "lib/Target/Kernels/ControlPlaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

/// Rows of a block: all of them where they meet. Every block reads all weights in every step, from the cache as far as
/// they stay there: then small blocks do, which leave work for several threads.
static int64_t chooseBlockRows(ir::ScanOp scan, const ir::ScanStages &stages) {
  const int64_t rows = stages.rows;
  if (stages.rowsMeet) return rows;
  constexpr int64_t kCached = 512 * 1024;
  int64_t weightBytes = 0;
  for (Value invariant : scan.getInvariants())
    weightBytes += cast<RankedTensorType>(invariant.getType()).getNumElements() * storageBytes(elementOf(invariant));
  int64_t wanted = weightBytes <= kCached ? 8 : 24;
  if (rows <= wanted + wanted / 2) return rows;
  // A size that divides the rows saves a second copy of the code.
  for (int64_t distance = 0; distance <= wanted / 2; ++distance)
    for (int64_t candidate : {wanted + distance, wanted - distance})
      if (rows % candidate == 0) return candidate;
  return wanted;
}

namespace {
struct ScanEmitter : KernelEmitter {
  StringRef name() const override { return "scan"; }
  bool matches(kernel::DispatchOp dispatch) const override {
    std::string reason;
    ir::ScanOp scan = controlIn<ir::ScanOp>(dispatch);
    if (!scan) return false;
    auto stages = ir::ScanStages::analyze(scan, reason);
    return stages && isPacked(*stages);
  }

  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    ir::ScanOp scan = controlIn<ir::ScanOp>(dispatch);
    std::string reason;
    ir::ScanStages stages = *ir::ScanStages::analyze(scan, reason);
    int64_t blockRows = chooseBlockRows(scan, stages);
    KernelPlan plan;
    plan.tiles = llvm::divideCeil(stages.rows, blockRows);
    plan.scratchBytes = ScanScratch(scan, stages, blockRows).bytes;
    return plan;
  }

  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &k) const override {
    ir::ScanOp scan = controlIn<ir::ScanOp>(dispatch);
    std::string reason;
    ir::ScanStages stages = *ir::ScanStages::analyze(scan, reason);
    int64_t blockRows = chooseBlockRows(scan, stages), blocks = llvm::divideCeil(stages.rows, blockRows);
    int64_t lastRows = stages.rows - (blocks - 1) * blockRows;
    ScanScratch scratch(scan, stages, blockRows);
    ScanStep step(k, scan, stages, scratch);
    k.forTiles([&](Value block) {
      k.ifLast(block, blocks, lastRows != blockRows, [&](bool last) {
        step.setBlock(k.mul(block, blockRows), last ? lastRows : blockRows);
        step.loadInitial();
        step.storeLast(loopOverTime(k, scan, [&](Value time, Value parity) { step.emit(time, parity); }));
      });
    });
    return success();
  }

private:
  static bool isPacked(const ir::ScanStages &stages) {
    for (const ir::ScanStage &stage : stages.stages)
      if (!llvm::all_of(stage.products, [](Operation *op) { return isa<kernel::MatmulPackedOp>(op); })) return false;
    return true;
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createScanEmitter() { return std::make_unique<ScanEmitter>(); }
