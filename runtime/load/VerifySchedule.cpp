#include "runtime/load/Verify.h"

namespace sprig::rt::core {

static Status badPackage(std::string message) { return {SPRIG_RT_BAD_PACKAGE, std::move(message)}; }

static std::string commandText(size_t lane, size_t index, const Command &command) {
  std::string text = concat("lane ", lane, " command ", index);
  return command.name.empty() ? text : text + " '" + command.name + "'";
}

static Status checkEvents(const Entry &entry) {
  std::vector<bool> recorded(entry.eventCount, false);
  for (size_t lane = 0; lane < entry.lanes.size(); ++lane)
    for (size_t i = 0; i < entry.lanes[lane].commands.size(); ++i) {
      const Command &command = entry.lanes[lane].commands[i];
      if (command.kind != CommandKind::Record && command.kind != CommandKind::Wait) continue;
      if (command.event >= entry.eventCount)
        return badPackage(concat(commandText(lane, i, command), ": expected an event below ", entry.eventCount,
                                 ", found ", command.event));
      if (command.kind != CommandKind::Record) continue;
      if (recorded[command.event])
        return badPackage(concat(commandText(lane, i, command), ": event ", command.event, " is recorded twice"));
      recorded[command.event] = true;
    }
  return {};
}

// Plays the lanes with events alone: every lane goes as far as it can, until all end or none moves.
Status verifySchedule(const Entry &entry) {
  SPRIG_RETURN_IF_ERROR(checkEvents(entry));
  std::vector<size_t> position(entry.lanes.size(), 0);
  std::vector<bool> recorded(entry.eventCount, false);
  // Lanes blocked on an event, so that each command is looked at a constant number of times.
  std::vector<std::vector<uint32_t>> waiting(entry.eventCount);
  std::vector<uint32_t> ready;
  for (size_t lane = entry.lanes.size(); lane-- > 0;) ready.push_back(uint32_t(lane));
  while (!ready.empty()) {
    uint32_t lane = ready.back();
    ready.pop_back();
    const std::vector<Command> &commands = entry.lanes[lane].commands;
    for (; position[lane] < commands.size(); ++position[lane]) {
      const Command &command = commands[position[lane]];
      if (command.kind == CommandKind::Wait && !recorded[command.event]) {
        waiting[command.event].push_back(lane);
        break;
      }
      if (command.kind == CommandKind::Record) {
        recorded[command.event] = true;
        ready.insert(ready.end(), waiting[command.event].begin(), waiting[command.event].end());
        waiting[command.event].clear();
      }
    }
  }
  for (size_t lane = 0; lane < entry.lanes.size(); ++lane)
    if (position[lane] < entry.lanes[lane].commands.size()) {
      const Command &command = entry.lanes[lane].commands[position[lane]];
      return badPackage(concat(commandText(lane, position[lane], command), ": waits for event ", command.event,
                               ", which no command can record before it"));
    }
  return {};
}

} // namespace sprig::rt::core
