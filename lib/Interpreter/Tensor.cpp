// The interpreter's tensor: storage and conversions.
#include "lib/Interpreter/Tensor.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "lib/Interpreter/Numbers.h"
#include <algorithm>

namespace sprig::interp {

// A tensor of one element counts as a splat too, so that scalars take the splat's paths.
static bool isSplatCount(int64_t stored) { return stored == 1; }

Tensor Tensor::ofFloats(mlir::RankedTensorType type, std::vector<double> elements) {
  Tensor result;
  result.tensorType = type;
  result.splat = isSplatCount(elements.size());
  assert((result.splat || int64_t(elements.size()) == type.getNumElements()) && "all elements, or one");
  result.floatValues = std::make_shared<const std::vector<double>>(std::move(elements));
  return result;
}

Tensor Tensor::ofIntegers(mlir::RankedTensorType type, std::vector<int64_t> elements) {
  Tensor result;
  result.tensorType = type;
  result.splat = isSplatCount(elements.size());
  assert((result.splat || int64_t(elements.size()) == type.getNumElements()) && "all elements, or one");
  result.integerValues = std::make_shared<const std::vector<int64_t>>(std::move(elements));
  return result;
}

Tensor Tensor::viewBytes(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes, std::shared_ptr<const void> owner) {
  Tensor result;
  result.tensorType = type;
  result.splat = isSplatCount(bytes.size() / storageBytes(type.getElementType()));
  assert((result.splat || int64_t(bytes.size()) == type.getNumElements() * storageBytes(type.getElementType())) &&
         "all elements, or one");
  result.raw = bytes;
  result.rawOwner = std::move(owner);
  return result;
}

Tensor Tensor::ofBytes(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes) {
  auto owner = std::make_shared<const std::vector<char>>(bytes.begin(), bytes.end());
  return viewBytes(type, *owner, owner);
}

Elements<double> Tensor::floats() const {
  assert(isFloat() && "floats of a float tensor");
  if (floatValues) return {floatValues, splat};
  auto values = std::make_shared<std::vector<double>>(stored());
  decode(elementType(), raw.data(), stored(), values->data());
  return {values, splat};
}

Elements<int64_t> Tensor::integers() const {
  assert(!isFloat() && "integers of an integer tensor");
  if (integerValues) return {integerValues, splat};
  auto values = std::make_shared<std::vector<int64_t>>(stored());
  decode(elementType(), raw.data(), stored(), values->data());
  return {values, splat};
}

Elements<double> Tensor::doubles() const {
  if (isFloat()) return floats();
  Elements<int64_t> source = integers();
  auto values = std::make_shared<std::vector<double>>(stored());
  for (int64_t i = 0; i < stored(); ++i) (*values)[i] = toDouble(source.data()[i], elementType());
  return {values, splat};
}

template <typename T>
static void loadRange(const std::vector<T> *values, llvm::ArrayRef<char> raw, mlir::Type type, bool splat,
                      int64_t begin, int64_t count, T *out) {
  if (count == 0) return;
  if (splat) {
    T value;
    if (values)
      value = values->front();
    else
      decode(type, raw.data(), 1, &value);
    std::fill_n(out, count, value);
  } else if (values) {
    std::copy_n(values->data() + begin, count, out);
  } else {
    decode(type, raw.data() + begin * storageBytes(type), count, out);
  }
}

void Tensor::load(int64_t begin, int64_t count, double *out) const {
  loadRange(floatValues.get(), raw, elementType(), splat, begin, count, out);
}

void Tensor::load(int64_t begin, int64_t count, int64_t *out) const {
  loadRange(integerValues.get(), raw, elementType(), splat, begin, count, out);
}

Tensor Tensor::reshaped(mlir::RankedTensorType type) const {
  assert(type.getElementType() == elementType() && (splat || type.getNumElements() == count()));
  Tensor result = *this;
  result.tensorType = type;
  if (type.getNumElements() == 0) return isFloat() ? ofFloats(type, {}) : ofIntegers(type, {});
  return result;
}

Tensor Tensor::rounded() const {
  if (!isFloat() || !floatValues || elementType().isF64()) return *this;
  std::vector<double> values(*floatValues);
  for (double &value : values) value = roundTo(value, elementType());
  return ofFloats(tensorType, std::move(values));
}

std::vector<char> Tensor::bytes(bool keepSplat) const {
  int64_t size = storageBytes(elementType()), have = stored();
  std::vector<char> result(have * size);
  if (floatValues)
    encode(elementType(), floatValues->data(), have, result.data());
  else if (integerValues)
    encode(elementType(), integerValues->data(), have, result.data());
  else
    std::copy(raw.begin(), raw.end(), result.begin());
  if (!splat || keepSplat) return result;
  std::vector<char> whole(count() * size);
  for (int64_t i = 0; i < count(); ++i) std::copy(result.begin(), result.end(), whole.begin() + i * size);
  return whole;
}

} // namespace sprig::interp
