#include "lib/Checkpoint/Writer.h"
#include "include/sprig/error.h"
#include "lib/Checkpoint/Files.h"
#include "lib/Data/File.h"
#include "runtime/base/Uninterrupted.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <system_error>
#include <utility>

namespace fs = std::filesystem;

namespace sprig::checkpoints {

using rt::core::uninterrupted;

namespace {

// Folders are locked by themselves: a lock ends with its process, and leaves no file.
int lockFolder(const fs::path &folder) {
  int handle = uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (handle < 0) runtimeError(folder.string() + ": cannot be opened as a folder: " + std::strerror(errno));
  if (uninterrupted([&] { return ::flock(handle, LOCK_EX | LOCK_NB); }) == 0) return handle;
  int reason = errno;
  ::close(handle);
  if (reason == EWOULDBLOCK) badUse(folder.string() + ": another process is writing checkpoints there");
  runtimeError(folder.string() + ": cannot be locked: " + std::strerror(reason));
}

// With the folder locked, what is aside is nobody's.
void removeUnfinished(const fs::path &folder) {
  std::vector<fs::path> unfinished;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with(kAside)) unfinished.push_back(entry->path());
  for (const fs::path &path : unfinished) fs::remove_all(path, error);
}

} // namespace

Writer::Writer(fs::path where, int keep) : folder(std::move(where)), keep(keep) {
  data::makeFolder(folder);
  lock = lockFolder(folder);
  removeUnfinished(folder);
  try {
    thread = std::thread([this] { run(); });
  } catch (const std::system_error &) {
    // Without a thread each save writes before it returns.
  }
}

Writer::~Writer() {
  {
    std::unique_lock held(mutex);
    stopping = true;
    changed.notify_all();
  }
  if (thread.joinable()) thread.join();
  ::close(lock);
}

void Writer::waitLocked(std::unique_lock<std::mutex> &held) {
  changed.wait(held, [&] { return !busy; });
  if (error) std::rethrow_exception(std::exchange(error, nullptr));
}

void Writer::wait() {
  std::unique_lock held(mutex);
  waitLocked(held);
}

void Writer::save(const Manifest &what, std::span<const ArrayView> arrays) {
  std::unique_lock held(mutex);
  waitLocked(held);
  manifest = what;
  formatArrays(arrays, image);
  if (!thread.joinable()) return writeStep(folder, manifest, image, keep);
  busy = true;
  changed.notify_all();
}

void Writer::run() {
  std::unique_lock held(mutex);
  for (;;) {
    changed.wait(held, [&] { return busy || stopping; });
    if (!busy) return;
    held.unlock();
    std::exception_ptr failure;
    try {
      writeStep(folder, manifest, image, keep);
    } catch (...) {
      failure = std::current_exception();
    }
    held.lock();
    error = failure;
    busy = false;
    changed.notify_all();
  }
}

} // namespace sprig::checkpoints
