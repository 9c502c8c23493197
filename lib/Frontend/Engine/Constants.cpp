// Numbers of the host as operands.
#include "lib/Data/Array.h"
#include "lib/Frontend/Engine/Value.h"
#include "lib/Frontend/Record.h"

namespace sprig::frontend {

/// The element's bits, in the low bytes.
static uint64_t bitsOf(double value, DType type) {
  uint64_t bits = 0;
  auto put = [&](auto number) { std::memcpy(&bits, &number, sizeof number); };
  switch (type) {
  case DType::f64: put(value); break;
  case DType::f32: put(float(value)); break;
  case DType::f16: put(data::toHalf(value)); break;
  case DType::bf16: put(data::toBFloat16(value)); break;
  case DType::boolean: put(uint8_t(value != 0)); break;
  case DType::u64: put(uint64_t(value)); break;
  default: {
    int64_t integer = int64_t(value);
    std::memcpy(&bits, &integer, size_t(size(type)));
  }
  }
  return bits;
}

/// Small programs use few numbers, again and again: the last ones of each thread are kept.
static Tensor constantOf(uint64_t bits, DType type) {
  struct Slot {
    uint64_t bits = 0;
    Tensor tensor;
  };
  constexpr size_t kSlots = 64;
  thread_local Slot slots[kSlots];
  Slot &slot = slots[((bits * 0x9e3779b97f4a7c15) >> 57 ^ size_t(type)) % kSlots];
  if (!slot.tensor.defined() || slot.bits != bits || slot.tensor.raw()->type.dtype != type) {
    slot.bits = bits;
    slot.tensor = Tensor::copyOf(&bits, {type, {}});
    slot.tensor.raw()->constant = true;
  }
  return slot.tensor;
}

Tensor scalar(double value, DType type, Source) { return constantOf(bitsOf(value, type), type); }

Tensor scalarInteger(int64_t value, DType type, Source at) {
  if (type == DType::f64 || type == DType::f32 || type == DType::f16 || type == DType::bf16)
    return scalar(double(value), type, at);
  uint64_t bits = 0;
  if (type == DType::boolean)
    bits = value != 0;
  else
    std::memcpy(&bits, &value, size_t(size(type)));
  return constantOf(bits, type);
}

Tensor splat(double value, const TensorType &type, Source at) {
  if (type.shape.empty()) return scalar(value, type.dtype, at);
  static const OpName &broadcast = opName("nn.broadcast");
  return record(broadcast, {scalar(value, type.dtype, at)}, {}, type, at);
}

} // namespace sprig::frontend
