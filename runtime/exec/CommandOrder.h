// An order of an entry's commands in which each event is recorded before it is waited for.
// For what goes through all lanes at once: handing them to devices, and what is said of them before.
#ifndef SPRIG_RUNTIME_EXEC_COMMANDORDER_H
#define SPRIG_RUNTIME_EXEC_COMMANDORDER_H

#include "runtime/load/Program.h"

namespace sprig::rt::core {

struct CommandPlace {
  uint32_t lane;
  uint32_t index;
};

// Each lane as far as it goes, until all have ended: the package was refused if that could not be.
std::vector<CommandPlace> commandsInOrder(const Entry &entry);

} // namespace sprig::rt::core

#endif
