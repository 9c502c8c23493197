// sprig devices: what this machine has, and with --calibrate what it can do.
#include "lib/Machine/Calibrate.h"
#include "tools/sprig/Command.h"
#include "tools/sprig/MachineFile.h"
#include <iostream>
#include <memory>

namespace sprig::cli {
namespace {

std::string join(const std::vector<std::string> &words) {
  std::string text;
  for (auto &word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

Json toJson(const machine::Cpu &cpu, const std::optional<machine::Calibration> &measured) {
  Json caches = Json::array();
  for (auto &cache : cpu.caches)
    caches.push_back({{"level", cache.level},
                      {"type", cache.type},
                      {"bytes", cache.bytes},
                      {"instances", cache.instances},
                      {"line_bytes", cache.lineBytes}});
  Json json = {{"cpu",
                {{"model", cpu.model},
                 {"sockets", cpu.sockets},
                 {"physical_cores", cpu.physical},
                 {"logical_processors", cpu.logical},
                 {"usable_processors", cpu.usable},
                 {"isa", cpu.isa},
                 {"features", cpu.features},
                 {"caches", caches},
                 {"memory_bytes", cpu.memoryBytes}}},
               {"gpus", Json::array()}};
  if (measured) {
    Json latency = Json::array();
    for (auto &point : measured->latency) latency.push_back({{"working_set", point.workingSet}, {"ns", point.ns}});
    json["cpu"]["measured"] = {{"f32_flops_per_second", measured->fmaFlops},
                               {"read_bytes_per_second", measured->readBandwidth},
                               {"cache_knees_bytes", measured->cacheKnees},
                               {"latency", latency}};
  }
  return json;
}

void printText(const machine::Cpu &cpu, const std::optional<machine::Calibration> &measured) {
  Table table({"CPU", cpu.model});
  table.add({"  cores", std::to_string(cpu.physical) + " physical, " + std::to_string(cpu.logical) + " logical, " +
                            formatDouble(cpu.usable, 3) + " usable, in " + std::to_string(cpu.sockets) +
                            (cpu.sockets == 1 ? " socket" : " sockets")});
  table.add({"  instruction set", cpu.isa + " (" + join(cpu.features) + ")"});
  for (auto &cache : cpu.caches)
    table.add({"  L" + std::to_string(cache.level) + " " + cache.type,
               std::to_string(cache.instances) + " x " + formatBinaryBytes(double(cache.bytes)) + ", lines of " +
                   std::to_string(cache.lineBytes) + " bytes"});
  table.add({"  memory", formatBinaryBytes(double(cpu.memoryBytes))});
  if (measured) {
    table.add({"  f32 peak, one thread", formatDouble(measured->fmaFlops / 1e9, 4) + " GFLOP/s"});
    size_t i = 0;
    for (int level = 1; level <= 3; ++level)
      if (cpu.cache(level) && i + 1 < measured->readBandwidth.size())
        table.add({"  read L" + std::to_string(level) + ", one thread",
                   formatDouble(measured->readBandwidth[i++] / 1e9, 4) + " GB/s"});
    table.add({"  read memory, one thread", formatDouble(measured->readBandwidth.back() / 1e9, 4) + " GB/s"});
    std::string knees;
    for (int64_t knee : measured->cacheKnees) knees += (knees.empty() ? "" : ", ") + formatBinaryBytes(double(knee));
    table.add({"  latency steps up after", knees});
    table.add({"  latency, largest set", formatDouble(measured->latency.back().ns, 3) + " ns at " +
                                             formatBinaryBytes(double(measured->latency.back().workingSet))});
  }
  table.print();
  std::cout << machine::kNoGpu << '\n';
  if (!measured) inform("'sprig devices --calibrate' measures peak rates (about two seconds) and keeps them");
}

} // namespace

void addDevices(CLI::App &app, Invocation &invocation) {
  auto common = std::make_shared<CommonOptions>();
  auto again = std::make_shared<bool>(false);
  CLI::App *command =
      addCommand(app, "devices", "What this machine has: cores, caches, memory, instruction sets, measured peaks",
                 "  sprig devices\n  sprig devices --calibrate --format json", *common);
  command->add_flag("--calibrate", *again,
                    "measure peak rates and latencies (about two seconds) and keep them in the cache folder");
  command->callback([=, &invocation] {
    invocation.run = [=] {
      machine::Cpu cpu = machine::readCpu();
      std::optional<machine::Calibration> measured = *again ? calibrateAndKeep(cpu) : keptCalibration(cpu);
      if (common->json())
        std::cout << toJson(cpu, measured).dump(2) << '\n';
      else
        printText(cpu, measured);
      return kDone;
    };
  });
}

} // namespace sprig::cli
