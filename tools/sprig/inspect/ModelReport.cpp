#include "tools/sprig/inspect/ModelReport.h"
#include "runtime/base/Decimal.h"
#include <nlohmann/json.hpp>

namespace sprig::cli {

Json toJson(const ModelSummary &summary) {
  Json parameters = Json::array(), ops = Json::array();
  for (auto &row : summary.parameters)
    parameters.push_back({{"name", row.name}, {"type", row.type}, {"elements", row.elements}, {"bytes", row.bytes}});
  for (auto &row : summary.ops) {
    Json op = {{"op", row.op}, {"count", row.count}};
    if (!summary.isOutline) op.update({{"flops", row.flops}, {"bytes", row.bytes}, {"types", row.types}});
    if (!row.obstacle.empty()) op["obstacle"] = row.obstacle;
    ops.push_back(op);
  }
  Json json = {{"parameter_count", summary.parameterElements},
               {"parameter_bytes", summary.parameterBytes},
               {"op_count", summary.opCount}};
  if (!summary.isOutline)
    json.update({{"flops", summary.flops}, {"bytes", summary.bytes}, {"bytes_by_type", summary.bytesByType}});
  json.update({{"parameters", parameters}, {"ops", ops}});
  return json;
}

void printParameters(const ModelSummary &summary) {
  Table table({"parameter", "type", "elements", "MB"});
  auto megabytes = [](int64_t bytes) { return decimal::fixed(double(bytes) / 1e6, 3); };
  for (auto &row : summary.parameters)
    table.add({row.name, row.type, std::to_string(row.elements), megabytes(row.bytes)});
  table.add({"total", "", std::to_string(summary.parameterElements), megabytes(summary.parameterBytes)});
  table.print();
}

static void printOperators(const ModelSummary &summary) {
  Table table({"operator", "count"});
  for (auto &row : summary.ops) table.add({row.op, std::to_string(row.count)});
  table.add({"total", std::to_string(summary.opCount)});
  table.print();
}

void printOps(const ModelSummary &summary) {
  if (summary.isOutline) return printOperators(summary);
  Table table({"op", "count", "flop", "bytes", "types"});
  for (auto &row : summary.ops) {
    std::string types;
    for (const std::string &each : row.types) types += (types.empty() ? "" : ", ") + each;
    table.add(
        {row.op, std::to_string(row.count), formatCount(double(row.flops), ""), formatBytes(double(row.bytes)), types});
  }
  table.add({"total", std::to_string(summary.opCount), formatCount(double(summary.flops), ""),
             formatBytes(double(summary.bytes)), ""});
  table.print();
}

} // namespace sprig::cli
