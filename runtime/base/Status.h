// Success, or a code with a message that gains context on its way up. For all of the runtime; only the C++ wrapper
// throws. A successful status is one null pointer.
#ifndef SPRIG_RUNTIME_BASE_STATUS_H
#define SPRIG_RUNTIME_BASE_STATUS_H

#include "runtime/base/Text.h"
#include "sprig/rt/sprig_rt.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace sprig::rt::core {

using Code = sprig_rt_code;

class [[nodiscard]] Status {
public:
  Status() = default;
  // Out of line, as hundreds of places return one.
  [[gnu::cold]] Status(Code code, std::string message);
  [[gnu::cold]] Status(Code code, const char *message);
  [[gnu::cold]] Status(Code code, TextParts message);
  template <TextPart... kinds>
  Status(Code code, Text<kinds...> &&message) : Status(code, TextParts(std::move(message))) {}

  bool isOk() const { return !error; }
  Code code() const { return error ? error->code : SPRIG_RT_OK; }
  std::string_view message() const { return error ? std::string_view(error->message) : std::string_view(); }

  // Puts what was being done before the message; the success path never builds the text.
  [[gnu::cold]] Status withContext(std::string_view context) &&;
  [[gnu::cold]] Status withContext(TextParts context) &&;
  Status withContext() && { return std::move(*this); }

private:
  struct Error {
    Code code;
    std::string message;
  };
  std::unique_ptr<Error> error;
};

// SPRIG_RETURN_IF_ERROR(verify(entry), "entry 'main'"): the context is evaluated on failure only, and may be left out.
#define SPRIG_RETURN_IF_ERROR(expression, ...)                                                                         \
  do {                                                                                                                 \
    if (::sprig::rt::core::Status status_ = (expression); !status_.isOk())                                             \
      return std::move(status_).withContext(__VA_ARGS__);                                                              \
  } while (false)

} // namespace sprig::rt::core

#endif
