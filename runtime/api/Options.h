// Options of the C ABI, which grow from version to version.
#ifndef SPRIG_RUNTIME_API_OPTIONS_H
#define SPRIG_RUNTIME_API_OPTIONS_H

#include "runtime/base/Status.h"

#include <algorithm>
#include <cstring>

namespace sprig::rt::core {

// Options of an older caller are shorter; what it does not know stays zero.
template <typename Options> Status readOptions(const Options *given, Options &options) {
  std::memset(&options, 0, sizeof options);
  if (!given) return {};
  if (given->size == 0 || given->size > 4096)
    return {SPRIG_RT_INVALID_ARGUMENT,
            concat("expected options with their size set to ", sizeof(Options), ", got ", given->size)};
  std::memcpy(&options, given, std::min(sizeof options, given->size));
  return {};
}

} // namespace sprig::rt::core

#endif
