#include "lib/Import/ONNX/ImportONNX.h"
#include "lib/Import/ONNX/Holding.h"
#include "lib/Import/ONNX/Importer.h"
#include "lib/Import/ONNX/Narrow.h"
#include "lib/Import/ONNX/Table.h"
#include "lib/Import/ONNX/Tensor.h"
#include "mlir/IR/Verifier.h"
#include <new>

using namespace mlir;

namespace sprig {

using namespace onnximport;

static InterfaceValue describeValue(const onnx::ValueInfoProto &info, bool isInput) {
  InterfaceValue value;
  value.name = info.name();
  const Holding holding = holdingOf(info.type());
  if (!holding.tensor) {
    value.dtype = "no tensor";
    value.hasShape = false;
    return value;
  }
  value.holder = holding.holder;
  const auto &type = *holding.tensor;
  // Narrow types are the bytes that hold them.
  const NarrowType *narrow = narrowType(type.elem_type());
  value.dtype = narrow ? narrow->isSigned ? "i8" : "ui8" : dataTypeName(type.elem_type());
  value.hasShape = type.has_shape();
  for (int i = 0; i < type.shape().dim_size(); ++i) {
    const auto &dim = type.shape().dim(i);
    InterfaceDim shown;
    bool isElement = data::isSequence(value.holder);
    shown.symbol = isInput && !isElement ? dimensionName(tensorOf(holding, info.name()), i) : dim.dim_param();
    if (dim.has_dim_value() && dim.dim_value() >= 0) shown.size = dim.dim_value();
    value.dims.push_back(std::move(shown));
  }
  return value;
}

template <typename Nodes> static bool draws(const Nodes &nodes) {
  return llvm::any_of(nodes, [](const onnx::NodeProto &node) {
    return table().draws(normalizeDomain(node.domain()), node) ||
           llvm::any_of(node.attribute(), [](const auto &attribute) { return draws(attribute.g().node()); });
  });
}

ModelInterface inspectONNX(const Model &model) {
  ModelInterface interface;
  interface.drawsRandomNumbers =
      draws(model.proto.graph().node()) ||
      llvm::any_of(model.proto.functions(), [](const auto &function) { return draws(function.node()); });
  const onnx::GraphProto &graph = model.proto.graph();
  std::set<std::string> initializers;
  for (const auto &tensor : graph.initializer()) initializers.insert(tensor.name());
  for (const auto &input : graph.input())
    if (!initializers.count(input.name())) interface.inputs.push_back(describeValue(input, /*isInput=*/true));
  for (const auto &output : graph.output()) interface.outputs.push_back(describeValue(output, /*isInput=*/false));
  return interface;
}

ParsedONNX parseONNX(std::string_view bytes, const std::string &fileName, const std::string &folder) {
  return share(parseModel(bytes, fileName, folder));
}

ModelInterface inspectONNX(const std::string &path) { return inspectONNX(*readModel(path)); }
ModelInterface inspectONNX(std::string_view bytes, const std::string &fileName) {
  return inspectONNX(parseModel(bytes, fileName, ""));
}

/// What does not fit may fit at other lengths of a range: the error says at which one it does not.
static void importAtLength(Importer &importer, const EntryAtLength &at, const ImportEntry &entry) {
  try {
    importer.importEntry(at);
  } catch (const Error &error) {
    if (entry.ranges.empty()) throw;
    const auto &[axis, range] = *entry.ranges.begin();
    throw Error(error.kind(), std::string(error.what()) + "\nThis is at '" + axis + "' of " +
                                  std::to_string(at.entry.dims.at(axis)) + ", of the range " +
                                  std::to_string(range.first) + ".." + std::to_string(range.last));
  }
}

OwningOpRef<ModuleOp> importONNX(MLIRContext &context, const Model &model, const ImportOptions &options) {
  context.loadDialect<ir::NNDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(FileLineColLoc::get(&context, model.file, 0, 0));
  try {
    Importer importer(model, *module, options.limits);
    importer.emitState().training = options.training;
    importer.setWarn(options.warn);
    int64_t group = 0;
    for (const ImportEntry &entry : options.entries) refuseRanges(model.proto.graph(), entry);
    for (const ImportEntry &entry : options.entries)
      for (const EntryAtLength &each : entriesAtLengths(entry, group)) importAtLength(importer, each, entry);
    importer.eraseUnusedParameters();
  } catch (const std::bad_alloc &) {
    runtimeError(model.file + ": out of memory while importing");
  }
  std::string text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    text += diagnostic.str() + "\n";
    return success();
  });
  if (failed(verify(*module))) internalError(model.file + ": the import made wrong IR (phase import): " + text);
  return module;
}

OwningOpRef<ModuleOp> importONNX(MLIRContext &context, const std::string &path, const ImportOptions &options) {
  return importONNX(context, *readModel(path), options);
}

OwningOpRef<ModuleOp> importONNX(MLIRContext &context, std::string_view bytes, const std::string &fileName,
                                 const std::string &folder, const ImportOptions &options) {
  return importONNX(context, *parseONNX(bytes, fileName, folder), options);
}

} // namespace sprig
