#include "tools/sprig/TextStream.h"
#include "sprig/rt/utf8.hpp"
#include <cerrno>
#include <ostream>

namespace sprig::cli {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K"; // training::Progress's

bool isControl(std::string_view character) {
  auto first = static_cast<unsigned char>(character[0]);
  if (first == '\n' || first == '\t') return false;
  // C1 controls, U+0080 to U+009F, are two bytes long.
  return first < 0x20 || first == 0x7f || (first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
}

} // namespace

TextStream::TextStream(std::ostream &stream) : stream(stream), target(stream.rdbuf(this)) {}

TextStream::~TextStream() {
  sync();
  stream.rdbuf(target);
}

bool TextStream::put(std::string_view text, bool isWhole) {
  if (isUnread) return true;
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    rt::Utf8Start start = rt::utf8Start(text);
    bool partOfErase = text.size() < kEraseLine.size() && kEraseLine.starts_with(text);
    if (!isWhole && (start.cutOff || partOfErase)) break;
    if (text.starts_with(kEraseLine)) {
      clean += kEraseLine;
      text.remove_prefix(kEraseLine.size());
      continue;
    }
    std::string_view character = text.substr(0, start.size);
    clean += start.valid && !isControl(character) ? character : rt::kReplacement;
    text.remove_prefix(start.size);
  }
  held = text;
  auto size = std::streamsize(clean.size());
  return written(target->sputn(clean.data(), size) == size);
}

bool TextStream::written(bool succeeded) {
  isUnread = isUnread || (!succeeded && errno == EPIPE);
  return succeeded || isUnread;
}

std::streambuf::int_type TextStream::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  char one = traits_type::to_char_type(c);
  return xsputn(&one, 1) == 1 ? c : traits_type::eof();
}

std::streamsize TextStream::xsputn(const char *text, std::streamsize count) {
  std::string_view given(text, size_t(count));
  std::lock_guard lock(mutex);
  if (held.empty()) return put(given, false) ? count : 0;
  return put(std::string(std::move(held)).append(given), false) ? count : 0;
}

int TextStream::sync() {
  std::lock_guard lock(mutex);
  bool isWhole = held.empty() || put(std::string(std::move(held)), true);
  return written(isUnread || target->pubsync() == 0) && isWhole ? 0 : -1;
}

} // namespace sprig::cli
