// An ONNX model that is rewritten: its main graph with who makes and who reads each value, and its constants.
// For quantisation. Nodes are known by their index; after nodes were added, removed or renamed, `index` looks again.
// Throws sprig::Error that names the file and both facts.
#pragma once
#include "onnx/onnx_pb.h"
#include "sprig/error.h"
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sprig::quantize {

using Nodes = std::vector<onnx::NodeProto>;

/// A constant of f32, row-major.
struct Floats {
  std::vector<int64_t> shape;
  std::vector<float> values;
};

class Graph {
public:
  /// A model file's bytes. Weights in files of their own, in `folder`, are taken in.
  Graph(std::string_view bytes, const std::string &file, const std::string &folder);

  onnx::GraphProto &graph() { return *model.mutable_graph(); }
  const onnx::GraphProto &graph() const { return model.graph(); }
  int nodes() const { return graph().node_size(); }
  const onnx::NodeProto &node(int i) const { return graph().node(i); }
  onnx::NodeProto &node(int i) { return *graph().mutable_node(i); }

  /// The node that makes a value, or -1: an input or a constant.
  int maker(const std::string &value) const;
  /// Nodes of the main graph that read a value, once for each operand.
  const std::vector<int> &readers(const std::string &value) const;
  /// Whether more than nodes of the main graph read it: it is an output, or graphs of branches and loops do.
  bool isKept(const std::string &value) const { return kept.count(value) != 0; }
  /// The only reader, or -1 where there are others or it is kept.
  int onlyReader(const std::string &value) const;
  bool isInput(const std::string &value) const { return inputs.count(value) != 0; }

  const onnx::TensorProto *constant(const std::string &value) const;
  /// A constant of f32; nothing where it is none.
  std::optional<Floats> floats(const std::string &value) const;
  /// A constant of i64 or i32 as numbers; nothing where it is none.
  std::optional<std::vector<int64_t>> integers(const std::string &value) const;

  /// Adds a constant; gives its name, which is `name` or one like it that is free.
  std::string add(const std::string &name, const Floats &value);
  std::string add(const std::string &name, int dataType, const std::vector<int64_t> &shape, const void *bytes,
                  size_t size);
  std::string addIntegers(const std::string &name, const std::vector<int64_t> &values);
  /// A name that no value of the model has.
  std::string unique(const std::string &name);

  /// Puts these in place of the nodes.
  void replaceNodes(Nodes nodes);
  /// Every operand `from` of nodes of the main graph becomes `to`.
  void redirect(const std::string &from, const std::string &to);
  /// Drops what nothing reads: nodes and constants.
  void prune();
  void index();

  std::string serialize() const;
  int opset(const std::string &domain = "") const;
  void setOpset(int version, const std::string &domain = "");
  [[noreturn]] void fail(ErrorKind kind, const std::string &text) const { throw Error(kind, file + ": " + text); }
  /// As errors and reports call a node: its name, else the name of what it makes.
  std::string label(int i) const;

  onnx::ModelProto model;
  std::string file;
  uint64_t bytes = 0; ///< of the model that was read, with all of its weights

private:
  std::unordered_map<std::string, int> makers;
  std::unordered_map<std::string, std::vector<int>> uses;
  std::unordered_map<std::string, int> constants;
  std::set<std::string> kept, inputs, names;
};

/// Whether `op` of the default domain.
bool is(const onnx::NodeProto &node, std::string_view op);
int64_t integer(const onnx::NodeProto &node, std::string_view name, int64_t otherwise);
float real(const onnx::NodeProto &node, std::string_view name, float otherwise);
const onnx::AttributeProto *attribute(const onnx::NodeProto &node, std::string_view name);
void setInteger(onnx::NodeProto &node, const std::string &name, int64_t value);
void setIntegers(onnx::NodeProto &node, const std::string &name, const std::vector<int64_t> &values);
void eraseAttribute(onnx::NodeProto &node, std::string_view name);
onnx::NodeProto makeNode(const std::string &op, const std::string &name, const std::vector<std::string> &operands,
                         const std::string &result, const std::string &domain = "");

} // namespace sprig::quantize
