#include "runtime/exec/Results.h"

#include <algorithm>

namespace sprig::rt::core {

namespace {

// How many dispatches and copies lead to each command at least, itself among them.
std::vector<std::vector<uint32_t>> depthsOf(const Entry &entry) {
  std::vector<std::vector<uint32_t>> depths;
  for (const Lane &lane : entry.lanes) depths.emplace_back(lane.commands.size(), 0);
  std::vector<uint32_t> recorded(entry.eventCount, 0);
  for (CommandPlace place : commandsInOrder(entry)) {
    const Command &command = entry.lanes[place.lane].commands[place.index];
    uint32_t &depth = depths[place.lane][place.index];
    if (place.index) depth = depths[place.lane][place.index - 1];
    switch (command.kind) {
    case CommandKind::Wait: depth = std::max(depth, recorded[command.event]); break;
    case CommandKind::Record: recorded[command.event] = depth; break;
    case CommandKind::Dispatch:
    case CommandKind::Copy:
    case CommandKind::Collective: ++depth; break;
    }
  }
  return depths;
}

} // namespace

std::vector<Result> resultsOf(const Program &program, const Entry &entry) {
  std::vector<Result> results;
  for (uint32_t lane = 0; lane < entry.lanes.size(); ++lane) {
    const std::vector<Command> &commands = entry.lanes[lane].commands;
    for (uint32_t index = 0; index < commands.size(); ++index)
      for (uint32_t i = 0; i < commands[index].operandCount; ++i) {
        const Buffer &buffer = entry.bufferOf(commands[index], i);
        if (buffer.kind != BufferKind::Output) continue;
        auto found = std::find_if(results.begin(), results.end(), [&](const Result &each) {
          return each.device == buffer.device && each.output == buffer.index;
        });
        if (found == results.end()) found = results.insert(found, {buffer.device, buffer.index, {}});
        if (!(entry.accessOf(commands[index], i, program.kernels) & kWrites)) continue;
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
