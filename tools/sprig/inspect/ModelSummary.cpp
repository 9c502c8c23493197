// What is inside of a model, from its IR.
#include "dialects/NN/Attributes.h"
#include "lib/Import/ONNX/Outline.h"
#include "dialects/NN/PortNames.h"
#include "tools/sprig/compile/ImportModel.h"
#include "tools/sprig/inspect/ModelReport.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "lib/Import/ONNX/ImportONNX.h"
#include <algorithm>
#include <map>

using namespace mlir;

namespace sprig::cli {
namespace {

std::string escapeDot(llvm::StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

// The name that the model gives an operation, where its location has one.
std::string modelName(Location location) {
  if (auto named = dyn_cast<NameLoc>(location)) return named.getName().str();
  return "";
}

bool isComputation(Operation &op) {
  return !op.hasTrait<OpTrait::ConstantLike>() && !isa<ir::GetParamOp>(op) && !op.hasTrait<OpTrait::IsTerminator>();
}

// The element types that an operation reads and makes: "f32", "ui8 i8 -> i32".
std::string elementTypes(Operation &op) {
  auto list = [](TypeRange types) {
    llvm::SmallVector<std::string> names;
    for (Type type : types)
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        if (std::string name = ir::describe(tensor.getElementType()); !llvm::is_contained(names, name))
          names.push_back(std::move(name));
    return llvm::join(names, " ");
  };
  std::string operands = list(op.getOperandTypes()), results = list(op.getResultTypes());
  return operands.empty() || operands == results ? results : operands + " -> " + results;
}

} // namespace

ModelSummary summarizeModel(const Model &model, const EntryRequest &request, const Settings &settings) {
  ImportedModel imported(model, {request}, settings);
  ModuleOp module = imported.module();
  std::string entry = imported.entryNames().front();
  ModelSummary summary;
  for (auto param : module.getOps<ir::ParamOp>()) {
    RankedTensorType type = param.getTensorType();
    ParameterRow row{param.getSymName().str(), ir::describe(type), type.getNumElements(),
                     type.getNumElements() * storageBytes(type.getElementType())};
    summary.parameterElements += row.elements;
    summary.parameterBytes += row.bytes;
    summary.bytesByType[ir::describe(type.getElementType())] += row.bytes;
    summary.parameters.push_back(row);
  }
  std::map<std::string, OpRow> rows;
  if (auto function = module.lookupSymbol<func::FuncOp>(entry)) {
    for (auto [name, type] : llvm::zip_equal(ir::resultNames(function), function.getResultTypes()))
      summary.outputTypes[name] = ir::describe(type);
    function.walk([&](Operation *op) {
      if (auto constant = dyn_cast<ir::ConstantOp>(op)) {
        auto type = cast<RankedTensorType>(constant.getType());
        if (type.getNumElements() > 1 && !constant.getValue().isSplat())
          summary.bytesByType[ir::describe(type.getElementType())] +=
              type.getNumElements() * storageBytes(type.getElementType());
      }
      if (op == function || !isComputation(*op)) return;
      auto cost = dyn_cast<CostOpInterface>(op);
      OpRow &row = rows[op->getName().getStringRef().str()];
      ++row.count;
      row.types.insert(elementTypes(*op));
      ++summary.opCount;
      if (!cost) return;
      row.flops += cost.getFlops();
      row.bytes += cost.getBytes();
      summary.flops += cost.getFlops();
      summary.bytes += cost.getBytes();
    });
  }
  for (auto &[name, row] : rows) {
    summary.ops.push_back(row);
    summary.ops.back().op = name;
  }
  std::stable_sort(summary.ops.begin(), summary.ops.end(), [](auto &a, auto &b) { return a.flops > b.flops; });
  return summary;
}

ModelSummary outlineModel(const Model &model) {
  ONNXOutline outline = outlineONNX(parsedONNX(model));
  ModelSummary summary;
  summary.isOutline = true;
  for (auto &parameter : outline.parameters) {
    summary.parameterElements += parameter.elements;
    summary.parameterBytes += parameter.bytes;
    summary.parameters.push_back({parameter.name, parameter.type, parameter.elements, parameter.bytes});
  }
  for (auto &op : outline.operators) {
    summary.opCount += op.count;
    summary.ops.push_back({op.name, op.count, 0, 0, op.obstacle});
  }
  return summary;
}

std::string graphToDot(const Model &model, const EntryRequest &request, const Settings &settings) {
  ImportedModel imported(model, {request}, settings);
  ModuleOp module = imported.module();
  std::string entry = imported.entryNames().front();
  std::string dot = "digraph \"" + escapeDot(entry) +
                    "\" {\n  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];\n"
                    "  edge [fontname=\"sans-serif\", fontsize=9];\n";
  auto function = module.lookupSymbol<func::FuncOp>(entry);
  if (!function) return dot + "}\n";
  llvm::DenseMap<Value, std::string> names;
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    std::string node = "in" + std::to_string(i);
    auto name = function.getArgAttrOfType<StringAttr>(unsigned(i), ir::kNameAttr);
    dot += "  " + node + " [shape=ellipse, label=\"" + escapeDot(name ? name.getValue() : node) + "\"];\n";
    names[argument] = node;
  }
  int index = 0;
  for (Operation &op : function.getBody().front()) {
    bool isReturn = op.hasTrait<OpTrait::IsTerminator>();
    if (!isComputation(op) && !isReturn) continue;
    std::string node = isReturn ? "out" : "op" + std::to_string(index++);
    if (!isReturn) {
      std::string label = op.getName().stripDialect().str(), named = modelName(op.getLoc());
      dot += "  " + node + " [label=\"" + escapeDot(label) + (named.empty() ? "" : "\\n" + escapeDot(named)) + "\"];\n";
    } else {
      dot += "  out [shape=ellipse, label=\"outputs\"];\n";
    }
    // Parameters and constants are many; they show in the operation's edges only through its inputs.
    for (Value operand : op.getOperands())
      if (auto from = names.find(operand); from != names.end())
        dot += "  " + from->second + " -> " + node + " [label=\"" + ir::describe(operand.getType()) + "\"];\n";
    for (Value result : op.getResults()) names[result] = node;
  }
  return dot + "}\n";
}

std::vector<OperatorRow> listOperators() {
  std::map<std::pair<std::string, std::string>, OperatorRow> rows;
  for (const ONNXOperator &op : supportedONNXOperators()) {
    OperatorRow &row = rows[{op.domain, op.name}];
    row.domain = op.domain;
    row.name = op.name;
    row.sinceVersions.push_back(op.sinceVersion);
    row.types = op.types; // of the newest: versions ascend
  }
  std::vector<OperatorRow> list;
  for (auto &[key, row] : rows) list.push_back(std::move(row));
  return list;
}

} // namespace sprig::cli
