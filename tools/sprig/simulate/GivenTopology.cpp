#include "tools/sprig/simulate/GivenTopology.h"
#include "lib/Data/File.h"
#include "lib/Machine/PairLinks.h"
#include "lib/Machine/TopologyFile.h"
#include "lib/Machine/TopologyPresets.h"
#include <algorithm>
#include <filesystem>

namespace sprig::cli {

using machine::LinkEnd;
using machine::Topology;

namespace {

std::vector<LinkEnd> endsOf(const Topology &topology, const std::vector<std::string> &devices) {
  std::vector<LinkEnd> ends;
  std::vector<uint32_t> nodes = nodesOf(topology, devices, "expected --devices among them");
  for (size_t i = 0; i < nodes.size(); ++i) ends.push_back({nodes[i], devices[i]});
  return ends;
}

void prepend(const std::vector<std::string> &links, Settings &settings) {
  settings.links.insert(settings.links.begin(), links.begin(), links.end());
}

// Where a run has the caller's arrays: on the first processor, else on the host, which null devices have none of.
// Throws where the topology has them elsewhere.
LinkEnd arraysOf(const Topology &topology, const std::vector<LinkEnd> &ends, const std::string &flag) {
  auto processor =
      std::find_if(ends.begin(), ends.end(), [](const LinkEnd &end) { return end.name.starts_with("cpu:"); });
  bool isProcessor = processor != ends.end();
  int place = isProcessor ? int(processor->node) : topology.inputs;
  auto refuse = [&](const std::string &why) { unsupported(flag + ": " + why + "; 'sprig simulate' plays that"); };
  for (const LinkEnd &end : ends)
    if (!isProcessor && int(end.node) == place)
      refuse("the caller's arrays come from " + end.name + ", a run has them on none of its null devices");
  if (place < 0) refuse("does not say where the caller's arrays come from (inputs), expected a device");
  for (auto [field, node] : {std::pair("come from ", topology.inputs), {"go to ", topology.outputs}}) {
    if (node < 0 && isProcessor) continue;
    std::string what = std::string("the caller's arrays ") + field;
    if (node < 0) refuse("does not say where " + what + "(outputs), expected a device");
    const machine::Node &at = topology.nodes[size_t(node)];
    if (at.kind != machine::NodeKind::device) refuse(what + at.name + ", a storage, which a run has none of");
    if (node != place)
      refuse(what + at.name + ", a run has them on " + topology.nodes[size_t(place)].name +
             (isProcessor ? ", the first processor of --devices" : ""));
  }
  return {uint32_t(place), isProcessor ? processor->name : "host"};
}

machine::GivenPairs givenPairs(const Settings &settings) {
  machine::GivenPairs pairs;
  for (const std::string &text : settings.links) {
    rt::GivenLink link;
    if (std::string why = rt::parseGivenLink(text, link); !why.empty()) badUse("--link " + text + ": " + why);
    pairs.emplace_back(link.a, link.b);
  }
  return pairs;
}

} // namespace

Topology readTopology(const std::string &given, const std::string &flag) {
  std::error_code error;
  bool isFile = given.ends_with(".json") || given.find('/') != std::string::npos || given == "-" ||
                std::filesystem::exists(given, error);
  if (!isFile) {
    if (auto preset = machine::topologyPreset(given)) return *preset;
    badUse(flag + " " + given + ": is neither a file nor one of " + machine::topologyPresetNames());
  }
  std::vector<char> bytes = data::readFile(given);
  return machine::topologyFromText({bytes.data(), bytes.size()}, given == "-" ? "<stdin>" : given);
}

std::vector<uint32_t> nodesOf(const Topology &topology, const std::vector<std::string> &devices,
                              const std::string &expected) {
  std::vector<uint32_t> nodes;
  for (const std::string &device : devices) {
    int node = topology.find(device);
    if (node < 0)
      unsupported("topology '" + topology.name + "' has no " + device + ", only " + topology.devices() + "; " +
                  expected);
    nodes.push_back(uint32_t(node));
  }
  return nodes;
}

void takeTopology(Settings &settings) {
  if (settings.topology.empty()) return;
  settings.checkDevices();
  std::string flag = "--topology " + settings.topology;
  rt::core::GivenDevices given = settings.parsedDevices();
  std::vector<std::string> devices;
  for (const rt::core::GivenDevice &device : given.list) devices.push_back(device.name());
  bool isAlone = devices.size() == 1 && devices[0].starts_with("cpu:");
  if (devices.empty() || given.threads || given.keepsTimeOnly() || isAlone)
    badUse(flag +
           ": sets the links between devices, expected --devices with the ones that the "
           "run is on, as cpu:0,cpu:1 or null:0, found " +
           (devices.empty() ? "none" : settings.givenDevices()));
  Topology topology = readTopology(settings.topology);
  std::vector<LinkEnd> ends = endsOf(topology, devices);
  LinkEnd arrays = arraysOf(topology, ends, flag);
  for (const LinkEnd &end : ends)
    if (topology.inputs >= 0 && end.node != arrays.node && end.name.starts_with("cpu:") &&
        !(topology.nodes[end.node].hostMemory && topology.nodes[arrays.node].hostMemory))
      settings.ownMemory.push_back(end.name);
  if (arrays.name == "host") ends.push_back(arrays);
  prepend(machine::exactLinks(topology, ends, givenPairs(settings), flag), settings);
}

void takeTopologyToPlace(Settings &settings) {
  if (settings.topology.empty()) return;
  settings.checkDeviceNames();
  if (settings.compileDevices().empty())
    badUse("--topology " + settings.topology +
           ": operations are placed for its links, expected several --devices, as cpu:0,cpu:1");
  placeOn(readTopology(settings.topology), settings);
}

void placeOn(const Topology &topology, Settings &settings) {
  prepend(machine::linksAlone(topology, endsOf(topology, settings.compileDevices())), settings);
}

} // namespace sprig::cli
