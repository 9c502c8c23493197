// Topologies that others wrote: what is refused blames the file, what is taken reads back the same after it is written,
// and copies on it take a time that is a number.
#include "lib/Machine/Simulator.h"
#include "lib/Machine/TopologyFile.h"
#include "test/fuzz/TextMutator.h"
#include <algorithm>
#include <cmath>

using namespace sprig;
using namespace sprig::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto file = chars(data, size);
  machine::Topology topology;
  if (!accepts([&] { topology = machine::topologyFromText({file.data(), file.size()}, "topology.json"); })) return 0;
  std::string text = machine::topologyToText(topology);
  machine::Topology again;
  require(accepts([&] { again = machine::topologyFromText(text, "again.json"); }), "what is written is read: " + text);
  require(machine::topologyToText(again) == text, "a topology that is written reads back the same");
  // A copy from each of a few nodes to the next one, all at once.
  machine::SimulatedProgram program;
  auto count = uint32_t(std::min<size_t>(topology.nodes.size(), 8));
  for (uint32_t from = 0; from < count; ++from) {
    uint32_t to = (from + 1) % count;
    if (from == to || topology.route(from, to, 1e6).empty()) continue;
    double ns = topology.copyNs(from, to, 1e6);
    require(std::isfinite(ns) && ns >= 0, "a copy takes a time");
    machine::SimulatedCommand copy;
    copy.kind = machine::SimulatedCommand::Kind::copy;
    copy.bytes = 1e6;
    copy.from = from;
    copy.to = to;
    program.lanes.push_back({from, {copy, copy}});
  }
  machine::Simulation played = machine::simulate(topology, program);
  require(std::isfinite(played.ns) && played.ns >= 0, "a program takes a time");
  require(played.exposedCopyNs == played.copyNs, "copies alone have no computation beside them");
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  static const std::string_view words[] = {"{",     "}",      "[",       "]",       ",",        ":",       "\"",
                                           "null",  "true",   "-1",      "1e400",   "cpu:0",    "cuda:1",  "devices",
                                           "links", "rate",   "latency", "5us",     "1e-9GB/s", "8Gbit/s", "1e30GB/s",
                                           "half",  "native", "inputs",  "10000km", "forwards", "storage", "switches"};
  return mutateAsText(data, size, maxSize, seed, words);
}
