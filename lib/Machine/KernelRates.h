// What the processor's kernels reach of the rate of fused multiply-adds, by the kind of operation: the limit says what
// a machine could do, this what is to be expected. For predictions. A table of measurements (docs/simulator.md), not a
// promise: no decision about code may rest on it.
#pragma once
#include <cstdint>
#include <string_view>

namespace sprig::machine {

/// What the runtime takes of a call beside its commands: to bind arrays, and to begin and end it.
constexpr double kCallSeconds = 60e-9;

/// To check an index and to find the place that it names, on one thread.
constexpr double kPlaceSeconds = 1e-9;

/// Of an operation as packages name it ("kernel.matmul_packed"): the share of the rate that its flops get.
double reachedShare(std::string_view kind);

/// What a product of packed factors or a Winograd convolution computes for one that the compiler counts: its columns,
/// or output channels, are filled up to whole registers. `shape` is that of its result ("64x10xf32"). 1 for all other
/// kinds.
double fillFactor(std::string_view kind, std::string_view shape);

} // namespace sprig::machine
