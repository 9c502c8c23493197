#include "lib/Training/StepBuilder.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Training/BatchNorms.h"
#include "lib/Training/LearningRate.h"
#include "lib/Training/LossExpression.h"
#include "lib/Training/OptimizerUpdate.h"
#include "lib/Training/Patterns.h"
#include "lib/Training/Quantizers.h"
#include "lib/Training/StateNames.h"
#include "lib/Training/TrainingForm.h"
#include "sprig/error.h"
#include "llvm/ADT/StringMap.h"
#include <set>

using namespace mlir;

namespace sprig::training {

using ir::Expression;

StepBuilder::StepBuilder(ModuleOp module, std::map<int64_t, func::FuncOp> given, const TrainConfig &config,
                         std::string model, ParameterHints hints)
    : module(module), forwards(std::move(given)), config(config), model(std::move(model)), hints(std::move(hints)) {
  for (auto param : module.getOps<ir::ParamOp>())
    if (isTrainingState(param.getSymName()))
      badInput(this->model + ": has a parameter '" + param.getSymName().str() +
               "', a name that is kept for the state of training");
  describeTargets();
  chooseTrainable();
  for (auto &[samples, function] : forwards) {
    requirePairs(function, trainableNames, this->model);
    if (config.rematLayers) markRecomputed(function, *config.rematLayers, this->model);
    checkFrozen(function, config, this->model);
  }
}

/// Sizes of the forward passes of a step.
static std::vector<int64_t> batchesOf(int64_t samples, int64_t batch) {
  std::vector<int64_t> sizes;
  for (int64_t left = samples; left > 0; left -= sizes.back()) sizes.push_back(std::min(left, batch));
  return sizes;
}

std::vector<int64_t> TrainingEntries::forwardSizes(const TrainConfig &config) const {
  std::set<int64_t> sizes(inferences.begin(), inferences.end());
  sizes.insert(evaluations.begin(), evaluations.end());
  for (int64_t samples : steps)
    for (int64_t size : batchesOf(samples, config.batch)) sizes.insert(size);
  return {sizes.begin(), sizes.end()};
}

void StepBuilder::add(const TrainingEntries &entries) {
  if (!entries.normGroups.empty())
    normGroups = Builder(module.getContext())
                     .getStrArrayAttr(SmallVector<StringRef>(entries.normGroups.begin(), entries.normGroups.end()));
  int64_t most = entries.steps.empty() ? 0 : *llvm::max_element(entries.steps);
  for (int64_t samples : entries.steps) {
    func::FuncOp step = addTrainStep(samples, entries.withNorm);
    if (samples == most && entries.stepsPerCall > 1) repeat(step, samples, entries.stepsPerCall);
  }
  for (int64_t samples : entries.evaluations) addEvaluation(samples);
  finish(entries.inferences);
}

func::FuncOp StepBuilder::forward(int64_t samples) const {
  auto found = forwards.find(samples);
  assert(found != forwards.end() && "a forward function for each size that is asked for");
  return found->second;
}

// One loss for each output; what they compare with.
void StepBuilder::describeTargets() {
  func::FuncOp function = forwards.begin()->second;
  int64_t samples = forwards.begin()->first;
  auto outputs = function.getResultTypes();
  if (outputs.size() != config.losses.size())
    badInput("the configuration has " + std::to_string(config.losses.size()) + " losses for the " +
             std::to_string(outputs.size()) + " outputs of " + model);
  bool anyReal = false;
  int64_t columns = 0;
  std::vector<int64_t> rows;
  for (auto [i, type] : llvm::enumerate(outputs)) {
    auto tensor = cast<RankedTensorType>(type);
    auto name = function.getResultAttrOfType<StringAttr>(i, ir::kNameAttr);
    std::string label = "output '" + (name ? name.str() : std::to_string(i)) + "' of " + model;
    if (!isa<FloatType>(tensor.getElementType()) || tensor.getRank() == 0 || tensor.getDimSize(0) != samples)
      badInput(label + " is " + ir::describe(type) + " for a batch of " + std::to_string(samples) +
               " samples; expected floats, with the samples first");
    const LossConfig &loss = config.losses[i];
    bool ofClasses = isOfClasses(loss);
    if (ofClasses && tensor.getRank() < 2)
      badInput(label + " is " + ir::describe(type) + "; the loss expects classes in a last axis");
    int64_t classes = ofClasses ? tensor.getShape().back() : 0;
    if (!loss.classWeights.empty() && int64_t(loss.classWeights.size()) != classes)
      badInput("the configuration has " + std::to_string(loss.classWeights.size()) + " class weights for the " +
               std::to_string(classes) + " classes of " + label);
    target.classes.push_back(classes);
    anyReal |= !ofClasses;
    std::vector<int64_t> own(tensor.getShape().begin() + 1, tensor.getShape().end());
    if (outputs.size() == 1) {
      if (ofClasses) own.pop_back();
      target.sample = own;
      continue;
    }
    if (own.empty()) badInput(label + " is " + ir::describe(type) + "; of several outputs, each needs a last axis");
    columns += ofClasses ? 1 : own.back();
    own.pop_back();
    if (i > 0 && own != rows)
      badInput(label + " is " + ir::describe(type) +
               ", whose dimensions but the last differ from those of the output before it");
    rows = own;
  }
  if (outputs.size() > 1) {
    target.sample = rows;
    target.sample.push_back(columns);
  }
  Builder b(module.getContext());
  target.element = anyReal ? Type(b.getF32Type()) : b.getI64Type();
}

/// Whether a parameter feeds what layers call weight, bias or scale.
static bool feedsLayer(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    if (isa<ir::ReshapeOp, ir::TransposeOp, ir::CastOp, ir::BroadcastOp, ir::SliceOp, ir::ConcatOp>(user))
      return feedsLayer(user->getResult(0));
    return true;
  });
}

std::string StepBuilder::normWarning() const {
  return warningOfMoved(forwards.begin()->second, config, trainableNames);
}

void StepBuilder::chooseTrainable() {
  llvm::MapVector<StringRef, ir::ParamOp> candidates;
  llvm::StringMap<StringRef> fixed; // why each is not trained
  SymbolTable symbols(module);
  for (auto &[samples, function] : forwards)
    function.walk([&](ir::GetParamOp read) {
      auto param = symbols.lookup<ir::ParamOp>(read.getParam());
      auto type = param.getTensorType();
      if (isQuantizersParameter(read.getResult())) {
        fixed[read.getParam()] = "a quantiser's, found by calibration or computed from weights; it is not trained";
        return;
      }
      if (isRunningStatistic(read.getResult())) {
        fixed[read.getParam()] = "a running statistic of a batch norm, which no gradient moves; it is not trained";
        return;
      }
      bool isReal = isa<FloatType>(type.getElementType());
      // A single number is a constant factor, unless the model's file says that it is a layer's.
      std::string name = read.getParam().str();
      bool isLayers = type.getNumElements() > 1 || llvm::is_contained(hints.singles, name);
      if (isReal && isLayers && !llvm::is_contained(hints.constants, name) && feedsLayer(read.getResult()))
        candidates[param.getSymName()] = param;
    });
  if (!config.trainable) {
    for (auto &[name, param] : candidates) trainableNames.push_back(name.str());
  } else {
    for (const std::string &pattern : *config.trainable) {
      bool any = false;
      for (auto param : module.getOps<ir::ParamOp>()) {
        std::string name = param.getSymName().str();
        if (!matches(pattern, name)) continue;
        any = true;
        if (StringRef reason = fixed.lookup(name); !reason.empty()) {
          if (pattern != name) continue; // a pattern is of what can be trained
          badInput("trainable: '" + name + "' is " + reason.str());
        }
        if (!isa<FloatType>(param.getTensorType().getElementType()))
          badInput("trainable: '" + name + "' is " + ir::describe(param.getTensorType()) + "; only floats are trained");
        if (!llvm::is_contained(trainableNames, name)) trainableNames.push_back(name);
      }
      if (any) continue;
      std::vector<std::string> names;
      for (auto param : module.getOps<ir::ParamOp>())
        if (!fixed.contains(param.getSymName())) names.push_back(param.getSymName().str());
      refusePattern("trainable", model + " has no initializer", pattern, names);
    }
  }
  if (trainableNames.empty()) badInput(model + ": has no parameter to train, expected initializers of floats");
  for (const std::string &name : trainableNames) {
    Type element = symbols.lookup<ir::ParamOp>(name).getTensorType().getElementType();
    if (!element.isF32() && !element.isF64())
      unsupported(model + ": parameter '" + name + "' is " + ir::describe(element) +
                  "; parameters of f32 and f64 can be trained");
  }
}

// Inputs of the network and the targets, of all passes.
func::FuncOp StepBuilder::makeFunction(StringRef entry, ArrayRef<int64_t> passes,
                                       std::vector<std::pair<std::string, Type>> results) {
  func::FuncOp like = forwards.begin()->second;
  int64_t samples = 0;
  for (int64_t size : passes) samples += size;
  SmallVector<Type> inputs, outputs;
  for (Type type : like.getArgumentTypes()) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(type).getShape());
    shape[0] = samples;
    inputs.push_back(cast<RankedTensorType>(type).clone(shape));
  }
  SmallVector<int64_t> shape{samples};
  llvm::append_range(shape, target.sample);
  inputs.push_back(RankedTensorType::get(shape, target.element));
  for (auto &[resultName, type] : results) outputs.push_back(type);
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto function = func::FuncOp::create(b, NameLoc::get(b.getStringAttr(entry)), (entry + "_" + Twine(samples)).str(),
                                       b.getFunctionType(inputs, outputs));
  function->setAttr(ir::kEntryAttr, b.getStringAttr(entry));
  function->setAttr(ir::kPassesAttr, b.getDenseI64ArrayAttr(passes));
  function.addEntryBlock();
  for (unsigned i = 0; i < like.getNumArguments(); ++i)
    if (Attribute label = like.getArgAttr(i, ir::kNameAttr)) function.setArgAttr(i, ir::kNameAttr, label);
  function.setArgAttr(like.getNumArguments(), ir::kNameAttr, b.getStringAttr("targets"));
  for (auto [i, result] : llvm::enumerate(results))
    function.setResultAttr(i, ir::kNameAttr, b.getStringAttr(result.first));
  return function;
}

/// Samples [first, first + count) of a value.
static Value samplesOf(Expression &e, Value value, int64_t first, int64_t count) {
  auto type = Expression::typeOf(value);
  if (first == 0 && type.getDimSize(0) == count) return value;
  SmallVector<int64_t> starts(type.getRank(), 0), steps(type.getRank(), 1), sizes(type.getShape());
  starts[0] = first;
  sizes[0] = count;
  return ir::SliceOp::create(e.b, e.loc, value, starts, sizes, steps);
}

/// The L2 norm of all gradients together: f64 where one of them is, else f32.
static Value globalNorm(Expression &e, ArrayRef<Value> gradients) {
  Value sum;
  bool isDouble = llvm::any_of(gradients, [](Value g) { return Expression::typeOf(g).getElementType().isF64(); });
  Type element = isDouble ? Type(e.b.getF64Type()) : Type(e.b.getF32Type());
  for (Value g : gradients) {
    Value square = e.cast(e.sumOfAll(e.mul(g, g)), element);
    sum = sum ? e.add(sum, square) : square;
  }
  sum.getDefiningOp()->setAttr(ir::kTotalAttr, e.b.getStringAttr("grad_norm"));
  return e.unary<ir::SqrtOp>(sum);
}

/// Each is a result of one operation for all, or of one of its own.
static void markGradients(ArrayRef<Value> gradients, ArrayRef<std::string> names) {
  Builder b(gradients[0].getContext());
  if (gradients[0].getDefiningOp()->getNumResults() > 1) {
    SmallVector<Attribute> all;
    for (const std::string &name : names) all.push_back(b.getStringAttr(name));
    gradients[0].getDefiningOp()->setAttr(ir::kGradientsAttr, b.getArrayAttr(all));
    return;
  }
  for (auto [value, name] : llvm::zip_equal(gradients, names))
    value.getDefiningOp()->setAttr(ir::kGradientsAttr, b.getStrArrayAttr({name}));
}

void StepBuilder::repeat(func::FuncOp step, int64_t samples, int64_t times) {
  Builder b(module.getContext());
  step->setAttr(ir::kRepeatAttr, b.getI64IntegerAttr(times));
  step->setAttr(ir::kRepeatEntryAttr, b.getStringAttr(kStepsEntry));
}

func::FuncOp StepBuilder::addTrainStep(int64_t samples, bool withNorm) {
  Builder types(module.getContext());
  auto scalarOf = [](Type element) { return RankedTensorType::get({}, element); };
  auto i64 = scalarOf(types.getI64Type()), f64 = scalarOf(types.getF64Type()), f32 = scalarOf(types.getF32Type());
  std::vector<std::pair<std::string, Type>> results{{"loss", f32}};
  if (withNorm) results.push_back({"grad_norm", f32});
  std::vector<int64_t> sizes = batchesOf(samples, config.batch);
  func::FuncOp function = makeFunction(kStepEntry, sizes, results);
  StateAccess state(module, function);
  state.declare(kStep, i64, 0);
  state.declare(kLr, f64, config.optimizer.lr);
  state.declare(kSeed, i64, double(config.seed));
  OpBuilder b = OpBuilder::atBlockEnd(&function.getBody().front());
  Expression e(b, function.getLoc());

  // Reads first: the builder goes on after them.
  SmallVector<Value> parameters;
  for (const std::string &name : trainableNames) parameters.push_back(state.initial(name));
  Value step = state.initial(kStep);
  SmallVector<Value> sums;
  Value loss;
  int64_t first = 0;
  for (auto [pass, size] : llvm::enumerate(sizes)) {
    SmallVector<Value> inputs;
    for (Value argument : function.getArguments().drop_back()) inputs.push_back(samplesOf(e, argument, first, size));
    SmallVector<Value> targets = splitTargets(e, forward(size).getResultTypes(), config,
                                              samplesOf(e, function.getArguments().back(), first, size));
    first += size;
    // Each forward pass of a run has a counter of its own.
    Value counter = e.mul(step, e.splat(step, double(config.accumulate)));
    if (pass) counter = e.add(counter, e.splat(counter, double(pass)));
    SmallVector<Value> outputs =
        writeTrainingForm(b, forward(size), inputs, state, config, {state.initial(kSeed), counter}, normGroups);
    Value part = totalLoss(e, outputs, targets, config);
    // The mean over the passes; a smaller one counts less.
    if (sizes.size() > 1) part = e.mul(part, e.splat(part, double(size) / double(samples)));
    auto gradient = ir::GradientOp::create(b, e.loc, ValueRange(parameters).getTypes(), part, ValueRange(), parameters);
    loss = loss ? e.add(loss, part) : part;
    if (sums.empty())
      sums.append(gradient->result_begin(), gradient->result_end());
    else
      for (auto [sum, more] : llvm::zip_equal(sums, gradient.getResults())) sum = e.add(sum, more);
  }
  markGradients(sums, trainableNames);
  SmallVector<Value> returned{e.cast(loss, f32.getElementType())};
  if (withNorm || config.gradClipNorm) {
    Value norm = globalNorm(e, sums);
    if (withNorm) returned.push_back(e.cast(norm, f32.getElementType()));
    if (config.gradClipNorm) {
      Value ratio = e.div(e.splat(norm, *config.gradClipNorm), e.add(norm, e.splat(norm, 1e-6)));
      Value factor = e.binary<ir::MinOp>(ratio, e.splat(norm, 1));
      for (Value &g : sums) g = e.mul(g, e.cast(factor, Expression::typeOf(g).getElementType()));
    }
  }
  if (config.gradClipValue)
    for (Value &g : sums)
      g = e.binary<ir::MaxOp>(e.binary<ir::MinOp>(g, e.splat(g, *config.gradClipValue)),
                              e.splat(g, -*config.gradClipValue));
  StepScalars scalars{learningRate(e, config.schedule, state.initial(kLr), step), e.cast(step, b.getF64Type())};
  updateParameters(e, state, scalars, sums);
  state.set(kStep, e.add(step, e.splat(step, 1)));
  state.finish(b);
  func::ReturnOp::create(b, e.loc, returned);
  return function;
}

void StepBuilder::updateParameters(Expression &e, StateAccess &state, const StepScalars &scalars,
                                   ArrayRef<Value> gradients) {
  SmallVector<Value> updated;
  for (auto [name, gradient] : llvm::zip_equal(trainableNames, gradients)) {
    double lrScale = 1, weightDecay = config.optimizer.weightDecay;
    for (const ParameterGroup &group : config.groups) {
      if (!matchesAny(group.match, name)) continue;
      lrScale = group.lrScale;
      weightDecay = group.weightDecay.value_or(weightDecay);
      break;
    }
    updated.push_back(
        updatedParameter(e, state, config.optimizer, scalars, lrScale, weightDecay, name, state.get(name), gradient));
  }
  for (auto [name, value] : llvm::zip_equal(trainableNames, updated)) {
    state.set(name, value);
    if (!config.emaDecay) continue;
    std::string average = averageName(name);
    state.declareLike(average, name);
    Value old = state.initial(average);
    state.set(average,
              e.add(e.mul(old, e.splat(old, *config.emaDecay)), e.mul(value, e.splat(value, 1 - *config.emaDecay))));
  }
}

// Gives sums, so that evaluations of several batches are those of all their samples: `loss_sum`, of losses that are
// sums; of each mean what it is of and what it is divided by; predictions that are right, and those that can be.
void StepBuilder::addEvaluation(int64_t samples) {
  Builder types(module.getContext());
  auto i64 = RankedTensorType::get({}, types.getI64Type()), f32 = RankedTensorType::get({}, types.getF32Type());
  std::vector<std::pair<std::string, Type>> results{{"loss_sum", f32}};
  for (auto [i, loss] : llvm::enumerate(config.losses)) {
    if (loss.reduction == Reduction::sum) continue;
    results.push_back({"loss_" + std::to_string(i), f32});
    results.push_back({"weight_" + std::to_string(i), f32});
  }
  results.push_back({"correct", i64});
  results.push_back({"count", i64});
  func::FuncOp function = makeFunction(kEvaluationEntry, {samples}, results);
  StateAccess state(module, function);
  OpBuilder b = OpBuilder::atBlockEnd(&function.getBody().front());
  Expression e(b, function.getLoc());
  SmallVector<Value> targets =
      splitTargets(e, forward(samples).getResultTypes(), config, function.getArguments().back());
  // With moving averages, they are what is evaluated.
  SmallVector<Value> outputs = writeInferenceForm(b, forward(samples), function.getArguments().drop_back(), state,
                                                  config.emaDecay ? ArrayRef(trainableNames) : ArrayRef<std::string>());
  LossSums losses = lossSums(e, outputs, targets, config, target.classes);
  Accuracy score = accuracy(e, outputs, targets, config);
  SmallVector<Value> values{losses.added ? losses.added : e.constant({}, f32.getElementType(), {0.0})};
  for (auto [sum, weight] : llvm::zip_equal(losses.sums, losses.weights)) values.append({sum, weight});
  values.append({score.correct, score.count});
  for (auto [value, result] : llvm::zip_equal(values, results))
    value = e.cast(value, cast<RankedTensorType>(result.second).getElementType());
  func::ReturnOp::create(b, e.loc, values);
}

void StepBuilder::finish(const std::vector<int64_t> &inferences) {
  for (auto &[samples, function] : forwards) {
    if (!llvm::is_contained(inferences, samples)) {
      function.erase();
      continue;
    }
    dropDropouts(function);
    function->setAttr(ir::kEntryAttr, StringAttr::get(module.getContext(), "main"));
  }
}

} // namespace sprig::training
