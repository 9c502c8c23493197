#include "lib/Machine/FairShares.h"
#include <algorithm>
#include <numeric>

namespace sprig::machine {
namespace {

using Flow = std::span<const uint32_t>;

// Flows that share resources, if only by way of others: rates of one group follow from it alone.
class Groups {
public:
  Groups(size_t resources, std::span<const Flow> flows) : parent(flows.size()), firstOf(resources, UINT32_MAX) {
    std::iota(parent.begin(), parent.end(), 0u);
    for (uint32_t flow = 0; flow < flows.size(); ++flow)
      for (uint32_t resource : flows[flow]) {
        uint32_t &first = firstOf[resource];
        if (first == UINT32_MAX)
          first = flow;
        else
          parent[rootOf(flow)] = rootOf(first);
      }
  }
  uint32_t rootOf(uint32_t flow) {
    while (parent[flow] != flow) flow = parent[flow] = parent[parent[flow]];
    return flow;
  }

private:
  std::vector<uint32_t> parent, firstOf;
};

// Of one group; `left` and `crossing` are of all resources, those of other groups stay as they are.
void fill(std::span<const Flow> flows, const std::vector<uint32_t> &members, std::vector<double> &left,
          std::vector<uint32_t> &crossing, std::vector<double> &rates) {
  std::vector<uint32_t> resources;
  for (uint32_t flow : members) resources.insert(resources.end(), flows[flow].begin(), flows[flow].end());
  std::sort(resources.begin(), resources.end());
  resources.erase(std::unique(resources.begin(), resources.end()), resources.end());
  std::vector<bool> settled(members.size(), false);
  for (size_t open = members.size(); open > 0;) {
    // The resource that is full first; of equal ones the first.
    uint32_t tightest = UINT32_MAX;
    for (uint32_t i : resources)
      if (crossing[i] > 0 && (tightest == UINT32_MAX || left[i] / crossing[i] < left[tightest] / crossing[tightest]))
        tightest = i;
    double share = left[tightest] / crossing[tightest];
    for (size_t i = 0; i < members.size(); ++i) {
      const Flow &flow = flows[members[i]];
      if (settled[i] || std::find(flow.begin(), flow.end(), tightest) == flow.end()) continue;
      settled[i] = true;
      --open;
      rates[members[i]] = share;
      for (uint32_t resource : flow) {
        left[resource] = left[resource] > share ? left[resource] - share : 0;
        --crossing[resource];
      }
    }
  }
}

} // namespace

std::vector<double> fairShares(std::span<const double> capacities, std::span<const Flow> flows) {
  std::vector<double> left(capacities.begin(), capacities.end()), rates(flows.size(), 0);
  std::vector<uint32_t> crossing(capacities.size(), 0);
  for (const Flow &flow : flows)
    for (uint32_t resource : flow) ++crossing[resource];
  Groups groups(capacities.size(), flows);
  std::vector<std::vector<uint32_t>> members(flows.size());
  for (uint32_t flow = 0; flow < flows.size(); ++flow) members[groups.rootOf(flow)].push_back(flow);
  for (const std::vector<uint32_t> &each : members)
    if (!each.empty()) fill(flows, each, left, crossing, rates);
  return rates;
}

} // namespace sprig::machine
