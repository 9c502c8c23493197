#include "tools/sprig/Operators.h"
#include "lib/Import/ONNX/ImportONNX.h"
#include <map>

namespace sprig::cli {

std::vector<OperatorRow> listOperators() {
  std::map<std::pair<std::string, std::string>, std::vector<int>> versions;
  for (const ONNXOperator &op : supportedONNXOperators()) versions[{op.domain, op.name}].push_back(op.sinceVersion);
  std::vector<OperatorRow> rows;
  for (auto &[key, since] : versions) rows.push_back({key.first, key.second, since});
  return rows;
}

} // namespace sprig::cli
