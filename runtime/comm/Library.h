// Libraries beside the runtime or the JIT that are loaded on demand: for ranks, GPUs, event files.
#ifndef SPRIG_RUNTIME_COMM_LIBRARY_H
#define SPRIG_RUNTIME_COMM_LIBRARY_H

#include "runtime/base/Status.h"

namespace sprig::rt::comm {

using core::Status;

// Finds NAME_FUNCTION in libNAME.so, which stays loaded. A library whose NAME_version() is not this version is refused.
// `needs` names what needs the library, for the error.
Status findFunction(const char *name, const char *function, const char *needs, void *&address);

} // namespace sprig::rt::comm

#endif
