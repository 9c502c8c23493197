#include "lib/Import/ONNX/Table.h"
#include <stdexcept>

namespace sprig::onnximport {

void Table::add(const char *op, std::initializer_list<int> sinceVersions, ImportFunction import, const char *domain) {
  auto &versions = entries[{domain, op}];
  for (int version : sinceVersions)
    if (!versions.emplace(version, import).second)
      throw std::logic_error(std::string("two rows for ") + op + " since " + std::to_string(version));
}

void Table::draws(const char *op, bool (*when)(const onnx::NodeProto &)) { drawing[op] = when; }

bool Table::draws(const std::string &domain, const onnx::NodeProto &node) const {
  auto found = drawing.find(node.op_type());
  return domain.empty() && found != drawing.end() && found->second(node);
}

void Table::refuse(std::initializer_list<const char *> ops, const char *reason) {
  for (const char *op : ops)
    if (!reasons.emplace(op, reason).second) throw std::logic_error(std::string("two reasons against ") + op);
}

ImportFunction Table::find(const std::string &domain, const std::string &op, int64_t opset) const {
  auto versions = entries.find({domain, op});
  if (versions == entries.end()) return nullptr;
  ImportFunction newest = nullptr;
  for (const auto &[version, import] : versions->second)
    if (version <= opset) newest = import;
  return newest;
}

const char *Table::reasonAgainst(const std::string &op) const {
  auto found = reasons.find(op);
  return found == reasons.end() ? nullptr : found->second;
}

std::vector<ONNXOperator> Table::rows() const {
  std::vector<ONNXOperator> rows;
  for (const auto &[key, versions] : entries)
    for (const auto &entry : versions) rows.push_back({std::get<0>(key), std::get<1>(key), entry.first, false, {}});
  return rows;
}

const Table &table() {
  static const Table instance = [] {
    Table table;
    auto addAll = [&](auto &...families) { (families(table), ...); };
    addAll(addElementwise, addActivations, addLogic, addCasts, addContractions, addConvolutions, addDeformedConvolution,
           addPooling, addNormalization, addRandom, addReductions, addShapes, addSlicing, addGathering, addConstants,
           addSoftmax, addResizing, addSampling, addQuantization, addRecurrent, addControlFlow, addSequences, addSignal,
           addEinsum, addTraining, addSets, addSuppression, addMachineLearning, addMicrosoftFused,
           addMicrosoftAttention, addMicrosoftLanguage, addMicrosoftQuantized, addRefusals);
    return table;
  }();
  return instance;
}

} // namespace sprig::onnximport
