#include "lib/Cache/FileCache.h"
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <mutex>
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
constexpr time_t kForgottenSeconds = 3600;

uint64_t checksumOf(const std::string &key, std::string_view value) {
  return XXH3_64bits_withSeed(value.data(), value.size(), XXH3_64bits(key.data(), key.size()));
}

// How many bytes this process may still store in a folder before it looks again whether the limit is passed: listing
// thousands of files after every function that is compiled takes longer than compiling.
struct Rooms {
  std::mutex mutex;
  std::map<std::pair<std::string, uint64_t>, uint64_t> all; // by folder and limit
};
Rooms &rooms() {
  static auto &all = *new Rooms; // caches may outlive static objects
  return all;
}

// False where there is no such room, or none is known.
bool takeRoom(const std::string &path, uint64_t maxBytes, uint64_t bytes) {
  std::lock_guard lock(rooms().mutex);
  auto room = rooms().all.find({path, maxBytes});
  if (room == rooms().all.end() || room->second < bytes) return false;
  room->second -= bytes;
  return true;
}

// Up to the limit, and no more than a sixteenth of it, as other processes store too.
void setRoom(const std::string &path, uint64_t maxBytes, uint64_t total) {
  std::lock_guard lock(rooms().mutex);
  rooms().all[{path, maxBytes}] = std::min(maxBytes - std::min(total, maxBytes), maxBytes / 16);
}

// A folder to write to, made where there is none.
TrustedFolder folderToWrite(const std::string &path, std::string &why) {
  TrustedFolder::Refusal refusal;
  TrustedFolder folder = TrustedFolder::open(path, TrustedFolder::Missing::make, refusal);
  why = refusal.why;
  if (folder && ::faccessat(folder.handle(), ".", W_OK, 0) != 0)
    why = path + ": cannot be written to: " + std::strerror(errno);
  return folder;
}
} // namespace

std::string sprig::cacheProblem(const std::string &folder) {
  std::string why;
  folderToWrite(folder, why);
  return why;
}

std::string sprig::cacheDistrust(const std::string &folder) {
  TrustedFolder::Refusal refusal;
  TrustedFolder::open(folder, TrustedFolder::Missing::leave, refusal);
  return refusal.isDistrust ? refusal.why : "";
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

FileCache::FileCache(std::string givenRoot, std::string kind, uint64_t maxBytes, Report report)
    : root(std::move(givenRoot)), path(root + "/" + kind), maxBytes(maxBytes), report(std::move(report)) {
  // A folder that is missing is made when there is something to keep.
  TrustedFolder::Refusal refusal;
  if (TrustedFolder::open(root, TrustedFolder::Missing::leave, refusal))
    folder = TrustedFolder::open(path, TrustedFolder::Missing::leave, refusal);
  readable = bool(folder);
  if (refusal.isDistrust) distrusted = refusal.why;
  if (!refusal.why.empty()) stopWriting("cache: " + refusal.why + "; compiling without it");
}

FileCache::~FileCache() {
  if (storedBytes > 0 && !takeRoom(path, maxBytes, storedBytes)) evict();
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
    why = cacheProblem(root);
    if (why.empty()) {
      TrustedFolder made = folderToWrite(path, why);
      if (!readable && made) {
        folder = std::move(made);
        readable = true;
      }
    }
    prepared = true;
    writable = why.empty();
  }
  if (!why.empty()) say("cache: " + why + "; nothing is kept");
  return why.empty();
}

std::optional<std::string> FileCache::load(const std::string &key) {
  auto miss = [&]() -> std::optional<std::string> {
    ++counted.misses;
    return std::nullopt;
  };
  const TrustedFolder *entries = this->entries();
  if (!entries) return miss();
  std::string why;
  std::optional<std::string> found = entries->read(key, sizeof(Header) + maxBytes, why);
  if (!found && why.empty()) return miss();
  Header header;
  bool sound = found && found->size() >= sizeof header;
  if (sound) {
    std::memcpy(&header, found->data(), sizeof header);
    found->erase(0, sizeof header);
    sound = std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 && found->size() == header.size &&
            checksumOf(key, *found) == header.checksum;
  }
  if (!sound) {
    ++counted.damaged;
    say("warning: cache: " + path + "/" + key + ": " + (why.empty() ? "is damaged" : why) + "; made anew");
    entries->remove(key);
    return miss();
  }
  ++counted.hits;
  return found;
}

void FileCache::store(const std::string &key, std::string_view value) {
  if (sizeof(Header) + value.size() > maxBytes || !prepareToWrite()) return;
  Header header;
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.size = value.size();
  header.checksum = checksumOf(key, value);
  std::string why = folder.write(key, {{reinterpret_cast<const char *>(&header), sizeof header}, value});
  if (!why.empty()) return stopWriting("cache: " + path + ": cannot be written to: " + why + "; nothing is kept");
  ++counted.stored;
  storedBytes += sizeof header + value.size();
}

void FileCache::evict() {
  struct Entry {
    std::string name;
    uint64_t size;
    timespec used;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  int handle = ::openat(folder.handle(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *listing = handle < 0 ? nullptr : ::fdopendir(handle);
  if (!listing) {
    if (handle >= 0) ::close(handle);
    return;
  }
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  while (const dirent *item = ::readdir(listing)) {
    struct stat status;
    if (::fstatat(::dirfd(listing), item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
      continue;
    // What a process that was killed left behind.
    if (std::string_view(item->d_name).starts_with(TrustedFolder::kUnfinished)) {
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
  setRoom(path, maxBytes, total);
}
