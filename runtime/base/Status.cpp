#include "runtime/base/Status.h"

namespace sprig::rt::core {

Status::Status(Code code, std::string message) : error(std::make_unique<Error>(Error{code, std::move(message)})) {}
Status::Status(Code code, const char *message) : Status(code, std::string(message)) {}
Status::Status(Code code, TextParts message) : Status(code, message.text()) {}

Status Status::withContext(std::string_view context) && {
  if (error) error->message.insert(0, std::string(context) + ": ");
  return std::move(*this);
}

Status Status::withContext(TextParts context) && { return std::move(*this).withContext(context.text()); }

} // namespace sprig::rt::core
