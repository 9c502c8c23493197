// Which part of its group a rank's collectives are of. For contexts that get a group.
#ifndef SPRIG_RUNTIME_EXEC_RANKPARTS_H
#define SPRIG_RUNTIME_EXEC_RANKPARTS_H

#include "runtime/comm/RankGroup.h"
#include "runtime/load/Program.h"

namespace sprig::rt::core {

// By entry and collective; null: all ranks. Entries whose collectives are all of these have no list, and so do those
// that are of another number of ranks.
std::vector<std::vector<comm::RankGroup *>> partsOf(const Program &program, comm::RankGroup &group);

} // namespace sprig::rt::core

#endif
