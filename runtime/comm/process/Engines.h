// Which engine has the bytes between which ranks.
#ifndef SPRIG_RUNTIME_COMM_PROCESS_ENGINES_H
#define SPRIG_RUNTIME_COMM_PROCESS_ENGINES_H

#include "runtime/comm/ProcessRanks.h"
#include "runtime/comm/process/Link.h"
#include "runtime/comm/store/Store.h"

namespace sprig::rt::comm {

// Of ranks that MPI has started: whether it knows them as the options do; and where they meet, if nobody has said so:
// rank 0 starts the store and tells the others. Fails, or throws, where MPI does.
Status meetByMpi(ProcessRanksOptions &options, std::unique_ptr<Store> &store);

// Of a rank that has met by MPI, when it has no more links. May throw.
void leaveMpi(bool isWhole);

// Links to all other ranks. Fails, or throws what engines throw, where there can be none.
Status makeLinks(Engine engine, LinkRequest request, Links &links);

} // namespace sprig::rt::comm

#endif
