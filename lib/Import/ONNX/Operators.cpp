// The list of supported operators with their types, read off the table and ONNX's schemas.
#include "lib/Import/ONNX/ImportONNX.h"
#include "lib/Import/ONNX/SchemaTable.h"
#include "lib/Import/ONNX/Table.h"
#include "lib/Import/ONNX/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "onnx/defs/schema.h"

namespace sprig {

using namespace onnximport;

/// The element types that the schema allows and Sprig has, in the order of ONNX's numbers.
static std::vector<std::string> typesOf(mlir::MLIRContext &context, const onnx::OpSchema &schema) {
  const auto &formals = schema.inputs().empty() ? schema.outputs() : schema.inputs();
  std::vector<std::string> types;
  if (formals.empty()) return types;
  for (int dataType = 1; dataType <= onnx::TensorProto::DataType_MAX; ++dataType) {
    mlir::Type element = elementType(&context, dataType);
    if (!element) continue;
    std::string name = schemaTypeName(element);
    for (const auto &allowed : formals[0].GetTypes())
      if (*allowed == name) types.push_back(dataTypeName(dataType));
  }
  return types;
}

std::vector<ONNXOperator> supportedONNXOperators() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::vector<ONNXOperator> rows = table().rows();
  for (ONNXOperator &row : rows)
    if (const auto *schema = findSchema(row.name, row.sinceVersion, row.domain)) row.types = typesOf(context, *schema);
  // Operators without a row that are functions of others.
  for (const onnx::OpSchema &schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    bool isFunction = schema.HasFunction() || schema.HasContextDependentFunction();
    if (!isFunction || schema.Deprecated() || table().reasonAgainst(schema.Name()) ||
        table().find(schema.domain(), schema.Name(), schema.SinceVersion()))
      continue;
    rows.push_back({schema.domain(), schema.Name(), schema.SinceVersion(), true, typesOf(context, schema)});
  }
  auto key = [](const ONNXOperator &row) { return std::tie(row.domain, row.name, row.sinceVersion); };
  std::sort(rows.begin(), rows.end(), [&](const auto &a, const auto &b) { return key(a) < key(b); });
  return rows;
}

} // namespace sprig
