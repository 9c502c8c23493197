#include "runtime/device/Links.h"

#include "sprig/rt/links.hpp"

#include <algorithm>

namespace sprig::rt::core {

namespace {

constexpr std::string_view kHost = "host";

bool isOnHost(const Device *device) { return !device || device->sharesHostMemory(); }

std::string namesOfDevices(std::span<const std::shared_ptr<Device>> devices, bool hasHost) {
  std::vector<std::string> names;
  for (const std::shared_ptr<Device> &device : devices)
    if (std::find(names.begin(), names.end(), device->name()) == names.end()) names.push_back(device->name());
  if (hasHost) names.emplace_back(kHost);
  std::string text;
  for (const std::string &name : names) text += concat(text.empty() ? "" : ", ", name);
  return text;
}

} // namespace

Status Links::make(std::span<const std::string> given, std::span<const std::shared_ptr<Device>> devices, Links &links) {
  auto onHost =
      std::find_if(devices.begin(), devices.end(), [](const auto &device) { return device->sharesHostMemory(); });
  bool hasHost = onHost == devices.end();
  links.host = hasHost ? nullptr : onHost->get();
  for (const std::string &text : given) {
    auto refuse = [&](sprig_rt_code code, const std::string &why) -> Status {
      return {code, concat("link ", text, ": ", why)};
    };
    GivenLink link;
    if (std::string why = parseGivenLink(text, link); !why.empty()) return refuse(SPRIG_RT_INVALID_ARGUMENT, why);
    const Device *ends[2] = {};
    for (auto [end, name] : {std::pair(&ends[0], &link.a), {&ends[1], &link.b}}) {
      if (hasHost && *name == kHost) continue;
      auto found =
          std::find_if(devices.begin(), devices.end(), [&](const auto &device) { return device->name() == *name; });
      if (found == devices.end())
        return refuse(SPRIG_RT_INVALID_ARGUMENT,
                      concat("there is no '", *name, "' here, only ", namesOfDevices(devices, hasHost)));
      *end = found->get();
      if ((*end)->kind() == kCudaKind)
        return refuse(SPRIG_RT_UNSUPPORTED, concat(*name, " has the links that it has; null devices play others"));
    }
    if (link.halfDuplex && !(isOnHost(ends[0]) && isOnHost(ends[1])))
      return refuse(SPRIG_RT_UNSUPPORTED, "the clock of null devices has no links of half duplex; sprig simulate has");
    LinkRates rates{link.latencyNs(), link.rates.rate};
    std::erase_if(links.list,
                  [&](const Link &other) { return std::minmax(other.a, other.b) == std::minmax(ends[0], ends[1]); });
    links.list.push_back({text, ends[0], ends[1], std::make_unique<Wire>(rates),
                          link.halfDuplex ? nullptr : std::make_unique<Wire>(rates)});
  }
  return {};
}

Wire *Links::between(const Device *from, const Device *to) const {
  if (!from) from = host;
  if (!to) to = host;
  for (const Link &link : list) {
    if (link.a == from && link.b == to) return link.there.get();
    if (link.a == to && link.b == from) return link.back ? link.back.get() : link.there.get();
  }
  return nullptr;
}

Status Links::use(const Program &program, std::span<const std::shared_ptr<Device>> devices,
                  std::vector<std::string> &unused) const {
  std::vector<const Wire *> used;
  Status started;
  auto add = [&](const Device *from, const Device *to) {
    Wire *wire = between(from, to);
    if (!wire) return;
    used.push_back(wire);
    if (started.isOk() && isOnHost(from) && isOnHost(to)) started = wire->start();
  };
  for (const Entry &entry : program.entries) {
    auto deviceOf = [&](uint32_t operand) { return devices[entry.buffers[entry.operands[operand]].device].get(); };
    for (const Lane &lane : entry.lanes)
      for (const Command &command : lane.commands)
        if (command.kind == CommandKind::Copy) add(deviceOf(command.firstOperand), deviceOf(command.firstOperand + 1));
    for (const Buffer &buffer : entry.buffers) {
      const Device *device = devices[buffer.device].get();
      if (isOnHost(device)) continue;
      if (buffer.kind == BufferKind::Input) add(nullptr, device);
      if (buffer.kind == BufferKind::Output) add(device, nullptr);
    }
  }
  for (const Link &link : list)
    if (std::none_of(used.begin(), used.end(),
                     [&](const Wire *wire) { return wire == link.there.get() || wire == link.back.get(); }))
      unused.push_back(link.text);
  return started;
}

} // namespace sprig::rt::core
