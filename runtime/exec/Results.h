// When each output of an entry is final on its devices: a device with memory of its own sends it back to the caller
// then, while other commands still run. The simulator goes by the same.
#ifndef SPRIG_RUNTIME_EXEC_RESULTS_H
#define SPRIG_RUNTIME_EXEC_RESULTS_H

#include "runtime/exec/CommandOrder.h"

namespace sprig::rt::core {

// An output on one of the program's devices, which its commands name.
struct Result {
  uint32_t device;
  uint32_t output;
  std::vector<CommandPlace> writers; // the last one of each lane that has any; it is final when they have ended
};

// In the order in which they go back: those first that fewer commands lead to, one after the other, as far as lanes and
// events tell. So the order follows from the program alone, not from what its commands take.
std::vector<Result> resultsOf(const Program &program, const Entry &entry);

} // namespace sprig::rt::core

#endif
