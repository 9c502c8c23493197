// System calls that a signal interrupts are made again. For all of the project.
#ifndef SPRIG_RUNTIME_BASE_UNINTERRUPTED_H
#define SPRIG_RUNTIME_BASE_UNINTERRUPTED_H

#include <cerrno>

namespace sprig::rt::core {

// What `call` returns once no signal interrupts it: uninterrupted([&] { return ::read(fd, bytes, size); })
template <typename F> auto uninterrupted(const F &call) {
  for (;;)
    if (auto result = call(); result != -1 || errno != EINTR) return result;
}

} // namespace sprig::rt::core

#endif
