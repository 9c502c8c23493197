// Whether a compiled function is still what was recorded: it is recorded once more, and both recordings are compared.
// For compiled functions, at their second call or at every one (checkTraces).
#pragma once
#include "lib/Frontend/Engine/Variant.h"

namespace sprig::frontend {

/// Throws Error (usage) with the line, the old and the new value of the first number, length, tensor, parameter or
/// operation of the body that differs from what the variant has recorded. Recording changes no state; what the body
/// does on the host besides happens once more. `where`: the function's name and line.
void checkTrace(const Variant &variant, const Variant::Body &body, const std::string &where, Source at);

} // namespace sprig::frontend
