// The ONNX operators that the importer takes. For `sprig ops`.
#pragma once
#include <string>
#include <vector>

namespace sprig::cli {

struct OperatorRow {
  std::string domain, name;
  std::vector<int> sinceVersions; ///< those with a row of their own in the importer's table
  std::vector<std::string> types; ///< element types of its first operand that Sprig has
};

/// Ordered by domain and name.
std::vector<OperatorRow> listOperators();

} // namespace sprig::cli
