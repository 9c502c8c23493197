// What a kernel found wrong in the values it was given, as text. For the runtime, and for whoever calls kernels without
// it, so that the same mistake reads the same.
#ifndef SPRIG_RUNTIME_BASE_KERNELFAILURE_H
#define SPRIG_RUNTIME_BASE_KERNELFAILURE_H

#include "sprig/rt/kernel.h"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace sprig::rt::core {

// As few digits as tell a float from its neighbours, or a double where it is none.
inline std::string shortest(double value) {
  char text[32];
  for (int digits : {6, 7, 8, 9, 15, 16, 17}) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    double read = std::strtod(text, nullptr);
    if (read == value || float(read) == value) break;
  }
  return text;
}

// "expected an index below 4, found 7"; empty for a code that there is not.
inline std::string describeKernelFailure(int32_t code, int64_t value, int64_t bound) {
  switch (code) {
  case SPRIG_RT_KERNEL_INDEX_OUT_OF_RANGE:
    return "expected an index below " + std::to_string(bound) + ", found " + std::to_string(value);
  case SPRIG_RT_KERNEL_DIVISION_BY_ZERO: return "integer division by zero";
  case SPRIG_RT_KERNEL_VALUE_TOO_SMALL:
  case SPRIG_RT_KERNEL_VALUE_TOO_LARGE:
    return (code == SPRIG_RT_KERNEL_VALUE_TOO_SMALL ? "expected a value of at least "
                                                    : "expected a value of at most ") +
           shortest(std::bit_cast<double>(bound)) + ", found " + shortest(std::bit_cast<double>(value));
  default: return "";
  }
}

} // namespace sprig::rt::core

#endif // SPRIG_RUNTIME_BASE_KERNELFAILURE_H
