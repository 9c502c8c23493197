// Which engine has the bytes between which ranks.
#ifndef SPRIG_RUNTIME_COMM_PROCESS_ENGINES_H
#define SPRIG_RUNTIME_COMM_PROCESS_ENGINES_H

#include "runtime/comm/ProcessRanks.h"
#include "runtime/comm/process/Link.h"

namespace sprig::rt::comm {

// Links to all other ranks. Fails, or throws what engines throw, where there can be none.
Status makeLinks(Engine engine, LinkRequest request, Links &links);

} // namespace sprig::rt::comm

#endif
