// Arrays in host memory as data sets give them: a field (x, y, ...) of a sample or of a batch.
// For programs. A field shares its memory with its copies; 64-byte aligned memory becomes a Tensor without a copy.
#pragma once
#include "sprig/dtype.h"
#include "sprig/error.h"
#include "sprig/tensor.h"
#include <cstring>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sprig::data {

template <typename T>
concept Number = std::is_arithmetic_v<T> && requires { DTypeFor<T>::dtype; };

class Field {
public:
  /// No array.
  Field() = default;
  /// Uninitialised memory, 64-byte aligned.
  SPRIG_API explicit Field(const TensorType &type, Source at = Source::here());
  /// A scalar.
  template <Number T> Field(T number) : Field(TensorType{DTypeFor<T>::dtype, {}}, Source()) {
    std::memcpy(memory.get(), &number, sizeof number);
  }
  /// A copy: one dimension, or the shape, which must fit.
  template <Number T>
  Field(std::span<const T> numbers, const Shape &shape, Source at = Source::here())
      : Field({DTypeFor<T>::dtype, shape}, at) {
    checkCount(int64_t(numbers.size()), at);
    if (!numbers.empty()) std::memcpy(memory.get(), numbers.data(), numbers.size_bytes());
  }
  template <Number T>
    requires(!std::is_same_v<T, bool>)
  Field(const std::vector<T> &numbers) : Field(std::span<const T>(numbers), {int64_t(numbers.size())}, Source()) {}
  template <Number T>
    requires(!std::is_same_v<T, bool>)
  Field(const std::vector<T> &numbers, const Shape &shape, Source at = Source::here())
      : Field(std::span<const T>(numbers), shape, at) {}
  /// Waits for the tensor, and shares its memory.
  Field(const Tensor &tensor, Source at = Source::here()) : itsType(tensor.type(at)), capacity(itsType.bytes()) {
    auto kept = std::make_shared<const Tensor>(tensor);
    const void *bytes = kept->bytes(at);
    memory = std::shared_ptr<void>(std::move(kept), const_cast<void *>(bytes));
  }
  /// Memory of someone else's, row-major, read only, that `owner` keeps alive.
  static Field view(const void *bytes, const TensorType &type, std::shared_ptr<const void> owner = nullptr) {
    return Field(type, std::shared_ptr<void>(std::const_pointer_cast<void>(owner), const_cast<void *>(bytes)),
                 type.bytes(), false);
  }

  bool defined() const { return memory != nullptr; }
  const TensorType &type() const { return itsType; }
  const Shape &shape() const { return itsType.shape; }
  sprig::DType dtype() const { return itsType.dtype; }
  int64_t numel() const { return itsType.elements(); }

  const void *bytes() const { return memory.get(); }
  /// All elements, row-major. T must be the element type (Error usage).
  template <Number T> std::span<const T> numbers(Source at = Source::here()) const & {
    checkType(DTypeFor<T>::dtype, at);
    return {static_cast<const T *>(bytes()), size_t(numel())};
  }
  template <Number T>
  std::span<const T> numbers(Source at = Source::here()) const && = delete; // the span would outlive the memory
  /// The same to be written to; memory that others share is copied first.
  template <Number T> std::span<T> edit(Source at = Source::here()) {
    checkType(DTypeFor<T>::dtype, at);
    return {static_cast<T *>(editBytes()), size_t(numel())};
  }
  SPRIG_API void *editBytes();
  /// The element at a flat index, which must be there.
  template <Number T> T item(int64_t index = 0, Source at = Source::here()) const {
    checkIndex(index, at);
    return numbers<T>(at)[size_t(index)];
  }
  /// The same elements in another shape of as many.
  SPRIG_API Field reshape(const Shape &shape, Source at = Source::here()) const;
  /// Element type as data sets convert: floats and integers may change their width, integers and booleans may become
  /// floats, no float becomes an integer (Error badInput). `scaleBytes`: u8 that becomes a float is divided by 255.
  SPRIG_API Field to(sprig::DType type, bool scaleBytes = false, Source at = Source::here()) const;

  /// The same memory as a tensor, without a copy where it is 64-byte aligned, as what this library makes is.
  Tensor tensor() const {
    auto *kept = new std::shared_ptr<void>(memory);
    return Tensor::adopt(
        memory.get(), itsType, capacity, [](void *user) { delete static_cast<std::shared_ptr<void> *>(user); }, kept);
  }

  /// For the library's own code: `capacity` bytes may be read.
  Field(const TensorType &type, std::shared_ptr<void> memory, int64_t capacity, bool writable)
      : itsType(type), memory(std::move(memory)), capacity(capacity), writable(writable) {}

private:
  SPRIG_API void checkCount(int64_t count, Source at) const;
  SPRIG_API void checkType(sprig::DType type, Source at) const;
  SPRIG_API void checkIndex(int64_t index, Source at) const;

  TensorType itsType;
  std::shared_ptr<void> memory;
  int64_t capacity = 0;
  bool writable = false; ///< as long as nobody shares it
};

/// What a data set has at one index: fields, the first of which is x, the second y.
class Sample {
public:
  Sample() = default;
  Sample(std::initializer_list<Field> fields) : fields(fields) {}
  explicit Sample(std::vector<Field> fields) : fields(std::move(fields)) {}
  template <typename A, typename B>
  Sample(const std::pair<A, B> &pair, Source at = Source::here())
      : fields{fieldOf(pair.first, at), fieldOf(pair.second, at)} {}
  template <typename... T>
  Sample(const std::tuple<T...> &tuple, Source at = Source::here())
      : fields(std::apply([at](const T &...each) { return std::vector<Field>{fieldOf(each, at)...}; }, tuple)) {}

  size_t size() const { return fields.size(); }
  /// Throws Error (usage) where there is no such field.
  Field &operator[](size_t index) {
    check(index);
    return fields[index];
  }
  const Field &operator[](size_t index) const {
    check(index);
    return fields[index];
  }
  Field &x() { return (*this)[0]; }
  const Field &x() const { return (*this)[0]; }
  Field &y() { return (*this)[1]; }
  const Field &y() const { return (*this)[1]; }
  auto begin() const { return fields.begin(); }
  auto end() const { return fields.end(); }
  void push_back(Field field) { fields.push_back(std::move(field)); }

private:
  template <typename T> static Field fieldOf(const T &value, Source at) {
    if constexpr (std::is_same_v<T, Tensor>)
      return Field(value, at);
    else
      return Field(value);
  }
  SPRIG_API void check(size_t index) const;
  std::vector<Field> fields;
};

} // namespace sprig::data
