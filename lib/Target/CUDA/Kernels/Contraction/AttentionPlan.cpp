#include "lib/Target/CUDA/Kernels/Contraction/AttentionPlan.h"
#include "dialects/NN/NNControl.h"
#include "lib/Machine/CudaModel.h"
#include "lib/Target/CUDA/Kernels/Contraction/MatmulForm.h"
#include "llvm/Support/FormatVariadic.h"
#include "runtime/base/Decimal.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

// Elements of a 128-bit access.
// What a block of every architecture has, less what reductions of rows may need; of a part of a kernel less what other
// parts may need, which is static.
static constexpr int64_t kBlockShared = 99 << 10, kMostShared = 96 << 10,
                         kMostOfPart = kBlockShared - CudaArch::kStaticSharedPerBlock;

// In the fuse pass the products are in the body itself, later in a dispatch there.
static bool isInControl(ir::MatmulOp product) {
  Operation *parent = product->getParentOp();
  if (isa<kernel::DispatchOp>(parent)) parent = parent->getParentOp();
  return isa<ir::CondOp, ir::WhileOp>(parent);
}

// Few rows have many columns, so that all threads compute; of more rows a thread has several, as many as make four sums
// of each element that it reads of the right side.
static TileShape attentionTile(int64_t rows, int64_t columns, int64_t depth) {
  constexpr int64_t kSliceSteps = 16, kMostOwn = 4, kWidest = 128;
  int64_t ownRows = std::max<int64_t>(rows / 8, 1), across = AttentionPlan::kThreads / (rows / ownRows);
  int64_t width = std::min<int64_t>(llvm::PowerOf2Ceil(columns), std::min(across * kMostOwn, kWidest));
  int64_t steps = std::min<int64_t>(kSliceSteps, llvm::PowerOf2Ceil(std::max<int64_t>(depth, 8)));
  return {rows, width, steps, ownRows, std::max<int64_t>(width / across, 1), AttentionPlan::kThreads};
}

// Neighbouring rows are at different banks: eight of them at all, four elements each.
static int64_t rowStride(int64_t elements) {
  int64_t quads = llvm::divideCeil(elements, kQuad);
  return (quads + (quads % 2 == 0)) * kQuad;
}

void AttentionPlan::setBlockRows(int64_t count) {
  blockRows = count;
  valueTile = attentionTile(blockRows, columns, keys);
  // Tiles of scores are stored as far as slices of them are read.
  scoreTile = attentionTile(blockRows, std::max(keys, valueTile.depth), depth);
  scoreStride = rowStride(llvm::alignTo(keys, scoreTile.columns));
  queryStride = rowStride(llvm::alignTo(depth, scoreTile.depth));
  int64_t slices = std::max(TileProduct::sliceElements(scoreTile, depth, scoreTile.columns),
                            TileProduct::sliceElements(valueTile, keys, valueTile.columns));
  constexpr int64_t kBytes = 4;
  queryBegin = blockRows * scoreStride * kBytes;
  sliceBegin = queryBegin + blockRows * queryStride * kBytes;
  sharedBytes = sliceBegin + slices * kBytes;
}

bool AttentionPlan::fitsAsPart() const { return sharedBytes <= kMostOfPart; }

int64_t AttentionPlan::threadsOfRow() const {
  bool isFew = blockRows < kThreads / CudaArch::kWarp && rowGroup.parts > kThreads;
  return isFew ? kThreads : std::min(rowGroup.parts, CudaArch::kWarp);
}

std::optional<AttentionPlan> AttentionPlan::analyze(AttentionForm form, std::string &why) {
  AttentionPlan plan(std::move(form));
  if (!plan.elementType.isF32()) {
    why = "CUDA has a kernel for f32 alone";
    return std::nullopt;
  }
  const ir::Attention &attention = plan.attention;
  Value weights = plan.attention.weights();
  std::optional<RowGroup> group = RowGroup::analyze(attention.rows, weights);
  if (!group) {
    why = "what lies between both products is not computed row by row";
    return std::nullopt;
  }
  plan.rowGroup = std::move(*group);
  // Of those that take nearly as long the most rows: few blocks read keys less often, and may be a part of a kernel.
  constexpr int64_t kMostRows = 64;
  constexpr double kNearly = 0.95;
  const int64_t most = isInControl(attention.scores) ? kMostOfPart : kMostShared;
  std::optional<AttentionPlan> best;
  for (int64_t count = std::min<int64_t>(llvm::PowerOf2Ceil(plan.rows), kMostRows); count >= 1; count /= 2) {
    plan.setBlockRows(count);
    if (plan.sharedBytes <= most && (!best || plan.nanoseconds() < kNearly * best->nanoseconds())) best = plan;
  }
  if (!best)
    why = llvm::formatv("a row of {0} scores and one of {1} elements of the left side take with slices {2} bytes of "
                        "shared memory, of which a block has {3}",
                        plan.keys, plan.depth, plan.sharedBytes, most)
              .str();
  return best;
}

// Rates of a recent GPU, a nanosecond each: instructions that the threads of a multiprocessor execute, bytes that it
// gets of the second-level cache. Reasoned, not measured.
static constexpr double kInstructions = 218, kCacheBytes = 100, kLaunch = machine::CudaDevice::kLaunchNanoseconds;
static constexpr int64_t kMultiprocessors = 128;
// Instructions of a thread for an element of a row: a mask, an exponential function, sums.
static constexpr double kPerScore = 60;

static double turns(int64_t blocks) { return double(llvm::divideCeil(blocks, kMultiprocessors)); }

double AttentionPlan::nanoseconds() const {
  auto product = [&](const TileShape &tile, int64_t across, int64_t steps) {
    double products = double(blockRows) * double(llvm::alignTo(across, tile.columns)) * double(steps);
    return products * instructionsPerProduct(tile, 1);
  };
  double instructions = product(scoreTile, keys, depth) + product(valueTile, columns, keys) +
                        double(blockRows) * double(keys) * kPerScore;
  double bytes = 4.0 * double(keys) * double(depth + columns);
  // Of a block alone on a multiprocessor, as of sm_80, nobody hides the waits.
  constexpr int64_t kMultiprocessor = 160 << 10;
  double alone = 2 * sharedBytes > kMultiprocessor ? 1.5 : 1;
  return kLaunch + turns(blocks()) * std::max(instructions / kInstructions * alone, bytes / kCacheBytes);
}

double AttentionPlan::nanosecondsApart() const {
  auto product = [&](int64_t across, int64_t steps) {
    TileShape tile = chooseTile(matrices(), rows, across, steps);
    int64_t tiles = matrices() * llvm::divideCeil(rows, tile.rows) * llvm::divideCeil(across, tile.columns);
    double products = double(tile.rows) * double(tile.columns) * double(steps);
    return turns(tiles) * products * instructionsPerProduct(tile, 1) / kInstructions;
  };
  double scores = double(matrices()) * double(rows) * double(keys);
  // Written and read twice. What does not fit the second-level cache comes from memory.
  constexpr double kSecondLevel = 40e6, kSecondLevelBytes = 7500, kMemoryBytes = 3000;
  double traffic = 4 * 4 * scores / (4 * scores <= kSecondLevel ? kSecondLevelBytes : kMemoryBytes);
  return 3 * kLaunch + product(keys, depth) + product(columns, keys) + traffic +
         scores * kPerScore / (kInstructions * kMultiprocessors);
}

bool AttentionPlan::pays(std::string &why) const {
  double together = nanoseconds(), apart = nanosecondsApart();
  if (together <= apart) return true;
  why = llvm::formatv("{0} blocks of {1} rows and {2} keys take {3} us by the model, kernels of their own {4} us",
                      blocks(), blockRows, keys, decimal::fixed(together / 1000, 1), decimal::fixed(apart / 1000, 1))
            .str();
  return false;
}
