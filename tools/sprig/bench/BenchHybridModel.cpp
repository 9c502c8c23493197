// sprig bench hybridize MODEL: the same three ways for any ONNX model or MLIR file, whose operations are recorded one
// by one as a program would.
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNState.h"
#include "lib/Frontend/Bridge/Import.h"
#include "lib/Frontend/Record.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/sprig/compile/ImportModel.h"
#include "tools/sprig/bench/Imperative.h"
#include <filesystem>

namespace sprig::cli {
namespace {

/// A function as a graph whose inputs are those of the function and then the values of its parameters.
struct RecordedModel {
  frontend::Graph graph;
  std::vector<Tensor> parameters;
};

Tensor valueOf(mlir::ElementsAttr attribute, const TensorType &type) {
  ir::ConstantView view(attribute);
  auto bytes = view.bytes();
  if (int64_t(bytes.size()) == type.bytes()) return Tensor::copyOf(bytes.data(), type);
  std::vector<char> whole;
  while (int64_t(whole.size()) < type.bytes()) whole.insert(whole.end(), bytes.begin(), bytes.end());
  return Tensor::copyOf(whole.data(), type);
}

RecordedModel record(mlir::func::FuncOp function, const std::string &path) {
  RecordedModel model;
  mlir::Block &body = function.getBody().front();
  frontend::bridge::GraphReader reader;
  reader.addInputs(body.getArguments());
  llvm::DenseSet<mlir::Operation *> others;
  for (mlir::Operation &op : body) {
    if (llvm::isa<ir::SetParamOp>(op)) unsupported(path + ": changes parameters; hybridize runs models that do not");
    auto read = llvm::dyn_cast<ir::GetParamOp>(op);
    if (!read) {
      others.insert(&op);
      continue;
    }
    auto parameter = mlir::SymbolTable::lookupNearestSymbolFrom<ir::ParamOp>(read, read.getParamAttr());
    reader.addInputs(read.getResult());
    model.parameters.push_back(valueOf(parameter.getValue(), frontend::bridge::fromType(parameter.getTensorType())));
  }
  reader.addOperations(body, &others);
  model.graph = reader.finish(body.getTerminator()->getOperands());
  return model;
}

} // namespace

void benchHybridModel(const ExperimentOptions &options, ExperimentReport &report) {
  Model model = openModel(options.of);
  if (model.kind == ModelKind::package)
    badUse(options.of + ": is a package, whose operations are gone; give the model");
  std::vector<InputSpec> specs = inputsOf(model);
  EntryRequest entry;
  for (const InputSpec &spec : specs)
    for (const Dim &dim : spec.dims)
      if (!dim.size) entry.dims[dim.symbol] = 1;
  ImportedModel imported(model, {entry}, options.settings);
  std::vector<std::string> names = imported.entryNames();
  auto function = imported.module().lookupSymbol<mlir::func::FuncOp>(names.empty() ? "" : names.front());
  if (!function) badInput(options.of + ": has no public function");
  RecordedModel recorded = record(function, options.of);

  std::map<std::string, data::Array> arrays;
  fillRandom(specs, 1, entry.dims, arrays);
  std::vector<Tensor> inputs;
  for (const std::string &name : ir::argumentNames(function)) {
    const data::Array &array = arrays.at(name);
    inputs.push_back(Tensor::copyOf(array.bytes.data(), {DType(array.dtype), array.shape}));
  }
  if (inputs.empty()) unsupported(options.of + ": takes no input");
  std::vector<Tensor> all = inputs;
  all.insert(all.end(), recorded.parameters.begin(), recorded.parameters.end());
  auto run = [&](const Tensor &first) {
    std::vector<Tensor> given = all;
    given[0] = first;
    return frontend::replay(recorded.graph, given, {}).at(0);
  };
  ThreeWays times = timeThreeWays(run, inputs[0], options.runs ? options.runs : 20, 7);
  addThreeWays(std::filesystem::path(options.of).filename().string(), times, kMayTakeLonger, report);
  for (const auto &[symbol, size] : entry.dims) report.note("dimension '" + symbol + "' is " + std::to_string(size));
}

} // namespace sprig::cli
