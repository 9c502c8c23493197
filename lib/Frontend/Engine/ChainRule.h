// Gradients and tangents of a lineage: the compiler's own differentiation, recorded after it. Where compiled functions
// are called on the way or devices change, stretch by stretch: operations of one device as recorded, calls by compiled
// programs. Copies between devices are names of one value: sums add up as if there were one device.
// For gradients in both directions.
#pragma once
#include "lib/Frontend/Engine/Lineage.h"

namespace sprig::frontend {

/// The gradients of lineage.wrt; `seeds` are cotangents of its outputs, none where there is one, a scalar.
std::vector<Tensor> pullBack(Lineage &lineage, std::span<const Tensor> seeds, Source at);
/// The derivatives of its outputs along tangents of lineage.wrt.
std::vector<Tensor> pushForward(Lineage &lineage, std::span<const Tensor> tangents, Source at);

} // namespace sprig::frontend
