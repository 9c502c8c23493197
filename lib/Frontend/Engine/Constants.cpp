// Numbers of the host as operands.
#include "lib/Data/Array.h"
#include "lib/Frontend/Base/IntegerRange.h"
#include "lib/Frontend/Base/OfThread.h"
#include "lib/Frontend/Engine/Value.h"
#include "lib/Frontend/Record.h"
#include <cmath>

namespace sprig::frontend {

[[noreturn]] static void refuse(const std::string &number, DType type, Source at, const char *op) {
  fail(at, op,
       number + " is no value of " + name(type) + ", which holds whole numbers from " + IntegerRange::of(type).text() +
           "; convert the tensor with to(), or the number");
}

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
    if (std::trunc(value) != value || !IntegerRange::of(type).holds(value)) refuse(realText(value), type, at, op);
    uint64_t integer = value < 0 ? uint64_t(int64_t(value)) : uint64_t(value);
    std::memcpy(&bits, &integer, size_t(size(type)));
  }
  }
  return bits;
}

/// Small programs use few numbers, again and again: the last ones of each thread are kept.
struct RecentConstants {
  struct Slot {
    uint64_t bits = 0;
    Tensor tensor;
  };
  static constexpr size_t kSlots = 64;
  Slot slots[kSlots];
};

static Tensor constantOf(uint64_t bits, DType type) {
  auto make = [&] {
    Tensor constant = Tensor::copyOf(&bits, {type, {}});
    constant.raw()->constant = true;
    return constant;
  };
  RecentConstants *recent = ofThread<RecentConstants>();
  if (!recent) return make();
  RecentConstants::Slot &slot =
      recent->slots[((bits * 0x9e3779b97f4a7c15) >> 57 ^ size_t(type)) % RecentConstants::kSlots];
  if (!slot.tensor.defined() || slot.bits != bits || slot.tensor.raw()->type.dtype != type) {
    slot.bits = bits;
    slot.tensor = make();
  }
  return slot.tensor;
}

Tensor scalar(double value, DType type, Source at, const char *op) {
  return constantOf(bitsOf(value, type, at, op), type);
}

uint64_t bitsOfInteger(int64_t value, DType type, Source at, const char *op) {
  if (type == DType::boolean) return value != 0;
  if (!IntegerRange::of(type).holds(__int128(value))) refuse(std::to_string(value), type, at, op);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, size_t(size(type)));
  return bits;
}

Tensor scalarInteger(int64_t value, DType type, Source at, const char *op) {
  if (isFloat(type)) return scalar(double(value), type, at, op);
  return constantOf(bitsOfInteger(value, type, at, op), type);
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
