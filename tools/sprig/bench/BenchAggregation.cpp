// sprig bench aggregation: where gradients of several cards are added up, over machines: on the host, on one card, in
// parts on all of them, around.
#include "lib/Machine/AllReduceTime.h"
#include "lib/Machine/Clusters.h"
#include "lib/Machine/Collectives.h"
#include "lib/Machine/TopologyPresets.h"
#include "tools/sprig/bench/Experiment.h"
#include <algorithm>

namespace sprig::cli {
namespace {

using rt::collective::Algorithm;
using rt::collective::Kind;

constexpr int64_t kBytes = 187060000; // the parameters of AlexNet for one channel
constexpr const char *kMachines[] = {"pcie3", "pcie4", "pcie4-server", "2080ti", "v100-nvlink"};

double nsOfGather(const machine::Topology &topology, std::span<const uint32_t> nodes,
                  const std::vector<rt::collective::Program> &programs, int64_t bytes) {
  return machine::playCollective(topology, programs, nodes, bytes).ns;
}

} // namespace

void benchAggregation(const ExperimentOptions &options, ExperimentReport &report) {
  int64_t bytes = options.n ? options.n : kBytes;
  report.table("simulated", {"machine", "cards", "on the host ms", "on one card ms", "as a tree ms", "in parts ms",
                             "around ms", "slowest / fastest"});
  for (const char *name : kMachines) {
    machine::Topology topology = *machine::topologyPreset(name);
    machine::Cluster cluster = machine::clusterOf(topology, int(machine::nodesForRanks(topology).size()));
    std::vector<uint32_t> withHost = {uint32_t(topology.inputs)};
    withHost.insert(withHost.end(), cluster.nodes.begin(), cluster.nodes.end());
    auto by = [&](Algorithm algorithm) {
      return nsOfGather(topology, cluster.nodes, machine::programsOf({Kind::allReduce, algorithm, cluster.ranks()}),
                        bytes);
    };
    double host = nsOfGather(topology, withHost, machine::throughHelper(cluster.ranks()), bytes);
    double card = by(Algorithm::star), tree = by(Algorithm::tree), parts = by(Algorithm::split),
           around = by(Algorithm::ring);
    auto [least, most] = std::minmax({host, card, tree, parts, around});
    report.row({name, cluster.ranks(), host / 1e6, card / 1e6, tree / 1e6, parts / 1e6, around / 1e6, most / least});
    if (std::string(name) != "pcie3") continue;
    report.verdict("of four cards on PCIe parts and rings beat one card, and that the host",
                   formatDouble(std::max(parts, around) / 1e6, 3) + " < " + formatDouble(card / 1e6, 3) + " < " +
                       formatDouble(host / 1e6, 3) + " ms",
                   std::max(parts, around) < card && card < host);
    report.verdict("the place is worth a factor of three", formatDouble(most / least, 3), most >= 3 * least);
  }
  report.note(std::to_string(bytes) + " bytes of each card; 'around' is along links of its own where there are some");
}

} // namespace sprig::cli
