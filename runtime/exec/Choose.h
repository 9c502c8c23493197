// Which entry a call means: the one that its shapes fit, one that takes its length, or one that the batch is split or
// padded to.
#ifndef SPRIG_RUNTIME_EXEC_CHOOSE_H
#define SPRIG_RUNTIME_EXEC_CHOOSE_H

#include "runtime/base/Status.h"
#include "runtime/load/Program.h"

#include <span>

namespace sprig::rt::core {

inline std::span<const int64_t> shapeOf(const sprig_rt_tensor &tensor) { return {tensor.shape, tensor.rank}; }

struct Choice {
  uint32_t entry = 0; // that fits exactly; or the first of its family
  bool exact = true;
  int64_t samples = 0; // of the call, when it is split or padded
  int64_t length = 0;  // of the call, where the entry takes several

  // How long a dimension of an output is.
  int64_t sizeOf(const TensorType &output, size_t axis) const {
    if (length) return output.sizeAt(axis, length);
    return axis == 0 && !exact ? samples : output.shape[axis];
  }
};

// `entry`: an index, or SPRIG_RT_ANY_ENTRY. Checks all inputs. Allocates only for an error's text.
Status chooseEntry(const Program &program, int32_t entry, std::span<const sprig_rt_tensor> inputs, Choice &choice,
                   int rank = -1);

// Of the entries that do the same as `like` for other batch sizes: the smallest for at least `samples`, else the
// largest.
uint32_t entryForSamples(const Program &program, uint32_t like, int64_t samples);

// The length that the shapes of inputs tell, which may be none of the entry's; 0: they tell none.
int64_t lengthOf(const Entry &entry, std::span<const sprig_rt_tensor> inputs);

// Checks outputs against the chosen entry.
Status checkOutputs(const Entry &entry, const Choice &choice, std::span<const sprig_rt_tensor> outputs);

} // namespace sprig::rt::core

#endif
