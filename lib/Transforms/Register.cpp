#include "lib/Transforms/Passes.h"

namespace sprig {
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Passes.h.inc"
} // namespace sprig

void sprig::registerTransforms() { registerSprigPasses(); }
