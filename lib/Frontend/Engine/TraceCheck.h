// Whether a compiled function is still what was recorded: it is recorded once more, and both recordings are compared.
// For compiled functions, at their second call or at every one (checkTraces).
#pragma once
#include "lib/Frontend/Engine/Variant.h"
#include <optional>

namespace sprig::frontend {

/// The same function once more, for a call that the variant fits. It changes no state; what the body does on the host
/// besides happens once more. `where`: the function's name and line, for errors.
std::shared_ptr<Variant> recordAgain(const Variant &variant, const Variant::Body &body,
                                     std::span<const Tensor> arguments, const std::string &where);
/// "train.cpp:12: mul: uses the number 0.2, recorded was 0.1": of the first number, length, tensor, parameter or
/// operation that differs; none where the recordings are the same.
std::optional<std::string> changeBetween(const Variant &was, const Variant &now);
/// Throws Error (usage) with that text where the body does not record any more what the variant has.
void checkTrace(const Variant &variant, const Variant::Body &body, std::span<const Tensor> arguments,
                const std::string &where);

} // namespace sprig::frontend
