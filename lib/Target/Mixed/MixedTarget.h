// Programs that have devices of two kinds, as cpu:0 beside cuda:0, as a target: each operation is asked of the target
// of its device's kind. For the registry.
#pragma once
#include "lib/Target/Target.h"
#include <memory>

namespace sprig {
/// Its kind is "cpu+cuda" of those two. `host` works on the memory of the caller's arrays. Both must outlive it.
std::unique_ptr<Target> createMixedTarget(const Target &host, const Target &other);
} // namespace sprig
