#include "tools/sprig/profile/CommandLimits.h"
#include "lib/Machine/AccessTime.h"
#include "lib/Machine/KernelRates.h"
#include "runtime/api/Handles.h"
#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace sprig::cli {

double CommandLimits::memoryNs(uint32_t entry, uint32_t lane, uint32_t command, const sprig_rt_command_info &info,
                               int threads) {
  Traffic traffic = trafficOf(entry, lane, command, info);
  uint64_t own = traffic.constants + traffic.others;
  for (const TouchedOperand &touched : traffic.accessed) own += touched.accessedBytes;
  double time = seconds(traffic.constants, workingSet(entry), threads) + seconds(own - traffic.constants, own, threads);
  for (const TouchedOperand &touched : traffic.accessed)
    time += machine::accessSeconds(rates.model(), touched, double(own), threads);
  return 1e9 * time;
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
  return std::max(flopsNs(entry, lane, command, double(info.flops), threads, false),
                  memoryNs(entry, lane, command, info, threads));
}

double CommandLimits::expectedNs(uint32_t entry, uint32_t lane, uint32_t command, int threads) {
  sprig_rt_command_info info;
  check(sprig_rt_package_command(package, entry, lane, command, &info));
  // The thread with the most tiles is waited for.
  double tiles = std::max(double(info.tiles), 1.0);
  double uneven = std::ceil(tiles / threads) * threads / tiles;
  double computing = flopsNs(entry, lane, command, double(info.flops), threads, true);
  for (const TouchedOperand &touched : tables.touched(entry, lane, command))
    computing += 1e9 * double(touched.accesses) * machine::kPlaceSeconds / threads;
  return std::max(computing, memoryNs(entry, lane, command, info, threads)) * uneven;
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

double CommandLimits::entryAccessNs(uint32_t entry, int threads) {
  double time = 0;
  const rt::core::Entry &from = package->package->program().entries[entry];
  for (uint32_t lane = 0; lane < from.lanes.size(); ++lane)
    for (uint32_t command = 0; command < from.lanes[lane].commands.size(); ++command)
      for (const TouchedOperand &touched : tables.touched(entry, lane, command))
        time += machine::accessSeconds(rates.model(), touched, double(workingSet(entry)), threads);
  return 1e9 * time;
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

CommandLimits::Traffic CommandLimits::trafficOf(uint32_t entry, uint32_t lane, uint32_t command,
                                                const sprig_rt_command_info &info) const {
  Traffic traffic;
  std::map<uint32_t, TouchedOperand> parts;
  for (const TouchedOperand &touched : tables.touched(entry, lane, command)) parts[touched.operand] = touched;
  uint64_t accessed = 0;
  for (uint32_t i = 0; i < info.buffer_count; ++i) {
    auto operand = buffer(entry, info.buffers[i]);
    auto part = parts.find(i);
    bool isConstant = std::string_view(operand.kind) == "constant";
    (isConstant ? traffic.constants : traffic.others) += part == parts.end() ? operand.size : part->second.bytes;
    if (part == parts.end() || !part->second.accesses) continue;
    accessed += part->second.accessedBytes;
    traffic.accessed.push_back(part->second);
  }
  // The compiler's count knows more than operands: what a merged command keeps to itself.
  if (info.kind == SPRIG_RT_DISPATCH)
    traffic.others = info.bytes > traffic.constants + accessed ? info.bytes - traffic.constants - accessed : 0;
  return traffic;
}

// Those buffers of an entry of which all commands together touch a part, and how much.
std::map<uint32_t, uint64_t> CommandLimits::touchedBuffers(uint32_t index) const {
  std::map<uint32_t, uint64_t> bytes;
  const rt::core::Entry &entry = package->package->program().entries[index];
  for (uint32_t lane = 0; lane < entry.lanes.size(); ++lane)
    for (uint32_t number = 0; number < entry.lanes[lane].commands.size(); ++number) {
      const rt::core::Command &command = entry.lanes[lane].commands[number];
      std::map<uint32_t, uint64_t> parts;
      for (const TouchedOperand &touched : tables.touched(index, lane, number))
        parts[touched.operand] = touched.total();
      for (uint32_t i = 0; i < command.operandCount; ++i) {
        uint32_t operand = entry.operands[command.firstOperand + i];
        auto part = parts.find(i);
        bytes[operand] += part == parts.end() ? entry.buffers[operand].size : part->second;
      }
    }
  std::erase_if(bytes, [&](auto &each) { return each.second >= entry.buffers[each.first].size; });
  return bytes;
}

// All that a call of the entry touches: the arena, its arrays, the constants it names.
uint64_t CommandLimits::workingSet(uint32_t entry) {
  auto [found, isNew] = workingSets.try_emplace(entry, 0);
  if (!isNew) return found->second;
  sprig_rt_entry_info info;
  check(sprig_rt_package_entry(package, entry, &info));
  uint64_t total = info.arena_bytes;
  std::map<uint32_t, uint64_t> parts = touchedBuffers(entry);
  std::set<std::pair<std::string, uint32_t>> seen;
  for (uint32_t i = 0; i < info.buffer_count; ++i) {
    auto each = buffer(entry, i);
    if (std::string_view(each.kind) == "arena" || !seen.emplace(each.kind, each.index).second) continue;
    auto part = parts.find(i);
    total += part == parts.end() ? each.size : part->second;
  }
  return found->second = total;
}

} // namespace sprig::cli
