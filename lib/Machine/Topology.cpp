#include "lib/Machine/Topology.h"
#include "include/sprig/error.h"
#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

namespace sprig::machine {
namespace {

constexpr size_t kMostNodes = 4096, kMostLinks = 8192;
constexpr int kMostThreads = 1 << 16;

bool isName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ':' || c == '_' ||
           c == '.';
  });
}

// As --devices writes them.
bool isDeviceName(std::string_view name) {
  for (std::string_view kind : {"cpu:", "cuda:", "null:"})
    if (name.starts_with(kind)) {
      std::string_view number = name.substr(kind.size());
      return !number.empty() && number.size() <= 4 && (number.size() == 1 || number[0] != '0') &&
             std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
    }
  return false;
}

bool isTime(double ns) { return ns >= 0 && ns <= rt::kMostNanoseconds; }
bool isRate(Rate rate) { return rate.bytesPerSecond() >= 1 && rate.bytesPerSecond() <= rt::kMostPerSecond; }

std::string list(const Topology &topology, bool devicesOnly) {
  std::string text;
  for (const Node &node : topology.nodes)
    if (!devicesOnly || node.kind == NodeKind::device) text += (text.empty() ? "" : ", ") + node.name;
  return text.empty() ? "none" : text;
}

// Dijkstra over latencies, on links of at least this rate.
struct Reached {
  double latency = std::numeric_limits<double>::infinity();
  uint32_t hops = 0;
  Hop last = {0, false};
  bool done = false;
  bool before(const Reached &other) const {
    return latency < other.latency || (latency == other.latency && hops < other.hops);
  }
};

std::vector<Reached> reach(const Topology &topology, const std::vector<std::vector<uint32_t>> &linksOf, uint32_t from,
                           Rate least) {
  std::vector<Reached> reached(topology.nodes.size());
  reached[from].latency = 0;
  // Nodes in the order in which they are reached; of those reached alike the first.
  auto key = [&](uint32_t node) { return std::tuple(reached[node].latency, reached[node].hops, node); };
  std::set<std::tuple<double, uint32_t, uint32_t>> next = {key(from)};
  while (!next.empty()) {
    uint32_t at = std::get<2>(*next.begin());
    next.erase(next.begin());
    reached[at].done = true;
    const Node &node = topology.nodes[at];
    if (at != from && node.kind != NodeKind::crossbar && !node.forwards) continue;
    for (uint32_t i : linksOf[at]) {
      const TopologyLink &link = topology.links[i];
      if (link.totalRate() < least) continue;
      uint32_t other = link.a == at ? link.b : link.a;
      Reached over{reached[at].latency + link.totalLatencyNs(), reached[at].hops + 1, {i, link.a == at}, false};
      if (reached[other].done || !over.before(reached[other])) continue;
      next.erase(key(other));
      reached[other] = over;
      next.insert(key(other));
    }
  }
  return reached;
}

} // namespace

int Topology::find(std::string_view node) const {
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].name == node) return int(i);
  return -1;
}

std::string Topology::names() const { return list(*this, false); }
std::string Topology::devices() const { return list(*this, true); }

std::vector<Hop> Topology::route(uint32_t from, uint32_t to, double bytes) const {
  std::vector<Hop> best;
  if (from == to) return best;
  // Of each end, how many links it has and the last of them.
  struct End {
    uint32_t node, links = 0, link = 0, other = 0;
  } ends[] = {{from}, {to}};
  for (uint32_t i = 0; i < links.size(); ++i) {
    if (std::minmax(links[i].a, links[i].b) == std::minmax(from, to)) return {{i, links[i].a == from}};
    for (End &end : ends)
      if (links[i].a == end.node || links[i].b == end.node)
        end = {end.node, end.links + 1, i, links[i].a == end.node ? links[i].b : links[i].a};
  }
  // Two of one switch have no other way: thousands of them are asked for.
  if (ends[0].links == 1 && ends[1].links == 1 && ends[0].other == ends[1].other &&
      (nodes[ends[0].other].kind == NodeKind::crossbar || nodes[ends[0].other].forwards))
    return {{ends[0].link, links[ends[0].link].a == from}, {ends[1].link, links[ends[1].link].b == to}};
  double bestNs = std::numeric_limits<double>::infinity();
  // The slowest link of a way has one of these rates.
  std::set<Rate> rates;
  std::vector<std::vector<uint32_t>> linksOf(nodes.size());
  for (uint32_t i = 0; i < links.size(); ++i) {
    rates.insert(links[i].totalRate());
    linksOf[links[i].a].push_back(i);
    linksOf[links[i].b].push_back(i);
  }
  for (auto rate = rates.rbegin(); rate != rates.rend() && rate->nanoseconds(bytes) < bestNs; ++rate) {
    std::vector<Reached> reached = reach(*this, linksOf, from, *rate);
    double ns = reached[to].latency + rate->nanoseconds(bytes);
    if (!(ns < bestNs)) continue;
    bestNs = ns;
    best.clear();
    for (uint32_t at = to; at != from;) {
      Hop hop = reached[at].last;
      best.insert(best.begin(), hop);
      at = hop.forward ? links[hop.link].a : links[hop.link].b;
    }
  }
  return best;
}

double Topology::latencyNs(uint32_t from, uint32_t to, const std::vector<Hop> &way) const {
  double latency = 0;
  for (Hop hop : way) latency += links[hop.link].totalLatencyNs();
  for (uint32_t node : {from, to})
    if (nodes[node].kind == NodeKind::storage) latency += nodes[node].accessNs;
  return latency;
}

bool Topology::handlesMessages() const {
  return std::any_of(links.begin(), links.end(),
                     [](const TopologyLink &link) { return link.handlingNs > 0 || link.handlingRate > Rate(); });
}

double Topology::messageNs(uint32_t node, uint32_t other, double bytes) const {
  std::vector<Hop> way = route(node, other, bytes);
  if (way.empty()) return 0;
  const TopologyLink &link = links[way.front().link];
  return link.handlingNs + (link.handlingRate > Rate() ? link.handlingRate.nanoseconds(bytes) : 0);
}

double Topology::copyNs(uint32_t from, uint32_t to, double bytes) const {
  std::vector<Hop> way = route(from, to, bytes);
  Rate rate = Rate::ofBytes(rt::kMostPerSecond);
  for (Hop hop : way) rate = std::min(rate, links[hop.link].totalRate());
  if (nodes[from].kind == NodeKind::storage) rate = std::min(rate, nodes[from].bandwidth);
  if (nodes[to].kind == NodeKind::storage) rate = std::min(rate, nodes[to].write);
  return latencyNs(from, to, way) + rate.nanoseconds(bytes);
}

void checkNodes(const Topology &topology, const std::string &what) {
  auto refuse = [&](const std::string &place, const std::string &text) { badInput(what + ": " + place + text); };
  if (topology.nodes.size() > kMostNodes || topology.links.size() > kMostLinks)
    refuse("", "has " + std::to_string(topology.nodes.size()) + " nodes and " + std::to_string(topology.links.size()) +
                   " links, expected at most " + std::to_string(kMostNodes) + " and " + std::to_string(kMostLinks));
  std::set<std::string_view> seen;
  for (const Node &node : topology.nodes) {
    std::string place = "'" + node.name + "': ";
    if (!isName(node.name)) refuse(place, "is no name: expected 1 to 64 letters, digits, ':', '_' and '.'");
    if (node.kind == NodeKind::device && !isDeviceName(node.name))
      refuse(place, "is no device: expected cpu, cuda or null with a number, as cuda:0");
    if (!seen.insert(node.name).second) refuse(place, "is there twice");
    if (node.kind == NodeKind::device) {
      if (node.rates.empty() && (!(node.flops >= 1 && node.flops <= 1e21) || !isRate(node.bandwidth)))
        refuse(place, "expected rates, or flops and bandwidth");
      if (!isTime(node.launchNs)) refuse(place, "expected a launch of 0 or more");
      if (node.threads < 1 || node.threads > kMostThreads)
        refuse(place,
               "has " + std::to_string(node.threads) + " threads, expected 1 to " + std::to_string(kMostThreads));
    }
    if (node.kind == NodeKind::storage && (!isRate(node.bandwidth) || !isRate(node.write) || !isTime(node.accessNs) ||
                                           node.channels < 1 || node.channels > kMostThreads))
      refuse(place, "expected rates above 0 of reads and writes, a time of access and at least 1 channel");
  }
  if (topology.devices() == "none") refuse("", "has no devices");
}

void check(const Topology &topology, const std::string &what) {
  auto refuse = [&](const std::string &place, const std::string &text) { badInput(what + ": " + place + text); };
  checkNodes(topology, what);
  for (auto [field, node] : {std::pair("inputs: ", topology.inputs), {"outputs: ", topology.outputs}})
    if (node >= 0 && topology.nodes[size_t(node)].kind == NodeKind::crossbar)
      refuse(field, "'" + topology.nodes[size_t(node)].name + "' is a switch, expected a device or a storage");
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  for (const TopologyLink &link : topology.links) {
    if (link.a >= topology.nodes.size() || link.b >= topology.nodes.size()) refuse("", "a link leads to no node");
    std::string place = "link " + topology.nodes[link.a].name + "-" + topology.nodes[link.b].name + ": ";
    if (link.a == link.b) refuse(place, "leads back to where it begins");
    if (!pairs.insert(std::minmax(link.a, link.b)).second)
      refuse(place, "is there twice; several side by side are one link with \"count\"");
    if (!isTime(link.latencyNs) || !isTime(link.totalLatencyNs())) refuse(place, "expected a latency of 0 or more");
    if (!isRate(link.rate) || link.count < 1 || link.count > kMostThreads)
      refuse(place, "expected a rate above 0 and a count of at least 1");
    if (!(link.burstBytes >= 0 && link.burstBytes <= rt::kMostBytes))
      refuse(place, "expected a burst of 0 or more bytes");
    if (!isTime(link.handlingNs) || (link.handlingRate > Rate() && !isRate(link.handlingRate)))
      refuse(place, "expected a time of handling of 0 or more, and its rate above 0");
  }
}

void setLink(Topology &topology, const std::string &flag, const std::string &text) {
  auto refuse = [&](const std::string &why) { badUse(flag + " " + text + ": " + why); };
  rt::GivenLink given;
  if (std::string why = rt::parseGivenLink(text, given); !why.empty()) refuse(why);
  TopologyLink link;
  auto nodeOf = [&](const std::string &name) {
    int found = topology.find(name);
    if (found < 0) refuse("there is no '" + name + "' in this topology, only " + topology.names());
    return uint32_t(found);
  };
  link.a = nodeOf(given.a);
  link.b = nodeOf(given.b);
  link.latencyNs = given.rates.latencyNs;
  link.rate = given.rates.rate;
  link.halfDuplex = given.halfDuplex;
  link.meters = given.meters;
  auto isSame = [&](const TopologyLink &each) { return std::minmax(each.a, each.b) == std::minmax(link.a, link.b); };
  auto found = std::find_if(topology.links.begin(), topology.links.end(), isSame);
  if (found == topology.links.end())
    topology.links.push_back(link);
  else
    *found = link;
}

} // namespace sprig::machine
