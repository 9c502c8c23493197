// The events that libsprig_events.so encodes, and its one function. For EventFile and the library.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace sprig::events {

/// The version of the format, first in each file.
struct FileVersion {};
/// The run begins, or continues, at the event's step.
struct SessionStart {};
struct Scalar {
  std::string_view tag; ///< UTF-8
  float value;
};

struct Event {
  double wallTime; ///< seconds since 1970
  int64_t step;
  std::variant<FileVersion, SessionStart, Scalar> what;
};

/// sprig_events_encode: the event as a serialized message, which replaces `message`.
using EncodeFunction = void(const Event &event, std::string &message);

} // namespace sprig::events
