#include "runtime/comm/mpi/MpiWorld.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace sprig::rt::comm {

void checkMpi(int result, const char *call) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int size = 0;
  ::MPI_Error_string(result, text, &size);
  throw std::runtime_error(std::string(call) + ": " + text);
}

MpiWorld &MpiWorld::get() {
  int isEnded = 0;
  checkMpi(::MPI_Finalized(&isEnded), "MPI_Finalized");
  if (isEnded) throw std::runtime_error("MPI has ended in this process, and begins only once");
  static MpiWorld *world = new MpiWorld; // threads may be in it when the process ends
  return *world;
}

MpiWorld::MpiWorld() {
  int isBegun = 0;
  checkMpi(::MPI_Initialized(&isBegun), "MPI_Initialized");
  int has = MPI_THREAD_SERIALIZED;
  if (isBegun)
    checkMpi(::MPI_Query_thread(&has), "MPI_Query_thread");
  else
    checkMpi(::MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &has), "MPI_Init_thread");
  ::MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (has < MPI_THREAD_SERIALIZED)
    throw std::runtime_error("this MPI does not let several threads call it in turn (MPI_THREAD_SERIALIZED)");
  checkMpi(::MPI_Comm_dup(MPI_COMM_WORLD, &ranksOfSprig), "MPI_Comm_dup");
  ::MPI_Comm_set_errhandler(ranksOfSprig, MPI_ERRORS_RETURN);
  checkMpi(::MPI_Comm_rank(ranksOfSprig, &rank), "MPI_Comm_rank");
  checkMpi(::MPI_Comm_size(ranksOfSprig, &ranks), "MPI_Comm_size");
  MPI_Comm here = MPI_COMM_NULL;
  int ranksHere = 0;
  checkMpi(::MPI_Comm_split_type(ranksOfSprig, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &here),
           "MPI_Comm_split_type");
  checkMpi(::MPI_Comm_size(here, &ranksHere), "MPI_Comm_size");
  isOneMachine = ranksHere == ranks;
  ::MPI_Comm_free(&here);
  isOurs = !isBegun;
}

void MpiWorld::end() {
  if (!isBroken && std::exchange(isOurs, false)) ::MPI_Finalize();
}

} // namespace sprig::rt::comm
