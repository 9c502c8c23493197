// A 64-bit number as sixteen hexadecimal digits: how checksums and hashes are written.
#ifndef SPRIG_RUNTIME_BASE_HEX_H
#define SPRIG_RUNTIME_BASE_HEX_H

#include <cstdint>
#include <string>

namespace sprig {

inline std::string hexDigits(uint64_t value) {
  std::string text(16, '0');
  for (size_t i = text.size(); i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  return text;
}

} // namespace sprig

#endif
