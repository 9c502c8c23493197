// Whole files: reading, and writing so that a file appears whole or not at all.
// Throws sprig::Error that names the file and the system's reason.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace sprig::data {

/// The bytes of a file (badInput when it cannot be read). `-` is standard input.
std::vector<char> readFile(const std::filesystem::path &path);
/// The same as a string.
std::string readText(const std::filesystem::path &path);

/// Writes aside, syncs and renames. A symbolic link stays: the file behind it is written. A file that is there keeps
/// its mode, and is not replaced where it is closed to writing. What is no regular file (/dev/null, a pipe) is written
/// to directly, never replaced; a reader that closes it has seen enough, which is no error. "-", which means standard
/// output elsewhere, is wrong use.
void writeFile(const std::filesystem::path &path, std::span<const char> bytes);

/// Writes bytes to standard output as they are. A reader that has seen enough is no error.
void writeStandardOutput(std::span<const char> bytes);

/// Removes the file that writeFile has aside at the moment, if any; for signal handlers (async-signal-safe).
void removeUnfinishedFile();

/// A name that is safe as a file's name: everything but letters, digits and `._-+=@,` is percent-encoded.
std::string encodeFileName(const std::string &name);

} // namespace sprig::data
