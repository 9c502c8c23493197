// What a machine is made of: devices, storage and switches, and the links between them. Data, read from JSON
// (TopologyFile.h) or taken from a preset (TopologyPresets.h).
// For the simulator. Names are unique, links join nodes that are there and all figures are sound: `check` says so of a
// topology that was made otherwise.
#pragma once
#include "runtime/include/sprig/rt/links.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sprig::machine {

using rt::Rate;

enum class NodeKind {
  device,   ///< computes: "cpu:0", "cuda:1", "null:2"
  storage,  ///< holds arrays
  crossbar, ///< a switch: joins links, each at its full rate at once
};

struct Node {
  std::string name;
  NodeKind kind = NodeKind::device;

  /// Of a device: the instruction set whose machine model counts ("native": this machine's, measured if it was), or ""
  /// where the next three say what it does.
  std::string rates = {};
  double flops = 0;        ///< FLOP/s at most
  Rate bandwidth = {};     ///< of its memory; of storage, what reads get
  double launchNs = 0;     ///< until a dispatch begins
  int threads = 1;         ///< dispatches that take one of them run side by side; more than these share
  double memoryBytes = 0;  ///< 0: unknown
  bool hostMemory = false; ///< works on the memory that the caller's arrays lie in
  bool forwards = false;   ///< copies between others may go through it

  double accessNs = 0; ///< of storage: until the first byte of a place is there
  int channels = 1;    ///< places that it looks for at once
  Rate write = {};     ///< what writes get
};

struct TopologyLink {
  uint32_t a = 0, b = 0;   ///< nodes
  double latencyNs = 0;    ///< of what is at its ends
  Rate rate = {};          ///< in each direction, or of both together, of one of `count`
  int count = 1;           ///< links side by side, which a copy takes all of
  bool halfDuplex = false; ///< both directions share the rate
  double meters = 0;       ///< adds the time that the signal takes
  double metersPerSecond = kFiber;
  double burstBytes = 0;  ///< that pass at once, in each direction, once nothing has for as long as they take
  double handlingNs = 0;  ///< of the processor at each end, for a message between ranks,
  Rate handlingRate = {}; ///< and its bytes; 0: they cost it nothing

  static constexpr double kFiber = rt::kMetersPerSecond;
  double totalLatencyNs() const { return latencyNs + meters / metersPerSecond * 1e9; }
  Rate totalRate() const { return rate * count; }
  double totalBurst() const { return burstBytes * count; }
};

/// A link as a copy goes over it.
struct Hop {
  uint32_t link;
  bool forward; ///< from a to b
};

struct Topology {
  std::string name;
  std::string about; ///< one line for people
  std::vector<Node> nodes;
  std::vector<TopologyLink> links;
  /// Nodes that the caller's arrays come from and go to; -1: nowhere, they lie where the program has them.
  int inputs = -1, outputs = -1;

  /// -1: there is none.
  int find(std::string_view node) const;
  uint32_t add(Node node) {
    nodes.push_back(std::move(node));
    return uint32_t(nodes.size() - 1);
  }
  /// "cpu:0, cuda:0": the nodes of a kind, or all.
  std::string names() const;
  std::string devices() const;

  /// The link between the two, where there is one; else the way on which so many bytes arrive first, alone: the least
  /// sum of latencies and of the bytes over the slowest link. Of equal ones that of fewer links, then of links that
  /// come first. Empty where there is none.
  std::vector<Hop> route(uint32_t from, uint32_t to, double bytes) const;
  /// What a copy on that way costs whatever it carries: the links' latencies, and the access to storage at its ends.
  double latencyNs(uint32_t from, uint32_t to, const std::vector<Hop> &way) const;
  bool handlesMessages() const;
  /// What a message of so many bytes takes of the processor at `node`, to another node or from it: of the first link on
  /// the way.
  /// Nothing where no link says so (handlesMessages).
  double messageNs(uint32_t node, uint32_t other, double bytes) const;
  /// Of a copy that has its route for itself, behind another one: without bursts.
  double copyNs(uint32_t from, uint32_t to, double bytes) const;
};

/// Throws badInput that begins with `what` and says the place and both facts.
void check(const Topology &topology, const std::string &what);
/// Of the nodes alone, which links name.
void checkNodes(const Topology &topology, const std::string &what);

/// Adds a link, or replaces the one between the same nodes: "cpu:0-cpu:1=5us,1GB/s", and behind it if wanted ",half"
/// and a length ",10000km". Throws usage errors that begin with `flag`.
void setLink(Topology &topology, const std::string &flag, const std::string &text);

} // namespace sprig::machine
