#include "lib/Import/ONNX/ExportTraces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace sprig::onnximport {

namespace {

/// TorchScript's exporter calls what it computed onnx::Conv_12, older ones 12; parameters keep their names.
bool isComputedName(StringRef name) {
  StringRef number = name.rsplit('_').second;
  if (name.starts_with("onnx::")) return !number.empty() && llvm::all_of(number, llvm::isDigit);
  return !name.empty() && llvm::all_of(name, llvm::isDigit);
}

bool isProduct(StringRef op) { return op == "Conv" || op == "ConvTranspose" || op == "Gemm" || op == "MatMul"; }

/// The parameters among what a value was computed from: modules' names have dots.
std::vector<std::string> parametersAmong(const std::vector<std::string> &names) {
  std::vector<std::string> found;
  for (const std::string &name : names)
    if (StringRef(name).contains('.')) found.push_back(inQuotes(name));
  return found;
}

/// A transposition leaves its source alone in the list; what computes has intermediate values, too.
bool isArithmetic(const std::vector<std::string> &sources) {
  return llvm::any_of(sources, [](const std::string &name) {
    return !StringRef(name).contains('.') && !StringRef(name).starts_with("val_") &&
           !StringRef(name).contains("slice") && !StringRef(name).contains("transpose") &&
           !StringRef(name).contains("permute") && !StringRef(name).contains("view") &&
           !StringRef(name).contains("reshape") && name != "t";
  });
}

std::string operandName(const onnx::NodeProto &node, int operand) {
  return operand < node.input_size() ? node.input(operand) : "";
}

} // namespace

bool hasFoldedNorm(const ExportGraph &graph, const ExportNode &node) {
  const onnx::NodeProto &proto = *node.proto;
  if (!graph.isPyTorch() || !isProduct(proto.op_type())) return false;
  if (StringRef(node.classes).contains_insensitive("batchnorm")) return true;
  // Without metadata: the product took over the name of the norm's result, the first of several.
  StringRef name = proto.name();
  bool isRewritten = name.consume_front("node_" + proto.op_type() + "_") && llvm::all_of(name, llvm::isDigit);
  if (graph.isDynamo())
    return isRewritten && proto.output_size() == 1 && StringRef(proto.output(0)).starts_with("getitem");
  bool isConvolution = proto.op_type() == "Conv" || proto.op_type() == "ConvTranspose";
  return isConvolution && isComputedName(operandName(proto, 1)) && isComputedName(operandName(proto, 2));
}

void findFolded(const ExportGraph &graph, std::vector<ExportFinding> &findings) {
  std::vector<std::string> folded, weights;
  for (const ExportNode &node : graph.nodes()) {
    if (!hasFoldedNorm(graph, node)) continue;
    std::string weight = operandName(*node.proto, 1);
    folded.push_back(inQuotes(weight) + " of " + node.name());
    weights.push_back(weight);
  }
  if (!folded.empty())
    findings.push_back({"folded", false,
                        "batch norms are folded into " + std::to_string(folded.size()) +
                            (folded.size() == 1 ? " weight: " : " weights: ") + listed(folded) +
                            "; the products are trained without them",
                        weights});
  for (auto &[name, initializer] : graph.initializers()) {
    if (llvm::is_contained(weights, name)) continue;
    for (const Use &use : initializer.uses) {
      StringRef op = use.node->proto->op_type();
      bool isConvolution = op == "Conv" || op == "ConvTranspose";
      bool isComputed = !graph.isDynamo() && graph.isPyTorch() && use.role == Role::weight && isComputedName(name) &&
                        (isConvolution || op == "Gemm");
      std::vector<std::string> sources = parametersAmong(initializer.foldedFrom);
      bool isTold = use.role != Role::other && !sources.empty() && isArithmetic(initializer.foldedFrom);
      if (!isComputed && !isTold) continue;
      findings.push_back({"folded",
                          false,
                          "initializer " + inQuotes(name) + ", the " + roleName(use.role) + " of " + use.node->name() +
                              ", was computed " + (sources.empty() ? std::string() : "from " + listed(sources) + " ") +
                              "when the model was exported (a batch norm, a weight norm or another parametrization); "
                              "what it was computed from is not trained",
                          {name}});
      break;
    }
  }
}

} // namespace sprig::onnximport
