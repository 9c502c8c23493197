// Calls of compiled functions whose arguments have a growing axis: which program takes a call's length, its arguments
// as that takes them, and results of the length.
// For FunctionCore.
#pragma once
#include "lib/Frontend/Engine/Variant.h"
#include "sprig/function.h"

namespace sprig::frontend {

struct GrowingCall {
  int64_t length = 0;
  LengthRange program; ///< of lengths
  bool standsAlone() const { return program.first == program.last; }
};

/// Throws Error (usage) where an argument does not have the axis, arguments have several lengths, or it is too long.
GrowingCall growingCall(const FunctionOptions &options, std::span<const Tensor> arguments, Source at);
/// Arguments as long as the program's longest, zeros behind, and the length.
std::vector<Tensor> padded(const GrowingCall &call, const FunctionOptions &options, std::span<const Tensor> arguments,
                           Source at);
/// What of the program's results is the call's.
std::vector<Tensor> cut(const GrowingCall &call, const Variant &variant, std::vector<Tensor> results, Source at);

} // namespace sprig::frontend
