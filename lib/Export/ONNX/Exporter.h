// The walk over a recorded graph, node by node, and what every row of the table writes ONNX nodes with.
// For the files of this folder. With a symbolic batch two recordings are walked side by side: sizes that differ are
// multiples of the batch, everything else has to be the same.
#pragma once
#include "lib/Export/ONNX/GraphExport.h"
#include "onnx/onnx_pb.h"
#include <map>
#include <optional>
#include <set>

namespace sprig::onnxexport {

using graph::Attr;
using graph::Graph;
using graph::GraphNode;
using Ints = std::vector<int64_t>;

/// A size in both recordings.
struct Dim {
  int64_t first = 0, second = 0;
  bool isFixed() const { return first == second; }
  friend bool operator==(const Dim &, const Dim &) = default;
};
using Dims = std::vector<Dim>;
Dims fixed(const Ints &sizes);

/// A value of the model by its name; one without a name is an operand that is left out.
struct Ref {
  std::string name;
  DType dtype = DType::f32;
};
using Refs = std::vector<Ref>;

onnx::AttributeProto attr(const char *name, int64_t value);
onnx::AttributeProto attr(const char *name, const Ints &values);
onnx::AttributeProto attr(const char *name, const std::string &value);
onnx::AttributeProto attr(const char *name, onnx::GraphProto value);
onnx::AttributeProto realAttr(const char *name, double value);
onnx::AttributeProto realsAttr(const char *name, const std::vector<double> &values);
onnx::AttributeProto stringsAttr(const char *name, const std::vector<std::string> &values);
using Attributes = std::vector<onnx::AttributeProto>;

int32_t dataTypeOf(DType type);

/// A graph of the model: the main one, a branch or a body.
struct Body {
  onnx::GraphProto proto;
  std::map<std::string, Ref> constants; ///< by type and bytes
  std::set<std::string> declared;       ///< names whose type it has
};

/// A recorded graph that is being written, and what its values are called. A decomposed operation is a scope of its own
/// in the same body.
struct Scope {
  const Graph &first, &second;
  Body &body;
  Refs values;
};

class Exporter {
public:
  explicit Exporter(const GraphExport &what);
  std::string run();

  /// Writes all nodes of the scope.
  void nodes(Scope &scope);
  std::string unique(const std::string &base);
  void declare(Body &body, const Ref &value, const Dims &dims);
  void setType(onnx::ValueInfoProto &info, DType type, const Dims &dims) const;
  /// k where the size is k times the batch.
  std::optional<int64_t> multiple(const Dim &dim) const;
  /// The batch, of shape [1]; made in the main graph.
  Ref batch();

  const GraphExport &what;

private:
  void node(Scope &scope, size_t index);
  void inlined(Scope &scope, const GraphNode &node, const Graph &first, const Graph &second);
  void bindOutputs(Scope &scope);

  std::set<std::string> taken;
  std::map<std::string, int> counts;
  bool batchIsUsed = false;
  Ref batchValue;
};

/// One operation that is being written.
class Site {
public:
  Site(Exporter &exporter, Scope &scope, const GraphNode &node, const GraphNode &other)
      : exporter(exporter), scope(scope), node(node), other(other) {}

  /// "train.cpp:12: linear (layer 'encoder.0'): text", unsupported.
  [[noreturn]] void refuse(const std::string &text) const;
  int opset() const { return exporter.what.opset; }

  // Operands and results.
  size_t inputs() const { return node.operands.size(); }
  Ref in(size_t i) const { return scope.values[node.operands[i]]; }
  Refs all() const;
  const TensorType &type(size_t i) const { return scope.first.types[node.operands[i]]; }
  const TensorType &resultType(size_t i = 0) const { return scope.first.types[node.firstResult + i]; }
  Dims dims(size_t i) const { return dimsOf(node.operands[i], other.operands[i]); }
  Dims resultDims(size_t i = 0) const {
    return dimsOf(node.firstResult + uint32_t(i), other.firstResult + uint32_t(i));
  }
  int64_t rank(size_t i = 0) const { return type(i).shape.rank(); }
  /// Names a result; true, which a row ends with.
  bool out(const Ref &value, size_t i = 0);

  // Attributes of the recorded operation.
  bool flag(const char *name, bool otherwise = false) const;
  int64_t integer(const char *name, int64_t otherwise = 0) const;
  double real(const char *name, double otherwise = 0) const;
  Ints integers(const char *name) const;
  Ints otherIntegers(const char *name) const; ///< of the other recording
  std::string word(const char *name) const;   ///< "sum" of #nn<reduce_kind sum>
  std::vector<std::string> words(const char *name) const;
  std::vector<double> reals(const char *name) const;

  // Nodes of the model.
  /// Whether the opset has the operator and it takes the element type as its first operand, or a wider one that the
  /// operation can be computed in.
  bool can(const char *op, DType type) const;
  Ref emit(const char *op, const Refs &operands, Attributes attributes = {}, std::optional<DType> result = {});
  Refs emitAll(const char *op, const Refs &operands, Attributes attributes, const std::vector<DType> &results);
  Ref constant(const TensorType &type, const void *bytes);
  Ref ints(const Ints &values);         ///< i64, one dimension
  Ref integer64(int64_t value);         ///< i64, a scalar
  Ref scalar(double value, DType type); ///< a scalar
  Ref filled(double value, DType type, const Ints &shape);
  Ref shape(const Dims &dims); ///< i64, one dimension
  Ref reshape(const Ref &value, const Dims &to);
  Ref transpose(const Ref &value, const Ints &permutation);
  Ref expand(const Ref &value, const Dims &to);
  Ref cast(const Ref &value, DType type);
  Ref squeeze(const Ref &value, int64_t axis);
  Ref unsqueeze(const Ref &value, int64_t axis);
  /// A region as a graph. `inputs` name what its arguments are: own ones, or values of outside.
  void region(size_t index, Body &body, const Refs &inputs, Refs &outputs);
  Dims regionDims(size_t index, uint32_t value) const;
  void addInput(Body &body, const Ref &value, const Dims &dims) const;
  void addOutput(Body &body, const Ref &value, const Dims &dims);
  std::string name(const std::string &base) const;

  Exporter &exporter;
  Scope &scope;
  const GraphNode &node, &other;
  std::optional<Ref> bias; ///< of a convolution: what is added to its result

private:
  bool takes(const char *op, DType type) const;
  Refs emitWide(const char *op, Refs operands, Attributes attributes, std::vector<DType> results, DType type);
  Dims dimsOf(uint32_t first, uint32_t second) const;
};

/// Writes an operation; false where it has no form of its own in this opset, so that it is decomposed.
using Row = bool (*)(Site &);
class Table {
public:
  void add(const char *op, Row row) { rows.emplace(op, row); }
  Row find(const std::string &op) const {
    auto found = rows.find(op);
    return found == rows.end() ? nullptr : found->second;
  }
  static const Table &instance();

private:
  std::map<std::string, Row, std::less<>> rows;
};

/// The families of operations, each in the file of its name.
using AddRows = void(Table &table);
AddRows addElementwise, addContractions, addPools, addNorms, addQuantization, addReductions, addShapes, addGathers,
    addRecurrent, addControl, addRefusals;

} // namespace sprig::onnxexport
