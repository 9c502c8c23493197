// How much memory a command may take. For main and for what loads packages.
#pragma once
#include <cstdint>
#include <string>

namespace sprig::cli {

/// Bytes of "64MB", "1.5GiB" or "1000000". Throws a usage error that names the flag.
uint64_t parseBytes(const std::string &flag, const std::string &text);

/// More makes allocations fail, and with them the command (exit code 5). Throws a usage error below 64 MB, which is
/// what the program itself takes.
void limitMemory(uint64_t bytes);

/// What the machine and the process's cgroups have, where nothing less is set: a failed allocation has a message, a
/// killed process has none.
void limitMemoryToMachine();

/// What limitMemory was given; 0 for nothing.
uint64_t givenMemoryLimit();

} // namespace sprig::cli
