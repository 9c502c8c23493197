// A folder that only this user and root can change, held by its handle. For caches, whose files are run as code or
// believed: what another user could have put there, or put in its place, is not read. docs/cache.md has the rules.
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sprig {

/// A file descriptor that is closed with its owner; -1: none.
class Handle {
public:
  Handle() = default;
  explicit Handle(int fd) : fd(fd) {}
  Handle(Handle &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Handle();
  int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }

private:
  int fd = -1;
};

class TrustedFolder {
public:
  enum class Missing { leave, make };
  /// Why there is no folder; empty where there is, or where it is missing.
  struct Refusal {
    std::string why;
    bool isDistrust = false; // else the system refused, or no folder is there
  };
  /// Opens a folder of this user's that others may not write to. Folders above it and links on the way to it are this
  /// user's or root's, and others may write to such a folder only where its sticky bit is set, as in /tmp. Folders that
  /// are made have mode 0700.
  static TrustedFolder open(const std::string &path, Missing missing, Refusal &refusal);

  explicit operator bool() const { return bool(folder); }
  /// Where it is, as it was asked for.
  const std::string &path() const { return name; }
  int handle() const { return folder.get(); }

  /// The bytes of a file up to `most`, and marks it as used. Nothing when there is none; `why` says what is wrong with
  /// one that is there: it is no regular file of this user or root, others may write to it, or it cannot be read.
  std::optional<std::string> read(const std::string &file, size_t most, std::string &why) const;
  /// Writes a file aside (0600) and renames it into place; why it could not, empty when it could.
  std::string write(const std::string &file, std::initializer_list<std::string_view> parts) const;
  void remove(const std::string &file) const;

  /// What the names of files that are being written begin with.
  static constexpr std::string_view kUnfinished = "tmp-";

private:
  Handle folder;
  std::string name;
};

} // namespace sprig
