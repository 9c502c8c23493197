// MPI in this process: begun when a rank asks for it, ended when that leaves. For libsprig_rt_mpi.so.
#ifndef SPRIG_RUNTIME_COMM_MPI_MPIWORLD_H
#define SPRIG_RUNTIME_COMM_MPI_MPIWORLD_H

#include <mpi.h>

#include <mutex>

namespace sprig::rt::comm {

// All throw what MPI returns; none of it ends the process.
class MpiWorld {
public:
  // Begins MPI at the first call.
  static MpiWorld &get();

  int rank = 0, ranks = 1;
  bool isOneMachine = true;
  MPI_Comm ranksOfSprig = MPI_COMM_NULL; // nobody else's messages are among theirs

  // Of a group that has failed, MPI's own end would wait for ranks that do not come, so there is none.
  void breakUp() { isBroken = true; }
  // The rank makes no more calls. MPI begins only once in a process.
  void end();

  // One thread at a time is in MPI.
  std::mutex mutex;

private:
  MpiWorld();
  bool isBroken = false, isOurs = false; // whoever has begun MPI ends it
};

// Throws what a call of MPI's returned.
void checkMpi(int result, const char *call);

} // namespace sprig::rt::comm

#endif
