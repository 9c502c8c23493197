// Where in the user's program something was written: recorded with every operation, named by every error.
#pragma once
#ifdef SPRIG_GUARD_SOURCES
#include <string_view>
#endif

namespace sprig {

/// A line of the caller's program. As a last argument with its default it is the line of the call.
struct Source {
  const char *file = "";
  int line = 0;
#ifdef SPRIG_GUARD_SOURCES
  // The library's own build refuses a default that would name one of its lines in a user's error.
  static consteval Source here(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    for (std::string_view own : {"lib/Frontend/", "lib/Loader/", "include/sprig/"})
      if (std::string_view(file).find(own) != std::string_view::npos)
        throw "a line of the library would stand in the user's errors: hand on the caller's Source";
    return {file, line};
  }
#else
  static constexpr Source here(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
#endif
  /// The same, of calls that the library makes on what it has checked: they do not fail.
  static constexpr Source unguarded(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

} // namespace sprig
