// What the processor's kernels reach of the rate of fused multiply-adds, by the kind of operation: the limit says what
// a machine could do, this what is to be expected. For predictions. A table of measurements (docs/simulator.md), not a
// promise: no decision about code may rest on it.
#pragma once
#include <cstdint>
#include <string_view>

namespace sprig::machine {

/// Of an operation as packages name it ("kernel.matmul_packed"): the share of the rate that its flops get.
double reachedShare(std::string_view kind);

/// What a product over panels computes for one that the compiler counts: columns are filled up to whole panels. `shape`
/// is that of its result ("64x10xf32"). 1 for all other kinds.
double panelFactor(std::string_view kind, std::string_view shape);

} // namespace sprig::machine
