#include "lib/Data/File.h"
#include "include/sprig/error.h"
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace sprig::data {
namespace {

[[noreturn]] void fail(ErrorKind kind, const std::string &what, const std::filesystem::path &path) {
  throw Error(kind, path.string() + ": " + what + ": " + std::strerror(errno));
}

// The file that is being written aside, for removeUnfinishedFile.
std::atomic<const char *> unfinished{nullptr};

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd > 2) ::close(fd);
  }
};

// The file behind a chain of links, which need not be there yet: that is what is written, and the links stay.
std::filesystem::path followLinks(std::filesystem::path path) {
  constexpr int kMostLinks = 40; // as the kernel follows
  std::filesystem::path place = path;
  for (int links = 0;; ++links) {
    struct stat status;
    if (::lstat(place.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return place;
    if (links == kMostLinks) {
      errno = ELOOP;
      fail(ErrorKind::runtime, "cannot write", path);
    }
    std::error_code error;
    std::filesystem::path target = std::filesystem::read_symlink(place, error);
    if (error) throw Error(ErrorKind::runtime, path.string() + ": cannot read the link: " + error.message());
    place = place.parent_path() / target; // an absolute target stands alone
  }
}

void writeAll(int fd, std::span<const char> bytes, const std::filesystem::path &path) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EPIPE) return; // a reader that has seen enough is no failure
    if (n < 0) fail(ErrorKind::runtime, "cannot write", path);
    bytes = bytes.subspan(size_t(n));
  }
}

template <typename Bytes> Bytes readWhole(const std::filesystem::path &path) {
  Descriptor file{path == "-" ? 0 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) fail(ErrorKind::badInput, "cannot open", path);
  struct stat status;
  if (::fstat(file.fd, &status) != 0) fail(ErrorKind::badInput, "cannot read", path);
  if (S_ISDIR(status.st_mode)) throw Error(ErrorKind::badInput, path.string() + ": is a folder, expected a file");
  // /dev/zero has no end; a pipe has one, and so has what is typed.
  if (path != "-" && (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && !::isatty(file.fd))))
    throw Error(ErrorKind::badInput, path.string() + ": is a device, expected a file");
  // Through a block that stays in the cache: fresh memory is written once, and not with zeros first.
  Bytes bytes;
  if (S_ISREG(status.st_mode)) bytes.reserve(size_t(status.st_size));
  std::vector<char> block(1 << 17);
  for (;;) {
    ssize_t n = ::read(file.fd, block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(ErrorKind::badInput, "cannot read", path);
    if (n == 0) break;
    bytes.insert(bytes.end(), block.data(), block.data() + n);
  }
  return bytes;
}

} // namespace

std::vector<char> readFile(const std::filesystem::path &path) { return readWhole<std::vector<char>>(path); }
std::string readText(const std::filesystem::path &path) { return readWhole<std::string>(path); }

void writeFile(const std::filesystem::path &path, std::span<const char> bytes) {
  if (path == "-") throw Error(ErrorKind::usage, "-: expected a file to write (./- is one of that name)");
  struct stat status;
  bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    if (S_ISDIR(status.st_mode)) throw Error(ErrorKind::usage, path.string() + ": is a folder, expected a file name");
    Descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
    if (file.fd < 0) fail(ErrorKind::runtime, "cannot open for writing", path);
    return writeAll(file.fd, bytes, path);
  }
  // A rename asks the folder alone; a file that is closed to writing is not replaced all the same.
  if (exists && ::access(path.c_str(), W_OK) != 0) fail(ErrorKind::runtime, "cannot write", path);
  std::filesystem::path target = followLinks(path);
  std::string aside = target.string() + ".tmp-" + std::to_string(::getpid());
  unfinished = aside.c_str();
  try {
    Descriptor file{::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
    if (file.fd < 0) fail(ErrorKind::runtime, "cannot write", path);
    if (exists && ::fchmod(file.fd, status.st_mode & 0777) != 0) fail(ErrorKind::runtime, "cannot set the mode", path);
    writeAll(file.fd, bytes, path);
    // Some file systems do not sync, and say so by EINVAL.
    if (::fsync(file.fd) != 0 && errno != EINVAL) fail(ErrorKind::runtime, "cannot sync", path);
    if (::rename(aside.c_str(), target.c_str()) != 0) fail(ErrorKind::runtime, "cannot rename into place", path);
  } catch (...) {
    ::unlink(aside.c_str());
    unfinished = nullptr;
    throw;
  }
  unfinished = nullptr;
}

void writeStandardOutput(std::span<const char> bytes) { writeAll(STDOUT_FILENO, bytes, "standard output"); }

void removeUnfinishedFile() {
  if (const char *path = unfinished) ::unlink(path);
}

std::string encodeFileName(const std::string &name) {
  std::string result;
  for (unsigned char c : name) {
    bool leadingDot = c == '.' && result.empty();
    if ((std::isalnum(c) || std::strchr("._-+=@,", c)) && c && !leadingDot) {
      result += char(c);
    } else {
      const char *digits = "0123456789ABCDEF";
      result += {'%', digits[c >> 4], digits[c & 15]};
    }
  }
  return result.empty() ? "%" : result;
}

} // namespace sprig::data
