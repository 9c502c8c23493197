// How flows that go over common links share them: max-min fair, by progressive filling (Bertsekas and Gallager, Data
// Networks, 1992). All grow alike until one of their links is full; those over it stay, the others grow on.
// For the simulator.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace sprig::machine {

/// Rates of flows, each over the resources that it names, each resource at most once. Every flow names at least one.
std::vector<double> fairShares(std::span<const double> capacities, std::span<const std::span<const uint32_t>> flows);

} // namespace sprig::machine
