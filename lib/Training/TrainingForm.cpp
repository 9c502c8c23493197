#include "lib/Training/TrainingForm.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNRandom.h"
#include "dialects/NN/LocationMarks.h"
#include "dialects/NN/NNState.h"
#include "lib/Training/BatchNorms.h"
#include "lib/Training/Patterns.h"
#include "lib/Training/Quantizers.h"
#include "lib/Training/StateNames.h"
#include "sprig/error.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace sprig::training {
namespace {

std::string nameOfLocation(Location location) {
  auto name = location->findInstanceOf<NameLoc>();
  return name ? name.getName().str() : "";
}

/// Whether the name is of that layer, or of a part of it.
bool isOfLayer(const std::string &name, const std::string &layer) {
  for (size_t slash = name.find('/', 1); slash != std::string::npos; slash = name.find('/', slash + 1))
    if (matches(layer, name.substr(0, slash))) return true;
  return !name.empty() && matches(layer, name);
}

/// A factor that makes the biased variance of a channel unbiased. Throws unsupported where it has one number.
double unbiased(ir::BatchNormOp norm, RankedTensorType operand) {
  int64_t count = operand.getDimSize(0);
  for (int64_t size : operand.getShape().drop_front(2)) count *= size;
  if (count == 1)
    unsupported("batch norm '" + nameOfLocation(norm.getLoc()) + "': has one value for each channel of " +
                std::to_string(operand.getDimSize(0)) +
                " sample, which have no variance; `drop_last` leaves out a last batch that is smaller");
  return count > 1 ? double(count) / double(count - 1) : 1;
}

// running <- m * running + (1 - m) * batch. The variance that enters is the unbiased one, as PyTorch has it: the biased
// one times `correction`.
void updateStatistics(ir::Expression &e, ir::BatchNormOp norm, Value mean, Value variance, double correction,
                      StateAccess &state, const TrainConfig &config) {
  double momentum = 0.9;
  if (auto own = norm->getAttrOfType<FloatAttr>(ir::kMomentumAttr)) momentum = own.getValueAsDouble();
  if (config.batchNormMomentum) momentum = *config.batchNormMomentum;
  auto move = [&](ir::GetParamOp read, Value batch, double factor) {
    Value running = state.get(read.getParam());
    Value share = e.mul(batch, e.splat(batch, (1 - momentum) * factor));
    state.set(read.getParam(), e.add(e.mul(running, e.splat(running, momentum)),
                                     e.cast(share, ir::Expression::typeOf(running).getElementType())));
  };
  move(runningStatistic(norm.getMean()), mean, 1);
  move(runningStatistic(norm.getVariance()), variance, correction);
}

SmallVector<Value> writeForm(OpBuilder &b, func::FuncOp forward, ValueRange inputs, StateAccess &state,
                             llvm::function_ref<bool(Operation &, IRMapping &)> replace) {
  IRMapping mapping;
  Block &body = forward.getBody().front();
  mapping.map(body.getArguments(), inputs);
  for (Operation &op : body.without_terminator()) {
    if (replace(op, mapping)) continue;
    if (auto read = dyn_cast<ir::GetParamOp>(op))
      mapping.map(read.getResult(), state.get(read.getParam()));
    else
      dropDropouts(b.clone(op, mapping)); // random words that a step does not give are those of any call
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(), [&](Value v) { return mapping.lookup(v); });
}

/// A step writes the operations of the function itself in the form of training. What it would write otherwise, and
/// finds within a region (a branch, a loop's body, a checkpointed part), it refuses: there it would stay as in
/// inference.
void refuseWithinRegions(func::FuncOp forward, const TrainConfig &config) {
  forward.walk([&](Operation *op) {
    if (op->getParentOp() == forward) return;
    auto narrow = dyn_cast<ir::DequantizeOp>(op);
    StringRef what = isa<ir::BatchNormOp>(op)                              ? "batch norm"
                     : isa<ir::DropoutOp>(op) && config.dropout            ? "dropout"
                     : isa<ir::PhiloxOp>(op) && op->hasAttr(ir::kDrawAttr) ? "random numbers"
                     : narrow && pairOf(narrow)                            ? "fake quantisation"
                                                                           : "";
    if (what.empty()) return;
    std::string name = nameOfLocation(op->getLoc());
    unsupported(what.str() + (name.empty() ? "" : " '" + name + "'") + ": is within " +
                op->getParentOp()->getName().getStringRef().str() +
                ", where a training step does not have it; expected it outside of branches and loops");
  });
}

/// A quantiser and what takes its integers back, by the same numbers, as fake quantisation, through which gradients
/// flow: but not into the scale, which is no layer's.
bool quantizeFakely(OpBuilder &b, ir::DequantizeOp narrow, IRMapping &mapping) {
  auto pair = pairOf(narrow);
  if (!pair) return false;
  auto bound = [&](std::optional<int64_t> value) { return value ? b.getI64IntegerAttr(*value) : IntegerAttr(); };
  Value scale = ir::StopGradientOp::create(b, narrow.getLoc(), mapping.lookup(narrow.getScale()));
  mapping.map(narrow.getResult(),
              ir::FakeQuantizeOp::create(b, narrow.getLoc(), mapping.lookup(pair->quantize.getOperand()), scale,
                                         mapping.lookup(narrow.getZero()), bound(pair->low), bound(pair->high)));
  return true;
}

} // namespace

SmallVector<Value> writeTrainingForm(OpBuilder &b, func::FuncOp forward, ValueRange inputs, StateAccess &state,
                                     const TrainConfig &config, RandomState random, ArrayAttr groups) {
  refuseWithinRegions(forward, config);
  return writeForm(b, forward, inputs, state, [&](Operation &op, IRMapping &mapping) {
    if (auto norm = dyn_cast<ir::BatchNormOp>(op); norm && movesStatistics(norm, config)) {
      ir::Expression e(b, op.getLoc());
      Value x = mapping.lookup(norm.getOperand());
      // Shards with statistics of their own have variances each of which is unbiased.
      auto trained = ir::BatchNormTrainOp::create(b, op.getLoc(), x, mapping.lookup(norm.getScale()),
                                                  mapping.lookup(norm.getShift()), norm.getEpsilonAttr(),
                                                  groups ? b.getUnitAttr() : UnitAttr(), groups);
      double correction = groups ? 1 : unbiased(norm, ir::Expression::typeOf(x));
      updateStatistics(e, norm, trained.getMean(), trained.getVariance(), correction, state, config);
      mapping.map(norm.getResult(), trained.getResult());
      return true;
    }
    if (auto narrow = dyn_cast<ir::DequantizeOp>(op)) return quantizeFakely(b, narrow, mapping);
    if (auto dropout = dyn_cast<ir::DropoutOp>(op)) {
      Value x = mapping.lookup(dropout.getOperand());
      if (config.dropout)
        x = ir::DropoutOp::create(b, op.getLoc(), x, random.key, random.counter, dropout.getRatioAttr(),
                                  dropout.getStreamAttr());
      mapping.map(dropout.getResult(), x);
      return true;
    }
    if (auto words = dyn_cast<ir::PhiloxOp>(op))
      if (auto draw = op.getAttrOfType<IntegerAttr>(ir::kDrawAttr)) {
        ir::Expression e(b, op.getLoc());
        Value key = e.add(mapping.lookup(words.getKey()), random.key);
        mapping.map(words.getResult(), ir::PhiloxOp::create(b, op.getLoc(), mapping.lookup(words.getIndex()), key,
                                                            random.counter, uint64_t(draw.getInt())));
        return true;
      }
    return false;
  });
}

SmallVector<Value> writeInferenceForm(OpBuilder &b, func::FuncOp forward, ValueRange inputs, StateAccess &state,
                                      ArrayRef<std::string> averaged) {
  return writeForm(b, forward, inputs, state, [&](Operation &op, IRMapping &mapping) {
    if (auto read = dyn_cast<ir::GetParamOp>(op); read && llvm::is_contained(averaged, read.getParam())) {
      mapping.map(read.getResult(), state.get(averageName(read.getParam().str())));
      return true;
    }
    auto dropout = dyn_cast<ir::DropoutOp>(op);
    if (dropout) mapping.map(dropout.getResult(), mapping.lookup(dropout.getOperand()));
    return bool(dropout);
  });
}

void markRecomputed(func::FuncOp forward, ArrayRef<std::string> layers, const std::string &model) {
  std::vector<bool> isFound(layers.size());
  std::vector<std::string> names;
  for (Operation &op : forward.getBody().front().without_terminator()) {
    std::string name = nameOfLocation(op.getLoc());
    if (name.empty() || isa<ir::GetParamOp>(op) || op.hasTrait<OpTrait::ConstantLike>()) continue;
    if (names.empty() || names.back() != name) names.push_back(name);
    bool isMarked = false;
    for (auto [i, layer] : llvm::enumerate(layers)) {
      if (!isOfLayer(name, layer)) continue;
      isMarked = isFound[i] = true;
    }
    if (isMarked) op.setLoc(ir::withMark(op.getLoc(), ir::kRecomputeMark, UnitAttr::get(op.getContext())));
  }
  for (auto [layer, found] : llvm::zip_equal(layers, isFound))
    if (!found) refusePattern("remat_layers", model + " has no layer", layer, names);
}

void dropDropouts(Operation *op) {
  op->walk([](ir::DropoutOp dropout) {
    dropout.replaceAllUsesWith(dropout.getOperand());
    dropout.erase();
  });
  op->walk([](ir::PhiloxOp words) { words->removeAttr(ir::kDrawAttr); });
}

} // namespace sprig::training
