// A program of few samples in place of one of many, where a call's samples do not depend on each other; see Passes.td.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "lib/Target/Registry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/PieceCost.h"
#include "lib/Transforms/SampleAxes.h"
#include "runtime/base/Decimal.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

namespace sprig {
#define GEN_PASS_DEF_SPLITSAMPLES
#include "lib/Transforms/Passes.h.inc"
} // namespace sprig

using namespace mlir;
using namespace sprig;

/// Those of a number that are less than it, from the least on.
static SmallVector<int64_t> properDivisors(int64_t number) {
  SmallVector<int64_t> divisors;
  for (int64_t each = 1; each * each <= number; ++each) {
    if (number % each != 0) continue;
    divisors.push_back(each);
    divisors.push_back(number / each);
  }
  llvm::sort(divisors);
  divisors.erase(llvm::unique(divisors), divisors.end());
  divisors.pop_back();
  return divisors;
}

namespace {
/// Builds a function's operations anew for a piece of its samples.
class PieceBuilder {
public:
  PieceBuilder(func::FuncOp function, const SampleAxes &axes, int64_t piece)
      : function(function), axes(axes), piece(piece), b(function.getContext()) {}

  void run() {
    Block &body = function.getBody().front();
    SmallVector<Operation *> old;
    for (Operation &op : body.without_terminator()) old.push_back(&op);
    // The old ones stay as they are until no rule asks for their types.
    unsigned count = body.getNumArguments();
    for (unsigned i = 0; i < count; ++i) {
      BlockArgument argument = body.getArgument(i);
      parts.map(argument, body.addArgument(ofPiece(argument, 0), argument.getLoc()));
    }
    b.setInsertionPoint(body.getTerminator());
    for (Operation *op : old) build(op);
    for (OpOperand &result : body.getTerminator()->getOpOperands()) result.set(parts.lookupOrDefault(result.get()));
    for (Operation *op : llvm::reverse(old)) op->erase();
    body.eraseArguments(0, count);
    function.setType(
        FunctionType::get(function.getContext(), body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  }

private:
  RankedTensorType ofPiece(Value value, int64_t axis) const {
    SmallVector<int64_t> shape(tensorOf(value).getShape());
    shape[size_t(axis)] = piece;
    return tensorOf(value).clone(shape);
  }

  // What is the same for all samples, cut where an operation has them along an axis.
  Value cut(Value value, int64_t axis) {
    RankedTensorType type = ofPiece(value, axis);
    if (auto constant = value.getDefiningOp<ir::ConstantOp>())
      if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
        return ir::ConstantOp::create(b, value.getLoc(), splat.resizeSplat(type));
    SmallVector<int64_t> starts(size_t(type.getRank()), 0), steps(size_t(type.getRank()), 1);
    return ir::SliceOp::create(b, value.getLoc(), type, parts.lookupOrDefault(value), starts, type.getShape(), steps);
  }

  void build(Operation *op) {
    auto isNone = [&](Value value) { return axes.get(value).isNone(); };
    if (llvm::all_of(op->getOperands(), isNone)) {
      b.clone(*op, parts);
      return;
    }
    DimensionRule rule = dimensionRuleOf(op);
    unsigned factor = *axes.factorOf(rule, op);
    SmallVector<int64_t> sizes;
    for (const Factor &each : rule.factors) sizes.push_back(each.size);
    sizes[factor] = piece;
    SmallVector<Value> operands;
    for (auto [operand, map] : llvm::zip_equal(op->getOperands(), rule.operands)) {
      Value part = parts.lookupOrDefault(operand);
      for (auto [axis, dim] : llvm::enumerate(map))
        if (isNone(operand) && llvm::is_contained(dim, factor)) part = cut(operand, int64_t(axis));
      operands.push_back(part);
    }
    parts.map(op->getResults(), buildLocal(op, b, operands, sizes)->getResults());
  }

  func::FuncOp function;
  const SampleAxes &axes;
  int64_t piece;
  OpBuilder b;
  IRMapping parts;
};

struct SplitSamples : sprig::impl::SplitSamplesBase<SplitSamples> {
  using SplitSamplesBase::SplitSamplesBase;

  void runOnOperation() override {
    std::optional<machine::MachineModel> model; // read where something may be split
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr(ir::kIndependentSamplesAttr) || function->hasAttr(ir::kRepeatAttr) ||
          function->hasAttr(kernel::kPiecesAttr))
        continue;
      int64_t all = samplesOf(function);
      if (all == 1) continue;
      SampleAxes axes(function, all);
      if (!mayBeSplit(function, axes)) continue;
      if (!model) model = machineForPass(getOperation(), target, architectures);
      if (!model) return signalPassFailure();
      split(function, axes, all, PieceCost(function, *model, model->threadsFor(threads)));
    }
  }

private:
  // What is split must be expected to take less than this share of the time, and on one thread not much longer: the
  // number of threads may be another. Of what takes about as long as the best, the largest pieces read constants least,
  // and the smallest serve the most threads.
  static constexpr double kWorthyShare = 0.99, kMostOnOne = 1.02, kAboutTheBest = 1.01;

  // Loops over time have the samples in their products' rows; state is of the whole call; what nobody reads may be of
  // all samples.
  static bool mayBeSplit(func::FuncOp function, const SampleAxes &axes) {
    auto isMixed = [&](Value value) { return axes.get(value).isMixed(); };
    return llvm::all_of(function.getBody().front().without_terminator(), [&](Operation &op) {
      return op.getNumRegions() == 0 && !isa<ir::GetParamOp, ir::SetParamOp>(op) &&
             llvm::none_of(op.getResults(), isMixed);
    });
  }

  // As many as all where no pieces are expected to take less.
  int64_t bestPiece(int64_t all, const PieceCost &cost) const {
    double least = kWorthyShare * cost.seconds(all), most = kMostOnOne * cost.secondsOnOne(all);
    SmallVector<int64_t> sizes = llvm::filter_to_vector(properDivisors(all), [&](int64_t piece) {
      return cost.seconds(piece) < least && cost.secondsOnOne(piece) < most;
    });
    for (int64_t piece : sizes) least = std::min(least, cost.seconds(piece));
    llvm::erase_if(sizes, [&](int64_t piece) { return cost.seconds(piece) > kAboutTheBest * least; });
    return sizes.empty() ? all : threads == 0 ? sizes.front() : sizes.back();
  }

  void split(func::FuncOp function, const SampleAxes &axes, int64_t all, const PieceCost &cost) {
    int64_t best = samples == 0 ? bestPiece(all, cost) : all % samples == 0 ? int64_t(samples) : all;
    auto name = remark::RemarkOpts::name("samples").category("fuse");
    if (best == all) {
      remark::missed(function.getLoc(), name)
          << llvm::formatv("'{0}': {1} samples go through it together in {2} us; no pieces of them are expected "
                           "to take less",
                           function.getSymName(), all, decimal::fixed(cost.seconds(all) * 1e6, 2))
                 .str();
      return;
    }
    remark::passed(function.getLoc(), name)
        << llvm::formatv("'{0}': {1} samples go through it in pieces of {2}, in {3} us; together {4}",
                         function.getSymName(), all, best, decimal::fixed(cost.seconds(best) * 1e6, 2),
                         decimal::fixed(cost.seconds(all) * 1e6, 2))
               .str();
    PieceBuilder(function, axes, best).run();
    function->setAttr(kernel::kPiecesAttr, Builder(function.getContext()).getI64IntegerAttr(all / best));
  }
};
} // namespace
