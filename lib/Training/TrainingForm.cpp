#include "lib/Training/TrainingForm.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNRandom.h"
#include "dialects/NN/NNState.h"
#include "lib/Training/StateNames.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace sprig::training {
namespace {

/// The running statistic that an operand of a batch norm is; null where it is computed.
ir::GetParamOp statistic(Value value) { return value.getDefiningOp<ir::GetParamOp>(); }

// running <- m * running + (1 - m) * batch. The variance that enters is the unbiased one, as PyTorch has it.
void updateStatistics(ir::Expression &e, ir::BatchNormOp norm, ir::BatchNormTrainOp trained, StateAccess &state,
                      const TrainConfig &config) {
  double momentum = 0.9;
  if (auto own = norm->getAttrOfType<FloatAttr>(ir::kMomentumAttr)) momentum = own.getValueAsDouble();
  if (config.batchNormMomentum) momentum = *config.batchNormMomentum;
  auto type = ir::Expression::typeOf(norm.getOperand());
  double count = double(type.getNumElements()) / double(std::max<int64_t>(type.getDimSize(1), 1));
  auto move = [&](ir::GetParamOp read, Value batch, double correction) {
    Value running = state.get(read.getParam());
    Value share = e.mul(batch, e.splat(batch, (1 - momentum) * correction));
    state.set(read.getParam(), e.add(e.mul(running, e.splat(running, momentum)),
                                     e.cast(share, ir::Expression::typeOf(running).getElementType())));
  };
  move(statistic(norm.getMean()), trained.getMean(), 1);
  move(statistic(norm.getVariance()), trained.getVariance(), count > 1 ? count / (count - 1) : 1);
}

bool usesRunningStatistics(ir::BatchNormOp norm) { return statistic(norm.getMean()) && statistic(norm.getVariance()); }

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
      b.clone(op, mapping);
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(), [&](Value v) { return mapping.lookup(v); });
}

} // namespace

bool isRunningStatistic(ir::GetParamOp read) {
  return llvm::any_of(read->getUses(), [](OpOperand &use) {
    auto norm = dyn_cast<ir::BatchNormOp>(use.getOwner());
    return norm && (use.get() == norm.getMean() || use.get() == norm.getVariance());
  });
}

SmallVector<Value> writeTrainingForm(OpBuilder &b, func::FuncOp forward, ValueRange inputs, StateAccess &state,
                                     const TrainConfig &config, RandomState random) {
  return writeForm(b, forward, inputs, state, [&](Operation &op, IRMapping &mapping) {
    if (auto norm = dyn_cast<ir::BatchNormOp>(op); norm && usesRunningStatistics(norm)) {
      ir::Expression e(b, op.getLoc());
      auto value = [&](Value v) { return mapping.lookup(v); };
      auto trained = ir::BatchNormTrainOp::create(b, op.getLoc(), value(norm.getOperand()), value(norm.getScale()),
                                                  value(norm.getShift()), norm.getEpsilonAttr());
      updateStatistics(e, norm, trained, state, config);
      mapping.map(norm.getResult(), trained.getResult());
      return true;
    }
    if (auto dropout = dyn_cast<ir::DropoutOp>(op)) {
      Value x = mapping.lookup(dropout.getOperand());
      mapping.map(dropout.getResult(), config.dropout
                                           ? ir::DropoutOp::create(b, op.getLoc(), x, random.key, random.counter,
                                                                   dropout.getRatioAttr(), dropout.getStreamAttr())
                                                 .getResult()
                                           : x);
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

void dropDropouts(func::FuncOp forward) {
  forward.walk([](ir::DropoutOp dropout) {
    dropout.replaceAllUsesWith(dropout.getOperand());
    dropout.erase();
  });
}

} // namespace sprig::training
