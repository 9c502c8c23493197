// Text from strings and numbers, of which there are hundreds: concat("expected ", 3, " bytes"). What stands at each
// place is a few words on the stack; one function makes the text, where it is needed.
#ifndef SPRIG_RUNTIME_BASE_TEXT_H
#define SPRIG_RUNTIME_BASE_TEXT_H

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace sprig::rt::core {

enum class TextPart : uint8_t { end, literal, string, view, signedInteger, unsignedInteger, real };

// Parts, each with a word: a number, or where its string is.
struct TextParts {
  const TextPart *kinds; // ends with `end`
  const uint64_t *words;
  std::string text() const;
};

// What concat gives: refers to its strings, so it becomes a text, or is handed on, in the expression that makes it.
template <TextPart... kinds> class [[nodiscard]] Text {
public:
  template <typename... Parts> explicit Text(const Parts &...parts) : words{word(parts)...} {}
  Text(const Text &) = delete;
  operator TextParts() && { return {list, words}; }
  operator std::string() && { return text(); }
  std::string text() const { return TextParts{list, words}.text(); }

private:
  static constexpr TextPart list[] = {kinds..., TextPart::end};
  uint64_t words[sizeof...(kinds)];

  template <typename Part> static uint64_t word(const Part &part) {
    if constexpr (std::is_floating_point_v<Part>)
      return std::bit_cast<uint64_t>(double(part));
    else if constexpr (std::is_arithmetic_v<Part>)
      return uint64_t(part);
    else if constexpr (std::is_convertible_v<const Part &, const char *>)
      return reinterpret_cast<uintptr_t>(static_cast<const char *>(part));
    else
      return reinterpret_cast<uintptr_t>(&part);
  }
};

template <typename Part> consteval TextPart textPartOf() {
  if constexpr (std::is_floating_point_v<Part>)
    return TextPart::real;
  else if constexpr (std::is_arithmetic_v<Part>)
    return std::is_signed_v<Part> ? TextPart::signedInteger : TextPart::unsignedInteger;
  else if constexpr (std::is_convertible_v<const Part &, const char *>)
    return TextPart::literal;
  else if constexpr (std::is_same_v<Part, std::string>)
    return TextPart::string;
  else
    return std::is_same_v<Part, std::string_view> ? TextPart::view : throw "expected a string or a number";
}

template <typename... Parts> Text<textPartOf<Parts>()...> concat(const Parts &...parts) {
  return Text<textPartOf<Parts>()...>(parts...);
}

} // namespace sprig::rt::core

#endif
