// sprig ops: the operators that models may use.
#include "lib/Import/ONNX/ImportONNX.h"
#include "tools/sprig/Command.h"
#include <iostream>
#include <map>
#include <memory>

namespace sprig::cli {

void addOps(CLI::App &app, Invocation &invocation) {
  auto common = std::make_shared<CommonOptions>();
  CLI::App *command = addCommand(app, "ops", "The ONNX operators that Sprig compiles",
                                 "  sprig ops\n  sprig ops --format json", *common);
  command->callback([=, &invocation] {
    invocation.run = [=] {
      // One row an operator: the versions that have a row of their own in the importer's table.
      std::map<std::pair<std::string, std::string>, std::vector<int>> versions;
      for (const ONNXOperator &op : supportedONNXOperators()) versions[{op.domain, op.name}].push_back(op.sinceVersion);
      if (common->json()) {
        Json list = Json::array();
        for (auto &[key, since] : versions)
          list.push_back({{"domain", key.first},
                          {"name", key.second},
                          {"since_versions", since},
                          {"gradient", false},
                          {"devices", {"cpu"}}});
        std::cout << list.dump(2) << '\n';
        return kDone;
      }
      Table table({"operator", "since versions", "gradient", "devices"});
      for (auto &[key, since] : versions) {
        std::string text;
        for (int version : since) text += (text.empty() ? "" : ", ") + std::to_string(version);
        table.add({(key.first.empty() ? "" : key.first + ".") + key.second, text, "no", "cpu"});
      }
      table.print();
      inform("Operators that ONNX defines as functions of these, and a model's own functions, are inlined.");
      return kDone;
    };
  });
}

} // namespace sprig::cli
