// optimizerUpdate and learningRate: what training's step builder writes, as graphs.
#include "dialects/NN/NNState.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Bridge/Derive.h"
#include "lib/Frontend/Bridge/Import.h"
#include "lib/Training/LearningRate.h"
#include "lib/Training/OptimizerUpdate.h"
#include "lib/Training/ReadTrainConfig.h"
#include "lib/Training/StateNames.h"
#include "sprig/error.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::frontend;

// The rest of a configuration around the one field, as its reader checks all of it.
static training::TrainConfig configOf(const std::string &field, const std::string &json, const std::string &more) {
  return training::parseTrainConfig(
      R"({"loss": "mse", "batch": 1, "steps": 1, )" + more + "\"" + field + "\": " + json + "}", field);
}

Graph frontend::optimizerUpdate(const std::string &optimizer, const sprig::TensorType &parameter, double lrScale,
                                double weightDecay, std::vector<OptimizerSlot> &slots) {
  training::TrainConfig config = configOf("optimizer", optimizer, "");
  bridge::Workspace work;
  bridge::Lowering lowering(work.context());
  const std::string name = "parameter";
  const sprig::TensorType scalar{DType::f64, {}};
  func::FuncOp function = lowering.makeFunction(*work.module, "main", {parameter, scalar, scalar});
  Block &body = function.getBody().front();
  OpBuilder b = OpBuilder::atBlockEnd(&body);
  training::StateAccess state(*work.module, function);
  state.declare(name, bridge::toType(work.context(), parameter), 0);
  ir::Expression e(b, b.getUnknownLoc());
  state.set(name, training::updatedParameter(e, state, config.optimizer, {body.getArgument(1), body.getArgument(2)},
                                             lrScale, weightDecay, name, state.get(name), body.getArgument(0)));
  state.finish(b);
  func::ReturnOp::create(b, function.getLoc());
  bridge::derive(function, bridge::Derivation::simplify);

  llvm::StringMap<Value> reads;
  for (auto read : body.getOps<ir::GetParamOp>()) reads[read.getParam()] = read.getResult();
  SmallVector<Value> outputs(1), slotInputs;
  slots.clear();
  const std::string prefix(training::kOptimizerPrefix), suffix = "/" + name;
  for (auto update : body.getOps<ir::SetParamOp>()) {
    if (update.getParam() == name) {
      outputs[0] = update.getValue();
      continue;
    }
    StringRef slot = update.getParam();
    outputs.push_back(update.getValue());
    slotInputs.push_back(reads[slot]);
    slot.consume_front(prefix);
    slot.consume_back(suffix);
    auto declared = cast<ir::ParamOp>(work.module->lookupSymbol(update.getParam()));
    auto initial = cast<DenseElementsAttr>(declared.getValue()).getSplatValue<APFloat>().convertToDouble();
    bool isScalar = bridge::fromType(declared.getTensorType()) == scalar;
    slots.push_back({slot.str(), isScalar, initial});
  }
  llvm::DenseSet<Operation *> needed =
      bridge::neededFor(outputs, [](Value value) { return bool(value.getDefiningOp<ir::GetParamOp>()); });
  bridge::GraphReader reader;
  Value own = reads[name];
  reader.addInputs(own ? own : body.getArgument(0));
  reader.addInputs(body.getArguments());
  reader.addInputs(slotInputs);
  reader.addOperations(body, &needed);
  return reader.finish(outputs);
}

static std::string scheduleName(const training::ScheduleConfig &schedule) { return training::name(schedule.kind); }

Graph frontend::learningRate(const std::string &json) {
  training::ScheduleConfig schedule =
      configOf("lr_schedule", json, R"("optimizer": {"name": "sgd", "lr": 1}, )").schedule;
  using training::ScheduleKind;
  bool hasTotal = schedule.kind == ScheduleKind::linear || schedule.kind == ScheduleKind::cosine ||
                  schedule.kind == ScheduleKind::warmupCosine || schedule.kind == ScheduleKind::oneCycle;
  if (hasTotal && schedule.totalSteps == 0)
    badUse("lr_schedule.total_steps: not given; schedule " + scheduleName(schedule) +
           " needs the number of steps that it takes");
  if (schedule.perEpoch)
    badUse("lr_schedule: schedule " + scheduleName(schedule) +
           " counts epochs; a step does not know how long they are, so give steps");
  bridge::Workspace work;
  bridge::Lowering lowering(work.context());
  func::FuncOp function = lowering.makeFunction(*work.module, "main", {{DType::f64, {}}, {DType::i64, {}}});
  Block &body = function.getBody().front();
  OpBuilder b = OpBuilder::atBlockEnd(&body);
  ir::Expression e(b, b.getUnknownLoc());
  Value rate = training::learningRate(e, schedule, body.getArgument(0), body.getArgument(1));
  bridge::giveResults(b, function, rate);
  bridge::derive(function, bridge::Derivation::simplify);
  return bridge::graphOf(body);
}
