// What an example's process returns: what it was to do, or, where that throws, an exit code by the kind of the error.
// For examples with the runtime alone.
#pragma once
#include "sprig/rt/sprig_rt.hpp"
#include <cstdio>
#include <exception>

namespace example {

/// `act` returns an exit code; an error is told on the error stream.
template <typename Act> int exitCodeOf(const Act &act) {
  try {
    return act();
  } catch (const sprig::rt::Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return error.exitCode();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 3;
  }
}

} // namespace example
