#include "lib/Events/Record.h"
#include <array>

namespace sprig::events {

namespace {

constexpr std::array<uint32_t, 256> makeTable() {
  std::array<uint32_t, 256> table = {};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    // Castagnoli's polynomial, its bits in reverse.
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    table[i] = crc;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = makeTable();

template <typename Number> std::string littleEndian(Number number) {
  std::string bytes;
  for (size_t i = 0; i < sizeof number; ++i) bytes += char(number >> (8 * i) & 0xff);
  return bytes;
}

void appendChecked(std::string &file, std::string_view bytes) {
  file += bytes;
  file += littleEndian(maskChecksum(crc32c(bytes)));
}

} // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (unsigned char byte : bytes) crc = crc >> 8 ^ kTable[(crc ^ byte) & 0xff];
  return ~crc;
}

void appendRecord(std::string &file, std::string_view bytes) {
  appendChecked(file, littleEndian(uint64_t(bytes.size())));
  appendChecked(file, bytes);
}

} // namespace sprig::events
