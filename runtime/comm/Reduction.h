// What a collective adds up with: elementwise, in the elements' own type; f16 and bf16 in f32, rounded after each
// addition.
#ifndef SPRIG_RUNTIME_COMM_REDUCTION_H
#define SPRIG_RUNTIME_COMM_REDUCTION_H

#include "sprig/rt/sprig_rt.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace sprig::rt::comm {

enum class Reduction : uint8_t { sum, mean, product, min, max };

std::string_view nameOf(Reduction reduction);

// Why elements of the type cannot be reduced so; empty: they can. A mean is of floating-point types alone, and booleans
// have a product, a minimum and a maximum (the one is `and`, the last `or`), no sum.
std::string whyNot(sprig_rt_dtype dtype, Reduction reduction);

// own[i] = received[i] + own[i], or what else the reduction does. A minimum and a maximum of NaN are NaN; integers
// wrap around.
void combine(sprig_rt_dtype dtype, Reduction reduction, void *own, const void *received, int64_t count);

// Sums as means.
void divide(sprig_rt_dtype dtype, void *own, int64_t count, int ranks);

} // namespace sprig::rt::comm

#endif
