// Options of the C ABI, which grow from version to version.
#ifndef SPRIG_RUNTIME_API_OPTIONS_H
#define SPRIG_RUNTIME_API_OPTIONS_H

#include "runtime/base/Status.h"

#include <cstddef>

namespace sprig::rt::core {

// Options of an older caller are shorter; what it does not know stays zero.
Status readOptionBytes(const void *given, void *options, size_t size);

template <typename Options> Status readOptions(const Options *given, Options &options) {
  static_assert(offsetof(Options, size) == 0);
  return readOptionBytes(given, &options, sizeof options);
}

} // namespace sprig::rt::core

#endif
