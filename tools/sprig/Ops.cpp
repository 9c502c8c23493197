// sprig ops: the operators that models may use.
#include "tools/sprig/Command.h"
#include "tools/sprig/Operators.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <iostream>
#include <memory>

namespace sprig::cli {

void addOps(CLI::App &app, Invocation &invocation) {
  auto common = std::make_shared<CommonOptions>();
  CLI::App *command = addCommand(app, "ops", "The ONNX operators that Sprig compiles",
                                 "  sprig ops\n  sprig ops --format json", *common);
  command->callback([=, &invocation] {
    invocation.run = [=] {
      std::vector<OperatorRow> rows = listOperators();
      if (common->json()) {
        Json list = Json::array();
        for (const OperatorRow &row : rows)
          list.push_back({{"domain", row.domain},
                          {"name", row.name},
                          {"since_versions", row.sinceVersions},
                          {"gradient", false},
                          {"devices", {"cpu"}}});
        std::cout << list.dump(2) << '\n';
        return kDone;
      }
      Table table({"operator", "since versions", "gradient", "devices"});
      for (const OperatorRow &row : rows) {
        std::string text;
        for (int version : row.sinceVersions) text += (text.empty() ? "" : ", ") + std::to_string(version);
        table.add({(row.domain.empty() ? "" : row.domain + ".") + row.name, text, "no", "cpu"});
      }
      table.print();
      inform("Operators that ONNX defines as functions of these, and a model's own functions, are inlined.");
      return kDone;
    };
  });
}

} // namespace sprig::cli
