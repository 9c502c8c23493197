#include "tools/sprig/compile/PlacementReport.h"
#include "lib/Data/Listed.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <iostream>

namespace sprig::cli {
namespace {

std::string time(double seconds) { return formatNanoseconds(seconds * 1e9); }

} // namespace

static std::string toText(const Placement &placement, bool withInputs) {
  std::string names;
  for (const std::string &device : placement.devices) names += (names.empty() ? "" : ", ") + device;
  std::string inputs;
  for (const std::string &type : placement.inputs) inputs += (inputs.empty() ? "" : ", ") + type;
  std::string text = "placement of '" + placement.entry + (withInputs ? "' for " + inputs + " on " : "' on ") + names +
                     ": " + time(placement.seconds) + " a call by the cost model, " + time(placement.secondsOnOne) +
                     " with all that is not pinned on " + placement.devices.front() + "; " +
                     std::to_string(placement.copies) + (placement.copies == 1 ? " copy of " : " copies of ") +
                     formatBytes(double(placement.copiedBytes)) + "\n";
  std::vector<std::string> header = {"layer", "operations", "device", "why", "own time"};
  for (const std::string &device : placement.devices) header.push_back("a call with it on " + device);
  Table table(header);
  for (const PlacementDecision &decision : placement.decisions) {
    std::vector<std::string> row = {decision.layer, data::listed(decision.operations, 3), decision.device,
                                    decision.pinned ? "pinned" : "cost", time(decision.seconds)};
    for (double seconds : decision.callSeconds) row.push_back(time(seconds));
    table.add(row);
  }
  text += table.text();
  text.pop_back(); // the last line ends where it is printed
  return text;
}

Json toJson(const std::vector<Placement> &placements) {
  Json list = Json::array();
  for (const Placement &placement : placements) {
    Json decisions = Json::array();
    for (const PlacementDecision &decision : placement.decisions) {
      Json weighed = Json::object();
      for (size_t i = 0; i < decision.callSeconds.size(); ++i)
        weighed[placement.devices[i]] = decision.callSeconds[i] * 1e6;
      decisions.push_back({{"layer", decision.layer},
                           {"operations", decision.operations},
                           {"device", decision.device},
                           {"pinned", decision.pinned},
                           {"own_us", decision.seconds * 1e6},
                           {"call_us_on", weighed}});
    }
    list.push_back({{"entry", placement.entry},
                    {"inputs", placement.inputs},
                    {"devices", placement.devices},
                    {"call_us", placement.seconds * 1e6},
                    {"call_us_on_one", placement.secondsOnOne * 1e6},
                    {"copies", placement.copies},
                    {"copied_bytes", placement.copiedBytes},
                    {"decisions", decisions}});
  }
  return list;
}

void say(const std::string &line) { std::cerr << line << '\n'; }

void explain(const std::vector<Placement> &placements, Json *document) {
  if (document) {
    (*document)["placement"] = toJson(placements);
    return;
  }
  if (placements.empty()) say("placement: there is one device, so all is on it");
  for (const Placement &placement : placements) {
    auto isNamesake = [&](const Placement &other) { return other.entry == placement.entry; };
    say(toText(placement, std::count_if(placements.begin(), placements.end(), isNamesake) > 1));
  }
}

} // namespace sprig::cli
