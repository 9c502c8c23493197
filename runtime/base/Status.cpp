#include "runtime/base/Status.h"

namespace sprig::rt::core {

Status::Status(Code code, std::string message) : error(std::make_unique<Error>(Error{code, std::move(message)})) {}

Status Status::withContext(std::string_view context) && {
  if (error) error->message.insert(0, std::string(context) + ": ");
  return std::move(*this);
}

void TextPart::appendTo(std::string &text) const {
  switch (kind) {
  case Kind::text: text += string; return;
  case Kind::real: text += std::to_string(real); return;
  case Kind::signedInteger: text += std::to_string(signedInteger); return;
  case Kind::unsignedInteger: text += std::to_string(unsignedInteger); return;
  }
}

std::string concatParts(std::span<const TextPart> parts) {
  std::string text;
  for (const TextPart &part : parts) part.appendTo(text);
  return text;
}

} // namespace sprig::rt::core
