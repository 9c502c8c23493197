// What is wrong with a call's arrays, in words: all that chooseEntry and checkOutputs refuse.
#ifndef SPRIG_RUNTIME_EXEC_EXPLAINCHOICE_H
#define SPRIG_RUNTIME_EXEC_EXPLAINCHOICE_H

#include "runtime/exec/Choose.h"

namespace sprig::rt::core {

Status explainInputs(const Entry &entry, std::span<const sprig_rt_tensor> inputs);
Status explainNoEntry(const Program &program, std::span<const sprig_rt_tensor> inputs);
Status explainOutputs(const Entry &entry, const Choice &choice, std::span<const sprig_rt_tensor> outputs);

} // namespace sprig::rt::core

#endif
