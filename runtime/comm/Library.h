// Libraries beside the runtime that are loaded when ranks ask for them.
#ifndef SPRIG_RUNTIME_COMM_LIBRARY_H
#define SPRIG_RUNTIME_COMM_LIBRARY_H

#include "runtime/base/Status.h"

namespace sprig::rt::comm {

using core::Status;

// A function of libsprig_rt_NAME.so, which stays loaded: sprig_rt_NAME_FUNCTION. It is of this version, which its
// sprig_rt_NAME_version() says, or refused; `needs` says what the library is missed for.
Status findFunction(const char *name, const char *function, const char *needs, void *&address);

} // namespace sprig::rt::comm

#endif
