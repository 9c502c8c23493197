#include "lib/Machine/PairLinks.h"
#include "include/sprig/error.h"
#include <algorithm>
#include <map>

namespace sprig::machine {
namespace {

std::string textOf(const LinkEnd &a, const LinkEnd &b, double latencyNs, Rate rate, bool isHalf) {
  return a.name + "-" + b.name + "=" + rt::writeNanoseconds(latencyNs) + "," + rt::writeRate(rate) +
         (isHalf ? ",half" : "");
}

// The slowest link of a way, of those of one kind; none: more than any.
Rate slowest(const Topology &topology, const std::vector<Hop> &way, bool isHalf) {
  Rate rate = Rate::ofBytes(rt::kMostPerSecond);
  for (Hop hop : way)
    if (topology.links[hop.link].halfDuplex == isHalf) rate = std::min(rate, topology.links[hop.link].totalRate());
  return rate;
}

bool isSame(const std::vector<Hop> &a, const std::vector<Hop> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](Hop x, Hop y) { return x.link == y.link && x.forward == y.forward; });
}

class Exact {
public:
  Exact(const Topology &topology, const std::string &what) : topology(topology), what(what) {}

  std::string link(const LinkEnd &a, const LinkEnd &b) {
    std::vector<Hop> way = wayFrom(a, b), back = wayFrom(b, a);
    std::reverse(back.begin(), back.end());
    for (Hop &hop : back) hop.forward = !hop.forward;
    if (!isSame(way, back)) refuse(a, b, "goes another way there than back");
    for (Hop hop : way)
      if (topology.links[hop.link].totalBurst() > 0)
        refuse(a, b, "lets a burst of bytes pass at once, which it does not in a run");
    take(way, a, b, true);
    take(way, a, b, false);
    // Both directions together never take more than what is not half duplex allows, or the other way about.
    Rate full = slowest(topology, way, false), half = slowest(topology, way, true);
    bool isHalf = half <= full;
    if (!isHalf && half < full * 2)
      refuse(
          a, b,
          "is half duplex in a part that is quicker than the rest, so that both directions together get more than one "
          "and less than two of its rate");
    return textOf(a, b, topology.latencyNs(a.node, b.node, way), isHalf ? half : full, isHalf);
  }

private:
  // The way of least latency, which has to be that of the highest rate: then it is the quickest of any size.
  std::vector<Hop> wayFrom(const LinkEnd &from, const LinkEnd &to) const {
    std::vector<Hop> way = topology.route(from.node, to.node, 0);
    if (way.empty())
      badInput(what + ": no way leads from " + topology.nodes[from.node].name + " to " + topology.nodes[to.node].name +
               "; expected links between them, through switches and nodes that forward");
    if (!isSame(way, topology.route(from.node, to.node, 1e18)))
      refuse(from, to, "goes another way for a few bytes than for many");
    return way;
  }

  // A direction of each link for one pair alone; of what is half duplex both.
  void take(const std::vector<Hop> &way, const LinkEnd &a, const LinkEnd &b, bool there) {
    for (Hop hop : way) {
      const TopologyLink &link = topology.links[hop.link];
      bool forward = link.halfDuplex || hop.forward == there;
      std::string pair = a.name + " and " + b.name;
      auto [found, isNew] = taken.try_emplace({hop.link, forward}, pair);
      if (!isNew && found->second != pair)
        refuse(a, b,
               "goes over " + topology.nodes[link.a].name + "-" + topology.nodes[link.b].name +
                   ", as the one between " + found->second + " does");
    }
  }

  [[noreturn]] void refuse(const LinkEnd &a, const LinkEnd &b, const std::string &why) const {
    unsupported(what + ": the way between " + a.name + " and " + b.name + " " + why +
                "; a run has a link of its own for each pair. 'sprig simulate' plays what is shared; --link " + a.name +
                "-" + b.name + "=LATENCY,RATE says what the two have here");
  }

  const Topology &topology;
  const std::string &what;
  std::map<std::pair<uint32_t, bool>, std::string> taken; // by link and direction
};

} // namespace

std::vector<std::string> exactLinks(const Topology &topology, std::span<const LinkEnd> ends, const GivenPairs &given,
                                    const std::string &what) {
  std::vector<std::string> links;
  Exact exact(topology, what);
  for (size_t i = 0; i < ends.size(); ++i)
    for (size_t j = i + 1; j < ends.size(); ++j)
      if (std::none_of(given.begin(), given.end(), [&](const auto &pair) {
            return std::minmax(pair.first, pair.second) == std::minmax(ends[i].name, ends[j].name);
          }))
        links.push_back(exact.link(ends[i], ends[j]));
  return links;
}

std::vector<std::string> linksAlone(const Topology &topology, std::span<const LinkEnd> ends) {
  constexpr double kBytes = 1e6;
  std::vector<std::string> links;
  for (size_t i = 0; i < ends.size(); ++i)
    for (size_t j = i + 1; j < ends.size(); ++j) {
      std::vector<Hop> way = topology.route(ends[i].node, ends[j].node, kBytes);
      if (way.empty()) continue;
      Rate full = slowest(topology, way, false), half = slowest(topology, way, true);
      links.push_back(textOf(ends[i], ends[j], topology.latencyNs(ends[i].node, ends[j].node, way),
                             std::min(full, half), half <= full));
    }
  return links;
}

} // namespace sprig::machine
