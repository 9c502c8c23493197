// What it costs to give work to another thread that waits for it, and what threads cost each other that write to one
// cache line. For calibration and `sprig bench memory`.
#pragma once
#include "lib/Machine/Link.h"

namespace sprig::machine {

/// Seconds from giving a word to a spinning thread to having its answer. Needs two processors.
double handOffSeconds();

/// What a thread waits for when it reads what a thread on another processor has just written. Needs two processors.
Link crossCoreLink();

/// Seconds of an increment when `threads` threads each count in a word of their own.
struct CountingCost {
  double sameLine = 0, ownLines = 0;
};
CountingCost countingCost(int threads);

} // namespace sprig::machine
