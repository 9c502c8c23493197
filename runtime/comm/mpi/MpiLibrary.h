// What libsprig_rt_mpi.so shows, by its names: ranks that `mpirun` has started find each other, and their links. All
// throw what MPI returns.
#ifndef SPRIG_RUNTIME_COMM_MPI_MPILIBRARY_H
#define SPRIG_RUNTIME_COMM_MPI_MPILIBRARY_H

#include <cstddef>

namespace sprig::rt::comm {

struct MpiPlace {
  int rank = 0, ranks = 1;
  bool isOneMachine = true;
};

using MpiPlaceFunction = void(MpiPlace &place);
// From rank 0 to all, which call it with as many bytes.
using MpiTellFunction = void(void *bytes, size_t size);
// When there are no more links; of a group that is whole, MPI ends.
using MpiLeaveFunction = void(bool isWhole);
// And `connect` (Link.h).

} // namespace sprig::rt::comm

#endif
