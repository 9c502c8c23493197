#include "lib/Transforms/PieceCost.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Transforms/SampleAxes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;

// Of a level of the caches, what the arrays of two kernels and their constants have to themselves.
static constexpr double kCacheShare = 0.75;
// How near products come to the peak rate; what is around them is not counted.
static constexpr double kProductEfficiency = 0.9;
// Behind the second level, lines that come push out lines that were written: half of what reading alone reaches.
static constexpr double kShareOfReading = 0.5;
// A line that is written is read first, and later written back.
static constexpr double kTransfersOfWrite = 2;

static double bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return double(type.getNumElements()) * std::max(1u, type.getElementTypeBitWidth() / 8);
}

// Behind views and conversions of a constant.
static bool isConstant(Value value) {
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
      if (isConstant(operand))
        product.constants += bytesOf(operand);
      else
        product.read += bytesOf(operand) / double(samples);
    for (Value result : op.getResults()) product.written += bytesOf(result) / double(samples);
    constants += product.constants;
    products.push_back(product);
  }
}

double PieceCost::secondsOfSample(int64_t piece) const {
  auto rate = [&](double workingSet) {
    // Products hide what comes from the second level; from the first, it is no quicker to them.
    auto bytes = std::max(int64_t(workingSet / kCacheShare), model.l2().bytes);
    return model.readRate(bytes) * (bytes > model.l2().bytes ? kShareOfReading : 1);
  };
  double count = double(piece), most = 0, seconds = 0;
  for (const Product &product : products) most = std::max(most, count * (product.read + product.written));
  for (const Product &product : products) {
    double together = count * (product.read + product.written) + product.constants;
    seconds += product.flops / (kProductEfficiency * model.fmaFlops);
    seconds += (product.read + kTransfersOfWrite * product.written) / rate(together);
    // Each piece reads them again, and finds what those of all have left.
    seconds += (product.constants / rate(constants + most) + model.commandSeconds) / count;
  }
  int64_t pieces = samples / piece;
  if (pieces == 1) return seconds;
  // The last of unequal shares is waited for, and half a piece where a thread comes late.
  double even = double(llvm::divideCeil(pieces, threads) * threads) / double(pieces);
  double late = double(threads - 1) / double(2 * pieces);
  return seconds * (even + late);
}
