// What is done once a context: memory, and what is known of each lane.
#include "runtime/device/cpu/CpuRun.h"
#include "runtime/exec/Pool.h"

#include <algorithm>

namespace sprig::rt::core {

CpuRun::CpuRun(const Package &package, const CpuCode &code, Pool &pool)
    : package(package), code(code), pool(pool), shares{pool.threads(), uint32_t(package.program().devices.size())},
      laneCapacity(std::max(1u, package.maxLanes())), eventCapacity(package.maxEvents()),
      collectives(pool, [this] { driveCollectives(); }) {}

CpuRun::~CpuRun() {
  pool.forget(*this);
  for (Wire *wire : wires) wire->forget(this);
}

Status CpuRun::allocate() {
  lanes = std::make_unique<LaneSlot[]>(laneCapacity);
  events = std::make_unique<std::atomic<uint64_t>[]>(eventCapacity);
  lookAtLanes();
  callerScratch = (package.maxScratch() + 63) / 64 * 64;
  helperScratch = (package.helperScratch() + 63) / 64 * 64;
  if (callerScratch > UINT64_MAX / 2 / pool.threads())
    return {SPRIG_RT_OUT_OF_MEMORY,
            concat("no memory for ", pool.threads(), " times ", callerScratch, " bytes of scratch")};
  return Block::make(package.allocator(), callerScratch + helperScratch * (pool.threads() - 1), "scratch", scratch);
}

void CpuRun::lookAtLanes() {
  for (const Entry &each : package.program().entries) {
    std::vector<LaneFacts> &own = facts.emplace_back(each.lanes.size());
    auto deviceOf = [&](uint32_t operand) { return &package.deviceOf(each.buffers[each.operands[operand]]); };
    for (size_t lane = 0; lane < each.lanes.size(); ++lane) {
      const std::vector<Command> &commands = each.lanes[lane].commands;
      own[lane].device = each.lanes[lane].device;
      own[lane].onlyCopies = std::none_of(commands.begin(), commands.end(),
                                          [](const Command &command) { return command.kind == CommandKind::Dispatch; });
      own[lane].meets =
          std::any_of(commands.begin(), commands.end(), [&](const Command &command) { return each.meets(command); });
      for (size_t at = 0; at < commands.size(); ++at) {
        if (commands[at].kind != CommandKind::Copy) continue;
        Wire *wire =
            package.links().between(deviceOf(commands[at].firstOperand), deviceOf(commands[at].firstOperand + 1));
        if (!wire) continue;
        own[lane].wires.resize(commands.size());
        own[lane].wires[at] = wire;
        if (std::find(wires.begin(), wires.end(), wire) == wires.end()) wires.push_back(wire);
      }
      own[lane].carries = own[lane].onlyCopies && !own[lane].wires.empty();
      for (size_t at = 0; own[lane].carries && at < commands.size(); ++at)
        own[lane].carries = commands[at].kind != CommandKind::Copy || own[lane].wires[at];
    }
  }
}

} // namespace sprig::rt::core
