// The interpreter's tensor: storage and conversions.
#include "lib/Interpreter/Tensor.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "lib/Interpreter/Numbers.h"
#include <algorithm>

namespace sprig::interp {

// A tensor of one element counts as a splat too, so that scalars take the splat's paths.
Tensor::Tensor(mlir::RankedTensorType type, int64_t elements) : tensorType(type), splat(elements == 1) {
  assert((splat || elements == type.getNumElements()) && "all elements, or one");
}

template <typename T> Tensor Tensor::of(mlir::RankedTensorType type, std::vector<T> elements) {
  Tensor result(type, int64_t(elements.size()));
  std::get<Held<T>>(result.values) = std::make_shared<const std::vector<T>>(std::move(elements));
  return result;
}
template Tensor Tensor::of(mlir::RankedTensorType type, std::vector<double> elements);
template Tensor Tensor::of(mlir::RankedTensorType type, std::vector<int64_t> elements);

Tensor Tensor::viewBytes(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes, std::shared_ptr<const void> owner) {
  Tensor result(type, int64_t(bytes.size()) / storageBytes(type.getElementType()));
  result.raw = bytes;
  result.rawOwner = std::move(owner);
  return result;
}

Tensor Tensor::ofBytes(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes) {
  auto owner = std::make_shared<const std::vector<char>>(bytes.begin(), bytes.end());
  return viewBytes(type, *owner, owner);
}

template <typename T> Elements<T> Tensor::elements() const {
  assert(isFloat() == (std::is_same_v<T, double>) && "elements of the tensor's class");
  if (const Held<T> &held = std::get<Held<T>>(values)) return {held, splat};
  auto read = std::make_shared<std::vector<T>>(stored());
  decode(elementType(), raw.data(), stored(), read->data());
  return {read, splat};
}
template Elements<double> Tensor::elements() const;
template Elements<int64_t> Tensor::elements() const;

Elements<double> Tensor::doubles() const {
  if (isFloat()) return floats();
  Elements<int64_t> source = integers();
  auto converted = std::make_shared<std::vector<double>>(stored());
  for (int64_t i = 0; i < stored(); ++i) (*converted)[i] = toDouble(source.data()[i], elementType());
  return {converted, splat};
}

template <typename T> void Tensor::load(int64_t begin, int64_t count, T *out) const {
  const Held<T> &held = std::get<Held<T>>(values);
  if (splat && count > 0) {
    std::fill_n(out, count, elements<T>()[0]);
  } else if (held) {
    std::copy_n(held->data() + begin, count, out);
  } else {
    decode(elementType(), raw.data() + begin * storageBytes(elementType()), count, out);
  }
}
template void Tensor::load(int64_t begin, int64_t count, double *out) const;
template void Tensor::load(int64_t begin, int64_t count, int64_t *out) const;

Tensor Tensor::reshaped(mlir::RankedTensorType type) const {
  assert(type.getElementType() == elementType() && (splat || type.getNumElements() == count()));
  Tensor result = *this;
  result.tensorType = type;
  if (type.getNumElements() == 0) return isFloat() ? ofFloats(type, {}) : ofIntegers(type, {});
  return result;
}

Tensor Tensor::rounded() const {
  if (!isFloat() || !std::get<Held<double>>(values) || elementType().isF64()) return *this;
  std::vector<double> exact(*std::get<Held<double>>(values));
  for (double &value : exact) value = roundTo(value, elementType());
  return ofFloats(tensorType, std::move(exact));
}

std::vector<char> Tensor::bytes(bool keepSplat) const {
  int64_t size = storageBytes(elementType()), have = stored();
  std::vector<char> result(have * size);
  auto write = [&](const auto &held) {
    if (held) encode(elementType(), held->data(), have, result.data());
  };
  std::apply([&](const auto &...held) { (write(held), ...); }, values);
  if (raw.data()) std::copy(raw.begin(), raw.end(), result.begin());
  if (!splat || keepSplat) return result;
  std::vector<char> whole(count() * size);
  for (int64_t i = 0; i < count(); ++i) std::copy(result.begin(), result.end(), whole.begin() + i * size);
  return whole;
}

} // namespace sprig::interp
