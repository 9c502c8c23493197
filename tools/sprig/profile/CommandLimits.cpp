#include "tools/sprig/profile/CommandLimits.h"
#include "lib/Machine/KernelRates.h"
#include "runtime/api/Handles.h"
#include "tools/sprig/run/Runner.h"
#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace sprig::cli {

double CommandLimits::memoryNs(uint32_t entry, const sprig_rt_command_info &info, int threads) {
  Traffic traffic = trafficOf(entry, info);
  return 1e9 * (seconds(traffic.constants, workingSet(entry), threads) +
                seconds(traffic.others, traffic.constants + traffic.others, threads));
}

// What an older compiler has not told the parts of is reckoned as f32, at the limit.
double CommandLimits::flopsNs(uint32_t entry, uint32_t lane, uint32_t command, double flops, int threads,
                              bool areExpected) const {
  const auto &parts = package->package->program().entries[entry].lanes[lane].commands[command].parts;
  double time = 0, rest = flops;
  for (const rt::core::Part &part : parts) {
    double work = double(part.flops);
    rest -= work;
    if (areExpected) work *= machine::fillFactor(part.kind, part.shape) / machine::reachedShare(part.kind);
    double ofPart = work / rates.rate(machine::factorsOf(part.factors), threads);
    if (areExpected && part.repeated) // by each step of a loop over time
      ofPart = std::max(ofPart, double(part.steps) * seconds(part.repeated, part.repeated, threads));
    time += ofPart;
  }
  bool isTold = areExpected && !parts.empty();
  return 1e9 * (time + (isTold ? 0 : std::max(rest, 0.0)) / rates.model().flopRate(threads));
}

double CommandLimits::commandNs(uint32_t entry, uint32_t lane, uint32_t command, int threads) {
  sprig_rt_command_info info;
  check(sprig_rt_package_command(package, entry, lane, command, &info));
  return std::max(flopsNs(entry, lane, command, double(info.flops), threads, false), memoryNs(entry, info, threads));
}

double CommandLimits::expectedNs(uint32_t entry, uint32_t lane, uint32_t command, int threads) {
  sprig_rt_command_info info;
  check(sprig_rt_package_command(package, entry, lane, command, &info));
  // The thread with the most tiles is waited for.
  double tiles = std::max(double(info.tiles), 1.0);
  double uneven = std::ceil(tiles / threads) * threads / tiles;
  return std::max(flopsNs(entry, lane, command, double(info.flops), threads, true), memoryNs(entry, info, threads)) *
         uneven;
}

double CommandLimits::partNs(uint32_t entry, uint64_t flops, uint64_t bytes, const std::string &factors) {
  return std::max(double(flops) / rates.rate(machine::factorsOf(factors)), seconds(bytes, workingSet(entry), 1)) * 1e9;
}

double CommandLimits::entryFlopsNs(uint32_t entry, int threads) {
  double ns = 0;
  const rt::core::Entry &from = package->package->program().entries[entry];
  for (uint32_t lane = 0; lane < from.lanes.size(); ++lane)
    for (uint32_t command = 0; command < from.lanes[lane].commands.size(); ++command)
      ns += flopsNs(entry, lane, command, double(from.lanes[lane].commands[command].flops), threads, false);
  return ns;
}

double CommandLimits::seconds(uint64_t bytes, uint64_t workingSet, int threads) const {
  double rate = rates.model().readRate(int64_t(workingSet), threads);
  return rate > 0 ? double(bytes) / rate : 0;
}

sprig_rt_buffer_info CommandLimits::buffer(uint32_t entry, uint32_t index) const {
  sprig_rt_buffer_info info;
  check(sprig_rt_package_buffer(package, entry, index, &info));
  return info;
}

CommandLimits::Traffic CommandLimits::trafficOf(uint32_t entry, const sprig_rt_command_info &info) const {
  Traffic traffic;
  for (uint32_t i = 0; i < info.buffer_count; ++i) {
    auto operand = buffer(entry, info.buffers[i]);
    (std::string_view(operand.kind) == "constant" ? traffic.constants : traffic.others) += operand.size;
  }
  // The compiler's count knows more than operands: what a merged command keeps to itself.
  if (info.kind == SPRIG_RT_DISPATCH)
    traffic.others = info.bytes > traffic.constants ? info.bytes - traffic.constants : 0;
  return traffic;
}

// All that a call of the entry touches: the arena, its arrays, the constants it names.
uint64_t CommandLimits::workingSet(uint32_t entry) {
  auto [found, isNew] = workingSets.try_emplace(entry, 0);
  if (!isNew) return found->second;
  sprig_rt_entry_info info;
  check(sprig_rt_package_entry(package, entry, &info));
  uint64_t total = info.arena_bytes;
  std::set<std::pair<std::string, uint32_t>> seen;
  for (uint32_t i = 0; i < info.buffer_count; ++i) {
    auto each = buffer(entry, i);
    if (std::string_view(each.kind) != "arena" && seen.emplace(each.kind, each.index).second) total += each.size;
  }
  return found->second = total;
}

} // namespace sprig::cli
