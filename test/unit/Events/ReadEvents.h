// Reads event files back, by itself: bytes to records, records to the fields of messages, checksums bit by bit.
#pragma once
#include "test/unit/Folder.h"
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sprig::events {

/// An event; what its message lacks is as it is here.
struct ReadEvent {
  double wallTime = 0;
  int64_t step = 0;
  std::string version, tag;
  int64_t session = 0;
  float value = std::numeric_limits<float>::quiet_NaN();
};

struct EventReader {
  std::string_view text;

  std::string_view take(size_t count) {
    if (count > text.size()) throw std::runtime_error("the file is cut off");
    std::string_view taken = text.substr(0, count);
    text.remove_prefix(count);
    return taken;
  }
  template <typename Number> Number number() {
    Number result;
    std::memcpy(&result, take(sizeof result).data(), sizeof result);
    return result;
  }
  uint64_t varint() {
    uint64_t result = 0;
    for (int shift = 0;; shift += 7) {
      auto byte = number<uint8_t>();
      result |= uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80) return result;
    }
  }
  std::string_view checked(size_t count) {
    std::string_view bytes = take(count);
    uint32_t crc = 0xffffffff;
    for (unsigned char byte : bytes)
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (((crc ^ byte >> bit) & 1) ? 0x82f63b78 : 0);
    crc = ~crc;
    if (number<uint32_t>() != (crc << 17 | crc >> 15) + 0xa282ead8) throw std::runtime_error("a checksum differs");
    return bytes;
  }
  /// The next record, as a reader of its message.
  EventReader record() {
    EventReader length{checked(8)};
    return {checked(length.number<uint64_t>())};
  }
  /// A nested message or a string.
  std::string_view nested() { return take(varint()); }

  /// A key is a field's number and, in the three lowest bits, its type.
  ReadEvent event() {
    ReadEvent event;
    while (!text.empty()) {
      switch (varint()) {
      case 1 << 3 | 1: event.wallTime = number<double>(); break;
      case 2 << 3 | 0: event.step = int64_t(varint()); break;
      case 3 << 3 | 2: event.version = nested(); break;
      case 5 << 3 | 2: EventReader{EventReader{nested()}.only(1)}.scalar(event); break;
      case 7 << 3 | 2: EventReader{nested()}.session(event); break;
      default: throw std::runtime_error("a field of an event that is not written");
      }
    }
    return event;
  }

private:
  std::string_view only(uint64_t field) {
    if (varint() != (field << 3 | 2)) throw std::runtime_error("another field than expected");
    std::string_view bytes = nested();
    if (!text.empty()) throw std::runtime_error("more than one field");
    return bytes;
  }
  void scalar(ReadEvent &event) {
    while (!text.empty()) {
      switch (varint()) {
      case 1 << 3 | 2: event.tag = nested(); break;
      case 2 << 3 | 5: event.value = number<float>(); break;
      default: throw std::runtime_error("a field of a value that is not written");
      }
    }
  }
  void session(ReadEvent &event) {
    if (varint() != (1 << 3 | 0)) throw std::runtime_error("another field than a session's status");
    event.session = int64_t(varint());
  }
};

inline std::vector<ReadEvent> readEvents(const std::filesystem::path &path) {
  std::string text = textOf(path);
  EventReader reader{text};
  std::vector<ReadEvent> events;
  while (!reader.text.empty()) events.push_back(reader.record().event());
  return events;
}

} // namespace sprig::events
