#include "lib/Transforms/PieceCost.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "lib/Transforms/SampleAxes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;

// Of a level of the caches, what the arrays of two kernels and their constants have to themselves.
static constexpr double kCacheShare = 0.75;
// What is shorter has no use for another thread.
static constexpr double kHandOffsOfThreads = 100;
// Of what threads save of each product, so much is lost: they do not end together, and what lies between products is
// cut as it happens to be.
static constexpr double kLostByThreads = 0.15;
// A thread that comes late has such a part of its first piece taken from it, or keeps others waiting for it.
static constexpr double kPartOfLatePiece = 0.25;
// How near products come to the peak rate; what is around them is not counted.
static constexpr double kProductEfficiency = 0.9;
// Behind the second level, lines that come push out lines that were written: half of what reading alone reaches.
static constexpr double kShareOfReading = 0.5;
// Frequencies of a 4x4 tile over taps of its filter.
static constexpr double kLargerFilters = 4;
// A line that is written is read first, and later written back.
static constexpr double kTransfersOfWrite = 2;

static double tensorBytes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return double(type.getNumElements() * storageBytes(type.getElementType()));
}

// Behind views and conversions of a constant.
static bool isFromConstant(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && op->getNumOperands() == 1) op = op->getOperand(0).getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

PieceCost::PieceCost(func::FuncOp function, const machine::MachineModel &model, int64_t threads)
    : samples(samplesOf(function)), threads(threads), model(model) {
  for (Operation &op : function.getBody().front()) {
    auto cost = dyn_cast<CostOpInterface>(op);
    if (fusionKind(&op) != FusionKind::contraction || !cost) continue;
    Product product{double(cost.getFlops()) / double(samples), 0, 0, 0};
    for (Value operand : op.getOperands())
      if (isFromConstant(operand))
        product.constants += tensorBytes(operand);
      else
        product.read += tensorBytes(operand) / double(samples);
    for (Value result : op.getResults()) product.written += tensorBytes(result) / double(samples);
    constants += product.constants;
    products.push_back(product);
  }
}

double PieceCost::secondsOnOne(int64_t piece) const {
  auto rate = [&](double workingSet) {
    // Products hide what comes from the second level; from the first, it is no quicker to them.
    auto bytes = std::max(int64_t(workingSet / kCacheShare), model.l2().bytes);
    return model.readRate(bytes) * (bytes > model.l2().bytes ? kShareOfReading : 1);
  };
  double count = double(piece), ofPiece = 0;
  for (const Product &product : products) {
    double together = count * (product.read + product.written) + product.constants;
    double arithmetic = count * product.flops / (kProductEfficiency * model.fmaFlops);
    // Each piece reads constants again. Several rows hide what comes from the second level, and nothing what is behind
    // it, where filters are larger than here, too, as Winograd's convolutions read them.
    double reading = product.constants / model.readRate(int64_t(constants));
    ofPiece +=
        constants <= double(model.l2().bytes) ? std::max(arithmetic, reading) : arithmetic + kLargerFilters * reading;
    ofPiece += count * (product.read + kTransfersOfWrite * product.written) / rate(together) + model.commandSeconds;
  }
  return double(samples) / count * ofPiece;
}

double PieceCost::seconds(int64_t piece) const {
  double one = secondsOnOne(piece);
  if (threads == 1 || one < kHandOffsOfThreads * model.handOff) return one;
  auto count = double(threads);
  double all = one / count;
  if (piece == samples) {
    all += kLostByThreads * (one - all);
    // Each product is handed over, and of its part of what others wrote a thread has written its own share.
    for (const Product &product : products)
      all += model.handOff +
             double(samples) * product.read * (count - 1) / (count * count) / model.crossCore.bytesPerSecond;
  } else {
    int64_t pieces = samples / piece;
    // The last of unequal shares is waited for.
    double even = double(llvm::divideCeil(pieces, threads) * threads) / double(pieces);
    double late = kPartOfLatePiece * (count - 1) / double(pieces);
    all = all * (even + late) + model.handOff;
  }
  return std::min(one, all);
}
