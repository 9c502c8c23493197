// Where in the user's program something was written: recorded with every operation, named by every error.
#pragma once

namespace sprig {

/// A line of the caller's program. As a last argument with its default it is the line of the call.
struct Source {
  const char *file = "";
  int line = 0;
  static constexpr Source here(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

} // namespace sprig
