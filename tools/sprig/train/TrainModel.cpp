#include "tools/sprig/train/TrainModel.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/LocationMarks.h"
#include "dialects/NN/NNState.h"
#include "lib/Export/ONNX/WriteWeights.h"
#include "lib/Interpreter/NonFinite.h"
#include "lib/JIT/TimePackage.h"
#include "lib/Pipeline/Diagnostics.h"
#include "lib/Pipeline/Phases.h"
#include "lib/Pipeline/RankBuckets.h"
#include "lib/Quantize/FoldWeights.h"
#include "lib/Model/AddTraining.h"
#include "lib/Training/StateNames.h"
#include "tools/sprig/Report.h"
#include "tools/sprig/compile/CompileSettings.h"
#include "tools/sprig/compile/ImportModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;

namespace sprig::cli {
namespace {

constexpr const char *kSampleAxis = "data"; // of the mesh of ranks that share each batch

training::TrainingEntries entriesOf(const TrainRequest &request) {
  bool ofReplicas = request.ranks > 1 && request.config.batchNormOfReplicas;
  return {request.steps,
          request.evaluations,
          request.inferences,
          request.withNorm,
          ofReplicas ? std::vector<std::string>{kSampleAxis} : std::vector<std::string>(),
          request.stepsPerCall};
}

int zeroOf(const TrainRequest &request) {
  const shard::StrategyName *strategy = shard::findStrategyName(request.strategy);
  return request.ranks > 1 && strategy ? strategy->zero : 0;
}

/// The sizes of symbolic dimensions for a batch: the first of every input, and what --dim binds.
EntryRequest entryFor(const Model &model, const std::vector<InputSpec> &specs, const Settings &settings,
                      int64_t batch) {
  auto dims = settings.entryDims();
  if (dims.size() != 1) badUse("--dim gives several sizes, which training has no use for");
  EntryRequest entry{dims.front(), settings.inputShapes(), {}};
  requireDims(model.path, specs, settings);
  bindShapes(specs, entry.shapes, entry.dims);
  for (const InputSpec &spec : specs) {
    if (spec.dims.empty())
      badInput(model.path + ": input '" + spec.name + "' is a scalar; expected samples along a first dimension");
    const auto &first = spec.dims.front();
    // Text has a function for each size, of which these are the first one's.
    if (first.size && *first.size != batch && model.kind != ModelKind::mlir)
      badInput(model.path + ": input '" + spec.name + "' takes batches of " + std::to_string(*first.size) +
               " samples and training needs one of " + std::to_string(batch) +
               "; export the model with a symbolic first dimension");
    if (!first.size) entry.dims[first.symbol] = batch;
  }
  requireSizes(model.path, specs, entry.dims);
  return entry;
}

// The module and what was found; it is in the order of its members.
class TrainingModule {
public:
  TrainingModule(const Model &model, const TrainRequest &request, const Settings &settings)
      : imported(importForwards(model, request, settings)),
        trained(addTraining(module(), sourceOf(model), programOf(request))) {}

  ModuleOp module() { return imported->module(); }
  const TrainedModel &found() const { return trained; }

private:
  static TrainingProgram programOf(const TrainRequest &request) {
    TrainingProgram program{request.config, entriesOf(request), request.samples, zeroOf(request), request.allow};
    if (request.announce) program.warn = warn, program.inform = inform;
    return program;
  }

  static std::unique_ptr<ImportedModel> importForwards(const Model &model, const TrainRequest &request,
                                                       const Settings &settings) {
    auto specs = inputsOf(model);
    std::vector<EntryRequest> entries;
    for (int64_t size : entriesOf(request).forwardSizes(request.config))
      entries.push_back(entryFor(model, specs, settings, size));
    return std::make_unique<ImportedModel>(model, entries, settings, /*training=*/true);
  }

  std::unique_ptr<ImportedModel> imported;
  TrainedModel trained;
};

CompileOptions trainingOptions(const Model &model, const TrainRequest &request, const Settings &settings,
                               const std::vector<std::string> &cpus) {
  CompileOptions options = sprig::trainingOptions(compileOptions(model, settings, cpus), request.config);
  options.bucketBytes = request.bucketBytes;
  options.dividesProducts = request.onOneMachine;
  if (request.ranks < 2) return options;
  options.mesh = std::string(kSampleAxis) + "=" + std::to_string(request.ranks);
  options.strategy = request.strategy;
  options.weights = request.weights;
  options.rank = request.rank;
  options.collectives = request.collectives;
  options.allowGather = request.allowGather;
  options.factors = request.factors;
  return options;
}

/// The step of the most samples: the others come once an epoch.
func::FuncOp largestStep(ModuleOp module) {
  func::FuncOp largest;
  int64_t most = -1;
  for (auto function : module.getOps<func::FuncOp>()) {
    auto entry = function->getAttrOfType<StringAttr>(ir::kEntryAttr);
    auto samples = function->getAttrOfType<IntegerAttr>(ir::dist::kSamplesAttr);
    if (!entry || entry.getValue() != StringRef(training::kStepEntry) || !samples || samples.getInt() <= most) continue;
    most = samples.getInt();
    largest = function;
  }
  return largest;
}

std::string megabytes(int64_t bytes) { return formatDouble(double(bytes) / double(1 << 20), 3) + " MB"; }

/// "0.4 MB of gradients a step in 3 buckets of up to 0.2 MB (auto), 0.4 MB gathered in 3; expected 2 ms of
/// collectives"
std::string textOf(const BucketExpectation &expected, int64_t most, bool isChosen, int64_t stepsPerCall) {
  return megabytes(expected.summed) + " of gradients a step in " + std::to_string(expected.sums) +
         (expected.sums == 1 ? " bucket" : " buckets") +
         (most < expected.largest() ? " of up to " + megabytes(most) : "") + (isChosen ? " (auto)" : "") +
         (expected.gathers ? ", " + megabytes(expected.gathered) + " gathered in " + std::to_string(expected.gathers)
                           : "") +
         (stepsPerCall > 1 ? ", " + std::to_string(stepsPerCall) + " steps a call" : "") + "; expected " +
         formatNanoseconds(expected.collective * 1e9) + (expected.isInHalves ? " of collectives" : " of all-reduces");
}

/// Goes on to where gradients are operations, and says how many of them go together: what was given, or what is
/// expected to hide the most; of several steps in a call, where their order turns, too. `options` become those of the
/// phases that are left; `compiled` is told what was chosen.
void chooseBuckets(ModuleOp module, const TrainRequest &request, CompileOptions &options, CompiledTraining &compiled,
                   std::vector<sprig::PhaseTime> &phases, const RemarkSink &remarks) {
  runPhases(module, options, "differentiate", &phases, remarks);
  llvm::DenseMap<Operation *, std::string> factors;
  divideForRanks(module, options, &phases, remarks,
                 [&](Operation *function, const std::string &text) { factors[function] = text; });
  options.link = linkOf(*request.link);
  func::FuncOp step = largestStep(module);
  compiled.bucketBytes = options.bucketBytes;
  if (!step) return;
  BucketRequest asked{request.ranks, *request.link,         options.bucketBytes, request.stepsPerCall,
                      request.turn,  request.agreeOnBucket, request.agreeOnTurn};
  const BucketChoice choice = chooseRankBuckets(step, asked, options);
  const BucketExpectation &expected = choice.expected.step;
  compiled.bucketBytes = options.bucketBytes = choice.bytes;
  compiled.turn = choice.turn;
  compiled.factors = factors.lookup(step);
  if (choice.turn && *choice.turn < expected.sums)
    step->setAttr(ir::kRepeatTurnAttr, Builder(step.getContext()).getI64IntegerAttr(*choice.turn));
  double exposed = request.link->isApart ? expected.exposed : expected.collective;
  compiled.communication = textOf(expected, options.bucketBytes, choice.isChosen, request.stepsPerCall) +
                           ", of which " + formatNanoseconds(exposed * 1e9) + " not hidden, at " +
                           formatNanoseconds(request.link->latency * 1e9) + " and " +
                           formatCount(request.link->bytesPerSecond, "B/s") + " each, " + request.link->source;
}

interp::Tensor tensorOf(MLIRContext &context, const data::Array &array) {
  return interp::Tensor::viewBytes(tensorType(context, array), array.bytes);
}

func::FuncOp stepOf(ModuleOp module, int64_t samples) {
  for (auto function : module.getOps<func::FuncOp>())
    if (auto entry = function->getAttrOfType<StringAttr>(ir::kEntryAttr);
        entry && entry.getValue() == StringRef(training::kStepEntry))
      if (cast<RankedTensorType>(function.getArgumentTypes()[0]).getDimSize(0) == samples) return function;
  internalError("no step takes a batch of " + std::to_string(samples) + " samples");
}

/// Makes the gradients results of the step, behind the others; their parameters.
std::vector<std::string> returnGradients(func::FuncOp step) {
  std::vector<std::string> names;
  SmallVector<Value> gradients;
  step.walk([&](Operation *op) {
    auto marks = op->getAttrOfType<ArrayAttr>(ir::kGradientsAttr);
    if (!marks) return;
    for (auto [name, gradient] : llvm::zip_equal(marks.getAsRange<StringAttr>(), op->getResults())) {
      names.push_back(name.str());
      gradients.push_back(gradient);
    }
  });
  SmallVector<DictionaryAttr> attributes;
  Builder b(step.getContext());
  for (const std::string &name : names)
    attributes.push_back(b.getDictionaryAttr(b.getNamedAttr(ir::kNameAttr, b.getStringAttr("gradient/" + name))));
  SmallVector<unsigned> last(gradients.size(), step.getNumResults());
  (void)step.insertResults(last, ValueRange(gradients).getTypes(), attributes);
  step.getBody().front().getTerminator()->insertOperands(last.empty() ? 0 : last[0], gradients);
  return names;
}

/// "nn.div in the gradient of nn.sqrt at model.onnx:norm"
std::string describeOperation(Operation *op) {
  std::string text = op->getName().getStringRef().str();
  if (auto forward = dyn_cast_if_present<StringAttr>(ir::markIn(op->getLoc(), ir::kGradientMark)))
    text += " in the gradient of " + forward.str();
  std::string place = describeLocation(op->getLoc());
  return place.empty() ? text : text + " at " + place;
}

/// The first of what a step gives that is not finite, and where that arose: the loss, a gradient, a next state.
std::string describeFound(func::FuncOp step, ArrayRef<std::string> gradients, const interp::NonFiniteWatcher &watcher) {
  OperandRange results = step.getBody().front().getTerminator()->getOperands();
  std::vector<std::pair<std::string, Value>> checked{{"the loss", results[0]}};
  for (auto [name, gradient] : llvm::zip_equal(gradients, results.take_back(gradients.size())))
    checked.emplace_back("the gradient of '" + name + "'", gradient);
  for (auto set : step.getBody().front().getOps<ir::SetParamOp>())
    checked.emplace_back("the next value of '" + set.getParam().str() + "'", set.getValue());
  for (auto &[what, value] : checked)
    if (auto origin = watcher.of(value).first()) return nonfinite::textOf(*origin) + "; found in " + what;
  return "";
}

} // namespace

CompiledTraining compileTraining(const Model &model, const TrainRequest &request, const Settings &settings,
                                 const std::vector<std::string> &cpus) {
  auto start = std::chrono::steady_clock::now();
  TrainingModule module(model, request, settings);
  double buildMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  CompileOptions options = trainingOptions(model, request, settings, cpus);
  CompiledTraining compiled;
  if (settings.explainPlacement)
    options.explainPlacement = [&](const Placement &placement) { compiled.placements.push_back(placement); };
  std::vector<sprig::PhaseTime> earlier;
  if (request.ranks > 1 && request.link)
    chooseBuckets(module.module(), request, options, compiled, earlier, remarkSink(settings));
  CompileResult result =
      compileModule(module.module(), options, remarkSink(settings), packageTimer(settings.laneCount()));
  compiled.package = std::move(result.package);
  compiled.collectives = std::move(result.collectives);
  compiled.phases.push_back({"import", buildMs});
  for (auto &time : llvm::concat<sprig::PhaseTime>(earlier, result.times)) {
    if (compiled.phases.back().phase != time.phase) compiled.phases.push_back({time.phase, 0});
    compiled.phases.back().milliseconds += time.seconds * 1e3;
  }
  compiled.trainable = module.found().trainable;
  compiled.classes = module.found().classes;
  return compiled;
}

std::string trainingToText(const Model &model, const TrainRequest &request, const Settings &settings) {
  TrainingModule training(model, request, settings);
  CompileOptions options = trainingOptions(model, request, settings, {"native"});
  std::vector<Placement> placements;
  if (settings.explainPlacement)
    options.explainPlacement = [&](const Placement &placement) { placements.push_back(placement); };
  checkOptions(training.module(), options);
  llvm::Expected<size_t> last = phaseByName(options.compileTo.empty() ? "import" : options.compileTo);
  if (last && request.ranks > 1 && request.link && *last >= *phaseByName("shard")) {
    std::vector<sprig::PhaseTime> times;
    CompiledTraining compiled;
    chooseBuckets(training.module(), request, options, compiled, times, remarkSink(settings));
  }
  llvm::consumeError(last.takeError());
  if (!options.compileTo.empty() && options.compileTo != "import")
    compileModule(training.module(), options, remarkSink(settings));
  if (settings.explainPlacement && !options.compileTo.empty()) explain(placements, nullptr);
  std::string text;
  llvm::raw_string_ostream stream(text);
  training.module().print(stream);
  return text + "\n";
}

std::string findNonFinite(const Model &model, const TrainRequest &request, const Settings &settings,
                          std::span<const data::Array> state, std::span<const data::Array> inputs) {
  TrainRequest quiet = request;
  quiet.announce = false;
  quiet.rank = 0, quiet.ranks = 1; // the same numbers, which one rank has all of
  TrainingModule training(model, quiet, settings);
  func::FuncOp step = stepOf(training.module(), inputs.front().shape[0]);
  std::vector<std::string> gradients = returnGradients(step);
  runPhases(training.module(), trainingOptions(model, quiet, settings, {"native"}), "differentiate");
  llvm::StringMap<interp::Tensor> values;
  for (const data::Array &array : state) values[array.name] = tensorOf(*training.module().getContext(), array);
  interp::NonFiniteWatcher watcher(describeOperation);
  llvm::SmallVector<interp::Tensor> arguments;
  step = stepOf(training.module(), inputs.front().shape[0]);
  for (auto [argument, array] : llvm::zip_equal(step.getArguments(), inputs)) {
    arguments.push_back(tensorOf(*training.module().getContext(), array));
    watcher.setGiven(argument, arguments.back(), "the data of '" + array.name + "'");
  }
  interp::RunOptions run{interp::Precision::Rounded, &watcher, &values};
  DiagnosticText diagnostics(training.module().getContext());
  if (mlir::failed(interp::run(step, arguments, run))) diagnostics.raise(ErrorKind::runtime, "the step does not run");
  return describeFound(step, gradients, watcher);
}

std::vector<char> exportTrained(const Model &model, std::span<const data::Array> parameters) {
  if (model.kind != ModelKind::onnx) badUse(model.path + ": is no ONNX file, so its trained form can be none");
  std::string file = withWeights(model.text, model.path, folderOfModel(model.path), parameters);
  if (model.foldsWeights) {
    quantize::Graph graph(file, model.path, folderOfModel(model.path));
    quantize::foldWeights(graph);
    file = graph.serialize();
  }
  return {file.begin(), file.end()};
}

} // namespace sprig::cli
