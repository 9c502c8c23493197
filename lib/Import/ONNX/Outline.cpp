#include "lib/Import/ONNX/Outline.h"
#include "dialects/NN/NNState.h"
#include "lib/Import/ONNX/MicrosoftSchemas.h"
#include "lib/Import/ONNX/Model.h"
#include "lib/Import/ONNX/SchemaTable.h"
#include "lib/Import/ONNX/Table.h"
#include "lib/Import/ONNX/Tensor.h"
#include <set>

using namespace mlir;

namespace sprig {

using namespace onnximport;

namespace {

const onnx::FunctionProto *functionOf(const Model &model, const onnx::NodeProto &node) {
  for (const auto &candidate : model.proto.functions())
    if (candidate.name() == node.op_type() && candidate.overload() == node.overload() &&
        normalizeDomain(candidate.domain()) == normalizeDomain(node.domain()))
      return &candidate;
  return nullptr;
}

// What no choice of sizes helps against.
std::string obstacleOf(const std::string &domain, const std::string &op, int64_t opset) {
  if (!isKnownDomain(domain)) return "is of domain '" + domain + "', which Sprig does not know";
  if (table().find(domain, op, opset)) return "";
  if (const char *reason = table().reasonAgainst(op)) return reason;
  const onnx::OpSchema *schema = findSchema(op, int(opset), domain);
  if (schema && (schema->HasFunction() || schema->HasContextDependentFunction())) return "";
  return schema || domain == kMicrosoftDomain ? "is an operator that Sprig does not have"
                                              : "is not in opset " + std::to_string(opset);
}

class Outliner {
public:
  explicit Outliner(const Model &model) : model(model) {}

  void add(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
           const std::map<std::string, int64_t> &opsets) {
    for (const onnx::NodeProto &node : nodes) {
      for (const onnx::AttributeProto &attribute : node.attribute()) {
        if (attribute.has_g()) add(attribute.g().node(), opsets);
        for (const onnx::GraphProto &graph : attribute.graphs()) add(graph.node(), opsets);
      }
      if (const onnx::FunctionProto *function = functionOf(model, node)) {
        if (!functions.insert(function).second) continue;
        std::map<std::string, int64_t> own;
        for (const auto &opset : function->opset_import()) own[normalizeDomain(opset.domain())] = opset.version();
        add(function->node(), own);
        continue;
      }
      std::string domain = normalizeDomain(node.domain());
      auto opset = opsets.find(domain);
      auto [row, isNew] = rows.try_emplace((domain.empty() ? "" : domain + ".") + node.op_type());
      if (isNew) row->second.obstacle = obstacleOf(domain, node.op_type(), opset == opsets.end() ? 0 : opset->second);
      ++row->second.count;
    }
  }

  std::vector<ONNXOutline::Operator> operators() const {
    std::vector<ONNXOutline::Operator> list;
    for (auto &[name, row] : rows) list.push_back({name, row.count, row.obstacle});
    llvm::stable_sort(list, [](auto &a, auto &b) { return a.count > b.count; });
    return list;
  }

private:
  const Model &model;
  std::map<std::string, ONNXOutline::Operator> rows;
  std::set<const onnx::FunctionProto *> functions;
};

} // namespace

ONNXOutline outlineONNX(const Model &model) {
  ONNXOutline outline;
  Outliner outliner(model);
  outliner.add(model.proto.graph().node(), model.opsets);
  outline.operators = outliner.operators();
  MLIRContext context(MLIRContext::Threading::DISABLED);
  ImportLimits limits;
  for (const onnx::TensorProto &tensor : model.proto.graph().initializer()) {
    RankedTensorType type =
        readTensorType(&context, model, tensor, "initializer '" + tensor.name() + "'", limits.tensorBytes);
    outline.parameters.push_back({tensor.name(), ir::describe(type), type.getNumElements(),
                                  type.getNumElements() * storageBytes(type.getElementType())});
  }
  return outline;
}

} // namespace sprig
