// The interpreter's value: a tensor whose floats are doubles and whose integers and booleans are 64-bit words.
// For the interpreter, constant folding and tests. Constants and parameters stay in their own bytes until an operation
// reads them, and a splat is one element, so that large models fit. Elements never change once a tensor is made.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include <memory>
#include <tuple>
#include <vector>

namespace sprig::interp {

/// Elements of one class (double, or int64_t: unsigned 64-bit values by their bits) ready for reading. A splat has step
/// 0.
template <typename T> class Elements {
public:
  Elements(std::shared_ptr<const std::vector<T>> values, bool splat)
      : values(std::move(values)), first(this->values->data()), step(splat ? 0 : 1) {}
  T operator[](int64_t i) const { return first[i * step]; }
  const T *data() const { return first; }
  bool isSplat() const { return step == 0; }

private:
  std::shared_ptr<const std::vector<T>> values;
  const T *first;
  int64_t step;
};

class Tensor {
public:
  Tensor() = default;
  /// `elements` are all elements in row-major order, or the single one of a splat.
  template <typename T> static Tensor of(mlir::RankedTensorType type, std::vector<T> elements);
  static Tensor ofFloats(mlir::RankedTensorType type, std::vector<double> elements) {
    return of(type, std::move(elements));
  }
  static Tensor ofIntegers(mlir::RankedTensorType type, std::vector<int64_t> elements) {
    return of(type, std::move(elements));
  }
  /// Little-endian storage form (an i1 is a byte), all elements or the single one of a splat. `viewBytes` leaves them
  /// where they are: they must outlive the tensor, or `owner` keeps them.
  static Tensor ofBytes(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes);
  static Tensor viewBytes(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes,
                          std::shared_ptr<const void> owner = nullptr);

  mlir::RankedTensorType type() const { return tensorType; }
  mlir::Type elementType() const { return tensorType.getElementType(); }
  llvm::ArrayRef<int64_t> shape() const { return tensorType.getShape(); }
  int64_t rank() const { return tensorType.getRank(); }
  int64_t count() const { return tensorType.getNumElements(); }
  bool isFloat() const { return llvm::isa<mlir::FloatType>(elementType()); }
  bool isSplat() const { return splat; }

  /// The elements; `floats` only of float tensors, `integers` only of the others, `doubles` of all (converted).
  Elements<double> floats() const { return elements<double>(); }
  Elements<int64_t> integers() const { return elements<int64_t>(); }
  Elements<double> doubles() const;
  template <typename T> Elements<T> elements() const;
  /// Copies elements [begin, begin + count) of the tensor's class to `out`.
  template <typename T> void load(int64_t begin, int64_t count, T *out) const;

  /// The same elements under another shape (or one splat's element under another count).
  Tensor reshaped(mlir::RankedTensorType type) const;
  /// Every element rounded to the element type; integers are always exact.
  Tensor rounded() const;
  /// Storage form: all elements, or with `keepSplat` the single one of a splat.
  std::vector<char> bytes(bool keepSplat = false) const;

private:
  template <typename T> using Held = std::shared_ptr<const std::vector<T>>;

  Tensor(mlir::RankedTensorType type, int64_t elements);
  int64_t stored() const { return splat ? 1 : count(); }

  mlir::RankedTensorType tensorType;
  bool splat = false;
  std::tuple<Held<double>, Held<int64_t>> values; // those of the tensor's class, or none
  llvm::ArrayRef<char> raw;
  std::shared_ptr<const void> rawOwner;
};

} // namespace sprig::interp
