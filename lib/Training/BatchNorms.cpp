#include "lib/Training/BatchNorms.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Data/Listed.h"
#include "lib/Training/Patterns.h"
#include "sprig/error.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace sprig::training {
namespace {

constexpr const char *kFrozenField = "batch_norm.frozen";

/// The parameter that an operand of a norm is, which may be kept in another precision; empty where it is computed.
std::string parameterOf(Value operand) {
  while (auto cast = operand.getDefiningOp<ir::CastOp>()) operand = cast.getOperand();
  auto read = operand.getDefiningOp<ir::GetParamOp>();
  return read ? read.getParam().str() : "";
}

/// Empty: neither scale nor mean is a parameter.
std::string frozenNameOf(ir::BatchNormOp norm) {
  std::string scale = parameterOf(norm.getScale());
  return scale.empty() ? parameterOf(norm.getMean()) : scale;
}

bool isFrozen(ir::BatchNormOp norm, const TrainConfig &config) {
  if (!config.frozenNorms) return false;
  std::string name = frozenNameOf(norm);
  return !name.empty() && matchesAny(*config.frozenNorms, name);
}

} // namespace

ir::GetParamOp runningStatistic(Value operand) { return operand.getDefiningOp<ir::GetParamOp>(); }

bool isRunningStatistic(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (isa<ir::CastOp>(user)) return isRunningStatistic(user->getResult(0));
    auto norm = dyn_cast<ir::BatchNormOp>(user);
    return norm && (value == norm.getMean() || value == norm.getVariance());
  });
}

bool movesStatistics(ir::BatchNormOp norm, const TrainConfig &config) {
  return runningStatistic(norm.getMean()) && runningStatistic(norm.getVariance()) && !isFrozen(norm, config);
}

void checkFrozen(func::FuncOp forward, const TrainConfig &config, const std::string &model) {
  if (!config.frozenNorms) return;
  std::vector<std::string> names;
  llvm::StringMap<std::string> movedBy;
  forward.walk([&](ir::BatchNormOp norm) {
    std::string name = frozenNameOf(norm);
    if (!name.empty() && !llvm::is_contained(names, name)) names.push_back(name);
    if (movesStatistics(norm, config))
      for (Value statistic : {norm.getMean(), norm.getVariance()}) movedBy[parameterOf(statistic)] = name;
  });
  for (const std::string &pattern : *config.frozenNorms)
    if (llvm::none_of(names, [&](const std::string &name) { return matches(pattern, name); }))
      refusePattern(kFrozenField, model + " has no batch norm with the scale", pattern, names);
  forward.walk([&](ir::BatchNormOp norm) {
    if (!isFrozen(norm, config)) return;
    for (Value statistic : {norm.getMean(), norm.getVariance()})
      if (auto moved = movedBy.find(parameterOf(statistic)); moved != movedBy.end())
        badInput(std::string(kFrozenField) + ": " + model + " has the running statistic '" + moved->first().str() +
                 "' in the batch norms '" + frozenNameOf(norm) + "' and '" + moved->second +
                 "', of which one alone is frozen");
  });
}

std::string warningOfMoved(func::FuncOp forward, const TrainConfig &config, ArrayRef<std::string> trained) {
  std::vector<std::string> names;
  if (!config.trainable) return "";
  forward.walk([&](ir::BatchNormOp norm) {
    auto isTrained = [&](Value operand) { return llvm::is_contained(trained, parameterOf(operand)); };
    std::string name = frozenNameOf(norm);
    if (movesStatistics(norm, config) && !isTrained(norm.getScale()) && !isTrained(norm.getShift()) &&
        !llvm::is_contained(names, name))
      names.push_back(name);
  });
  if (names.empty()) return "";
  bool isOne = names.size() == 1;
  return (isOne ? "a batch norm is" : std::to_string(names.size()) + " batch norms are") + " not trained, but " +
         (isOne ? "its" : "their") + " running statistics move: " + data::listed(names) + "\nnote: `" + kFrozenField +
         "` in the configuration names the scales of norms that keep their statistics";
}

} // namespace sprig::training
