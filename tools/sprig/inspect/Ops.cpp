// sprig ops: the operators that models may use.
#include "tools/sprig/Command.h"
#include "tools/sprig/inspect/ModelReport.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <iostream>
#include <memory>

namespace sprig::cli {

void addOps(CLI::App &app, Invocation &invocation) {
  auto common = std::make_shared<CommonOptions>();
  CLI::App *command = addCommand(app, "ops", "The ONNX operators that Sprig compiles",
                                 "  sprig ops\n  sprig ops --format json", *common);
  onRun(*command, invocation, [=] {
    std::vector<OperatorRow> rows = listOperators();
    if (common->json()) {
      Json list = Json::array();
      for (const OperatorRow &row : rows)
        list.push_back(
            {{"domain", row.domain}, {"name", row.name}, {"since_versions", row.sinceVersions}, {"types", row.types}});
      std::cout << toText(list) << '\n';
      return kDone;
    }
    Table table({"operator", "since versions", "types"});
    for (const OperatorRow &row : rows) {
      std::string text;
      for (int version : row.sinceVersions) text += (text.empty() ? "" : ", ") + std::to_string(version);
      std::string types;
      for (const std::string &type : row.types) types += (types.empty() ? "" : " ") + type;
      table.add({(row.domain.empty() ? "" : row.domain + ".") + row.name, text, types});
    }
    table.print();
    inform("Operators that ONNX defines as functions of these, and a model's own functions, are inlined.");
    return kDone;
  });
}

} // namespace sprig::cli
