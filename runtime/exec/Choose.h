// Which entry a call means: the one that its shapes fit, or one that the batch is split or padded to.
#ifndef SPRIG_RUNTIME_EXEC_CHOOSE_H
#define SPRIG_RUNTIME_EXEC_CHOOSE_H

#include "runtime/base/Status.h"
#include "runtime/load/Program.h"

#include <span>

namespace sprig::rt::core {

struct Choice {
  uint32_t entry = 0; // that fits exactly; or the first of its family
  bool exact = true;
  int64_t samples = 0; // of the call, when not exact
};

// `entry`: an index, or SPRIG_RT_ANY_ENTRY. Checks all inputs. Allocates only for an error's text.
Status chooseEntry(const Program &program, int32_t entry, std::span<const sprig_rt_tensor> inputs, Choice &choice,
                   int rank = -1);

// Of the entries that do the same as `like` for other batch sizes: the smallest for at least `samples`, else the
// largest.
uint32_t entryForSamples(const Program &program, uint32_t like, int64_t samples);

// Checks outputs against the entry; with `samples` >= 0 in place of its first axis.
Status checkOutputs(const Entry &entry, int64_t samples, std::span<const sprig_rt_tensor> outputs);

} // namespace sprig::rt::core

#endif
