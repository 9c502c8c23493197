// Sliding windows: the attributes that convolutions and pooling share, resolved to explicit padding.
#pragma once
#include "lib/Import/ONNX/Node.h"

namespace sprig::onnximport {

struct Window {
  Ints size, strides, dilations;
  Ints low, high; ///< padding, per spatial dimension
  Ints padding() const;
  int64_t extent(size_t i) const { return (size[i] - 1) * dilations[i] + 1; }
};

/// Reads kernel_shape (or takes `size` where a filter gives it), strides, dilations, pads and auto_pad for an input
/// with the given spatial sizes, and checks them.
Window readWindow(Node &n, IntsRef spatial, std::optional<Ints> size);

/// The spatial part of [N, C, spatial...].
inline IntsRef spatialOf(Value v) { return Emit::shape(v).drop_front(2); }

} // namespace sprig::onnximport
