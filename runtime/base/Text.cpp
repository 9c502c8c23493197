#include "runtime/base/Text.h"
#include "runtime/base/Decimal.h"

namespace sprig::rt::core {

std::string TextParts::text() const {
  std::string text;
  for (size_t i = 0; kinds[i] != TextPart::end; ++i) {
    const uint64_t word = words[i];
    switch (kinds[i]) {
    case TextPart::end: break;
    case TextPart::literal: text += reinterpret_cast<const char *>(word); break;
    case TextPart::string: text += *reinterpret_cast<const std::string *>(word); break;
    case TextPart::view: text += *reinterpret_cast<const std::string_view *>(word); break;
    case TextPart::signedInteger: text += std::to_string(int64_t(word)); break;
    case TextPart::unsignedInteger: text += std::to_string(word); break;
    case TextPart::real: text += decimal::shortest(std::bit_cast<double>(word)); break;
    }
  }
  return text;
}

} // namespace sprig::rt::core
