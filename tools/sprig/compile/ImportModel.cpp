#include "tools/sprig/compile/ImportModel.h"
#include "dialects/NN/NNDialect.h"
#include "lib/Import/ONNX/ImportONNX.h"
#include "lib/Model/StatePorts.h"
#include "lib/Pipeline/Phases.h"
#include "tools/sprig/Report.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace sprig::cli {

RankedTensorType tensorType(MLIRContext &context, const data::Array &array) {
  Builder builder(&context);
  Type element;
  switch (array.dtype) {
  case data::DType::f64: element = builder.getF64Type(); break;
  case data::DType::f32: element = builder.getF32Type(); break;
  case data::DType::f16: element = builder.getF16Type(); break;
  case data::DType::bf16: element = builder.getBF16Type(); break;
  case data::DType::i1: element = builder.getI1Type(); break;
  default: {
    bool isUnsigned = data::name(array.dtype).starts_with('u');
    element = IntegerType::get(&context, unsigned(data::size(array.dtype) * 8),
                               isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  }
  }
  return RankedTensorType::get(array.shape, element);
}

static DenseElementsAttr toAttribute(MLIRContext &context, const data::Array &array) {
  RankedTensorType type = tensorType(context, array);
  if (array.dtype == data::DType::i1) {
    llvm::SmallVector<bool> values(array.bytes.begin(), array.bytes.end());
    return DenseElementsAttr::get(type, llvm::ArrayRef<bool>(values));
  }
  return DenseElementsAttr::getFromRawBuffer(type, array.bytes);
}

ModelSource sourceOf(const Model &model) {
  return {model.text, model.path == "-" ? "<stdin>" : model.path, folderOfModel(model.path), model.kind};
}

const onnximport::Model &parsedONNX(const Model &model) {
  if (!model.parsed) model.parsed = parseONNX(sourceOf(model));
  return *model.parsed;
}

ImportedModel::ImportedModel(const Model &model, const std::vector<EntryRequest> &entries, const Settings &settings,
                             bool training)
    : owner(std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED)) {
  DialectRegistry registry;
  registerSprigDialects(registry);
  owner->appendDialectRegistry(registry);
  if (model.kind == ModelKind::onnx) {
    ImportOptions options;
    options.training = training;
    options.warn = warn;
    options.entries.clear();
    for (size_t i = 0; i < entries.size(); ++i) {
      ImportEntry entry;
      entry.name = entryName(entries, i);
      entry.dims = entries[i].dims;
      entry.ranges = entries[i].ranges;
      entry.sums = settings.dimSums();
      entry.shapes = entries[i].shapes;
      entry.fixed = settings.inputValues();
      for (auto &[name, array] : entries[i].values) entry.values.emplace(name, toAttribute(*owner, array));
      options.entries.push_back(std::move(entry));
    }
    moduleRef = importEntries(*owner, parsedONNX(model), options);
    model.parsed = nullptr; // constants keep what they lie in; a command may run on for long beside its model
  } else {
    if (!settings.values.empty()) refuseOfText(model.path, "--value is");
    moduleRef = readProgram(*owner, sourceOf(model), settings.compileFrom);
  }
  markStates(*moduleRef, settings.statePorts(), settings.compileFrom);
}

std::vector<std::string> ImportedModel::entryNames() const {
  std::vector<std::string> names;
  for (auto function : moduleRef.get().getOps<func::FuncOp>())
    if (!function.isPrivate()) names.push_back(function.getSymName().str());
  return names;
}

} // namespace sprig::cli
