// The whole numbers that an integer type holds.
// For what turns numbers of the host into elements, and elements into numbers of the host.
#pragma once
#include "sprig/dtype.h"
#include <cmath>
#include <string>

namespace sprig::frontend {

struct IntegerRange {
  bool isSigned;
  int bits; ///< without the sign

  /// Of an integer type; not of i1, for which every number is false or true.
  static IntegerRange of(DType type) {
    bool isUnsigned = type == DType::u64 || type == DType::u32 || type == DType::u16 || type == DType::u8;
    return {!isUnsigned, int(8 * size(type)) - !isUnsigned};
  }

  bool holds(__int128 number) const { return number >= (isSigned ? -end() : 0) && number < end(); }
  /// Whether it holds a real number without its fraction; never NaN.
  bool holds(double number) const {
    double whole = std::trunc(number), last = std::ldexp(1.0, bits); // a power of two is exact
    return whole >= (isSigned ? -last : 0) && whole < last;
  }
  /// "-128 to 127"
  std::string text() const {
    return (isSigned ? "-" + std::to_string(uint64_t(end())) : "0") + " to " + std::to_string(uint64_t(end() - 1));
  }

private:
  __int128 end() const { return __int128(1) << bits; }
};

} // namespace sprig::frontend
