// What a kernel found wrong in the values it was given, as text. For the runtime, and for whoever calls kernels without
// it, so that the same mistake reads the same.
#ifndef SPRIG_RUNTIME_BASE_KERNELFAILURE_H
#define SPRIG_RUNTIME_BASE_KERNELFAILURE_H

#include "sprig/rt/kernel.h"
#include "runtime/base/Decimal.h"

#include <bit>
#include <string>

namespace sprig::rt::core {

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
           decimal::shortest(std::bit_cast<double>(bound)) + ", found " +
           decimal::shortest(std::bit_cast<double>(value));
  default: return "";
  }
}

} // namespace sprig::rt::core

#endif // SPRIG_RUNTIME_BASE_KERNELFAILURE_H
