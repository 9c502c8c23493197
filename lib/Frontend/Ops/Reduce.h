// How losses of elements become one. For the files of losses.
#pragma once
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/losses.h"

namespace sprig::frontend {

/// The losses as they are, their mean, or their sum.
Tensor reduceLosses(const Emitter &r, const Tensor &losses, Reduction reduction);
/// The same as an attribute of the dialect's losses; batchMean is refused.
Attr reductionAttr(const Emitter &r, Reduction reduction);
/// The target in the input's type and of its shape (a number is filled in); any other shape is refused.
Tensor targetLike(const Emitter &r, const Tensor &x, const Operand &target);

} // namespace sprig::frontend
