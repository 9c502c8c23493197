// Whether the processor's dot products of bf16 are worth taking. On some they are not: an Emerald Rapids takes 2 cycles
// for a vdpbf16ps, in which it makes four multiply-adds of f32, a Zen 4 one cycle, as for one of those.
#ifndef SPRIG_RUNTIME_MACHINE_DOTSOFHALVES_H
#define SPRIG_RUNTIME_MACHINE_DOTSOFHALVES_H

namespace sprig::rt::core {

// Whether a dot product takes less time than the two multiply-adds that give the same bits. Measured once, in some 20
// us; for processors that have AVX512_BF16.
bool dotsOfHalvesPay();

} // namespace sprig::rt::core

#endif
