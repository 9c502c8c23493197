// Helpers of the operators of com.microsoft, which are mostly operators of ONNX in other clothes.
#pragma once
#include "lib/Import/ONNX/Node.h"

namespace sprig::onnximport {

/// The result of an operator of the default domain on other inputs, with this node's attributes.
Value importAs(Node &n, const char *op, int64_t opset, Items inputs);
/// Fails where the node has an input or a flag that Sprig does not have.
void refuseInput(const Node &n, unsigned input, const char *name);
void refuseFlag(const Node &n, const char *attribute);
/// Rotates [batch, positions, heads, size] by angles of [batch or 1, positions, rotated / 2].
Value rotate(Node &n, Value x, Value cosines, Value sines, int64_t rotated, bool interleaved);
/// Channels last as channels second, and back.
Value channelsSecond(Node &n, Value x);
Value channelsLast(Node &n, Value x);

} // namespace sprig::onnximport
