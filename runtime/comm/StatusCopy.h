// A status again, for each of several ranks that are told of it. For what groups keep.
#ifndef SPRIG_RUNTIME_COMM_STATUSCOPY_H
#define SPRIG_RUNTIME_COMM_STATUSCOPY_H

#include "runtime/base/Status.h"

namespace sprig::rt::comm {

inline core::Status copyOf(const core::Status &status) {
  return status.isOk() ? core::Status() : core::Status(status.code(), std::string(status.message()));
}

} // namespace sprig::rt::comm

#endif
