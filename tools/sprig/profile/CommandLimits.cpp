#include "tools/sprig/profile/CommandLimits.h"
#include "lib/Machine/KernelRates.h"
#include "tools/sprig/run/Runner.h"
#include <algorithm>
#include <set>
#include <string_view>

namespace sprig::cli {

double CommandLimits::memoryNs(uint32_t entry, const sprig_rt_command_info &info, int threads) {
  Traffic traffic = trafficOf(entry, info);
  return 1e9 * (seconds(traffic.constants, workingSet(entry), threads) +
                seconds(traffic.others, traffic.constants + traffic.others, threads));
}

double CommandLimits::commandNs(uint32_t entry, uint32_t lane, uint32_t command, int threads) {
  sprig_rt_command_info info;
  check(sprig_rt_package_command(package, entry, lane, command, &info));
  return std::max(double(info.flops) * 1e9 / rates.flopRate(threads), memoryNs(entry, info, threads));
}

double CommandLimits::expectedNs(uint32_t entry, uint32_t lane, uint32_t command, int threads) {
  sprig_rt_command_info info;
  check(sprig_rt_package_command(package, entry, lane, command, &info));
  uint32_t parts = 0;
  check(sprig_rt_package_part_count(package, entry, lane, command, &parts));
  // What an older compiler has not told the parts of is reckoned at the limit.
  double flops = parts ? 0 : double(info.flops);
  for (uint32_t i = 0; i < parts; ++i) {
    sprig_rt_part_info part;
    check(sprig_rt_package_part(package, entry, lane, command, i, &part));
    flops += double(part.flops) * machine::panelFactor(part.kind, part.shape) / machine::reachedShare(part.kind);
  }
  return std::max(flops * 1e9 / rates.flopRate(threads), memoryNs(entry, info, threads));
}

double CommandLimits::partNs(uint32_t entry, uint64_t flops, uint64_t bytes) {
  return std::max(double(flops) / rates.flopRate(), seconds(bytes, workingSet(entry), 1)) * 1e9;
}

double CommandLimits::seconds(uint64_t bytes, uint64_t workingSet, int threads) const {
  double rate = rates.readRate(int64_t(workingSet), threads);
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
