// Dimensions whose size the data decide (how many boxes are kept, elements are not zero): a tensor has room for the
// most, and an Item says how many count. Operators that work element by element or by row pass that on; others want the
// size.
#pragma once
#include "lib/Import/ONNX/Node.h"

namespace sprig::onnximport {

/// As the outputs of a row that makes such a dimension. It is no dimension of one element: what stands alone would be
/// taken for one that broadcasts. So there is room for at least kFewestRows.
constexpr int64_t kFewestRows = 2;
void outCounted(Node &n, Value v, Counted counted, unsigned i = 0);

/// Marks the outputs of a node that was imported where its inputs have such dimensions. Where its operator does not
/// pass them on, their sizes have to be known: starts again with inputs as constants, or fails.
void passCounted(Node &n);
/// For rows that look at a dimension themselves.
[[noreturn]] void requireCount(const Node &n, unsigned input);

/// The tensor with `padding` where nothing counts along the dimension.
Value padded(Emit &n, Value v, const Counted &counted, double padding);

/// The sum of what stands before each element of [n].
Value sumBefore(Emit &n, Value v);
/// [bound]: which element of `places` [n] has each place; an element at place `bound` is left out.
Value elementsAt(Emit &n, Value places, int64_t bound);

} // namespace sprig::onnximport
