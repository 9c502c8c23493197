// The table of operators: a row per operator and since-version.
// Each family of operators adds its rows in its own file; adding an operator is one row.
#pragma once
#include "lib/Import/ONNX/Node.h"
#include <initializer_list>
#include <tuple>

namespace sprig::onnximport {

using ImportFunction = void (*)(Node &);

class Table {
public:
  /// Adds a row per version. A second row for the same operator and version is a mistake of the program: it throws.
  void add(const char *op, std::initializer_list<int> sinceVersions, ImportFunction import, const char *domain = "");
  /// Says of which nodes of an operator results are a generator's, so that nobody compares their values with others'.
  /// A row that draws without it throws (RandomWords).
  void draws(const char *op, bool (*when)(const onnx::NodeProto &) = [](const onnx::NodeProto &) { return true; });
  /// States why an operator is not supported.
  void refuse(std::initializer_list<const char *> ops, const char *reason);

  /// The newest row that is not above the opset, or null.
  ImportFunction find(const std::string &domain, const std::string &op, int64_t opset) const;
  const char *reasonAgainst(const std::string &op) const;
  bool draws(const std::string &domain, const onnx::NodeProto &node) const;
  std::vector<ONNXOperator> rows() const;

private:
  std::map<std::tuple<std::string, std::string>, std::map<int, ImportFunction>> entries;
  std::map<std::string, bool (*)(const onnx::NodeProto &)> drawing;
  std::map<std::string, const char *> reasons;
};

const Table &table();

/// Families, each in the file of its name.
using AddRows = void(Table &);
AddRows addElementwise, addActivations, addLogic, addCasts, addContractions, addConvolutions, addDeformedConvolution,
    addPooling, addNormalization, addRandom, addReductions, addShapes, addSlicing, addGathering, addConstants,
    addSoftmax, addResizing, addSampling, addQuantization, addRecurrent, addControlFlow, addSequences, addSignal,
    addEinsum, addTraining, addSets, addSuppression, addMachineLearning, addMicrosoftFused, addMicrosoftAttention,
    addMicrosoftLanguage, addMicrosoftQuantized, addRefusals;

// Rows that are one operation of nn on one operand or on two, which broadcast by the rules of the node's opset.

std::pair<Value, Value> binaryOperands(Node &n);
template <typename OpT> void unary(Node &n) { n.out(n.op<OpT>({n.in(0)})); }
template <typename OpT> void binary(Node &n) {
  auto [a, b] = binaryOperands(n);
  n.out(n.op<OpT>({a, b}));
}

} // namespace sprig::onnximport
