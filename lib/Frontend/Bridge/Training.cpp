// optimizerUpdate and learningRate: what training's step builder writes, as graphs.
#include "dialects/NN/NNState.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Bridge/Derive.h"
#include "lib/Frontend/Bridge/Import.h"
#include "lib/Training/LearningRate.h"
#include "lib/Training/OptimizerUpdate.h"
#include "lib/Training/StateNames.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::frontend;

Graph frontend::optimizerUpdate(const training::OptimizerConfig &optimizer, const sprig::TensorType &parameter,
                                double lrScale, double weightDecay, std::vector<OptimizerSlot> &slots) {
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
  state.set(name, training::updatedParameter(e, state, optimizer, {body.getArgument(1), body.getArgument(2)}, lrScale,
                                             weightDecay, name, state.get(name), body.getArgument(0)));
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

Graph frontend::learningRate(const training::ScheduleConfig &schedule) {
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
