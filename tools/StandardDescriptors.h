// Standard descriptors for a program that may have been started without them. For every tool's main, first of all.
#pragma once
#include "runtime/base/Uninterrupted.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace sprig {

/// Opens /dev/null as those of the descriptors 0 to 2 that are closed: else the first file that is opened becomes
/// standard output, and what is printed goes into it. False, after an error where there is a place for one, where that
/// cannot be done.
inline bool openStandardDescriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    if (rt::core::uninterrupted([] { return ::open("/dev/null", O_RDWR); }) == fd) continue; // the lowest that is free
    std::string text = std::string("error: /dev/null: cannot be opened in the place of standard ") +
                       (fd == 0   ? "input"
                        : fd == 1 ? "output"
                                  : "error") +
                       ", which is closed: " + std::strerror(errno) + "\n";
    [[maybe_unused]] ssize_t written = ::write(2, text.data(), text.size());
    return false;
  }
  return true;
}

} // namespace sprig
