// sprig::compileTraining: model and configuration to a package that trains.
#include "lib/JIT/ContextPool.h"
#include "lib/JIT/ReadModel.h"
#include "lib/JIT/TimePackage.h"
#include "lib/Model/AddTraining.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Training/ReadTrainConfig.h"
#include "sprig/train.h"

using namespace mlir;
using namespace sprig;

// Sizes of the inputs' dimensions for a batch: the first of each counts samples, the options say the others.
static std::map<std::string, int64_t> batchDims(const ModelInterface &interface, const std::string &model,
                                                int64_t batch, std::map<std::string, int64_t> dims) {
  for (const InterfaceValue &input : interface.inputs) {
    if (input.dims.empty()) badInput(model + ": input '" + input.name + "' has no first dimension of samples");
    const InterfaceDim &first = input.dims.front();
    if (first.size && *first.size != batch)
      badInput(model + ": input '" + input.name + "' takes batches of " + std::to_string(*first.size) +
               " samples, asked for are " + std::to_string(batch));
    if (!first.size) dims[first.symbol] = batch;
  }
  return dims;
}

static OwningOpRef<ModuleOp> importForwards(MLIRContext &context, const ModelSource &source,
                                            const std::vector<int64_t> &batches, const CompileOptions &options) {
  if (source.kind == ModelKind::mlir) return readText(context, source, options);
  auto given = entrySizes(options);
  if (given.size() != 1) badUse("dims gives several sizes, which training has no use for");
  ParsedONNX parsed = parseONNX(source);
  ModelInterface interface = inspectONNX(*parsed);
  std::vector<std::map<std::string, int64_t>> dims;
  for (int64_t batch : batches) dims.push_back(batchDims(interface, source.name, batch, given.front()));
  return importEntries(context, *parsed, importOptions(dims, options, /*training=*/true));
}

std::vector<uint8_t> sprig::compileTraining(const Model &model, const std::string &config, const TrainingSizes &sizes,
                                            const CompileOptions &given) {
  if (!given.states.empty())
    unsupported("states '" + given.states.front().first + "': a training step takes sequences from their beginning");
  if (!given.mesh.empty())
    unsupported("mesh '" + given.mesh +
                "': is for inference; 'sprig compile --train --mesh' makes steps of ranks, and Trainer trains on them");
  training::TrainConfig parsed = training::parseTrainConfig(config, "configuration");
  if (!parsed.steps) badUse("configuration: counts in epochs; give its length in steps");
  int64_t each = parsed.batch * parsed.accumulate;
  training::resolve(parsed, each * std::min(*parsed.steps, INT64_MAX / each));
  if (sizes.stepsPerCall < 1) badUse(std::to_string(sizes.stepsPerCall) + " steps in a call: expected 1 or more");
  std::string content = readContent(model);
  ModelSource source = sourceOf(model, content);
  if (source.kind == ModelKind::package) badUse(source.name + ": is a package already; what it trains is compiled in");
  TrainingProgram program{parsed, {sizes.steps, sizes.evaluations, sizes.inferences, sizes.gradientNorm}, each};
  program.entries.stepsPerCall = sizes.stepsPerCall;
  program.allow = sizes.allow;
  program.allowedBy = "allow";
  program.warn = given.report;
  CompileOptions options = trainingOptions(given, parsed);
  if (options.modelName.empty()) options.modelName = model.name().substr(model.name().rfind('/') + 1);
  auto lease = ContextPool::instance().take();
  OwningOpRef<ModuleOp> module = importForwards(*lease.context, source, program.entries.forwardSizes(parsed), options);
  addTraining(*module, source, program);
  return compileModule(*module, options, nullptr, packageTimer(options.threads)).package;
}
