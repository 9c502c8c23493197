#include "lib/Machine/Clusters.h"
#include "include/sprig/error.h"
#include "lib/Machine/Collectives.h"
#include "lib/Machine/TopologyPresets.h"
#include <algorithm>
#include <map>

namespace sprig::machine {
namespace {

constexpr size_t kMostInRing = 16; // nodes that a ring is looked for among
constexpr const char *kNetwork = "100gbe";

void alongRing(const Topology &topology, std::vector<uint32_t> &nodes) {
  if (nodes.size() > kMostInRing) return;
  std::vector<std::vector<int>> rings = disjointRings(topology, nodes, 1);
  if (rings.empty()) return;
  std::vector<uint32_t> ordered;
  for (int place : rings[0]) ordered.push_back(nodes[size_t(place)]);
  nodes = ordered;
}

bool computesAlike(const Node &a, const Node &b) {
  return a.rates == b.rates && a.flops == b.flops && a.bandwidth == b.bandwidth && a.launchNs == b.launchNs &&
         a.threads == b.threads;
}

bool joinsAlike(const TopologyLink &a, const TopologyLink &b) {
  return a.totalLatencyNs() == b.totalLatencyNs() && a.totalRate() == b.totalRate() &&
         a.totalBurst() == b.totalBurst() && a.handlingNs == b.handlingNs && a.handlingRate == b.handlingRate;
}

/// A network's links: between each device and the one switch, all alike; nothing where it is something else.
std::optional<TopologyLink> switchLink(const Topology &topology) {
  size_t switches = 0, devices = 0;
  for (const Node &node : topology.nodes) {
    switches += node.kind == NodeKind::crossbar;
    devices += node.kind == NodeKind::device;
  }
  if (switches != 1 || devices < 2 || devices + 1 != topology.nodes.size() || topology.links.size() != devices)
    return std::nullopt;
  const TopologyLink &first = topology.links.front();
  const Node *host = nullptr;
  for (const TopologyLink &link : topology.links) {
    bool isToSwitch =
        (topology.nodes[link.a].kind == NodeKind::crossbar) != (topology.nodes[link.b].kind == NodeKind::crossbar);
    if (!isToSwitch || link.halfDuplex || !joinsAlike(link, first)) return std::nullopt;
    const Node &device = topology.nodes[topology.nodes[link.a].kind == NodeKind::crossbar ? link.b : link.a];
    if (!host) host = &device;
    if (!computesAlike(*host, device)) return std::nullopt;
  }
  return first;
}

// Copies of a machine, each joined to one switch. Devices are numbered by their kind over all machines.
class Builder {
public:
  Builder(const Topology &machine, std::vector<uint32_t> ranks, uint32_t joined, TopologyLink uplink)
      : machine(machine), ranks(std::move(ranks)), joined(joined), uplink(uplink) {}

  Topology made;
  std::vector<uint32_t> nodes;
  uint32_t network = 0;

  void build(int machines) {
    made.name = machine.name;
    made.about = machine.about;
    made.inputs = machine.inputs;
    made.outputs = machine.outputs;
    for (int number = 0; number < machines; ++number) add(number);
    Node hub{"network"};
    hub.kind = NodeKind::crossbar;
    network = made.add(hub);
    for (int number = 0; number < machines; ++number) {
      TopologyLink link = uplink;
      link.a = uint32_t(number) * uint32_t(machine.nodes.size()) + joined;
      link.b = network;
      made.links.push_back(link);
    }
  }

private:
  void add(int number) {
    auto offset = uint32_t(made.nodes.size());
    for (Node node : machine.nodes) {
      std::string kind = node.name.substr(0, node.name.find(':'));
      if (node.kind == NodeKind::device)
        node.name = kind + ":" + std::to_string(counts[kind]++);
      else
        node.name += "." + std::to_string(number);
      made.add(std::move(node));
    }
    for (TopologyLink link : machine.links) {
      link.a += offset;
      link.b += offset;
      made.links.push_back(link);
    }
    for (uint32_t rank : ranks) nodes.push_back(offset + rank);
  }

  const Topology &machine;
  std::vector<uint32_t> ranks;
  uint32_t joined;
  TopologyLink uplink;
  std::map<std::string, int> counts;
};

Cluster manyOf(const Topology &machine, const std::vector<uint32_t> &ranks, uint32_t joined, TopologyLink uplink,
               int machines) {
  Builder all(machine, ranks, joined, uplink), one(machine, ranks, joined, uplink);
  all.build(machines);
  one.build(1);
  Cluster cluster{std::move(all.made), std::move(all.nodes), int(ranks.size())};
  cluster.one = {std::move(one.made), std::move(one.nodes), one.network};
  return cluster;
}

} // namespace

std::vector<uint32_t> nodesForRanks(const Topology &topology) {
  std::vector<uint32_t> cards, devices;
  for (uint32_t i = 0; i < topology.nodes.size(); ++i) {
    if (topology.nodes[i].kind != NodeKind::device) continue;
    devices.push_back(i);
    if (!topology.nodes[i].name.starts_with("cpu:")) cards.push_back(i);
  }
  return cards.size() > 1 ? cards : devices;
}

Cluster clusterOf(const Topology &topology, int ranks, const std::optional<Topology> &network) {
  std::vector<uint32_t> nodes = nodesForRanks(topology);
  int has = int(nodes.size());
  auto refuse = [&](const std::string &why) {
    unsupported(topology.name + " has " + std::to_string(has) + " devices for ranks, found " + std::to_string(ranks) +
                " ranks: " + why);
  };
  if (ranks <= has) {
    nodes.resize(size_t(ranks));
    alongRing(topology, nodes);
    return {topology, nodes, ranks};
  }
  if (auto link = switchLink(topology)) {
    Topology host;
    host.name = topology.name;
    host.inputs = host.outputs = int(host.add(topology.nodes[nodes[0]]));
    Cluster cluster = manyOf(host, {0}, 0, *link, ranks);
    cluster.rule = std::to_string(ranks) + " hosts on one switch";
    return cluster;
  }
  int host = topology.inputs;
  bool isBoard = has > 1 && host >= 0 && topology.nodes[size_t(host)].kind == NodeKind::device &&
                 std::find(nodes.begin(), nodes.end(), uint32_t(host)) == nodes.end();
  if (!isBoard) refuse("more of them there are of hosts on one switch, and of a host with several cards");
  if (ranks % has) refuse("more than one machine has are whole machines of " + std::to_string(has));
  Topology joins = network ? *network : *topologyPreset(kNetwork);
  auto link = switchLink(joins);
  if (!link)
    badUse("--network: " + joins.name + " is no network: expected hosts on one switch, as " + std::string(kNetwork));
  alongRing(topology, nodes);
  Cluster cluster = manyOf(topology, nodes, uint32_t(host), *link, ranks / has);
  cluster.rule = std::to_string(ranks / has) + " machines of " + std::to_string(has) +
                 ", their hosts on one switch as of " + joins.name;
  return cluster;
}

} // namespace sprig::machine
