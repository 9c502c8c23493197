// The one exception type of Sprig's C++ API.
// For programs that embed the compiler; the runtime alone reports through its own status (sprig/rt).
#pragma once
#include <stdexcept>
#include <string>

namespace sprig {

/// What kind of failure it is. The values are the exit codes of the command line.
enum class ErrorKind {
  usage = 2,       ///< wrong use: an unknown option, a dimension that is not bound
  badInput = 3,    ///< a model, array, package or configuration that is malformed or does not fit
  unsupported = 4, ///< valid, but Sprig cannot compile it, or the device is not there
  runtime = 5,     ///< failed while running: out of memory, disk full, device fault
  internal = 70,   ///< a bug of Sprig
};

/// Its text is one block: the error with both facts, then notes, one a line.
class Error : public std::runtime_error {
public:
  Error(ErrorKind kind, const std::string &text) : std::runtime_error(text), errorKind(kind) {}
  ErrorKind kind() const { return errorKind; }

private:
  ErrorKind errorKind;
};

// Each throws an Error of the kind that it is named for; badUse is for ErrorKind::usage.
[[noreturn]] inline void badUse(const std::string &text) { throw Error(ErrorKind::usage, text); }
[[noreturn]] inline void badInput(const std::string &text) { throw Error(ErrorKind::badInput, text); }
[[noreturn]] inline void unsupported(const std::string &text) { throw Error(ErrorKind::unsupported, text); }
[[noreturn]] inline void runtimeError(const std::string &text) { throw Error(ErrorKind::runtime, text); }
[[noreturn]] inline void internalError(const std::string &text) { throw Error(ErrorKind::internal, text); }

} // namespace sprig
