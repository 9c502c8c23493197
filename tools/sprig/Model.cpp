#include "tools/sprig/Model.h"
#include "lib/Data/File.h"
#include "lib/Import/ONNX/ImportONNX.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "tools/sprig/ImportModel.h"
#include <algorithm>
#include <fstream>

namespace sprig::cli {
namespace {

std::vector<InputSpec> toSpecs(const std::vector<InterfaceValue> &values) {
  std::vector<InputSpec> specs;
  for (const InterfaceValue &value : values) {
    InputSpec spec{value.name, value.dtype, {}, value.hasShape};
    for (const InterfaceDim &dim : value.dims) spec.dims.push_back({dim.size, dim.symbol});
    specs.push_back(std::move(spec));
  }
  return specs;
}

InputSpec specOf(const std::string &name, mlir::Type type) {
  auto tensor = llvm::cast<mlir::RankedTensorType>(type);
  std::string element;
  llvm::raw_string_ostream(element) << tensor.getElementType();
  InputSpec spec{name, element, {}, true};
  for (int64_t size : tensor.getShape()) spec.dims.push_back({size, ""});
  return spec;
}

// Inputs or outputs of the first function of an MLIR module.
std::vector<InputSpec> specsOfText(const Model &model, bool inputs) {
  ImportedModel imported(model, {}, {});
  auto names = imported.entryNames();
  auto function = imported.module().lookupSymbol<mlir::func::FuncOp>(names.empty() ? "" : names.front());
  if (!function) throw Error(ErrorKind::badInput, model.path + ": has no public function");
  auto labels = inputs ? argumentNames(function) : resultNames(function);
  auto types = inputs ? function.getArgumentTypes() : function.getResultTypes();
  std::vector<InputSpec> specs;
  for (size_t i = 0; i < types.size(); ++i) {
    if (!llvm::isa<mlir::RankedTensorType>(types[i]))
      throw Error(ErrorKind::badInput,
                  model.path + ": function '" + names.front() + "' takes something other than ranked tensors");
    specs.push_back(specOf(labels[i], types[i]));
  }
  return specs;
}

// MLIR is text (or its bytecode); ONNX is a protobuf message, whose first bytes are field tags and lengths.
bool looksLikeMLIR(std::string_view bytes) {
  if (bytes.starts_with("ML\xefR")) return true;
  auto isText = [](unsigned char c) { return c >= 0x20 || c == '\n' || c == '\t' || c == '\r'; };
  return std::all_of(bytes.begin(), bytes.begin() + ptrdiff_t(std::min<size_t>(bytes.size(), 4096)), isText);
}

} // namespace

Model openModel(const std::string &path) {
  Model model;
  model.path = path;
  std::error_code error;
  if (path != "-" && std::filesystem::is_regular_file(path, error)) {
    char head[8] = {};
    std::ifstream(path, std::ios::binary).read(head, sizeof head);
    if (std::string_view(head, 8) == "SPRIGPKG") {
      model.kind = ModelKind::package; // mapped by the runtime, not read here
      return model;
    }
  }
  std::vector<char> bytes = data::readFile(path);
  if (bytes.empty()) throw Error(ErrorKind::badInput, path + ": the file is empty, expected a model");
  model.text.assign(bytes.begin(), bytes.end());
  if (path != "-" && !looksLikeMLIR(model.text)) return model;
  model.kind = ModelKind::mlir;
  if (model.text.starts_with("version https://git-lfs"))
    throw Error(ErrorKind::badInput,
                path + ": not a model but a Git LFS pointer to one: fetch the file with 'git lfs pull'");
  if (model.text.find("func") == std::string::npos)
    throw Error(ErrorKind::badInput,
                path + ": not a model: neither a package, nor ONNX, nor MLIR text with a function");
  return model;
}

std::vector<InputSpec> inputsOf(const Model &model) {
  if (model.kind == ModelKind::mlir) return specsOfText(model, /*inputs=*/true);
  return toSpecs(inspectONNX(model.text, model.path).inputs);
}

std::vector<InputSpec> outputsOf(const Model &model) {
  if (model.kind == ModelKind::mlir) return specsOfText(model, /*inputs=*/false);
  return toSpecs(inspectONNX(model.text, model.path).outputs);
}

std::string entryName(const std::vector<EntryRequest> &entries, size_t index) {
  if (entries.size() == 1) return "main";
  std::string name = "main";
  for (auto &[symbol, size] : entries[index].dims) name += "_" + symbol + std::to_string(size);
  return name;
}

Runner compileAndLoad(const Model &model, const std::vector<EntryRequest> &entries, const Settings &settings,
                      std::vector<PhaseTime> *phases) {
  RunnerOptions options{settings.laneCount(), settings.runtimeDevice()};
  if (model.kind == ModelKind::package) return Runner::load(model.path, options);
  Compiled compiled = compile(model, entries, settings, {"native"});
  if (phases) *phases = compiled.phases;
  return Runner::load(std::move(compiled.package), model.path, options);
}

} // namespace sprig::cli
