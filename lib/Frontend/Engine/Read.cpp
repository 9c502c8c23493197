// What reads values: it waits for exactly what it needs.
#include "lib/Data/Array.h"
#include "lib/Frontend/Base/IntegerRange.h"
#include "lib/Frontend/Engine/Engine.h"
#include "lib/Frontend/Engine/NonFinite.h"
#include "lib/Frontend/Engine/ProfileSpan.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Record.h"

namespace sprig {

using namespace frontend;

/// Waits, and throws what the value failed with.
static const Value &resolve(const Tensor &tensor, const char *what, Source source) {
  if (!tensor.defined()) fail(source, what, "the tensor holds nothing");
  const Value &value = *tensor.raw();
  Value::State state = value.state.load(std::memory_order_acquire);
  if (state == Value::State::traced)
    fail(source, what,
         "reads a value that is not known while a function is being recorded (" + describe(value.type) +
             "); use cond or whileLoop to branch on it, or return it");
  if (state < Value::State::ready) {
    ProfileSpan span(kWaitKind, [&] { return placeText(source) + what; });
    if (state == Value::State::pending) flushDevice(value.device, /*wake=*/false);
    if (!value.isThere()) Engine::of(value.lane).waitFor(value);
  }
  if (value.state.load(std::memory_order_acquire) == Value::State::failed) {
    Engine::forget(value.failure);
    throw Error(*value.failure);
  }
  return value;
}

const TensorType &Tensor::type(Source source) const {
  if (!value) fail(source, "tensor", "it holds nothing, so it has no type and no shape");
  return value->type;
}

int64_t Tensor::size(int axis, Source source) const {
  const Shape &shape = type(source).shape;
  int known = axis < 0 ? axis + shape.rank() : axis;
  if (known < 0 || known >= shape.rank())
    fail(source, "size", "axis " + std::to_string(axis) + " of a tensor " + describe(type(source)));
  return shape[known];
}

bool Tensor::ready() const { return value && value->state.load(std::memory_order_acquire) == Value::State::ready; }

void Tensor::wait(Source source) const { resolve(*this, "wait", source); }

void frontend::waitFor(const Tensor &tensor, const char *what, Source source) { resolve(tensor, what, source); }

const void *Tensor::bytes(Source source) const {
  const Value &there = resolve(*this, "read", source);
  requireFinite(*this, CheckedAs::read, [] { return "what is read"; }, source);
  return there.storage->data;
}

const void *Tensor::bytes(DType expected, Source source) const {
  if (value && value->type.dtype != expected)
    fail(source, "read", "elements of " + describe(value->type) + " are read as " + name(expected));
  return bytes(source);
}

static double elementAsDouble(const Value &value, int64_t i) {
  const void *data = value.storage->data;
  switch (value.type.dtype) {
  case DType::f64: return static_cast<const double *>(data)[i];
  case DType::f32: return static_cast<const float *>(data)[i];
  case DType::f16: return data::fromHalf(static_cast<const uint16_t *>(data)[i]);
  case DType::bf16: return data::fromBFloat16(static_cast<const uint16_t *>(data)[i]);
  case DType::i64: return double(static_cast<const int64_t *>(data)[i]);
  case DType::i32: return static_cast<const int32_t *>(data)[i];
  case DType::i16: return static_cast<const int16_t *>(data)[i];
  case DType::i8: return static_cast<const int8_t *>(data)[i];
  case DType::u64: return double(static_cast<const uint64_t *>(data)[i]);
  case DType::u32: return static_cast<const uint32_t *>(data)[i];
  case DType::u16: return static_cast<const uint16_t *>(data)[i];
  case DType::u8: return static_cast<const uint8_t *>(data)[i];
  case DType::boolean: return static_cast<const uint8_t *>(data)[i] != 0;
  }
  return 0;
}

static const Value &single(const Tensor &tensor, Source source) {
  if (tensor.defined() && tensor.type().elements() != 1)
    fail(source, "item", "takes a tensor of one element, got " + describe(tensor.type()));
  const Value &value = resolve(tensor, "item", source);
  requireFinite(tensor, CheckedAs::scalar, [] { return "what is read"; }, source);
  return value;
}

double Tensor::itemAsDouble(Source source) const { return elementAsDouble(single(*this, source), 0); }

int64_t Tensor::itemAsInteger(IntegerRange range, Source source) const {
  const Value &one = single(*this, source);
  frontend::IntegerRange asked{range.isSigned, range.bits};
  auto refuse = [&](const std::string &number) {
    fail(source, "item", "the element is " + number + "; the integer that is asked for holds " + asked.text());
  };
  if (one.type.dtype == DType::i64 || one.type.dtype == DType::u64) {
    auto bits = *static_cast<const int64_t *>(one.storage->data);
    __int128 number = one.type.dtype == DType::i64 ? __int128(bits) : __int128(uint64_t(bits));
    if (!asked.holds(number))
      refuse(one.type.dtype == DType::i64 ? std::to_string(bits) : std::to_string(uint64_t(bits)));
    return bits;
  }
  double number = elementAsDouble(one, 0);
  if (!asked.holds(number)) refuse(realText(number));
  return number < 0 ? int64_t(number) : int64_t(uint64_t(number));
}

void Tensor::checkRow(int64_t count, int64_t expected, Source source) {
  if (count != expected)
    badUse(placeText(source) + "tensor: a row has " + std::to_string(count) + " elements, the first has " +
           std::to_string(expected));
}

void Tensor::checkCount(int64_t count, const Shape &shape, Source source) {
  for (int64_t n : shape)
    if (n < 0) badUse(placeText(source) + "tensor: shape " + describe(shape) + " has a negative size");
  if (count != shape.elements())
    badUse(placeText(source) + "tensor: " + std::to_string(count) + " numbers do not fill shape " + describe(shape) +
           ", which takes " + std::to_string(shape.elements()));
}

Tensor Tensor::copyOf(const void *bytes, const TensorType &type) {
  auto storage = Storage::allocate(type.bytes());
  if (type.bytes()) std::memcpy(storage->data, bytes, size_t(type.bytes()));
  return readyTensor(type, std::move(storage));
}

Tensor Tensor::adopt(void *memory, const TensorType &type, int64_t capacity, void (*release)(void *), void *user) {
  int64_t wanted = std::max<int64_t>(128, (type.bytes() + 63) / 64 * 64);
  if (reinterpret_cast<uintptr_t>(memory) % 64 || capacity < wanted) {
    Tensor copy = copyOf(memory, type);
    if (release) release(user);
    return copy;
  }
  return readyTensor(type, Storage::adopt(memory, release, user));
}

} // namespace sprig
