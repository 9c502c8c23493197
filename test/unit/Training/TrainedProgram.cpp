#include "test/unit/Training/TrainedProgram.h"
#include "test/unit/CodeCache.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNState.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Training/ReadTrainConfig.h"
#include "lib/Training/StateNames.h"
#include "lib/Training/StepBuilder.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "sprig/rt/sprig_rt.hpp"
#include <cstring>

namespace sprig::training {

using interp::Tensor;
using nlohmann::json;

mlir::MLIRContext &sharedContext() {
  static mlir::MLIRContext context(
      [] {
        mlir::DialectRegistry registry;
        registerSprigDialects(registry);
        return registry;
      }(),
      mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  return context;
}

static Tensor tensorOf(mlir::Type type, const json &values) {
  auto tensor = llvm::cast<mlir::RankedTensorType>(type);
  if (llvm::isa<mlir::FloatType>(tensor.getElementType()))
    return Tensor::ofFloats(tensor, values.get<std::vector<double>>());
  return Tensor::ofIntegers(tensor, values.get<std::vector<int64_t>>());
}

static std::vector<double> doublesOf(const Tensor &tensor) {
  auto elements = tensor.doubles();
  std::vector<double> values(tensor.count());
  for (int64_t i = 0; i < tensor.count(); ++i) values[i] = elements[i];
  return values;
}

TrainedProgram::TrainedProgram(mlir::MLIRContext &context, const json &reference, const std::string &element) {
  auto text = reference["network"].get<std::string>();
  for (size_t at = 0; (at = text.find("xf32", at)) != std::string::npos; ++at) text.replace(at, 4, "x" + element);
  program = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!program) badInput("the network is not valid");
  for (auto param : program->getOps<ir::ParamOp>()) {
    auto type = param.getTensorType();
    Tensor value = tensorOf(type, reference["parameters"][param.getSymName().str()]);
    param.setValueAttr(ir::makeConstant(type, value.bytes()));
    initial[param.getSymName().str()] = doublesOf(value);
  }
  TrainConfig config = parseTrainConfig(reference["config"].dump(), "config");
  int64_t samples = config.batch * config.accumulate;
  resolve(config, samples);
  auto network = *program->getOps<mlir::func::FuncOp>().begin();
  TrainingEntries entries;
  entries.steps = {samples};
  StepBuilder(*program, {{config.batch, network}}, config, "test").add(entries);
  auto step = *program->getOps<mlir::func::FuncOp>().begin();
  data.push_back(tensorOf(step.getArgumentTypes()[0], reference["x"]));
  data.push_back(tensorOf(step.getArgumentTypes()[1], reference["y"]));
}

Trajectory TrainedProgram::interpret(int steps) const {
  mlir::OwningOpRef<mlir::ModuleOp> copy(mlir::cast<mlir::ModuleOp>((*program)->clone()));
  mlir::PassManager passes(copy->getContext());
  passes.addNestedPass<mlir::func::FuncOp>(createDifferentiate());
  if (mlir::failed(passes.run(*copy))) badInput("has no gradient");
  auto step = *copy->getOps<mlir::func::FuncOp>().begin();
  llvm::StringMap<Tensor> state;
  interp::RunOptions options;
  options.state = &state;
  Trajectory result{{}, initial}; // of what no step sets, this stays
  for (int i = 0; i < steps; ++i) {
    auto outputs = interp::run(step, data, options);
    if (mlir::failed(outputs)) badInput("the interpreter fails");
    result.losses.push_back(doublesOf(outputs->front())[0]);
  }
  for (auto &[name, tensor] : state) result.state[name.str()] = doublesOf(tensor);
  return result;
}

Trajectory TrainedProgram::compileAndRun(int steps, CompileOptions options, int threads, std::string &bits,
                                         uint64_t *arena, int perCall) const {
  mlir::OwningOpRef<mlir::ModuleOp> copy(mlir::cast<mlir::ModuleOp>((*program)->clone()));
  if (perCall > 1) {
    mlir::Builder b(copy->getContext());
    auto step = *copy->getOps<mlir::func::FuncOp>().begin();
    step->setAttr(ir::kRepeatAttr, b.getI64IntegerAttr(perCall));
    step->setAttr(ir::kRepeatEntryAttr, b.getStringAttr(kStepsEntry));
  }
  options.freeze = false;
  options.math = MathMode::strict;
  options.threads = threads;
  options.cacheFolder = codeCache(); // most ways to compile a step have the same kernels
  rt::Package package = rt::Package::fromMemory(compileModule(*copy, options).package);
  rt::Pool pool(threads);
  rt::State state(package);
  rt::Context context(package, {&pool, &state, 0});
  uint32_t entry = package.findEntry(std::string(perCall > 1 ? kStepsEntry : kStepEntry));
  if (arena) *arena = package.entry(entry).arena_bytes;
  std::vector<std::vector<char>> bytes;
  std::vector<rt::TensorView> inputs;
  for (const Tensor &tensor : data) bytes.push_back(tensor.bytes());
  std::vector<float> losses(size_t(perCall), 0.0f);
  std::vector<rt::TensorView> outputs;
  for (float &loss : losses) {
    for (auto [i, tensor] : llvm::enumerate(data))
      inputs.emplace_back(bytes[i].data(),
                          !tensor.isFloat()              ? SPRIG_RT_I64
                          : tensor.elementType().isF32() ? SPRIG_RT_F32
                                                         : SPRIG_RT_F64,
                          tensor.shape().vec());
    outputs.emplace_back(&loss, SPRIG_RT_F32, std::vector<int64_t>());
  }
  Trajectory result;
  bits.clear();
  for (int i = 0; i < steps; i += perCall) {
    context.invoke(inputs, outputs, int32_t(entry));
    result.losses.insert(result.losses.end(), losses.begin(), losses.end());
    bits.append(reinterpret_cast<const char *>(losses.data()), losses.size() * sizeof(float));
  }
  for (uint32_t i = 0; i < package.info().state_count; ++i) {
    sprig_rt_tensor_info info;
    rt::check(sprig_rt_package_state(package.raw(), i, &info));
    auto held = state.bytes(i);
    bits += std::string(info.name) + std::string(held.begin(), held.end());
    std::vector<double> &values = result.state[info.name];
    for (size_t at = 0; at < held.size();) {
      auto read = [&](auto zero) {
        std::memcpy(&zero, held.data() + at, sizeof zero);
        at += sizeof zero;
        values.push_back(double(zero));
      };
      if (info.dtype == SPRIG_RT_F32)
        read(float());
      else if (info.dtype == SPRIG_RT_F64)
        read(double());
      else
        read(int64_t());
    }
  }
  return result;
}

} // namespace sprig::training
