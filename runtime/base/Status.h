// Success, or a code with a message that gains context on its way up. For all of the runtime; only the C++ wrapper
// throws. A successful status is one null pointer.
#ifndef SPRIG_RUNTIME_BASE_STATUS_H
#define SPRIG_RUNTIME_BASE_STATUS_H

#include "sprig/rt/sprig_rt.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace sprig::rt::core {

using Code = sprig_rt_code;

class [[nodiscard]] Status {
public:
  Status() = default;
  // Out of line, as hundreds of places return one.
  [[gnu::cold]] Status(Code code, std::string message);

  bool isOk() const { return !error; }
  Code code() const { return error ? error->code : SPRIG_RT_OK; }
  std::string_view message() const { return error ? std::string_view(error->message) : std::string_view(); }

  // Puts what was being done before the message; the success path never builds the text.
  [[gnu::cold]] Status withContext(std::string_view context) &&;
  Status withContext() && { return std::move(*this); }

private:
  struct Error {
    Code code;
    std::string message;
  };
  std::unique_ptr<Error> error;
};

// A string or a number on its way into a text; refers to the string.
class TextPart {
public:
  TextPart(std::string_view text) : kind(Kind::text), string(text) {}
  TextPart(const std::string &text) : TextPart(std::string_view(text)) {}
  TextPart(const char *text) : TextPart(std::string_view(text)) {}
  template <typename T>
    requires(std::is_arithmetic_v<T>)
  TextPart(T number) {
    if constexpr (std::is_floating_point_v<T>)
      kind = Kind::real, real = number;
    else if constexpr (std::is_signed_v<T>)
      kind = Kind::signedInteger, signedInteger = number;
    else
      kind = Kind::unsignedInteger, unsignedInteger = number;
  }
  void appendTo(std::string &text) const;

private:
  enum class Kind : uint8_t { text, real, signedInteger, unsignedInteger } kind;
  union {
    std::string_view string;
    double real;
    int64_t signedInteger;
    uint64_t unsignedInteger;
  };
};
std::string concatParts(std::span<const TextPart> parts);

// concat("expected ", 3, " bytes"): text from strings and numbers. One function appends them all: there are hundreds of
// messages, each with its own types of parts.
template <typename... Parts> std::string concat(const Parts &...parts) {
  const TextPart list[] = {parts...};
  return concatParts(list);
}

// SPRIG_RETURN_IF_ERROR(verify(entry), "entry 'main'"): the context is evaluated on failure only, and may be left out.
#define SPRIG_RETURN_IF_ERROR(expression, ...)                                                                         \
  do {                                                                                                                 \
    if (::sprig::rt::core::Status status_ = (expression); !status_.isOk())                                             \
      return std::move(status_).withContext(__VA_ARGS__);                                                              \
  } while (false)

} // namespace sprig::rt::core

#endif
