// What copies of parameters are while nn::clone copies a module: new cells instead of shared ones.
// For nn::clone alone, which copies user-defined classes through their copy constructors.
#pragma once
#include "sprig/tensor.h"

namespace sprig::frontend {

/// Gives the parameter that stands for another one in the copy; the reference stays valid while the hook is set.
using CloneHook = const Parameter &(*)(const Parameter &);

/// Of this thread; null: copies share their cell. Returns what was set before.
CloneHook setCloneHook(CloneHook hook);

} // namespace sprig::frontend
