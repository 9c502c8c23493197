// Whether a parameter is still where it was in its module: for what holds parameters by itself, optimizers and compiled
// functions.
#pragma once
#include "sprig/tensor.h"

namespace sprig::frontend {

/// Times are those of structureClock(); 0: never.
struct Standing {
  uint64_t removed = 0; ///< it left the last place that it had; 0 while it has one
  std::string how;      ///< "'head' of the Net was replaced at train.cpp:12"
};
Standing &standingOf(const Parameter &parameter);

/// Counts changes of what modules consist of, of all of them.
uint64_t structureClock();
uint64_t tickStructureClock();

} // namespace sprig::frontend
