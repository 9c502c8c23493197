// Whole files: reading, and writing so that a file appears whole or not at all.
// Throws sprig::Error that names the file and the system's reason.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sprig::data {

/// Whether a pipe will do for a file. Where a user names it (`<(...)`, mkfifo) it is read to its end; one that nobody
/// writes to within a second is refused. What is found in a folder must be a regular file.
enum class Pipes { read, refused };

/// A file opened for reading. Never waits for what is no file: folders, devices and sockets are refused by name
/// (badInput), and pipes as said. `-` is standard input.
class OpenFile {
public:
  explicit OpenFile(const std::filesystem::path &path, Pipes pipes = Pipes::read);
  OpenFile(const OpenFile &) = delete;
  OpenFile &operator=(const OpenFile &) = delete;
  ~OpenFile();
  int handle() const { return fd; }
  /// Of a regular file its size when it was opened, else nothing.
  std::optional<int64_t> size() const { return bytes; }
  /// Reads what comes next, at least one byte; 0 at the end.
  size_t read(std::span<char> into);

private:
  [[noreturn]] void fail(const char *what) const;
  std::filesystem::path path;
  int fd = -1;
  std::optional<int64_t> bytes;
  bool awaitsWriter = false; // a pipe with a name that nothing was read from
};

/// The bytes of a file (badInput when it cannot be read). `-` is standard input.
std::vector<char> readFile(const std::filesystem::path &path, Pipes pipes = Pipes::read);
/// The same as a string.
std::string readText(const std::filesystem::path &path);
/// `count` bytes of a regular file from byte `offset` on.
std::vector<char> readPart(const std::filesystem::path &path, int64_t offset, int64_t count);

/// Makes a folder with its parents where it is missing (runtime when it cannot be made).
void makeFolder(const std::filesystem::path &path);

/// Writes aside, syncs and renames. A symbolic link stays: the file behind it is written. A file that is there keeps
/// its mode, and is not replaced where it is closed to writing. What is no regular file (/dev/null, a pipe) is written
/// to directly, never replaced; a reader that closes it has seen enough, which is no error. "-", which means standard
/// output elsewhere, is wrong use.
void writeFile(const std::filesystem::path &path, std::span<const char> bytes);

/// Throws Error where a file of this name cannot be made or written (runtime, usage for a folder): before hours of
/// work.
void checkWritable(const std::filesystem::path &path);

/// Writes bytes to standard output as they are. A reader that has seen enough is no error.
void writeStandardOutput(std::span<const char> bytes);

/// Removes the file that writeFile has aside at the moment, if any; for signal handlers (async-signal-safe).
void removeUnfinishedFile();

/// A name that is safe as a file's name: everything but letters, digits and `._-+=@,` is percent-encoded.
std::string encodeFileName(const std::string &name);

} // namespace sprig::data
