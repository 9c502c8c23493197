// DetectNonFinite: where numbers that are not finite arose is noted as operations run, and checked where it matters.
// For the recorder, the tasks of the engine, and what gradients, updates and readings are checked by.
#pragma once
#include "lib/Frontend/Engine/Value.h"

namespace sprig::frontend {

/// Whether DetectNonFinite lives on this thread.
bool detectsNonFinite();

/// For an operation that this thread records; null while nothing is to be detected.
std::unique_ptr<const NodeWatch> watchFor(std::span<const Tensor> operands);

/// Notes the origins of what a watched operation has computed. `device` is where single operations run; none for
/// collectives, which do not run again.
void noteOrigins(const GraphNode &description, const NodeWatch &watch, std::span<Value *const> operands,
                 std::span<Value *const> results, std::optional<DeviceId> device);
/// The same of a copy.
void copyOrigins(const Storage &from, Storage &to);

/// What a value is checked as.
enum class CheckedAs : uint8_t {
  derived, ///< an output that is differentiated, or a gradient: any number that is not finite is wrong,
  state,   ///< a next value: but those that the program gives itself,
  scalar,  ///< what is read as one number: likewise,
  read,    ///< what is read as a whole: likewise, and infinities may be masks
};
/// While DetectNonFinite lives, waits for the value and throws Error (runtime) where it is wrong. `what` completes
/// "found in".
void requireFinite(const Tensor &value, CheckedAs how, const std::function<std::string()> &what, Source at);

} // namespace sprig::frontend
