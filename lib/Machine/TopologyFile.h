// Topologies as JSON; docs/simulator.md has the format by example. What is written reads back the same.
// For `sprig simulate --topology FILE.json`, and for fuzzers.
#pragma once
#include "lib/Machine/Topology.h"

namespace sprig::machine {

/// Throws badInput: "FILE: links[2].latency: found 5, expected a time with its unit, as 5us (ns, us, ms, s)".
Topology topologyFromText(std::string_view text, const std::string &file);
std::string topologyToText(const Topology &topology);

} // namespace sprig::machine
