#include "lib/Data/File.h"
#include "include/sprig/error.h"
#include "runtime/base/Uninterrupted.h"
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace sprig::data {

using rt::core::uninterrupted;

namespace {

[[noreturn]] void fail(ErrorKind kind, const std::string &what, const std::filesystem::path &path) {
  throw Error(kind, path.string() + ": " + what + ": " + std::strerror(errno));
}

int openFile(const std::filesystem::path &path, int flags, mode_t mode = 0) {
  return uninterrupted([&] { return ::open(path.c_str(), flags, mode); });
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
    if (error) runtimeError(path.string() + ": cannot read the link: " + error.message());
    place = place.parent_path() / target; // an absolute target stands alone
  }
}

void writeAll(int fd, std::span<const char> bytes, const std::filesystem::path &path) {
  while (!bytes.empty()) {
    ssize_t n = uninterrupted([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (n < 0 && errno == EPIPE) return; // a reader that has seen enough is no failure
    if (n < 0) fail(ErrorKind::runtime, "cannot write", path);
    bytes = bytes.subspan(size_t(n));
  }
}

// A pipe without a name was made with both ends; one with a name may have nobody at the other.
bool hasName(int pipe) {
  struct statfs system;
  return ::fstatfs(pipe, &system) != 0 || system.f_type != PIPEFS_MAGIC;
}

template <typename Bytes> Bytes readWhole(const std::filesystem::path &path, Pipes pipes) {
  OpenFile file(path, pipes);
  // Through a block that stays in the cache: fresh memory is written once, and not with zeros first.
  Bytes bytes;
  if (file.size()) bytes.reserve(size_t(*file.size()));
  std::vector<char> block(1 << 17);
  while (size_t count = file.read(block)) bytes.insert(bytes.end(), block.data(), block.data() + count);
  return bytes;
}

} // namespace

OpenFile::OpenFile(const std::filesystem::path &path, Pipes pipes) : path(path) {
  // Opening waits for nobody: a pipe without a writer opens at once, and is known by its kind.
  Descriptor file{path == "-" ? 0 : openFile(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
  if (file.fd < 0) data::fail(ErrorKind::badInput, "cannot open", path);
  struct stat status;
  if (::fstat(file.fd, &status) != 0) data::fail(ErrorKind::badInput, "cannot read", path);
  if (S_ISDIR(status.st_mode)) fail("is a folder, expected a file");
  if (S_ISREG(status.st_mode)) {
    bytes = status.st_size;
  } else if (path != "-") {
    // /dev/zero has no end; a pipe has one, and so has what is typed.
    if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && !::isatty(file.fd)))
      fail("is a device, expected a file");
    if (S_ISFIFO(status.st_mode) && pipes == Pipes::refused) fail("is a pipe, expected a file");
    awaitsWriter = S_ISFIFO(status.st_mode) && hasName(file.fd);
  }
  fd = std::exchange(file.fd, -1);
}

OpenFile::~OpenFile() {
  if (fd > 2) ::close(fd);
}

void OpenFile::fail(const char *what) const { badInput(path.string() + ": " + what); }

size_t OpenFile::read(std::span<char> into) {
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  for (;;) {
    ssize_t count = uninterrupted([&] { return ::read(fd, into.data(), into.size()); });
    if (count < 0 && errno == EAGAIN) { // somebody is at the other end
      awaitsWriter = false;
      pollfd wait = {fd, POLLIN, 0};
      ::poll(&wait, 1, -1);
      continue;
    }
    if (count < 0) data::fail(ErrorKind::badInput, "cannot read", path);
    if (count > 0) awaitsWriter = false;
    if (count > 0 || !awaitsWriter) return size_t(count);
    if (Clock::now() - begin > std::chrono::seconds(1)) fail("is a pipe that nobody writes to, expected a file");
    ::poll(nullptr, 0, 10);
  }
}

std::vector<char> readFile(const std::filesystem::path &path, Pipes pipes) {
  return readWhole<std::vector<char>>(path, pipes);
}
std::string readText(const std::filesystem::path &path) { return readWhole<std::string>(path, Pipes::read); }

std::vector<char> readPart(const std::filesystem::path &path, int64_t offset, int64_t count) {
  OpenFile file(path, Pipes::refused);
  if (offset < 0 || count < 0 || !file.size() || offset > *file.size() || count > *file.size() - offset)
    badInput(path.string() + ": has no " + std::to_string(count) + " bytes from byte " + std::to_string(offset) +
             " on");
  std::vector<char> bytes(static_cast<size_t>(count));
  for (size_t done = 0; done < bytes.size();) {
    ssize_t n = uninterrupted([&] {
      return ::pread(file.handle(), bytes.data() + done, bytes.size() - done, off_t(offset + int64_t(done)));
    });
    if (n == 0) errno = EIO; // cut off meanwhile
    if (n <= 0) fail(ErrorKind::badInput, "cannot read", path);
    done += size_t(n);
  }
  return bytes;
}

void makeFolder(const std::filesystem::path &path) {
  std::error_code error;
  do std::filesystem::create_directories(path, error);
  while (error == std::errc::interrupted);
  if (error) runtimeError(path.string() + ": cannot be made: " + error.message());
}

void writeFile(const std::filesystem::path &path, std::span<const char> bytes) {
  if (path == "-") badUse("-: expected a file to write (./- is one of that name)");
  struct stat status;
  bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    if (S_ISDIR(status.st_mode)) badUse(path.string() + ": is a folder, expected a file name");
    Descriptor file{openFile(path, O_WRONLY | O_CLOEXEC)};
    if (file.fd < 0) fail(ErrorKind::runtime, "cannot open for writing", path);
    return writeAll(file.fd, bytes, path);
  }
  // A rename asks the folder alone; a file that is closed to writing is not replaced all the same.
  if (exists && ::access(path.c_str(), W_OK) != 0) fail(ErrorKind::runtime, "cannot write", path);
  std::filesystem::path target = followLinks(path);
  std::string aside = target.string() + ".tmp-" + std::to_string(::getpid());
  unfinished = aside.c_str();
  try {
    Descriptor file{openFile(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
    if (file.fd < 0) fail(ErrorKind::runtime, "cannot write", path);
    if (exists && ::fchmod(file.fd, status.st_mode & 0777) != 0) fail(ErrorKind::runtime, "cannot set the mode", path);
    writeAll(file.fd, bytes, path);
    // Some file systems do not sync, and say so by EINVAL.
    if (uninterrupted([&] { return ::fsync(file.fd); }) != 0 && errno != EINVAL)
      fail(ErrorKind::runtime, "cannot sync", path);
    if (uninterrupted([&] { return ::rename(aside.c_str(), target.c_str()); }) != 0)
      fail(ErrorKind::runtime, "cannot rename into place", path);
  } catch (...) {
    ::unlink(aside.c_str());
    unfinished = nullptr;
    throw;
  }
  unfinished = nullptr;
}

void checkWritable(const std::filesystem::path &path) {
  // A file that is there has permissions of its own. Where a link points, the new file is written beside the old one.
  std::error_code ignored;
  std::filesystem::path file = path;
  auto refuse = [&](const std::string &what) { fail(ErrorKind::runtime, "cannot be written" + what, path); };
  if (std::filesystem::is_directory(file, ignored)) badUse(path.string() + ": is a folder, expected a file name");
  if (std::filesystem::exists(file, ignored)) {
    if (::access(file.c_str(), W_OK) != 0) refuse("");
    if (!std::filesystem::is_regular_file(file, ignored)) return;
    file = std::filesystem::canonical(file, ignored);
  }
  std::filesystem::path folder = file.parent_path();
  if (folder.empty()) folder = ".";
  if (::access(folder.c_str(), W_OK) != 0) refuse(": " + folder.string());
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
