// Writes checkpoints of a running training beside its steps: `save` copies the state and returns, a thread writes.
// Where
// the system starts no thread, `save` itself writes. For `sprig train`. One writer at a time has a folder; the last few
// checkpoints are kept.
#pragma once
#include "lib/Checkpoint/Checkpoint.h"
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace sprig::checkpoints {

class Writer {
public:
  /// Makes the folder, removes what killed processes left unfinished. `keep` is at least 1. Throws Error when it
  /// cannot be written to (runtime) or another process is writing there (usage).
  Writer(std::filesystem::path folder, int keep);
  /// Waits for what is being written, and drops its error: call wait() to see it.
  ~Writer();
  Writer(const Writer &) = delete;
  Writer &operator=(const Writer &) = delete;

  /// Copies the arrays and lets them be written as step-N. Waits while an earlier save is still being written, and
  /// throws its error. Checkpoints of later steps belong to a run that this one has taken the place of; they go.
  void save(const Manifest &manifest, std::span<const ArrayView> arrays);

  /// Returns when everything saved is on the disk. Throws the error of what is not.
  void wait();

private:
  std::filesystem::path folder;
  int keep, lock = -1;

  std::mutex mutex;
  std::condition_variable changed;
  bool busy = false, stopping = false; // under the mutex, as is `error`
  std::exception_ptr error;
  Manifest manifest; // of the image; both belong to the thread while it is busy
  std::vector<char> image;
  std::thread thread;

  void run();
  void waitLocked(std::unique_lock<std::mutex> &held);
};

/// What the writer's thread does: writes aside, syncs, renames; then removes what need not be kept.
void writeStep(const std::filesystem::path &folder, const Manifest &manifest, std::span<const char> image, int keep);

} // namespace sprig::checkpoints
