// sprig devices: what this machine has, and with --calibrate what it can do.
#include "lib/Machine/Calibrate.h"
#include "lib/Machine/Gpu.h"
#include "tools/sprig/Command.h"
#include "tools/sprig/inspect/MachineFile.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <iostream>
#include <memory>

namespace sprig::cli {
namespace {

std::string join(const std::vector<std::string> &words) {
  std::string text;
  for (auto &word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Null of measurements that nothing is known of.
Json devicesToJson(const machine::Steadiness &found) {
  if (found.sweeps == 0) return Json();
  return {{"steady", found.isSteady()},
          {"sweeps", found.sweeps},
          {"seconds", found.seconds},
          {"widest_spread", found.furthest.empty() ? Json() : Json(found.spread)},
          {"widest_spread_of", found.furthest.empty() ? Json() : Json(found.furthest)},
          {"other_programs_share", found.othersShare},
          {"stolen_share", found.stolenShare}};
}

Json devicesToJson(const machine::Calibration &found) {
  Json latency = Json::array(), levels = Json::array(), reads = Json::array();
  for (auto &point : found.latency) latency.push_back({{"working_set", point.workingSet}, {"ns", point.ns}});
  for (auto &rates : found.levels) {
    levels.push_back({{"level", rates.name()},
                      {"read_bytes_per_second", rates.read},
                      {"read_bytes_per_second_all_threads", rates.readAll},
                      {"write_bytes_per_second", rates.write},
                      {"copy_bytes_per_second", rates.copy}});
    reads.push_back(rates.read);
  }
  return {{"threads", found.threads},
          {"f32_flops_per_second", found.fmaFlops},
          {"f32_flops_per_second_all_threads", found.fmaFlopsAll},
          {"byte_products_per_second", found.byteDots > 0 ? Json(found.byteDots) : Json(nullptr)},
          {"bf16_products_per_second", found.bf16Dots > 0 ? Json(found.bf16Dots) : Json(nullptr)},
          {"read_bytes_per_second", reads},
          {"levels", levels},
          {"random_load_ns", found.randomSeconds * 1e9},
          {"hand_off_ns", found.handOffSeconds * 1e9},
          {"cross_core_ns", found.crossCore.latency * 1e9},
          {"cross_core_bytes_per_second", found.crossCore.bytesPerSecond},
          {"cache_knees_bytes", found.cacheKnees},
          {"latency", latency},
          {"steadiness", devicesToJson(found.steadiness)}};
}

// "196 GB/s, all 2 threads 390"
std::string oneAndAll(double one, double all, int threads, const char *unit) {
  std::string text = formatDouble(one / 1e9, 4) + " " + unit;
  return threads > 1 ? text + ", all " + std::to_string(threads) + " threads " + formatDouble(all / 1e9, 4) : text;
}

void addMeasured(Table &table, const machine::Calibration &found) {
  table.add({"  f32 peak", oneAndAll(found.fmaFlops, found.fmaFlopsAll, found.threads, "GFLOP/s")});
  if (found.byteDots > 0 && found.bf16Dots > 0)
    table.add({"  products of bytes, of bf16",
               formatDouble(found.byteDots / 1e9, 4) + " GOP/s, " + formatDouble(found.bf16Dots / 1e9, 4)});
  for (auto &rates : found.levels)
    table.add({"  read " + rates.name(), oneAndAll(rates.read, rates.readAll, found.threads, "GB/s") + "; write " +
                                             formatDouble(rates.write / 1e9, 4) + ", copy " +
                                             formatDouble(rates.copy / 1e9, 4)});
  std::string knees;
  for (int64_t knee : found.cacheKnees) knees += (knees.empty() ? "" : ", ") + formatBinaryBytes(double(knee));
  table.add({"  latency", "steps up after " + knees + "; from memory " + formatNanoseconds(found.randomSeconds * 1e9)});
  if (found.steadiness.sweeps > 0)
    table.add(
        {"  measured", (found.steadiness.isSteady() ? "steady: " : "not steady: ") + found.steadiness.describe()});
  if (found.threads == 1) return;
  table.add({"  hand-off to a thread and back", formatNanoseconds(found.handOffSeconds * 1e9)});
  table.add({"  read what another core wrote", formatNanoseconds(found.crossCore.latency * 1e9) + ", then " +
                                                   formatDouble(found.crossCore.bytesPerSecond / 1e9, 4) + " GB/s"});
}

Json devicesToJson(const machine::GpuSearch &search) {
  Json list = Json::array();
  for (const machine::Gpu &gpu : search.gpus)
    list.push_back({{"name", gpu.name},
                    {"memory_bytes", gpu.memoryBytes},
                    {"compute_capability", std::to_string(gpu.major) + "." + std::to_string(gpu.minor)},
                    {"multiprocessors", gpu.multiprocessors},
                    {"threads_per_multiprocessor", gpu.threadsPerMultiprocessor},
                    {"shared_bytes_per_block", gpu.sharedBytesPerBlock}});
  return list;
}

Json devicesToJson(const machine::Cpu &cpu, const std::optional<machine::Calibration> &measured,
                   const machine::GpuSearch &search) {
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
               {"gpus", devicesToJson(search)},
               {"gpus_looked_for", search.found}};
  if (measured) json["cpu"]["measured"] = devicesToJson(*measured);
  return json;
}

void printDeviceText(const machine::Cpu &cpu, const std::optional<machine::Calibration> &measured,
                     const machine::GpuSearch &search) {
  Table table({"CPU", cpu.model}, Table::Cells::text);
  table.add({"  cores", std::to_string(cpu.physical) + " physical, " + std::to_string(cpu.logical) + " logical, " +
                            formatDouble(cpu.usable, 3) + " usable, in " + std::to_string(cpu.sockets) +
                            (cpu.sockets == 1 ? " socket" : " sockets")});
  table.add({"  instruction set", cpu.isa + " (" + join(cpu.features) + ")"});
  for (auto &cache : cpu.caches)
    table.add({"  L" + std::to_string(cache.level) + " " + cache.type,
               std::to_string(cache.instances) + " x " + formatBinaryBytes(double(cache.bytes)) + ", lines of " +
                   std::to_string(cache.lineBytes) + " bytes"});
  table.add({"  memory", formatBinaryBytes(double(cpu.memoryBytes))});
  if (measured) addMeasured(table, *measured);
  for (size_t i = 0; i < search.gpus.size(); ++i) {
    const machine::Gpu &gpu = search.gpus[i];
    table.add({"GPU cuda:" + std::to_string(i),
               gpu.name + ", " + gpu.architecture() + ", " + formatDouble(double(gpu.memoryBytes) / 1e9, 4) + " GB"});
    table.add({"  multiprocessors", std::to_string(gpu.multiprocessors) + ", each of up to " +
                                        std::to_string(gpu.threadsPerMultiprocessor) + " threads"});
    table.add({"  shared memory", formatBinaryBytes(double(gpu.sharedBytesPerBlock)) + " of a block"});
  }
  table.print();
  std::cout << search.describe() << '\n';
  if (!measured) inform("'sprig devices --calibrate' measures peak rates (some seconds) and keeps them");
}

} // namespace

void addDevices(CLI::App &app, Invocation &invocation) {
  auto common = std::make_shared<CommonOptions>();
  auto again = std::make_shared<bool>(false);
  CLI::App *command =
      addCommand(app, "devices", "What this machine has: cores, caches, memory, instruction sets, measured peaks",
                 "  sprig devices\n  sprig devices --calibrate --format json", *common);
  command->add_flag(
      "--calibrate", *again,
      "measure peak rates and latencies and keep the best in the cache folder: in 3 sweeps of some 2 s each, in up to "
      "8 or 10 s where these differ by more than 5 % or others use the processors, with a warning if that stays so");
  onRun(*command, invocation, [=] {
    machine::Cpu cpu = machine::readCpu();
    if (*again) inform("measuring this machine (some 6 seconds)");
    std::optional<machine::Calibration> measured = *again ? calibrateAndKeep(cpu, {}) : machine::keptCalibration();
    if (*again) warnIfUnsteady(*measured);
    machine::GpuSearch gpus = machine::findGpus();
    if (common->json())
      std::cout << toText(devicesToJson(cpu, measured, gpus)) << '\n';
    else
      printDeviceText(cpu, measured, gpus);
    return kDone;
  });
}

} // namespace sprig::cli
