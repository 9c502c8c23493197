#include "test/gpu/driver/Report.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace sprig::cuda {

bool Report::add(const std::string &key, const std::string &text) {
  auto [it, isNew] = known.emplace(key, list.size());
  if (isNew)
    list.push_back({text});
  else
    ++list[it->second].times;
  return isNew;
}

void Report::print(const std::string &text) { std::fprintf(stderr, "stand-in: %s\n", text.c_str()); }

std::string Report::json() const {
  nlohmann::ordered_json json;
  json["counts"] = {{"launches", counts.launches},
                    {"graph launches", counts.graphLaunches},
                    {"graphs instantiated", counts.graphsInstantiated},
                    {"allocations", counts.allocations},
                    {"frees", counts.frees},
                    {"allocated bytes", counts.allocatedBytes},
                    {"host synchronisations", counts.hostSynchronisations},
                    {"copies", counts.copies},
                    {"copied bytes", counts.copiedBytes},
                    {"copies by way of the host", counts.copiesByHost},
                    {"fills", counts.fills},
                    {"host functions", counts.hostFunctions},
                    {"computed kernels", counts.computed},
                    {"virtual nanoseconds", counts.virtualNanoseconds}};
  json["kernels"] = counts.kernels;
  json["complaints"] = nlohmann::ordered_json::array();
  for (const Complaint &complaint : list)
    json["complaints"].push_back({{"text", complaint.text}, {"times", complaint.times}});
  json["dropped"] = dropped;
  return json.dump(2);
}

} // namespace sprig::cuda
