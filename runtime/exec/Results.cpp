#include "runtime/exec/Results.h"

#include <algorithm>

namespace sprig::rt::core {

namespace {

// How many dispatches and copies lead to each command at least, itself among them.
std::vector<std::vector<uint32_t>> depthsOf(const Entry &entry) {
  std::vector<std::vector<uint32_t>> depths;
  for (const Lane &lane : entry.lanes) depths.emplace_back(lane.commands.size(), 0);
  std::vector<uint32_t> at(entry.lanes.size(), 0), recorded(entry.eventCount, UINT32_MAX);
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t lane = 0; lane < entry.lanes.size(); ++lane) {
      const std::vector<Command> &commands = entry.lanes[lane].commands;
      for (uint32_t &index = at[lane]; index < commands.size(); ++index, moved = true) {
        const Command &command = commands[index];
        uint32_t depth = index ? depths[lane][index - 1] : 0;
        if (command.kind == CommandKind::Wait) {
          if (recorded[command.event] == UINT32_MAX) break;
          depth = std::max(depth, recorded[command.event]);
        } else if (command.kind == CommandKind::Record) {
          recorded[command.event] = depth;
        } else {
          ++depth;
        }
        depths[lane][index] = depth;
      }
    }
  }
  return depths;
}

bool writes(const Program &program, const Command &command, uint32_t operand) {
  if (command.kind == CommandKind::Copy) return operand == 1;
  const std::vector<uint8_t> &access = program.kernels[command.kernel].access;
  return access.empty() || (access[operand] & kWrites);
}

} // namespace

std::vector<Result> resultsOf(const Program &program, const Entry &entry) {
  std::vector<Result> results;
  for (uint32_t lane = 0; lane < entry.lanes.size(); ++lane) {
    const std::vector<Command> &commands = entry.lanes[lane].commands;
    for (uint32_t index = 0; index < commands.size(); ++index)
      for (uint32_t i = 0; i < commands[index].operandCount; ++i) {
        const Buffer &buffer = entry.buffers[entry.operands[commands[index].firstOperand + i]];
        if (buffer.kind != BufferKind::Output) continue;
        auto found = std::find_if(results.begin(), results.end(), [&](const Result &each) {
          return each.device == buffer.device && each.output == buffer.index;
        });
        if (found == results.end()) found = results.insert(found, {buffer.device, buffer.index, {}});
        if (!writes(program, commands[index], i)) continue;
        if (!found->writers.empty() && found->writers.back().lane == lane)
          found->writers.back().index = index;
        else
          found->writers.push_back({lane, index});
      }
  }
  std::vector<std::vector<uint32_t>> depths = depthsOf(entry);
  auto depth = [&](const Result &result) {
    uint32_t most = 0;
    for (CommandPlace writer : result.writers) most = std::max(most, depths[writer.lane][writer.index]);
    return most;
  };
  auto comesBefore = [&](const Result &a, const Result &b) {
    uint32_t ofA = depth(a), ofB = depth(b);
    return ofA != ofB ? ofA < ofB : a.output != b.output ? a.output < b.output : a.device < b.device;
  };
  std::sort(results.begin(), results.end(), comesBefore);
  return results;
}

} // namespace sprig::rt::core
