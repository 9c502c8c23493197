#include "tools/sprig/inspect/Operators.h"
#include "lib/Import/ONNX/ImportONNX.h"
#include <map>

namespace sprig::cli {

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
