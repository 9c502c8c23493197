// What a saved function does because a layer is in training mode.
// For packages of functions that train nothing, where it is a mistake nearly always.
#pragma once
#include "lib/Frontend/Engine/Variant.h"

namespace sprig::frontend {

/// Throws (usage) for a function that trains nothing, but draws random numbers or sets buffers with a layer in
/// training mode.
void refuseTrainingMode(const Variant &variant, const std::string &function, Source at);

} // namespace sprig::frontend
