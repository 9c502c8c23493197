// Numbers of the host as operands.
#include "lib/Data/Array.h"
#include "lib/Frontend/Engine/Value.h"
#include "lib/Frontend/Record.h"
#include <cmath>

namespace sprig::frontend {

namespace {

struct Range {
  bool isSigned;
  int bits;
};
/// Of an integer type; i1 is none, since every number is false or true.
Range rangeOf(DType type) {
  bool isUnsigned = type == DType::u64 || type == DType::u32 || type == DType::u16 || type == DType::u8;
  return {!isUnsigned, int(8 * size(type)) - !isUnsigned};
}

[[noreturn]] void refuse(const std::string &number, DType type, Source at, const char *op) {
  Range range = rangeOf(type);
  std::string high = range.bits == 64 ? "18446744073709551615" : std::to_string((uint64_t(1) << range.bits) - 1);
  std::string low = !range.isSigned ? "0" : "-" + std::to_string(uint64_t(1) << range.bits);
  fail(at, op,
       number + " is no value of " + name(type) + ", which holds whole numbers from " + low + " to " + high +
           "; convert the tensor with to(), or the number");
}

} // namespace

uint64_t bitsOf(double value, DType type, Source at, const char *op) {
  uint64_t bits = 0;
  auto put = [&](auto number) { std::memcpy(&bits, &number, sizeof number); };
  switch (type) {
  case DType::f64: put(value); break;
  case DType::f32: put(float(value)); break;
  case DType::f16: put(data::toHalf(value)); break;
  case DType::bf16: put(data::toBFloat16(value)); break;
  case DType::boolean: put(uint8_t(value != 0)); break;
  default: {
    Range range = rangeOf(type);
    double end = std::ldexp(1.0, range.bits);
    if (std::trunc(value) != value || value >= end || value < (range.isSigned ? -end : 0))
      refuse(realText(value), type, at, op);
    uint64_t integer = range.isSigned ? uint64_t(int64_t(value)) : uint64_t(value);
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

Tensor scalar(double value, DType type, Source at, const char *op) {
  return constantOf(bitsOf(value, type, at, op), type);
}

Tensor scalarInteger(int64_t value, DType type, Source at, const char *op) {
  if (type == DType::f64 || type == DType::f32 || type == DType::f16 || type == DType::bf16)
    return scalar(double(value), type, at, op);
  if (type == DType::boolean) return constantOf(value != 0, type);
  Range range = rangeOf(type);
  int64_t beyond = range.bits < 63 ? value >> range.bits : value >> 63; // 0, or -1 for a negative number in range
  if (beyond != 0 && !(range.isSigned && beyond == -1)) refuse(std::to_string(value), type, at, op);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, size_t(size(type)));
  return constantOf(bits, type);
}

Tensor splat(double value, const TensorType &type, Source at, const char *op) {
  if (type.shape.empty()) return scalar(value, type.dtype, at, op);
  static const OpName &broadcast = opName("nn.broadcast");
  return record(broadcast, {scalar(value, type.dtype, at, op)}, {}, type, at);
}

} // namespace sprig::frontend

int64_t sprig::Operand::signedOf(uint64_t number, Source at) {
  if (number <= uint64_t(INT64_MAX)) return int64_t(number);
  frontend::fail(at, "operand",
                 std::to_string(number) + " is above the largest i64, 9223372036854775807; give it as a tensor of u64");
}
