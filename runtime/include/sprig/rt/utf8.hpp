// Text of unknown origin as UTF-8. Header-only. Names come from models and packages as bytes of any kind; what is
// printed or written as text has U+FFFD for each part that is not well-formed, as the Unicode standard recommends (one
// for each longest start of a sequence that is cut off).
#ifndef SPRIG_RT_UTF8_HPP
#define SPRIG_RT_UTF8_HPP

#include <cstddef>
#include <string>
#include <string_view>

namespace sprig::rt {

inline constexpr std::string_view kReplacement = "\xef\xbf\xbd"; // U+FFFD

// What the text starts with: `size` bytes, a character if `valid`. `cutOff`: more bytes could still make it one.
struct Utf8Start {
  size_t size = 1;
  bool valid = false;
  bool cutOff = false;
};

inline Utf8Start utf8Start(std::string_view text) {
  auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = at(0);
  if (lead < 0x80) return {1, true, false};
  if (lead < 0xc2 || lead > 0xf4) return {1, false, false};
  size_t count = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // The second byte rules out what is too long, a surrogate, or above U+10FFFF.
  unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  for (size_t i = 1; i < count; ++i, low = 0x80, high = 0xbf) {
    if (i == text.size()) return {i, false, true};
    if (at(i) < low || at(i) > high) return {i, false, false};
  }
  return {count, true, false};
}

inline std::string validUtf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    Utf8Start start = utf8Start(text);
    result += start.valid ? text.substr(0, start.size) : kReplacement;
    text.remove_prefix(start.size);
  }
  return result;
}

} // namespace sprig::rt

#endif
