// Links between ranks of one machine by memory that they share: each rank has a bell and a ring from each other in
// memory of its own, which the others find by the store.
#ifndef SPRIG_RUNTIME_COMM_SHM_SHMLINKS_H
#define SPRIG_RUNTIME_COMM_SHM_SHMLINKS_H

#include "runtime/comm/process/Link.h"

namespace sprig::rt::comm {

// Makes links to those of the peers that share memory with this rank, as both find. Throws where the group fails.
void connectShm(const LinkRequest &request, Links &links);

} // namespace sprig::rt::comm

#endif
