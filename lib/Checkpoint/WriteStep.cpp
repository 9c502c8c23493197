// A checkpoint onto the disk: every file and folder is synced before the rename that makes it one.
#include "include/sprig/error.h"
#include "lib/Checkpoint/Files.h"
#include "lib/Checkpoint/Writer.h"
#include "runtime/base/Uninterrupted.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace sprig::checkpoints {

using rt::core::uninterrupted;

namespace {

struct Descriptor {
  int handle;
  ~Descriptor() {
    if (handle >= 0) ::close(handle);
  }
};

[[noreturn]] void fail(const fs::path &path, const std::string &what, int reason) {
  runtimeError(path.string() + ": " + what + ": " + std::strerror(reason));
}

void syncFolder(const fs::path &folder) {
  Descriptor file{uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); })};
  // Some file systems do not sync folders, and say so by EINVAL.
  if (file.handle < 0 || (uninterrupted([&] { return ::fsync(file.handle); }) != 0 && errno != EINVAL))
    fail(folder, "cannot sync", errno);
}

void writeSynced(const fs::path &path, std::span<const char> bytes) {
  Descriptor file{uninterrupted([&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); })};
  if (file.handle < 0) fail(path, "cannot write", errno);
  size_t all = bytes.size();
  while (!bytes.empty()) {
    ssize_t n = uninterrupted([&] { return ::write(file.handle, bytes.data(), bytes.size()); });
    if (n < 0)
      fail(path, "cannot write " + std::to_string(all) + " bytes, stopped at " + std::to_string(all - bytes.size()),
           errno);
    bytes = bytes.subspan(size_t(n));
  }
  if (uninterrupted([&] { return ::fsync(file.handle); }) != 0) fail(path, "cannot sync", errno);
}

fs::path asidePath(const fs::path &folder, const char *why, int64_t step) {
  return folder / (kAside + std::string(why) + "-" + std::to_string(::getpid()) + "-" + std::to_string(step));
}

// Out of the way by one rename first: half a removal must not look like a checkpoint.
void removeStep(const fs::path &folder, int64_t step) {
  fs::path aside = asidePath(folder, "old", step);
  std::error_code ignored;
  fs::remove_all(aside, ignored);
  if (::rename(stepFolder(folder, step).c_str(), aside.c_str()) == 0) fs::remove_all(aside, ignored);
}

void publish(const fs::path &aside, const fs::path &folder, int64_t step) {
  fs::path place = stepFolder(folder, step);
  if (uninterrupted([&] { return ::rename(aside.c_str(), place.c_str()); }) == 0) return;
  if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) fail(place, "cannot rename into place", errno);
  // What is there already is of a run that this one goes on from an earlier point of. The two change places at once,
  // or, where the file system cannot, one after the other.
  if (::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) == 0) {
    std::error_code ignored;
    fs::remove_all(aside, ignored);
    return;
  }
  removeStep(folder, step);
  if (uninterrupted([&] { return ::rename(aside.c_str(), place.c_str()); }) != 0)
    fail(place, "cannot rename into place", errno);
}

} // namespace

void writeStep(const fs::path &folder, const Manifest &manifest, std::span<const char> image, int keep) {
  fs::path aside = asidePath(folder, "new", manifest.step);
  std::error_code ignored;
  fs::remove_all(aside, ignored);
  try {
    if (uninterrupted([&] { return ::mkdir(aside.c_str(), 0777); }) != 0) fail(aside, "cannot be made", errno);
    writeSynced(aside / kArraysFile, image);
    std::string text = formatManifest(manifest, image.size(), checksum(image));
    writeSynced(aside / kManifestFile, text);
    syncFolder(aside);
    publish(aside, folder, manifest.step);
    syncFolder(folder);
  } catch (const Error &error) {
    fs::remove_all(aside, ignored);
    std::vector<int64_t> steps = listSteps(folder);
    throw Error(error.kind(),
                std::string(error.what()) +
                    (steps.empty() ? "\nnote: there is no earlier checkpoint"
                                   : "\nnote: the checkpoint of step " + std::to_string(steps.front()) + " stays"));
  }
  int kept = 0;
  for (int64_t step : listSteps(folder))
    if (step > manifest.step || ++kept > keep) removeStep(folder, step);
}

} // namespace sprig::checkpoints
