#include "lib/Machine/TopologyFile.h"
#include "lib/Json/Json.h"
#include <algorithm>

namespace sprig::machine {
namespace {

constexpr std::string_view kRates[] = {"native", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

/// An object of the file, with its place there; each field is asked for once, and what nobody asked for is refused.
class Fields {
public:
  Fields(const Json &json, std::string file, std::string place)
      : json(json), file(std::move(file)), place(std::move(place)) {
    if (!json.is_object()) refuse("", json, "an object");
  }

  [[noreturn]] void refuse(const std::string &field, const Json &found, std::string_view expected) const {
    std::string text = found.dump();
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    fail(at(field) + "found " + text + ", expected " + std::string(expected));
  }
  [[noreturn]] void missing(const std::string &field, std::string_view expected) const {
    fail(at(field) + "is missing, expected " + std::string(expected));
  }
  [[noreturn]] void fail(const std::string &text) const { badInput(file + ": " + text); }

  const Json *find(const std::string &field) {
    known.push_back(field);
    auto found = json.find(field);
    return found == json.end() ? nullptr : &*found;
  }
  bool has(const std::string &field) const { return json.contains(field); }

  std::string text(const std::string &field, const std::string &otherwise, std::string_view expected) {
    const Json *found = find(field);
    if (!found) return otherwise;
    if (!found->is_string()) refuse(field, *found, expected);
    return *found;
  }
  std::string neededText(const std::string &field, std::string_view expected) {
    if (!has(field)) missing(field, expected);
    return text(field, "", expected);
  }
  bool flag(const std::string &field, bool otherwise) {
    const Json *found = find(field);
    if (!found) return otherwise;
    if (!found->is_boolean()) refuse(field, *found, "true or false");
    return *found;
  }
  int count(const std::string &field, int otherwise, int most = 1 << 16) {
    const Json *found = find(field);
    if (!found) return otherwise;
    auto value = wholeNumber<int>(*found);
    if (!value || *value < 1 || *value > most)
      refuse(field, *found, "a whole number from 1 to " + std::to_string(most));
    return *value;
  }
  double number(const std::string &field, double otherwise, double least, double most, std::string_view expected) {
    const Json *found = find(field);
    if (!found) return otherwise;
    if (!found->is_number() || !(found->get<double>() >= least && found->get<double>() <= most))
      refuse(field, *found, expected);
    return *found;
  }
  /// A text with a unit, as one of units.hpp reads it.
  template <typename T>
  T quantity(const std::string &field, T otherwise, std::optional<T> (*parse)(std::string_view),
             std::string_view form) {
    const Json *found = find(field);
    if (!found) return otherwise;
    auto value = found->is_string() ? parse(found->get_ref<const std::string &>()) : std::nullopt;
    if (!value) refuse(field, *found, form);
    return *value;
  }
  template <typename Read> void each(const std::string &field, Read read) {
    const Json *found = find(field);
    if (!found) return;
    if (!found->is_array()) refuse(field, *found, "a list");
    for (size_t i = 0; i < found->size(); ++i) {
      Fields element((*found)[i], file, join(field) + "[" + std::to_string(i) + "]");
      read(element);
      element.done();
    }
  }
  void done() const {
    for (auto &[name, value] : json.items())
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        std::string list;
        for (const std::string &each : known) list += (list.empty() ? "" : ", ") + each;
        fail(at("") + "'" + name + "' is no field here, expected one of: " + list);
      }
  }

private:
  std::string join(const std::string &field) const {
    return place.empty() ? field : field.empty() ? place : place + "." + field;
  }
  std::string at(const std::string &field) const {
    std::string path = join(field);
    return path.empty() ? "" : path + ": ";
  }

  const Json &json;
  std::string file, place;
  std::vector<std::string> known;
};

Node readDevice(Fields &fields) {
  Node node;
  node.name = fields.neededText("name", "the name of a device, as cuda:0");
  node.rates = fields.text("rates", "", "the name of an instruction set, or native");
  if (!node.rates.empty() && std::find(std::begin(kRates), std::end(kRates), node.rates) == std::end(kRates))
    fields.refuse("rates", node.rates, "native, x86-64-v2, x86-64-v3 or x86-64-v4");
  if (!node.rates.empty() && (fields.has("flops") || fields.has("bandwidth")))
    fields.fail("'" + node.name + "' has rates (" + node.rates + "), expected no flops and bandwidth beside them");
  if (node.rates.empty() && !fields.has("flops")) fields.missing("flops", rt::kWorkForm);
  if (node.rates.empty() && !fields.has("bandwidth")) fields.missing("bandwidth", rt::kRateForm);
  node.flops = fields.quantity("flops", 0.0, rt::parseFlops, rt::kWorkForm);
  node.bandwidth = fields.quantity("bandwidth", Rate(), rt::parseRate, rt::kRateForm);
  node.launchNs = fields.quantity("launch", 0.0, rt::parseNanoseconds, rt::kTimeForm);
  node.threads = fields.count("threads", 1);
  node.memoryBytes = fields.quantity("memory", 0.0, rt::parseBytes, rt::kSizeForm);
  node.hostMemory = fields.flag("host_memory", false);
  node.forwards = fields.flag("forwards", false);
  return node;
}

Node readStorage(Fields &fields) {
  Node node;
  node.kind = NodeKind::storage;
  node.name = fields.neededText("name", "the name of a storage, as disk:0");
  node.channels = fields.count("channels", 1);
  if (int(fields.has("rpm")) + int(fields.has("iops")) + int(fields.has("access")) != 1)
    fields.fail("'" + node.name + "': expected one of rpm, iops and access, which say how long a place takes");
  double seek = fields.quantity("seek", 0.0, rt::parseNanoseconds, rt::kTimeForm);
  if (fields.has("seek") && !fields.has("rpm")) fields.fail("'" + node.name + "': expected a seek beside rpm alone");
  // Half a turn in the mean.
  if (double rpm = fields.number("rpm", 0, 1, 1e6, "turns a minute, from 1 to 1000000"); rpm > 0)
    node.accessNs = 30e9 / rpm + seek;
  if (double iops = fields.number("iops", 0, 1e-3, 1e12, "accesses a second, above 0"); iops > 0)
    node.accessNs = node.channels * 1e9 / iops;
  node.accessNs = fields.quantity("access", node.accessNs, rt::parseNanoseconds, rt::kTimeForm);
  if (!fields.has("read")) fields.missing("read", rt::kRateForm);
  node.bandwidth = fields.quantity("read", Rate(), rt::parseRate, rt::kRateForm);
  node.write = fields.quantity("write", node.bandwidth, rt::parseRate, rt::kRateForm);
  return node;
}

std::optional<double> parseSpeed(std::string_view text) {
  if (!text.ends_with("/s")) return std::nullopt;
  text.remove_suffix(2);
  auto meters = rt::parseMeters(text);
  return meters && *meters >= 1 ? meters : std::nullopt;
}
constexpr std::string_view kSpeedForm = "a speed with its unit, as 200000km/s";

TopologyLink readLink(Fields &fields, const Topology &topology) {
  TopologyLink link;
  const Json *between = fields.find("between");
  constexpr std::string_view kBetween = "the names of the two nodes that it joins";
  if (!between) fields.missing("between", kBetween);
  if (!between->is_array() || between->size() != 2 || !(*between)[0].is_string() || !(*between)[1].is_string())
    fields.refuse("between", *between, kBetween);
  for (int end : {0, 1}) {
    const std::string &name = (*between)[size_t(end)].get_ref<const std::string &>();
    int found = topology.find(name);
    if (found < 0) fields.refuse("between", (*between)[size_t(end)], "a node that there is: " + topology.names());
    (end ? link.b : link.a) = uint32_t(found);
  }
  link.latencyNs = fields.quantity("latency", 0.0, rt::parseNanoseconds, rt::kTimeForm);
  if (!fields.has("latency")) fields.missing("latency", rt::kTimeForm);
  if (!fields.has("rate")) fields.missing("rate", rt::kRateForm);
  link.rate = fields.quantity("rate", Rate(), rt::parseRate, rt::kRateForm);
  link.count = fields.count("count", 1);
  std::string duplex = fields.text("duplex", "full", "full or half");
  if (duplex != "full" && duplex != "half") fields.refuse("duplex", duplex, "full or half");
  link.halfDuplex = duplex == "half";
  link.meters = fields.quantity("length", 0.0, rt::parseMeters, rt::kLengthForm);
  link.metersPerSecond = fields.quantity("speed", TopologyLink::kFiber, parseSpeed, kSpeedForm);
  link.burstBytes = fields.quantity("burst", 0.0, rt::parseBytes, rt::kSizeForm);
  link.handlingNs = fields.quantity("handling", 0.0, rt::parseNanoseconds, rt::kTimeForm);
  link.handlingRate = fields.quantity("handling_rate", Rate(), rt::parseRate, rt::kRateForm);
  return link;
}

Json toJson(const Node &node) {
  Json json = {{"name", node.name}};
  if (node.kind == NodeKind::storage) {
    json["access"] = rt::writeNanoseconds(node.accessNs);
    json["channels"] = node.channels;
    json["read"] = rt::writeRate(node.bandwidth);
    json["write"] = rt::writeRate(node.write);
    return json;
  }
  if (node.rates.empty()) {
    json["flops"] = rt::writeFlops(node.flops);
    json["bandwidth"] = rt::writeRate(node.bandwidth);
  } else {
    json["rates"] = node.rates;
  }
  if (node.launchNs > 0) json["launch"] = rt::writeNanoseconds(node.launchNs);
  if (node.threads != 1) json["threads"] = node.threads;
  if (node.memoryBytes > 0) json["memory"] = rt::writeBytes(node.memoryBytes);
  if (node.hostMemory) json["host_memory"] = true;
  if (node.forwards) json["forwards"] = true;
  return json;
}

Json toJson(const TopologyLink &link, const Topology &topology) {
  Json json = {{"between", {topology.nodes[link.a].name, topology.nodes[link.b].name}},
               {"latency", rt::writeNanoseconds(link.latencyNs)},
               {"rate", rt::writeRate(link.rate)}};
  if (link.count != 1) json["count"] = link.count;
  if (link.halfDuplex) json["duplex"] = "half";
  if (link.meters > 0) json["length"] = rt::writeMeters(link.meters);
  if (link.metersPerSecond != TopologyLink::kFiber) json["speed"] = rt::writeMeters(link.metersPerSecond) + "/s";
  if (link.burstBytes > 0) json["burst"] = rt::writeBytes(link.burstBytes);
  if (link.handlingNs > 0) json["handling"] = rt::writeNanoseconds(link.handlingNs);
  if (link.handlingRate > Rate()) json["handling_rate"] = rt::writeRate(link.handlingRate);
  return json;
}

} // namespace

Topology topologyFromText(std::string_view text, const std::string &file) {
  Json json = parseJsonFile(text, file);
  Fields fields(json, file, "");
  Topology topology;
  topology.name = fields.text("name", file, "a text");
  topology.about = fields.text("about", "", "a text");
  fields.each("devices", [&](Fields &each) { topology.add(readDevice(each)); });
  fields.each("storage", [&](Fields &each) { topology.add(readStorage(each)); });
  fields.each("switches", [&](Fields &each) {
    Node node{each.neededText("name", "the name of a switch")};
    node.kind = NodeKind::crossbar;
    topology.add(std::move(node));
  });
  checkNodes(topology, file);
  fields.each("links", [&](Fields &each) { topology.links.push_back(readLink(each, topology)); });
  for (auto [field, node] : {std::pair("inputs", &topology.inputs), {"outputs", &topology.outputs}}) {
    std::string name = fields.text(field, "", "the name of a node");
    if (!fields.has(field)) continue;
    *node = topology.find(name);
    if (*node < 0) fields.refuse(field, name, "a node that there is: " + topology.names());
  }
  fields.done();
  check(topology, file);
  return topology;
}

std::string topologyToText(const Topology &topology) {
  Json json = {{"name", topology.name}};
  if (!topology.about.empty()) json["about"] = topology.about;
  for (auto [field, kind] : {std::pair("devices", NodeKind::device), {"storage", NodeKind::storage}})
    for (const Node &node : topology.nodes)
      if (node.kind == kind) json[field].push_back(toJson(node));
  for (const Node &node : topology.nodes)
    if (node.kind == NodeKind::crossbar) json["switches"].push_back({{"name", node.name}});
  for (const TopologyLink &link : topology.links) json["links"].push_back(toJson(link, topology));
  if (topology.inputs >= 0) json["inputs"] = topology.nodes[size_t(topology.inputs)].name;
  if (topology.outputs >= 0) json["outputs"] = topology.nodes[size_t(topology.outputs)].name;
  return json.dump(2) + "\n";
}

} // namespace sprig::machine
