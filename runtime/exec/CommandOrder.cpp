#include "runtime/exec/CommandOrder.h"

namespace sprig::rt::core {

std::vector<CommandPlace> commandsInOrder(const Entry &entry) {
  std::vector<CommandPlace> order;
  std::vector<uint32_t> at(entry.lanes.size(), 0);
  std::vector<bool> recorded(entry.eventCount, false);
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t lane = 0; lane < entry.lanes.size(); ++lane) {
      const std::vector<Command> &commands = entry.lanes[lane].commands;
      for (uint32_t &index = at[lane]; index < commands.size(); ++index, moved = true) {
        const Command &command = commands[index];
        if (command.kind == CommandKind::Wait && !recorded[command.event]) break;
        if (command.kind == CommandKind::Record) recorded[command.event] = true;
        order.push_back({lane, index});
      }
    }
  }
  return order;
}

} // namespace sprig::rt::core
