// Results kept on disk by a hash of what they were made from: objects of kernels, packages, measurements.
// For the compiler and the command line. Nothing here fails a compilation: where the folder cannot be read, written or
// trusted, or an entry is damaged, the cache works as if it were empty and says so through `report`. Several processes
// and threads may use one folder at once. docs/cache.md describes the folder.
#pragma once
#include "lib/Cache/TrustedFolder.h"
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace sprig {

/// The folder that commands use: $SPRIG_CACHE, else sprig in $XDG_CACHE_HOME, else in ~/.cache.
std::string defaultCacheFolder();

/// $SPRIG_CACHE_SIZE, else 512 MiB. Sizes are numbers with an optional K, M or G (powers of 1024).
uint64_t defaultCacheSize();
/// Nothing when the text is no such size.
std::optional<uint64_t> parseCacheSize(std::string_view text);

/// Why a folder cannot serve as a cache, made with its parents where it is not there; empty when it can.
std::string cacheProblem(const std::string &folder);
/// Why nothing in a folder may be read as a cache: others could have put it there; empty when it may, or is missing.
std::string cacheDistrust(const std::string &folder);

class FileCache {
public:
  using Report = std::function<void(const std::string &line)>;

  /// Uses FOLDER/KIND, and makes both (0700) when they are not there. `kind` names what is kept, such as "kernels";
  /// the limit holds for each kind.
  FileCache(std::string folder, std::string kind, uint64_t maxBytes, Report report = nullptr);
  /// Deletes what was used least recently where the folder has passed the limit. A process looks at its first object
  /// that stored something, then when it has stored what room there was, at most a sixteenth of the limit.
  ~FileCache();
  FileCache(const FileCache &) = delete;
  FileCache &operator=(const FileCache &) = delete;

  /// The value stored under `key` (letters and digits), and marks it as used. A damaged entry is removed.
  std::optional<std::string> load(const std::string &key);
  /// Keeps a value: written aside, then renamed. Replaces what was there.
  void store(const std::string &key, std::string_view value);

  struct Counts {
    std::atomic<uint64_t> hits{0}, misses{0}, stored{0}, damaged{0}, evicted{0};
  };
  const Counts &counts() const { return counted; }
  /// Why what is there is not used; empty when it is, or when nothing is there.
  const std::string &distrust() const { return distrusted; }

private:
  bool prepareToWrite();
  void evict();
  void say(const std::string &line);
  /// Says it, and stores nothing any more: one full disk is reported once.
  void stopWriting(const std::string &line);
  /// The folder of the entries, once there is one.
  const TrustedFolder *entries() const { return readable ? &folder : nullptr; }

  const std::string root, path;
  const uint64_t maxBytes;
  Report report;
  std::string distrusted;
  TrustedFolder folder; // set before `readable`
  std::atomic<bool> readable{false};
  std::mutex mutex; // of what follows
  bool prepared = false, writable = false;
  Counts counted;
  std::atomic<uint64_t> storedBytes{0};
};

} // namespace sprig
