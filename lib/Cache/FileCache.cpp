#include "lib/Cache/FileCache.h"
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tuple>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace sprig;

namespace {
// In front of every value. The key is part of what is summed up, so that a file under another's name is damage too.
struct Header {
  char magic[8];
  uint64_t size, checksum;
};
constexpr char kMagic[8] = {'S', 'P', 'R', 'I', 'G', 'C', 'H', '1'};
constexpr std::string_view kUnfinished = "tmp-";
constexpr time_t kForgottenSeconds = 3600;

uint64_t checksumOf(const std::string &key, std::string_view value) {
  return XXH3_64bits_withSeed(value.data(), value.size(), XXH3_64bits(key.data(), key.size()));
}

struct File {
  int handle;
  explicit File(int handle) : handle(handle) {}
  ~File() {
    if (handle >= 0) ::close(handle);
  }
};

bool readAll(int file, char *data, size_t size) {
  while (size > 0) {
    ssize_t count = ::read(file, data, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    data += count;
    size -= size_t(count);
  }
  return true;
}

bool writeAll(int file, const char *data, size_t size) {
  while (size > 0) {
    ssize_t count = ::write(file, data, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    data += count;
    size -= size_t(count);
  }
  return true;
}

// Why a folder cannot be trusted: entries are code, so nobody else may have put them there. Empty when it can.
std::string distrust(const std::string &folder, const struct stat &status) {
  if (!S_ISDIR(status.st_mode)) return folder + ": is no folder";
  if (status.st_uid != ::geteuid())
    return folder + ": belongs to user " + std::to_string(status.st_uid) + ", not to " + std::to_string(::geteuid());
  if (status.st_mode & 022) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", unsigned(status.st_mode & 07777));
    return folder + ": other users may write to it (mode " + mode + ", expected 0700)";
  }
  return "";
}

void makeParents(const std::string &folder) {
  for (size_t slash = folder.find('/', 1); slash != std::string::npos; slash = folder.find('/', slash + 1))
    ::mkdir(folder.substr(0, slash).c_str(), 0777);
}

// Makes a folder where there is none; why it cannot be used, empty when it can.
std::string makeFolder(const std::string &path) {
  struct stat status;
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return path + ": cannot be made: " + std::strerror(errno);
  if (::stat(path.c_str(), &status) != 0) return path + ": cannot be looked at: " + std::strerror(errno);
  if (std::string why = distrust(path, status); !why.empty()) return why;
  return ::access(path.c_str(), W_OK) == 0 ? "" : path + ": cannot be written to: " + std::strerror(errno);
}
} // namespace

std::string sprig::cacheProblem(const std::string &folder) {
  makeParents(folder);
  return makeFolder(folder);
}

std::string sprig::defaultCacheFolder() {
  if (const char *folder = std::getenv("SPRIG_CACHE"); folder && *folder) return folder;
  if (const char *base = std::getenv("XDG_CACHE_HOME"); base && *base) return std::string(base) + "/sprig";
  const char *home = std::getenv("HOME");
  return std::string(home && *home ? home : "/tmp") + "/.cache/sprig";
}

std::optional<uint64_t> sprig::parseCacheSize(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  std::string_view unit(end, size_t(text.data() + text.size() - end));
  int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (shift < 0 || value > (UINT64_MAX >> shift)) return std::nullopt;
  return value << shift;
}

uint64_t sprig::defaultCacheSize() {
  const char *text = std::getenv("SPRIG_CACHE_SIZE");
  std::optional<uint64_t> size = text ? parseCacheSize(text) : std::nullopt;
  return size.value_or(uint64_t(512) << 20);
}

FileCache::FileCache(std::string root, std::string kind, uint64_t maxBytes, Report report)
    : folder(std::move(root)), place(folder + "/" + kind), maxBytes(maxBytes), report(std::move(report)) {
  struct stat status;
  readable = true;
  for (const std::string &path : {folder, place}) {
    if (::lstat(path.c_str(), &status) != 0) {
      readable = false; // made when there is something to keep
      return;
    }
    // A link to a folder is the user's choice where the folder is the user's.
    if (S_ISLNK(status.st_mode) && ::stat(path.c_str(), &status) != 0) status.st_mode = S_IFREG;
    if (std::string why = distrust(path, status); !why.empty()) {
      readable = false;
      stopWriting("cache: " + why + "; compiling without it");
      return;
    }
  }
}

FileCache::~FileCache() {
  if (counted.stored > 0) evict();
}

void FileCache::say(const std::string &line) {
  if (report) report(line);
}

void FileCache::stopWriting(const std::string &line) {
  bool first;
  {
    std::lock_guard lock(mutex);
    first = !prepared || writable;
    prepared = true;
    writable = false;
  }
  if (first) say(line);
}

bool FileCache::prepareToWrite() {
  std::string why;
  {
    std::lock_guard lock(mutex);
    if (prepared) return writable;
    why = cacheProblem(folder);
    if (why.empty()) why = makeFolder(place);
    prepared = true;
    writable = why.empty();
    if (writable) readable = true;
  }
  if (!why.empty()) say("cache: " + why + "; nothing is kept");
  return why.empty();
}

std::optional<std::string> FileCache::load(const std::string &key) {
  auto miss = [&]() -> std::optional<std::string> {
    ++counted.misses;
    return std::nullopt;
  };
  if (!readable) return miss();
  std::string path = pathOf(key);
  File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)); // a pipe is not waited for
  if (file.handle < 0) return miss();
  struct stat status;
  Header header;
  std::string value;
  bool sound = ::fstat(file.handle, &status) == 0 && S_ISREG(status.st_mode) &&
               readAll(file.handle, reinterpret_cast<char *>(&header), sizeof header) &&
               std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 &&
               uint64_t(status.st_size) == sizeof header + header.size;
  if (sound) {
    value.resize(header.size);
    sound = readAll(file.handle, value.data(), value.size()) && checksumOf(key, value) == header.checksum;
  }
  if (!sound) {
    ++counted.damaged;
    say("warning: cache: " + path + ": is damaged; made anew");
    ::unlink(path.c_str());
    return miss();
  }
  ::futimens(file.handle, nullptr); // the time of last use; a folder that forbids it keeps no order
  ++counted.hits;
  return value;
}

void FileCache::store(const std::string &key, std::string_view value) {
  if (sizeof(Header) + value.size() > maxBytes || !prepareToWrite()) return;
  static std::atomic<unsigned> counter{0};
  std::string aside =
      place + "/" + std::string(kUnfinished) + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  Header header;
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.size = value.size();
  header.checksum = checksumOf(key, value);
  int error = 0;
  {
    File file(::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.handle < 0)
      error = errno;
    else if (!writeAll(file.handle, reinterpret_cast<const char *>(&header), sizeof header) ||
             !writeAll(file.handle, value.data(), value.size()))
      error = errno ? errno : EIO;
  }
  if (!error && ::rename(aside.c_str(), pathOf(key).c_str()) != 0) error = errno;
  if (error) {
    ::unlink(aside.c_str());
    return stopWriting("cache: " + place + ": cannot be written to: " + std::strerror(error) + "; nothing is kept");
  }
  ++counted.stored;
}

void FileCache::evict() {
  struct Entry {
    std::string name;
    uint64_t size;
    timespec used;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  DIR *listing = ::opendir(place.c_str());
  if (!listing) return;
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  while (const dirent *item = ::readdir(listing)) {
    struct stat status;
    if (::fstatat(::dirfd(listing), item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
      continue;
    // What a process that was killed left behind.
    if (std::string_view(item->d_name).starts_with(kUnfinished)) {
      if (now.tv_sec - status.st_mtim.tv_sec > kForgottenSeconds) ::unlinkat(::dirfd(listing), item->d_name, 0);
      continue;
    }
    entries.push_back({item->d_name, uint64_t(status.st_size), status.st_mtim});
    total += uint64_t(status.st_size);
  }
  if (total > maxBytes) {
    std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
      return std::tie(a.used.tv_sec, a.used.tv_nsec, a.name) < std::tie(b.used.tv_sec, b.used.tv_nsec, b.name);
    });
    // Some room, so that the next compilation does not have to do this again.
    const uint64_t target = maxBytes - maxBytes / 10;
    for (const Entry &entry : entries) {
      if (total <= target) break;
      if (::unlinkat(::dirfd(listing), entry.name.c_str(), 0) != 0) continue;
      total -= entry.size;
      ++counted.evicted;
    }
  }
  ::closedir(listing);
}
