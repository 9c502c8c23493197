// check --bisect: names the first operation whose compiled result is not the interpreter's.
#include "lib/Interpreter/Bisect.h"
#include "dialects/NN/NNDialect.h"
#include "lib/Pipeline/Diagnostics.h"
#include "lib/Pipeline/Pipeline.h"
#include "tools/sprig/compile/ImportModel.h"
#include "tools/sprig/run/InterpreterInputs.h"
#include "tools/sprig/run/Interpret.h"
#include "tools/sprig/Report.h"
#include <sstream>

using namespace mlir;

namespace sprig::cli {
namespace {

// Compiles a module for this machine and runs its only entry.
class CompileAndRun {
public:
  CompileAndRun(const Settings &settings) : settings(settings) {}

  llvm::SmallVector<interp::Tensor> operator()(ModuleOp module, llvm::StringRef entry,
                                               llvm::ArrayRef<interp::Tensor> inputs) const {
    // The phases turn the function into a program: its types are read off before.
    llvm::SmallVector<Type> types(module.lookupSymbol<func::FuncOp>(entry).getResultTypes());
    CompileOptions options;
    if (!settings.cpus.empty()) options.architectures = settings.cpus;
    options.threads = settings.laneCount();
    options.optimization = settings.level;
    options.fuse = settings.level > 0;
    options.math = settings.math == "strict" ? MathMode::strict : MathMode::fast;
    std::vector<uint8_t> package = compileModule(module, options, inform).package;
    RunnerOptions running;
    running.threads = settings.threads;
    Runner runner = Runner::load(std::move(package), "the bisected program", running);
    std::map<std::string, data::Array> arrays;
    for (auto [spec, tensor] : llvm::zip_equal(runner.inputs(0), inputs)) {
      data::Array array;
      array.name = spec.name;
      array.dtype = spec.dtype;
      array.shape = spec.shape;
      array.bytes = tensor.bytes();
      arrays.emplace(spec.name, std::move(array));
    }
    llvm::SmallVector<interp::Tensor> results;
    for (auto [type, array] : llvm::zip_equal(types, runner.run(arrays)))
      results.push_back(interp::Tensor::ofBytes(cast<RankedTensorType>(type), array.bytes));
    return results;
  }

private:
  const Settings &settings;
};

data::DType floatTypeOf(Type element) {
  if (element.isF64()) return data::DType::f64;
  if (element.isF16()) return data::DType::f16;
  return element.isBF16() ? data::DType::bf16 : data::DType::f32;
}

std::string inWords(const interp::BisectReport &report) {
  std::ostringstream text;
  if (!report.operation) {
    text << "compiled code agrees with the interpreter on all " << report.operations
         << " operations: look at the import, or at the stored data";
    return text.str();
  }
  auto type = cast<RankedTensorType>(report.operation->getResult(report.result).getType());
  std::string place = describeLocation(report.operation->getLoc());
  text << "first difference: " << place << (place.empty() ? "" : " ") << "("
       << report.operation->getName().getStringRef().str() << ") -> " << ir::describe(type) << ": largest error "
       << report.difference.error << " at [";
  for (auto [d, at] : llvm::enumerate(interp::coordinates(report.difference.index, type.getShape())))
    text << (d ? ", " : "") << at;
  text << "]: compiled " << report.difference.got << ", interpreter " << report.difference.want;
  if (report.onlyWhenFused)
    text << "; only in one kernel with the operations before it (--O0 keeps them apart)";
  else
    text << " (operation " << report.operations << " in order)";
  return text.str();
}

} // namespace

std::string bisectModel(const Model &model, const BoundInputs &inputs, const Settings &settings,
                        const Judgement &judgement) {
  ImportedModel imported(model, {inputs.entry}, settings);
  std::string entry = imported.entryNames().front();
  auto function = imported.module().lookupSymbol<func::FuncOp>(entry);
  llvm::SmallVector<interp::Tensor> tensors = inputTensors(function, inputs);
  DiagnosticText diagnostics(&imported.context());
  interp::BisectOptions options;
  options.tolerance = [&](Type element) -> interp::Tolerance {
    Tolerance tolerance = judgement.toleranceOf(floatTypeOf(element));
    return {tolerance.rtol, tolerance.atol};
  };
  CompileAndRun compile(settings);
  auto report = interp::bisect(imported.module(), entry, tensors, compile, options);
  if (failed(report)) diagnostics.raise(ErrorKind::badInput, model.path + ": the interpreter failed");
  return inWords(*report);
}

} // namespace sprig::cli
