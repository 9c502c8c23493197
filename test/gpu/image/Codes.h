// Codes that emulated code passes to the emulator's hooks, known to the translator and to the emulator.
#ifndef SPRIG_GPU_CODES_H
#define SPRIG_GPU_CODES_H

#include <cstdint>

namespace sprig::gpu {

enum class Rounding : uint32_t { Nearest, Zero, Down, Up, NearestAway };
enum class RoundedOperation : uint32_t { Add, Multiply, Fma, Divide, SquareRoot };
enum class Approximation : uint32_t { Exp2, Log2, Sine, Cosine, Tanh };
enum class NarrowFormat : uint32_t { F16, BF16, TF32 };
enum class BarrierMode : uint32_t { Sync, Arrive, And, Or, Popc };
constexpr uint32_t alignedBarrier =
    16; // joined to a BarrierMode: all threads of a warp must arrive at the same instruction
enum class ShuffleMode : uint32_t { Up, Down, Butterfly, Index };
enum class VoteMode : uint32_t { All, Any, Uniform, Ballot };
enum class ReduceOperation : uint32_t { Add, MinSigned, MinUnsigned, MaxSigned, MaxUnsigned, And, Or, Xor };
enum class FenceScope : uint32_t { Block, Device, System };
enum class MemoryOrder : uint32_t { Relaxed, Acquire, Release, AcquireRelease };

enum class AtomicOperation : uint32_t { Add, Min, Max, And, Or, Xor, Exchange, CompareExchange, Increment, Decrement };
enum class AtomicType : uint32_t { U32, S32, U64, S64, F32, F64, F16, F16x2, BF16, BF16x2, B16 };
// An atomic operation as one number: operation, type, space, order, whether the old value is used, from the lowest byte
// up.
constexpr uint32_t atomicCode(AtomicOperation operation, AtomicType type, uint32_t space, MemoryOrder order,
                              bool usesOld) {
  return uint32_t(operation) | uint32_t(type) << 8 | space << 16 | uint32_t(order) << 24 | uint32_t(usesOld) << 28;
}

enum class MatrixKind : uint32_t {
  M16N8K4Tf32,
  M16N8K8Tf32,
  M16N8K8F16,
  M16N8K8BF16,
  M16N8K16F16,
  M16N8K16BF16,
  M16N8K16S8,
  M16N8K32S8
};
// Joined to a MatrixKind: what is not the usual form.
constexpr uint32_t matrixHalfAccumulator = 0x100, matrixUnsignedA = 0x200, matrixUnsignedB = 0x400,
                   matrixSaturate = 0x800;

} // namespace sprig::gpu
#endif
