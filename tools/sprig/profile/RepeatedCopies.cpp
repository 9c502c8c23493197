#include "tools/sprig/profile/RepeatedCopies.h"
#include "runtime/api/Handles.h"
#include "tools/sprig/Report.h"
#include "tools/sprig/profile/BusyTime.h"
#include <set>

namespace sprig::cli {

using rt::core::Buffer;
using rt::core::BufferKind;
using rt::core::Command;
using rt::core::CommandKind;

std::vector<std::string> repeatedCopies(const Runner &runner, uint32_t index) {
  const rt::core::Program &program = runner.package()->package->program();
  const rt::core::Entry &entry = program.entries[index];
  CommandPlaces places(runner);
  std::set<uint32_t> written; // states
  for (const rt::core::Lane &lane : entry.lanes)
    for (const Command &command : lane.commands)
      for (uint32_t i = 0; i < command.operandCount; ++i) {
        const Buffer &buffer = entry.bufferOf(command, i);
        if (buffer.kind == BufferKind::State && (entry.accessOf(command, i, program.kernels) & rt::core::kWrites))
          written.insert(buffer.index);
      }
  std::vector<std::string> texts;
  for (const rt::core::Lane &lane : entry.lanes)
    for (const Command &command : lane.commands) {
      if (command.kind != CommandKind::Copy) continue;
      const Buffer &from = entry.bufferOf(command, 0), &to = entry.bufferOf(command, 1);
      if (from.kind != BufferKind::State || from.device == to.device || written.count(from.index)) continue;
      const std::string &name = program.states[from.index].tensor.name;
      // The line that reads it, where the model has lines.
      std::string place = command.parts.empty() ? "" : command.parts.front().source + ": ";
      texts.push_back(place + "'" + name + "' (" + formatBytes(double(command.copyBytes)) + ") is copied from " +
                      places.deviceName(from.device) + " to " + places.deviceName(to.device) +
                      " in every call, and none changes it: compile with --place " + name + "=" +
                      places.deviceName(to.device) + ", or its readers on " + places.deviceName(from.device));
    }
  return texts;
}

} // namespace sprig::cli
