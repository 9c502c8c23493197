#include "lib/Machine/FairShares.h"

namespace sprig::machine {

std::vector<double> fairShares(std::span<const double> capacities, std::span<const std::span<const uint32_t>> flows) {
  std::vector<double> left(capacities.begin(), capacities.end()), rates(flows.size(), 0);
  std::vector<uint32_t> crossing(capacities.size(), 0);
  for (auto &flow : flows)
    for (uint32_t resource : flow) ++crossing[resource];
  std::vector<bool> settled(flows.size(), false);
  for (size_t open = flows.size(); open > 0;) {
    // The resource that is full first; of equal ones the first.
    size_t tightest = capacities.size();
    for (size_t i = 0; i < capacities.size(); ++i)
      if (crossing[i] > 0 &&
          (tightest == capacities.size() || left[i] / crossing[i] < left[tightest] / crossing[tightest]))
        tightest = i;
    double share = left[tightest] / crossing[tightest];
    for (size_t i = 0; i < flows.size(); ++i) {
      bool crosses = false;
      for (uint32_t resource : flows[i]) crosses |= resource == tightest;
      if (settled[i] || !crosses) continue;
      settled[i] = true;
      --open;
      rates[i] = share;
      for (uint32_t resource : flows[i]) {
        left[resource] = left[resource] > share ? left[resource] - share : 0;
        --crossing[resource];
      }
    }
  }
  return rates;
}

} // namespace sprig::machine
