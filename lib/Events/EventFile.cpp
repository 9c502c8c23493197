#include "lib/Events/EventFile.h"
#include "include/sprig/error.h"
#include "lib/Data/File.h"
#include "lib/Events/Encoder.h"
#include "lib/Events/Record.h"
#include "runtime/base/Uninterrupted.h"
#include "runtime/comm/Library.h"
#include "runtime/include/sprig/rt/utf8.hpp"
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace sprig::events {

using rt::core::uninterrupted;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "events.out.tfevents.";
constexpr size_t kDigits = 10; // of the seconds, as TensorFlow writes them
constexpr size_t kFlushBytes = 1 << 16;

EncodeFunction *findEncoder() {
  void *function = nullptr;
  if (auto status = rt::comm::findFunction("sprig_events", "encode", "event files", function); !status.isOk())
    unsupported(std::string(status.message()));
  return reinterpret_cast<EncodeFunction *>(function);
}

double secondsOfClock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The seconds in the name of an event file; 0 for another file.
int64_t secondsOfName(std::string_view name) {
  if (!name.starts_with(kPrefix) || name.find('.', kPrefix.size()) != kPrefix.size() + kDigits) return 0;
  const char *digits = name.data() + kPrefix.size();
  int64_t seconds = 0;
  return std::from_chars(digits, digits + kDigits, seconds).ptr == digits + kDigits ? seconds : 0;
}

// The seconds of a new file's name: now, or later than those of the files that are there. One of them may be of this
// second, or of a machine whose clock is ahead.
int64_t chooseSeconds(const fs::path &folder) {
  auto seconds = int64_t(secondsOfClock());
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator(); entry.increment(error))
    seconds = std::max(seconds, secondsOfName(entry->path().filename().native()) + 1);
  if (error) runtimeError(folder.string() + ": cannot be read: " + error.message());
  return seconds;
}

} // namespace

EventFile::EventFile(const fs::path &folder, std::optional<int64_t> resumeStep) : encode(findEncoder()) {
  data::makeFolder(folder);
  char host[256] = "";
  if (::gethostname(host, sizeof host - 1) != 0 || !*host) std::strcpy(host, "localhost");
  std::string seconds = std::to_string(chooseSeconds(folder));
  seconds.insert(0, kDigits - std::min(kDigits, seconds.size()), '0');
  std::string name = std::string(kPrefix) + seconds + "." + host + "." + std::to_string(::getpid()) + ".";
  // Another thread, or a process of another container, may have the same name in mind.
  for (int number = 0; descriptor < 0; ++number) {
    file = folder / (name + std::to_string(number));
    descriptor = uninterrupted([&] { return ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); });
    if (descriptor < 0 && errno != EEXIST) runtimeError(file.string() + ": cannot be made: " + std::strerror(errno));
  }
  append({secondsOfClock(), 0, FileVersion()});
  append({secondsOfClock(), resumeStep.value_or(0), SessionStart()});
}

EventFile::~EventFile() {
  try {
    flush();
  } catch (const Error &) {
  }
  ::close(descriptor);
}

void EventFile::add(int64_t step, std::string_view tag, double value, double wallTime) {
  std::string text = rt::validUtf8(tag);
  append({wallTime, step, Scalar{text, float(value)}});
  if (pending.size() >= kFlushBytes) flush();
}

void EventFile::append(const Event &event) {
  encode(event, message);
  appendRecord(pending, message);
}

void EventFile::flush() {
  size_t written = 0;
  while (written < pending.size()) {
    ssize_t n = uninterrupted([&] { return ::write(descriptor, pending.data() + written, pending.size() - written); });
    if (n < 0) {
      pending.erase(0, written);
      runtimeError(file.string() + ": cannot write: " + std::strerror(errno));
    }
    written += size_t(n);
  }
  pending.clear();
}

} // namespace sprig::events
