#include "lib/Cache/TrustedFolder.h"
#include "runtime/base/Uninterrupted.h"
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace sprig {

using rt::core::uninterrupted;

namespace {

constexpr int kMaxLinks = 40; // as the kernel follows

bool isOfTrustedUser(const struct stat &status) { return status.st_uid == ::geteuid() || status.st_uid == 0; }
bool isOpenToOthers(const struct stat &status) { return status.st_mode & (S_IWGRP | S_IWOTH); }

std::string ownerOf(const struct stat &status) {
  return "belongs to user " + std::to_string(status.st_uid) + ", not to " + std::to_string(::geteuid());
}

std::string openMode(const struct stat &status, const char *expected) {
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", unsigned(status.st_mode & 07777));
  return std::string("other users may write to it (mode ") + mode + ", expected " + expected + ")";
}

// Why the folder that is asked for cannot be trusted; empty when it can.
std::string distrust(const struct stat &status) {
  if (status.st_uid != ::geteuid()) return ownerOf(status);
  return isOpenToOthers(status) ? openMode(status, "0700") : "";
}

// The same of a folder or link above it. In a sticky folder only the owners of an entry and of the folder rename it,
// and both are looked at.
std::string distrustAbove(const struct stat &status) {
  constexpr const char *kMeans = "; so they could put another folder in the place of the cache";
  if (!isOfTrustedUser(status)) return ownerOf(status) + kMeans;
  if (S_ISDIR(status.st_mode) && isOpenToOthers(status) && !(status.st_mode & S_ISVTX))
    return openMode(status, "0755, or the sticky bit") + kMeans;
  return "";
}

// Puts the parts of a path in front of those that are left.
void addParts(std::string_view path, std::deque<std::string> &parts) {
  std::deque<std::string> more;
  for (size_t begin = 0; begin < path.size();) {
    size_t end = std::min(path.find('/', begin), path.size());
    std::string_view part = path.substr(begin, end - begin);
    if (!part.empty() && part != ".") more.emplace_back(part);
    begin = end + 1;
  }
  parts.insert(parts.begin(), more.begin(), more.end());
}

// Goes from the root to a folder, each part by the handle of the one above: nothing of it changes on the way.
class Walk {
public:
  Walk(TrustedFolder::Missing missing, TrustedFolder::Refusal &refusal) : missing(missing), refusal(refusal) {}

  Handle to(const std::string &path) {
    addParts(path, parts);
    if (!path.starts_with('/')) {
      std::error_code error;
      std::filesystem::path current = std::filesystem::current_path(error);
      if (error) {
        refusal.why = path + ": cannot be looked at: " + error.message();
        return {};
      }
      addParts(current.native(), parts);
    }
    if (!enterRoot()) return {};
    while (!parts.empty())
      if (!enterNext()) return {};
    struct stat status;
    if (!stat(folder, status, shown) || !trust(distrust(status), shown)) return {};
    return std::move(folder);
  }

private:
  bool fails(const std::string &path, const char *what) {
    refusal.why = (path.empty() ? "/" : path) + ": " + what + ": " + std::strerror(errno);
    return false;
  }
  bool trust(const std::string &reason, const std::string &path) {
    if (reason.empty()) return true;
    refusal = {(path.empty() ? "/" : path) + ": " + reason, true};
    return false;
  }
  bool stat(const Handle &handle, struct stat &status, const std::string &path) {
    return (handle && ::fstat(handle.get(), &status) == 0) || fails(path, "cannot be looked at");
  }

  bool enterRoot() {
    folder = Handle(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    shown.clear();
    return folder ? true : fails("/", "cannot be looked at");
  }

  bool enterNext() {
    std::string part = std::move(parts.front());
    parts.pop_front();
    std::string path = shown + "/" + part;
    struct stat status;
    if (!stat(folder, status, shown) || !trust(distrustAbove(status), shown)) return false;
    Handle next = enter(part);
    if (!next && errno == ENOENT) {
      if (missing == TrustedFolder::Missing::leave) return false;
      // Another process may be as quick.
      if (::mkdirat(folder.get(), part.c_str(), 0700) != 0 && errno != EEXIST) return fails(path, "cannot be made");
      next = enter(part);
    }
    if (!stat(next, status, path)) return false;
    if (S_ISLNK(status.st_mode)) return follow(next, status, path);
    if (!S_ISDIR(status.st_mode)) {
      refusal.why = path + ": is no folder";
      return false;
    }
    folder = std::move(next);
    shown = part == ".." ? shown.substr(0, shown.rfind('/')) : path;
    return true;
  }

  Handle enter(const std::string &part) const {
    return Handle(::openat(folder.get(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  }

  bool follow(const Handle &link, const struct stat &status, const std::string &path) {
    if (!trust(distrustAbove(status), path)) return false;
    char target[PATH_MAX];
    ssize_t size = ::readlinkat(link.get(), "", target, sizeof target);
    if (size >= 0 && ++links > kMaxLinks) size = -1, errno = ELOOP;
    if (size < 0) return fails(path, "cannot be looked at");
    addParts({target, size_t(size)}, parts);
    return target[0] == '/' ? enterRoot() : true;
  }

  TrustedFolder::Missing missing;
  TrustedFolder::Refusal &refusal;
  Handle folder;
  std::string shown; // the folder's path; empty: the root
  std::deque<std::string> parts;
  int links = 0;
};

bool readAll(int file, char *data, size_t size) {
  while (size > 0) {
    ssize_t count = uninterrupted([&] { return ::read(file, data, size); });
    if (count == 0) errno = EIO; // cut off meanwhile
    if (count <= 0) return false;
    data += count;
    size -= size_t(count);
  }
  return true;
}

bool writeAll(int file, std::string_view data) {
  while (!data.empty()) {
    ssize_t count = uninterrupted([&] { return ::write(file, data.data(), data.size()); });
    if (count == 0) errno = EIO;
    if (count <= 0) return false;
    data.remove_prefix(size_t(count));
  }
  return true;
}

} // namespace

Handle::~Handle() {
  if (fd >= 0) ::close(fd);
}

TrustedFolder TrustedFolder::open(const std::string &path, Missing missing, Refusal &refusal) {
  refusal = {};
  TrustedFolder result;
  result.name = path;
  result.folder = Walk(missing, refusal).to(path);
  return result;
}

std::optional<std::string> TrustedFolder::read(const std::string &file, size_t most, std::string &why) const {
  why.clear();
  // A pipe is not waited for.
  Handle handle(::openat(folder.get(), file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!handle) {
    if (errno != ENOENT) why = std::string("cannot be opened: ") + std::strerror(errno);
    return std::nullopt;
  }
  struct stat status;
  std::string bytes;
  if (::fstat(handle.get(), &status) != 0) {
    why = std::string("cannot be looked at: ") + std::strerror(errno);
  } else if (!S_ISREG(status.st_mode)) {
    why = "is no regular file";
  } else if (!isOfTrustedUser(status)) {
    why = ownerOf(status);
  } else if (isOpenToOthers(status)) {
    why = openMode(status, "0600");
  } else if (uint64_t(status.st_size) > most) {
    why = "has " + std::to_string(status.st_size) + " bytes, expected at most " + std::to_string(most);
  } else {
    bytes.resize(size_t(status.st_size));
    if (!readAll(handle.get(), bytes.data(), bytes.size()))
      why = std::string("cannot be read: ") + std::strerror(errno);
  }
  if (!why.empty()) return std::nullopt;
  ::futimens(handle.get(), nullptr); // the time of last use; a folder that forbids it keeps no order
  return bytes;
}

std::string TrustedFolder::write(const std::string &file, std::initializer_list<std::string_view> parts) const {
  static std::atomic<unsigned> counter{0};
  std::string aside = std::string(kUnfinished) + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  int error = 0;
  {
    Handle handle(::openat(folder.get(), aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!handle) return std::strerror(errno);
    for (std::string_view part : parts)
      if (!error && !writeAll(handle.get(), part)) error = errno;
  }
  if (!error && ::renameat(folder.get(), aside.c_str(), folder.get(), file.c_str()) != 0) error = errno;
  if (!error) return "";
  remove(aside);
  return std::strerror(error);
}

void TrustedFolder::remove(const std::string &file) const { ::unlinkat(folder.get(), file.c_str(), 0); }

} // namespace sprig
