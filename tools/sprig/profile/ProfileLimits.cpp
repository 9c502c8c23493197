#include "tools/sprig/profile/ProfileLimits.h"
#include <algorithm>
#include <set>

namespace sprig::cli {
namespace {

struct Traffic {
  uint64_t constants = 0, others = 0;
};

class Limits {
public:
  Limits(const Runner &runner, const machine::MachineModel &rates) : runner(runner), rates(rates) {}

  double limitNs(const ProfileRow &row, int threads) {
    Traffic traffic = trafficOf(row);
    double compute = double(row.flops) / rates.flopRate(threads);
    double memory = seconds(traffic.constants, workingSet(row.entry), threads) +
                    seconds(traffic.others, traffic.constants + traffic.others, threads);
    return std::max(compute, memory) * 1e9;
  }

  double partNs(const ProfilePart &part, uint32_t entry) {
    return std::max(double(part.flops) / rates.flopRate(), seconds(part.bytes, workingSet(entry), 1)) * 1e9;
  }

private:
  double seconds(uint64_t bytes, uint64_t workingSet, int threads) const {
    double rate = rates.readRate(int64_t(workingSet), threads);
    return rate > 0 ? double(bytes) / rate : 0;
  }

  sprig_rt_buffer_info buffer(uint32_t entry, uint32_t index) const {
    sprig_rt_buffer_info info;
    check(sprig_rt_package_buffer(runner.package(), entry, index, &info));
    return info;
  }

  Traffic trafficOf(const ProfileRow &row) const {
    sprig_rt_command_info info;
    check(sprig_rt_package_command(runner.package(), row.entry, uint32_t(row.lane), row.command, &info));
    Traffic traffic;
    for (uint32_t i = 0; i < info.buffer_count; ++i) {
      auto operand = buffer(row.entry, info.buffers[i]);
      (std::string_view(operand.kind) == "constant" ? traffic.constants : traffic.others) += operand.size;
    }
    // The compiler's count knows more than operands: what a merged command keeps to itself.
    if (row.kind == "dispatch") traffic.others = row.bytes > traffic.constants ? row.bytes - traffic.constants : 0;
    return traffic;
  }

  // All that a call of the entry touches: the arena, its arrays, the constants it names.
  uint64_t workingSet(uint32_t entry) {
    auto [found, isNew] = workingSets.try_emplace(entry, 0);
    if (!isNew) return found->second;
    sprig_rt_entry_info info;
    check(sprig_rt_package_entry(runner.package(), entry, &info));
    uint64_t total = info.arena_bytes;
    std::set<std::pair<std::string, uint32_t>> seen;
    for (uint32_t i = 0; i < info.buffer_count; ++i) {
      auto each = buffer(entry, i);
      if (std::string_view(each.kind) != "arena" && seen.emplace(each.kind, each.index).second) total += each.size;
    }
    return found->second = total;
  }

  const Runner &runner;
  const machine::MachineModel &rates;
  std::map<uint32_t, uint64_t> workingSets;
};

} // namespace

void setLimits(ProfileResult &result, const Runner &runner, const machine::MachineModel &rates) {
  Limits limits(runner, rates);
  for (ProfileRow &row : result.rows) {
    if (row.lane < 0 || (row.kind != "dispatch" && row.kind != "copy")) continue;
    row.limitNs = limits.limitNs(row, row.wasCut ? result.threads : 1);
    double sum = 0;
    for (ProfilePart &part : row.parts) sum += part.share = limits.partNs(part, row.entry);
    for (ProfilePart &part : row.parts) part.share = sum > 0 ? part.share / sum : 1.0 / double(row.parts.size());
  }
}

} // namespace sprig::cli
