// sprig::compileTraining: model and configuration to a package that trains.
#include "lib/Import/ONNX/ImportONNX.h"
#include "lib/JIT/ContextPool.h"
#include "lib/JIT/ReadModel.h"
#include "lib/JIT/TimePackage.h"
#include "lib/Pipeline/Diagnostics.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Training/ReadTrainConfig.h"
#include "lib/Training/StepBuilder.h"
#include "sprig/train.h"

using namespace mlir;
using namespace sprig;

// Dimensions of the inputs for a batch: the first of each counts samples.
static std::map<std::string, int64_t> batchDims(const ModelInterface &interface, const std::string &model,
                                                int64_t batch) {
  std::map<std::string, int64_t> dims;
  for (const InterfaceValue &input : interface.inputs) {
    if (input.dims.empty())
      throw Error(ErrorKind::badInput, model + ": input '" + input.name + "' has no first dimension of samples");
    const InterfaceDim &first = input.dims.front();
    if (first.size && *first.size != batch)
      throw Error(ErrorKind::badInput, model + ": input '" + input.name + "' takes batches of " +
                                           std::to_string(*first.size) + " samples, asked for are " +
                                           std::to_string(batch));
    if (!first.size) dims[first.symbol] = batch;
  }
  return dims;
}

std::vector<uint8_t> sprig::compileTraining(const Model &model, const std::string &config, const TrainingSizes &sizes,
                                            const CompileOptions &given) {
  training::TrainConfig parsed = training::parseTrainConfig(config, "configuration");
  if (!parsed.steps) throw Error(ErrorKind::usage, "configuration: counts in epochs; give its length in steps");
  int64_t each = parsed.batch * parsed.accumulate;
  training::resolve(parsed, each * std::min(*parsed.steps, INT64_MAX / each));
  if (sizes.stepsPerCall < 1)
    throw Error(ErrorKind::usage, std::to_string(sizes.stepsPerCall) + " steps in a call: expected 1 or more");
  training::TrainingEntries entries{sizes.steps, sizes.evaluations, sizes.inferences, sizes.gradientNorm};
  entries.stepsPerCall = sizes.stepsPerCall;

  std::string content = readContent(model);
  CompileOptions options = given;
  options.freeze = false;
  options.math = MathMode::strict;
  options.rematBytes = parsed.rematBytes.value_or(options.rematBytes);
  if (options.modelName.empty()) options.modelName = model.name().substr(model.name().rfind('/') + 1);
  auto lease = ContextPool::instance().take();
  ModelInterface interface = inspectONNX(content, model.name());
  std::vector<std::map<std::string, int64_t>> dims;
  for (int64_t batch : entries.forwardSizes(parsed)) dims.push_back(batchDims(interface, model.name(), batch));
  OwningOpRef<ModuleOp> module = readEntries(*lease.context, model, content, dims, options, /*training=*/true);
  std::map<int64_t, func::FuncOp> forwards;
  auto functions = llvm::to_vector(module->getOps<func::FuncOp>());
  for (auto [batch, function] : llvm::zip_equal(entries.forwardSizes(parsed), functions)) forwards[batch] = function;
  training::StepBuilder(*module, forwards, parsed, model.name()).add(entries);
  return compileModule(*module, options, nullptr, packageTimer(options.threads)).package;
}
