#include "lib/Machine/TopologyPresets.h"
#include "include/sprig/error.h"
#include "lib/Machine/MachineModel.h"
#include "runtime/machine/ThreadShares.h"
#include <algorithm>

namespace sprig::machine {
namespace {

constexpr double kUs = 1e3, kMs = 1e6;
constexpr double kGB = 1e9;
Rate gigabytes(double count) { return Rate::ofBytes(count * 1e9); }
Rate gigabits(double count) { return Rate::ofBits(count * 1e9); }

constexpr int kServerThreads = 16;
// What a command costs the runtime beside its kernel (docs/runtime.md).
constexpr double kCommandNs = 3;

Node processor(int number, bool isHost) {
  Node node{"cpu:" + std::to_string(number)};
  node.rates = "x86-64-v4";
  node.threads = kServerThreads;
  node.launchNs = kCommandNs;
  node.hostMemory = isHost;
  node.forwards = true;
  return node;
}

struct Card {
  double teraflops, gigabytesPerSecond, memoryGB;
};
constexpr Card kV100 = {15.7, 900, 16}, kRtx2080Ti = {13.4, 616, 11}, kA100 = {19.5, 1555, 40};

Node gpu(int number, Card card) {
  Node node{"cuda:" + std::to_string(number)};
  node.flops = card.teraflops * 1e12;
  node.bandwidth = gigabytes(card.gigabytesPerSecond);
  node.memoryBytes = card.memoryGB * kGB;
  node.launchNs = 5 * kUs;
  return node;
}

Node crossbar(const std::string &name) {
  Node node{name};
  node.kind = NodeKind::crossbar;
  return node;
}

// A host, which the caller's arrays lie on.
Topology withHost(const char *name, const char *about) {
  Topology made;
  made.name = name;
  made.about = about;
  made.inputs = made.outputs = int(made.add(processor(0, true)));
  return made;
}

void addCards(Topology &made, int count, Card card, double latencyNs, Rate rate) {
  for (int i = 0; i < count; ++i) made.links.push_back({0, made.add(gpu(i, card)), latencyNs, rate});
}

Topology pcie3() {
  Topology made = withHost("pcie3", "4 cards, each with 16 lanes of PCIe 3 to the host");
  addCards(made, 4, kV100, 5 * kUs, gigabytes(16));
  return made;
}

Topology pcie4() {
  Topology made = withHost("pcie4", "4 cards, each with 16 lanes of PCIe 4 to the host");
  addCards(made, 4, kA100, 5 * kUs, gigabytes(32));
  return made;
}

// Cards of one switch talk through it, all at once; to the host they share its lanes.
Topology pcie4Server() {
  Topology made =
      withHost("pcie4-server", "8 cards behind 2 switches, 16 lanes of PCIe 4 from each card and each switch");
  for (int half = 0; half < 2; ++half) {
    uint32_t plx = made.add(crossbar("pcie:" + std::to_string(half)));
    made.links.push_back({0, plx, 2.5 * kUs, gigabytes(32)});
    for (int i = 0; i < 4; ++i)
      made.links.push_back({plx, made.add(gpu(4 * half + i, kA100)), 2.5 * kUs, gigabytes(32)});
  }
  return made;
}

// The hybrid cube mesh: 6 links from each card, to 4 others, two of them double.
Topology v100NVLink() {
  Topology made = withHost("v100-nvlink", "8 V100 with 6 NVLinks each (a hybrid cube mesh), two by two on PCIe 3");
  constexpr struct {
    int a, b, count;
  } kPairs[] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2},
                {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
  uint32_t cards[8];
  for (int i = 0; i < 8; ++i) {
    if (i % 2 == 0)
      made.links.push_back({0, made.add(crossbar("pcie:" + std::to_string(i / 2))), 2.5 * kUs, gigabytes(16)});
    uint32_t plx = uint32_t(made.nodes.size() - (i % 2 ? 2 : 1));
    cards[i] = made.add(gpu(i, kV100));
    made.links.push_back({plx, cards[i], 2.5 * kUs, gigabytes(16)});
  }
  for (auto pair : kPairs) made.links.push_back({cards[pair.a], cards[pair.b], 1.5 * kUs, gigabits(300), pair.count});
  return made;
}

Topology rtx2080Ti() {
  Topology made = withHost("2080ti", "2 RTX 2080 Ti with 1 NVLink between them, on PCIe 3");
  addCards(made, 2, kRtx2080Ti, 5 * kUs, gigabytes(16));
  made.links.push_back({1, 2, 1.5 * kUs, gigabits(100)});
  return made;
}

// Four hosts on one switch.
Topology ethernet(const char *name, const char *about, double gigabit, double latencyNs) {
  Topology made = withHost(name, about);
  uint32_t hub = made.add(crossbar("ethernet"));
  made.links.push_back({0, hub, latencyNs / 2, gigabits(gigabit)});
  for (int i = 1; i < 4; ++i)
    made.links.push_back({hub, made.add(processor(i, false)), latencyNs / 2, gigabits(gigabit)});
  return made;
}
Topology ethernet1() { return ethernet("1gbe", "4 hosts with 1 Gbit/s Ethernet on one switch", 1, 50 * kUs); }
Topology ethernet10() { return ethernet("10gbe", "4 hosts with 10 Gbit/s Ethernet on one switch", 10, 20 * kUs); }
Topology ethernet25() { return ethernet("25gbe", "4 hosts with 25 Gbit/s Ethernet on one switch", 25, 10 * kUs); }
Topology ethernet100() { return ethernet("100gbe", "4 hosts with 100 Gbit/s Ethernet on one switch", 100, 10 * kUs); }

Topology farAway() {
  Topology made = withHost("10000km", "2 hosts with 10 Gbit/s over 10000 km of fibre");
  made.links.push_back({0, made.add(processor(1, false)), 0, gigabits(10), 1, false, 1e7});
  return made;
}

Topology storage(const char *name, const char *about, double accessNs, int channels, Rate read, Rate write) {
  Topology made = withHost(name, about);
  Node node{"disk:0"};
  node.kind = NodeKind::storage;
  node.accessNs = accessNs;
  node.channels = channels;
  node.bandwidth = read;
  node.write = write;
  made.inputs = int(made.add(std::move(node)));
  made.links.push_back({0, 1, 0, gigabytes(32)});
  return made;
}
// Half a turn in the mean, and the arm's way.
double diskAccessNs(double rpm) { return 30e9 / rpm + 5.5 * kMs; }
Topology hdd() {
  return storage("hdd", "inputs come from a disk of 7200 turns a minute", diskAccessNs(7200), 1, gigabytes(0.15),
                 gigabytes(0.15));
}
Topology hdd10000() {
  return storage("hdd-10000rpm", "inputs come from a disk of 10000 turns a minute", diskAccessNs(10000), 1,
                 gigabytes(0.2), gigabytes(0.2));
}
Topology ssd() {
  return storage("ssd", "inputs come from a solid state disk: 400,000 accesses a second", 80 * kUs, 32, gigabytes(2),
                 gigabytes(1));
}
Topology nvme() {
  return storage("nvme", "inputs come from NVMe over PCIe 4", 20 * kUs, 64, gigabytes(8), gigabytes(5));
}

constexpr TopologyPreset kPresets[] = {
    {"pcie3", pcie3},
    {"pcie4", pcie4},
    {"pcie4-server", pcie4Server},
    {"v100-nvlink", v100NVLink},
    {"2080ti", rtx2080Ti},
    {"1gbe", ethernet1},
    {"10gbe", ethernet10},
    {"25gbe", ethernet25},
    {"100gbe", ethernet100},
    {"10000km", farAway},
    {"hdd", hdd},
    {"hdd-10000rpm", hdd10000},
    {"ssd", ssd},
    {"nvme", nvme},
};

// The runtime's null devices (runtime/device/null): a link is what a copy costs there.
constexpr double kNullLaunchNs = 100;
Rate nullBandwidth() { return gigabytes(20); }

} // namespace

std::span<const TopologyPreset> topologyPresets() { return kPresets; }

std::string topologyPresetNames() {
  std::string names;
  for (const TopologyPreset &preset : kPresets) names += std::string(names.empty() ? "" : ", ") + preset.name;
  return names;
}

std::optional<Topology> topologyPreset(std::string_view name) {
  for (const TopologyPreset &preset : kPresets)
    if (name == preset.name) return preset.make();
  return std::nullopt;
}

Topology thisMachine(std::span<const std::string> devices, int threads, std::string_view rates) {
  Topology made;
  made.name = "this machine";
  const std::string cpus[] = {std::string(rates)};
  MachineModel model = modelFor(cpus);
  auto isProcessor = [](const std::string &name) { return name.starts_with("cpu:"); };
  rt::core::ThreadShares shares{uint32_t(threads),
                                uint32_t(std::count_if(devices.begin(), devices.end(), isProcessor))};
  uint32_t share = 0;
  for (const std::string &name : devices) {
    Node node{name};
    if (isProcessor(name)) {
      node.rates = rates;
      node.threads = int(shares.threadsOf(share++));
      node.launchNs = kCommandNs;
      node.hostMemory = true;
      if (made.inputs < 0) made.inputs = int(made.nodes.size());
    } else if (name.starts_with("null:")) {
      node.flops = 1e11;
      node.bandwidth = nullBandwidth();
      node.launchNs = kNullLaunchNs;
      // Its lanes do not share.
      node.threads = 1 << 16;
    } else {
      unsupported(name + ": is not on this machine; --topology says what to play it on: " + topologyPresetNames());
    }
    made.add(std::move(node));
  }
  // Null devices have memory of their own: the caller's arrays lie on the host.
  if (made.inputs < 0) {
    Node host{"host"};
    host.kind = NodeKind::storage;
    host.channels = 1 << 16;
    host.bandwidth = host.write = Rate::ofBytes(rt::kMostPerSecond);
    made.inputs = int(made.add(std::move(host)));
  }
  made.outputs = made.inputs;
  for (uint32_t a = 0; a < made.nodes.size(); ++a)
    for (uint32_t b = a + 1; b < made.nodes.size(); ++b) {
      bool viaNull = made.nodes[a].name.starts_with("null:") || made.nodes[b].name.starts_with("null:");
      TopologyLink link{a, b, model.link.latency * 1e9, Rate::ofBytes(model.link.bytesPerSecond)};
      if (viaNull) link.latencyNs = kNullLaunchNs, link.rate = nullBandwidth() * 0.5;
      made.links.push_back(link);
    }
  return made;
}

} // namespace sprig::machine
