#include "lib/Model/ReadModel.h"
#include "dialects/NN/Attributes.h"
#include "lib/Pipeline/ReadText.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace sprig;

ParsedONNX sprig::parseONNX(const ModelSource &model) { return parseONNX(model.content, model.name, model.folder); }

OwningOpRef<ModuleOp> sprig::importEntries(MLIRContext &context, const onnximport::Model &model,
                                           const ImportOptions &options) {
  OwningOpRef<ModuleOp> module = importONNX(context, model, options);
  for (auto function : module->getOps<func::FuncOp>())
    function->setAttr(ir::kEntryAttr, StringAttr::get(&context, "main"));
  return module;
}

OwningOpRef<ModuleOp> sprig::readProgram(MLIRContext &context, const ModelSource &model,
                                         const std::string &compileFrom) {
  return readText(context, model.content, model.name, compileFrom);
}

void sprig::refuseOfText(const std::string &name, const std::string &what) {
  badUse(name + ": is MLIR text, whose inputs and their shapes are fixed; " + what + " for ONNX models");
}
