// Initializers of a model with the layers that read them, as an exporter named both.
// For the search for what exporters do to parameters (ExportFindings.h).
#pragma once
#include "lib/Import/ONNX/Model.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include <unordered_map>
#include <vector>

namespace sprig::onnximport {

/// What a layer takes an initializer for. A table is looked up in, as embeddings are.
enum class Role { weight, table, bias, scale, shift, mean, variance, slope, other };
const char *roleName(Role role);

/// A node with what its exporter says of it.
struct ExportNode {
  const onnx::NodeProto *proto = nullptr;
  std::string label;   ///< #3 'fc2' (Gemm)
  std::string module;  ///< the module that it comes from, "encoder.layers.0.norm1"; "" where nothing says
  std::string path;    ///< the same without the numbers of repeated calls
  std::string classes; ///< of the modules around it, as PyTorch's exporter writes them; "" otherwise
  /// "'fc2' (Gemm)": the module where it is known, else the label.
  std::string name() const;
};

/// One reading of an initializer by a layer.
struct Use {
  const ExportNode *node = nullptr;
  Role role = Role::other;
  bool isTransposed = false;
  std::string alias;  ///< what an Identity on the way calls it: the name it had before equal ones were merged
  std::string weight; ///< the weight of the same layer, for biases
};

struct Initializer {
  const onnx::TensorProto *tensor = nullptr;
  std::vector<Use> uses;
  std::string kind;                    ///< PARAMETER or BUFFER, where the exporter says
  std::vector<std::string> foldedFrom; ///< the values that an exporter computed it from, where it says
  int64_t count() const;
  /// At most one dimension is not 1.
  bool isVector() const;
};

class ExportGraph {
public:
  explicit ExportGraph(const Model &model);

  bool isPyTorch() const { return fromPyTorch; }
  /// From torch.export: nodes are called node_linear_1 and have metadata, unless it was taken out.
  bool isDynamo() const { return fromDynamo; }
  const std::vector<ExportNode> &nodes() const { return all; }
  /// Floats alone, in the file's order.
  const std::vector<std::pair<std::string, Initializer>> &initializers() const { return list; }
  const Initializer *find(const std::string &name) const;

  /// The elements, read when they are asked for.
  mlir::ElementsAttr value(const Initializer &initializer);
  bool isSplat(const Initializer &initializer);

private:
  void addNodes(const onnx::GraphProto &graph, const std::string &prefix);
  void addUses();
  void addUse(const ExportNode &node, int operand);
  void readMetadata(const onnx::GraphProto &graph);
  /// The initializer behind a value, through operations that only rename or reshape it.
  Initializer *behind(const std::string &value, std::string &name, std::string &alias, bool &isTransposed);
  std::string weightBehind(const std::string &value);
  Role roleInNorm(bool isFactor, const std::string &other);

  const Model &model;
  bool fromPyTorch = false, fromDynamo = false;
  std::vector<ExportNode> all;
  std::vector<std::pair<std::string, Initializer>> list;
  std::unordered_map<std::string, size_t> index;
  std::unordered_map<std::string, const onnx::NodeProto *> makers;
  mlir::MLIRContext context;
};

/// The quoted parts of a list as Python prints it: "['', 'enc', 'enc.0']".
std::vector<std::string> quotedParts(const std::string &text);

} // namespace sprig::onnximport
