// Standard descriptors for a program that may have been started without them. For every tool's main, first of all.
#pragma once
#include <fcntl.h>
#include <unistd.h>

namespace sprig {

/// Opens /dev/null as those of the descriptors 0 to 2 that are closed: else the first file that is opened becomes
/// standard output, and what is printed goes into it. False where that cannot be done.
inline bool openStandardDescriptors() {
  for (;;) {
    int fd = ::open("/dev/null", O_RDWR); // the lowest one that is free
    if (fd > 2) ::close(fd);
    if (fd < 0 || fd > 2) return fd > 2;
  }
}

} // namespace sprig
