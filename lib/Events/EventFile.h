// The event file of a training run, which TensorBoard reads: scalars by tag and step.
// A file is a sequence of TFRecords (Record.h), each a message `Event` (Encoder/Event.proto). The first one states the
// version of the format. The second one starts a session at a step: TensorBoard drops the events of that step and later
// ones in earlier files of the folder. A resumed run thus replaces what the killed one wrote after its checkpoint, and
// a new run replaces everything. Every file needs a session, because TensorBoard never counts the first one as a
// restart. libsprig_events.so encodes the messages. It is loaded with the first file, so that programs start without
// protobuf.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sprig::events {

struct Event;

/// A new file in a folder, for one thread at a time. Throws sprig::Error that names the file or the folder (runtime),
/// or libsprig_events.so where it cannot be loaded (unsupported).
class EventFile {
public:
  /// Makes the folder where it is missing, and a file events.out.tfevents.SECONDS.HOST.PID.N in it. TensorBoard reads
  /// the files of a folder in the order of their names, so the new name comes after all that are there.
  /// `resumeStep`: the first step that a resumed run adds events of.
  explicit EventFile(const std::filesystem::path &folder, std::optional<int64_t> resumeStep = std::nullopt);
  /// Writes what is buffered. Its error is dropped; call flush() to see it.
  ~EventFile();
  EventFile(const EventFile &) = delete;
  EventFile &operator=(const EventFile &) = delete;

  /// Adds a scalar, which need not be finite. It is stored as a float; what is not UTF-8 in the tag becomes U+FFFD.
  /// `wallTime`: seconds since 1970. Events are buffered, and written when the buffer is large.
  void add(int64_t step, std::string_view tag, double value, double wallTime);
  /// Writes what is buffered. Where that fails, the rest stays buffered, and a later call continues in the same record.
  void flush();

  const std::filesystem::path &path() const { return file; }

private:
  void append(const Event &event);

  std::filesystem::path file;
  int descriptor = -1;
  void (*encode)(const Event &, std::string &) = nullptr;
  std::string message, pending;
};

} // namespace sprig::events
