// TFRecords: the framing of event files. A record is, in little-endian order, the number of bytes (64 bits), the masked
// checksum of this number (32 bits), the bytes, and their masked checksum (32 bits).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace sprig::events {

/// CRC-32C, the checksum of iSCSI (RFC 3720).
uint32_t crc32c(std::string_view bytes);

/// A checksum as records hold it: the checksum of bytes that contain their own checksum says little, so it is rotated
/// by 15 bits and moved by a constant.
constexpr uint32_t maskChecksum(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }

void appendRecord(std::string &file, std::string_view bytes);

} // namespace sprig::events
