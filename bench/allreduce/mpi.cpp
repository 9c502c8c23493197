// MPI's own all-reduce.
#include "Timing.h"
#include <mpi.h>

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  timeSums(
      rank,
      [](float *numbers, size_t size) {
        MPI_Allreduce(MPI_IN_PLACE, numbers, int(size), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      },
      [] { MPI_Barrier(MPI_COMM_WORLD); });
  MPI_Finalize();
}
