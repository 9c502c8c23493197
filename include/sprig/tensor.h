// The tensor of the imperative front-end: a small handle to a value that may still be computed.
// For programs; no type of LLVM or MLIR is seen. A handle is a version: nothing changes the value it stands for, and
// copies share it. Operations record and return at once; what reads a value (item, copy out, print, wait) waits for it,
// and throws sprig::Error when what it depends on failed, with the line that recorded it.
#pragma once
#include "sprig/device.h"
#include "sprig/dtype.h"
#include "sprig/error.h"
#include "sprig/source.h"
#include <iosfwd>
#include <concepts>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sprig {

namespace frontend {
struct Value; // lib/Frontend/Value.h
SPRIG_API void retain(Value *value);
SPRIG_API void release(Value *value);
class Place;
struct PlaceAccess;
} // namespace frontend

class Index;   // sprig/index.h
class Operand; // below
struct Sorted; // sprig/reductions.h

class Tensor {
public:
  /// No tensor; using it is an error.
  Tensor() = default;
  Tensor(const Tensor &other) : value(other.value) {
    if (value) frontend::retain(value);
  }
  Tensor(Tensor &&other) noexcept : value(std::exchange(other.value, nullptr)) {}
  /// Of handles that have a name alone: what x[0] gives is a value of its own, x[0] = y would change nothing
  /// (assign() does).
  Tensor &operator=(Tensor other) & noexcept {
    std::swap(value, other.value);
    return *this;
  }
  ~Tensor() {
    if (value) frontend::release(value);
  }

  /// A scalar.
  template <typename T>
    requires std::is_arithmetic_v<T>
  explicit Tensor(T number) : Tensor(copyOf(&number, {DTypeFor<T>::dtype, {}})) {}
  /// One dimension: Tensor({1, 2, 3}) is 3xi32, Tensor({1.f, 2.f}) is 2xf32.
  template <typename T>
    requires std::is_arithmetic_v<T>
  explicit Tensor(std::initializer_list<T> numbers)
      : Tensor(copyOf(numbers.begin(), {DTypeFor<T>::dtype, {int64_t(numbers.size())}})) {}
  /// Two dimensions; rows of different lengths are an error.
  template <typename T>
    requires std::is_arithmetic_v<T>
  explicit Tensor(std::initializer_list<std::initializer_list<T>> rows, Source at = Source::here())
      : Tensor(fromRows(rows, at)) {}
  /// A copy of the caller's numbers: one dimension, or the shape, which must fit, row-major.
  template <typename T>
    requires std::is_arithmetic_v<T>
  explicit Tensor(const std::vector<T> &numbers) : Tensor(from(numbers)) {}
  template <typename T>
    requires std::is_arithmetic_v<T>
  explicit Tensor(const std::vector<T> &numbers, const Shape &shape, Source at = Source::here())
      : Tensor(from(numbers, shape, at)) {}

  /// A copy of the caller's numbers, row-major. Throws Error (usage) where their number does not fit the shape.
  template <typename T> static Tensor from(std::span<const T> numbers, const Shape &shape, Source at = Source::here()) {
    checkCount(int64_t(numbers.size()), shape, at);
    return copyOf(numbers.data(), {DTypeFor<T>::dtype, shape});
  }
  template <typename T>
  static Tensor from(const std::vector<T> &numbers, const Shape &shape, Source at = Source::here()) {
    if constexpr (std::is_same_v<T, bool>) { // vector<bool> packs bits
      checkCount(int64_t(numbers.size()), shape, at);
      const std::vector<char> bytes(numbers.begin(), numbers.end());
      return copyOf(bytes.data(), {DType::boolean, shape});
    } else {
      return from(std::span<const T>(numbers), shape, at);
    }
  }
  template <typename T> static Tensor from(const std::vector<T> &numbers) {
    return from(numbers, Shape{int64_t(numbers.size())}, Source());
  }
  /// A copy of type.bytes() bytes.
  SPRIG_API static Tensor copyOf(const void *bytes, const TensorType &type);
  /// Takes memory over without a copy: `release(user)` is called when it is needed no more. Row-major. `capacity` is
  /// how many bytes may be read; memory that is not 64-byte aligned, or whose capacity is not at least 128 and
  /// type.bytes() rounded up to 64, is copied.
  SPRIG_API static Tensor adopt(void *memory, const TensorType &type, int64_t capacity, void (*release)(void *user),
                                void *user);

  bool defined() const { return value != nullptr; }
  // No conversion to bool: ask item<bool>(), or use cond.

  // Known without waiting.
  SPRIG_API const TensorType &type(Source at = Source::unguarded()) const;
  const Shape &shape(Source at = Source::unguarded()) const { return type(at).shape; }
  DType dtype(Source at = Source::unguarded()) const { return type(at).dtype; }
  int rank(Source at = Source::unguarded()) const { return type(at).shape.rank(); }
  /// Size of a dimension; negative axes count from the end.
  SPRIG_API int64_t size(int axis, Source at = Source::here()) const;
  int64_t numel(Source at = Source::unguarded()) const { return type(at).elements(); }
  /// Where the value is, and where operations on it run.
  SPRIG_API Device device(Source at = Source::unguarded()) const;
  /// Whether the value is there. Never waits.
  SPRIG_API bool ready() const;

  // These wait for the value, and for nothing else.
  /// The one element of a tensor that has one, as another type of numbers: for an integer, reals lose their fraction,
  /// and what T does not hold is an error (usage); bool says whether it is not 0.
  template <typename T> T item(Source at = Source::here()) const {
    if constexpr (std::is_same_v<T, bool>)
      return itemAsDouble(at) != 0;
    else if constexpr (std::is_floating_point_v<T>)
      return T(itemAsDouble(at));
    else
      return T(itemAsInteger({std::is_signed_v<T>, std::numeric_limits<T>::digits}, at));
  }
  /// All elements, row-major; T must be the element type.
  template <typename T> std::vector<T> toVector(Source at = Source::here()) const {
    const T *numbers = data<T>(at);
    return std::vector<T>(numbers, numbers + numel(at));
  }
  /// Reads in place; valid while this handle, or a copy, lives.
  template <typename T> const T *data(Source at = Source::here()) const {
    return static_cast<const T *>(bytes(DTypeFor<T>::dtype, at));
  }
  /// The same whatever the element type.
  SPRIG_API const void *bytes(Source at = Source::here()) const;
  SPRIG_API void wait(Source at = Source::here()) const;
  /// The value on another device; itself where it is there already. Returns when it has been copied; `nonBlocking`: at
  /// once, and what reads the copy waits. Gradients go back the same way.
  SPRIG_API Tensor to(const Device &device, bool nonBlocking = false, Source at = Source::here()) const;
  /// "[5, 7, 9]"; long tensors are shortened.
  SPRIG_API std::string text(Source at = Source::here()) const;

  /// The same value, through which no gradient flows.
  SPRIG_API Tensor detach(Source at = Source::here()) const;
  /// The same value as a root for grad(): what is computed from it from now on remembers how.
  [[nodiscard]] SPRIG_API Tensor requireGrad(Source at = Source::here()) const;

  // The functions of sprig/ops.h as methods: x.relu() is relu(x), with the same defaults, results and errors.

  // Of each element (sprig/elementwise.h).
  SPRIG_API Tensor abs(Source at = Source::here()) const;
  SPRIG_API Tensor neg(Source at = Source::here()) const;
  SPRIG_API Tensor sign(Source at = Source::here()) const;
  SPRIG_API Tensor square(Source at = Source::here()) const;
  SPRIG_API Tensor floor(Source at = Source::here()) const;
  SPRIG_API Tensor ceil(Source at = Source::here()) const;
  SPRIG_API Tensor round(Source at = Source::here()) const;
  SPRIG_API Tensor exp(Source at = Source::here()) const;
  SPRIG_API Tensor expm1(Source at = Source::here()) const;
  SPRIG_API Tensor log(Source at = Source::here()) const;
  SPRIG_API Tensor log1p(Source at = Source::here()) const;
  SPRIG_API Tensor sqrt(Source at = Source::here()) const;
  SPRIG_API Tensor rsqrt(Source at = Source::here()) const;
  SPRIG_API Tensor reciprocal(Source at = Source::here()) const;
  SPRIG_API Tensor sin(Source at = Source::here()) const;
  SPRIG_API Tensor cos(Source at = Source::here()) const;
  SPRIG_API Tensor tanh(Source at = Source::here()) const;
  SPRIG_API Tensor erf(Source at = Source::here()) const;
  SPRIG_API Tensor relu(Source at = Source::here()) const;
  SPRIG_API Tensor sigmoid(Source at = Source::here()) const;
  SPRIG_API Tensor silu(Source at = Source::here()) const;
  SPRIG_API Tensor gelu(Source at = Source::here()) const; ///< the exact form
  SPRIG_API Tensor isNan(Source at = Source::here()) const;
  SPRIG_API Tensor isInf(Source at = Source::here()) const;
  SPRIG_API Tensor isFinite(Source at = Source::here()) const;
  SPRIG_API Tensor to(DType type, Source at = Source::here()) const;
  /// With another operand, a tensor or a number; both broadcast.
  SPRIG_API Tensor add(const Operand &other, Source at = Source::here()) const;
  SPRIG_API Tensor sub(const Operand &other, Source at = Source::here()) const;
  SPRIG_API Tensor mul(const Operand &other, Source at = Source::here()) const;
  SPRIG_API Tensor div(const Operand &other, Source at = Source::here()) const;
  SPRIG_API Tensor pow(const Operand &exponent, Source at = Source::here()) const;
  SPRIG_API Tensor maximum(const Operand &other, Source at = Source::here()) const;
  SPRIG_API Tensor minimum(const Operand &other, Source at = Source::here()) const;
  SPRIG_API Tensor eq(const Operand &other, Source at = Source::here()) const;
  SPRIG_API Tensor ne(const Operand &other, Source at = Source::here()) const;
  SPRIG_API Tensor lt(const Operand &other, Source at = Source::here()) const;
  SPRIG_API Tensor le(const Operand &other, Source at = Source::here()) const;
  SPRIG_API Tensor gt(const Operand &other, Source at = Source::here()) const;
  SPRIG_API Tensor ge(const Operand &other, Source at = Source::here()) const;
  SPRIG_API Tensor clamp(const Operand &low, const Operand &high, Source at = Source::here()) const;
  SPRIG_API Tensor clampMin(const Operand &low, Source at = Source::here()) const;
  SPRIG_API Tensor clampMax(const Operand &high, Source at = Source::here()) const;
  SPRIG_API Tensor maskedFill(const Operand &mask, const Operand &value, Source at = Source::here()) const;

  // Products (sprig/contract.h).
  SPRIG_API Tensor matmul(const Operand &other, Source at = Source::here()) const;
  SPRIG_API Tensor mm(const Operand &other, Source at = Source::here()) const;
  SPRIG_API Tensor bmm(const Operand &other, Source at = Source::here()) const;
  SPRIG_API Tensor mv(const Operand &vector, Source at = Source::here()) const;
  SPRIG_API Tensor dot(const Operand &other, Source at = Source::here()) const;

  // Reductions and order (sprig/reductions.h).
  SPRIG_API Tensor sum(const Ints &axes = {}, bool keepDims = false, Source at = Source::here()) const;
  SPRIG_API Tensor mean(const Ints &axes = {}, bool keepDims = false, Source at = Source::here()) const;
  SPRIG_API Tensor prod(const Ints &axes = {}, bool keepDims = false, Source at = Source::here()) const;
  SPRIG_API Tensor max(const Ints &axes = {}, bool keepDims = false, Source at = Source::here()) const;
  SPRIG_API Tensor min(const Ints &axes = {}, bool keepDims = false, Source at = Source::here()) const;
  SPRIG_API Tensor any(const Ints &axes = {}, bool keepDims = false, Source at = Source::here()) const;
  SPRIG_API Tensor all(const Ints &axes = {}, bool keepDims = false, Source at = Source::here()) const;
  SPRIG_API Tensor var(const Ints &axes = {}, double correction = 1, bool keepDims = false,
                       Source at = Source::here()) const;
  SPRIG_API Tensor stdDev(const Ints &axes = {}, double correction = 1, bool keepDims = false,
                          Source at = Source::here()) const;
  SPRIG_API Tensor logsumexp(const Ints &axes = {}, bool keepDims = false, Source at = Source::here()) const;
  SPRIG_API Tensor norm(double p = 2, const Ints &axes = {}, bool keepDims = false, Source at = Source::here()) const;
  SPRIG_API Tensor argmax(int axis = -1, bool keepDims = false, Source at = Source::here()) const;
  SPRIG_API Tensor argmin(int axis = -1, bool keepDims = false, Source at = Source::here()) const;
  SPRIG_API Tensor softmax(int axis, Source at = Source::here()) const;
  SPRIG_API Tensor logSoftmax(int axis, Source at = Source::here()) const;
  SPRIG_API Tensor cumsum(int axis, Source at = Source::here()) const;
  SPRIG_API Tensor cumprod(int axis, Source at = Source::here()) const;
  SPRIG_API Sorted topk(int64_t k, int axis = -1, bool largest = true, Source at = Source::here()) const;
  SPRIG_API Sorted sort(int axis = -1, bool descending = false, Source at = Source::here()) const;
  SPRIG_API Tensor argsort(int axis = -1, bool descending = false, Source at = Source::here()) const;

  // Shapes and parts (sprig/shape_ops.h, sprig/index.h).
  SPRIG_API Tensor reshape(const Shape &shape, Source at = Source::here()) const; ///< one size may be -1
  /// reshape: there are no views, so there is nothing that a view could refuse.
  SPRIG_API Tensor view(const Shape &shape, Source at = Source::here()) const;
  SPRIG_API Tensor flatten(int first = 0, int last = -1, Source at = Source::here()) const;
  SPRIG_API Tensor unflatten(int axis, const Shape &sizes, Source at = Source::here()) const;
  SPRIG_API Tensor transpose(int a = -2, int b = -1, Source at = Source::here()) const; ///< exchanges two axes
  /// The transpose of a matrix; a vector or a scalar as it is. More axes are an error.
  SPRIG_API Tensor t(Source at = Source::here()) const;
  Tensor T(Source at = Source::here()) const { return t(at); }
  SPRIG_API Tensor permute(const Shape &order, Source at = Source::here()) const;
  SPRIG_API Tensor movedim(int from, int to, Source at = Source::here()) const;
  SPRIG_API Tensor unsqueeze(int axis, Source at = Source::here()) const;
  SPRIG_API Tensor squeeze(int axis, Source at = Source::here()) const;
  SPRIG_API Tensor squeeze(Source at = Source::here()) const;
  SPRIG_API Tensor expand(const Shape &shape, Source at = Source::here()) const;
  SPRIG_API Tensor repeat(const Shape &times, Source at = Source::here()) const; ///< tile
  SPRIG_API Tensor repeatInterleave(int64_t times, int axis, Source at = Source::here()) const;
  SPRIG_API std::vector<Tensor> split(int64_t size, int axis = 0, Source at = Source::here()) const;
  SPRIG_API std::vector<Tensor> split(const std::vector<int64_t> &sizes, int axis = 0,
                                      Source at = Source::here()) const;
  SPRIG_API std::vector<Tensor> chunk(int64_t count, int axis = 0, Source at = Source::here()) const;
  SPRIG_API std::vector<Tensor> unbind(int axis = 0, Source at = Source::here()) const;
  /// x[2], x[Slice(1, 5)], x[indices]: along the first axis. What there is to pick by stands in sprig/index.h.
  SPRIG_API Tensor operator[](const Index &index) const;
  /// x(all, Slice(1, 5), 2): one for each axis, as NumPy's x[:, 1:5, 2].
  template <typename... Others> Tensor operator()(const Index &first, const Others &...others) const; // sprig/index.h
  SPRIG_API Tensor slice(int axis, int64_t begin, int64_t end, int64_t step = 1, Source at = Source::here()) const;
  SPRIG_API Tensor narrow(int axis, int64_t start, int64_t length, Source at = Source::here()) const;
  SPRIG_API Tensor select(int axis, int64_t position, Source at = Source::here()) const;
  SPRIG_API Tensor gather(int axis, const Operand &indices, Source at = Source::here()) const;
  SPRIG_API Tensor indexSelect(int axis, const Operand &indices, Source at = Source::here()) const;
  SPRIG_API Tensor scatterAdd(int axis, const Operand &indices, const Operand &source,
                              Source at = Source::here()) const;
  SPRIG_API Tensor flip(const Ints &axes, Source at = Source::here()) const;
  SPRIG_API Tensor roll(int64_t shift, int axis, Source at = Source::here()) const;
  SPRIG_API Tensor tril(int64_t diagonal = 0, Source at = Source::here()) const;
  SPRIG_API Tensor triu(int64_t diagonal = 0, Source at = Source::here()) const;

  // For code that comes from elsewhere: a value never changes and always lies row-major, so these are the value itself.
  SPRIG_API Tensor clone(Source at = Source::here()) const;
  SPRIG_API Tensor contiguous(Source at = Source::here()) const;

  // Adds the gradient of this scalar to the gradient of every parameter that it depends on (Parameter::grad).
  SPRIG_API void backward(Source at = Source::here()) const;

  /// For the library's own code.
  frontend::Value *raw() const { return value; }
  static Tensor own(frontend::Value *value) { return Tensor(value, 0); }

private:
  Tensor(frontend::Value *value, int) : value(value) {}
  template <typename T> static Tensor fromRows(std::initializer_list<std::initializer_list<T>> rows, Source at) {
    std::vector<std::conditional_t<std::is_same_v<T, bool>, char, T>> numbers; // vector<bool> packs bits
    int64_t columns = rows.size() ? int64_t(rows.begin()->size()) : 0;
    for (auto &row : rows) {
      checkRow(int64_t(row.size()), columns, at);
      numbers.insert(numbers.end(), row.begin(), row.end());
    }
    return copyOf(numbers.data(), {DTypeFor<T>::dtype, {int64_t(rows.size()), columns}});
  }
  SPRIG_API Tensor pick(const Index *each, size_t count) const;
  SPRIG_API static void checkRow(int64_t count, int64_t expected, Source at);
  SPRIG_API static void checkCount(int64_t count, const Shape &shape, Source at);
  SPRIG_API const void *bytes(DType expected, Source at) const;
  SPRIG_API double itemAsDouble(Source at) const;
  struct IntegerRange {
    bool isSigned;
    int bits; ///< without the sign
  };
  /// The low 64 bits of a number in this range.
  SPRIG_API int64_t itemAsInteger(IntegerRange range, Source at) const;

  frontend::Value *value = nullptr;
};

/// State that steps change: a parameter of a layer, a running mean, an optimizer's momentum. Copies share it.
/// As an operand it is the value that it holds at that moment.
class Parameter {
public:
  Parameter() = default;
  Parameter(const Parameter &other) : cell(cellOfCopy(other)) {
    if (other.place) followPlace(other);
  }
  Parameter(Parameter &&other) noexcept : cell(other.place ? other.cell : std::move(other.cell)) {
    if (other.place) followPlace(other);
  }
  /// A member of a module (`layer.weight`) is registered in the old one's place: it is tied to what is given. Throws
  /// Error (usage) where that cannot be.
  Parameter &operator=(const Parameter &other) & {
    if (place || other.place) return assign(other);
    cell = other.cell;
    return *this;
  }
  Parameter &operator=(Parameter &&other) & {
    if (place || other.place) return assign(other);
    cell = std::move(other.cell);
    return *this;
  }
  ~Parameter() {
    if (place) leavePlace();
  }
  /// `trainable`: whether it is a root for gradients. A buffer (running statistics) is not.
  SPRIG_API explicit Parameter(const Tensor &initial, bool trainable = true, Source at = Source::here());

  bool defined() const { return cell != nullptr; }
  /// The value that it holds now, a root for gradients where it is trainable.
  SPRIG_API Tensor value(Source at = Source::unguarded()) const;
  /// Of a parameter that is not defined: no tensor, which is an error where it is used.
  operator Tensor() const { return cell ? value() : Tensor(); }
  /// A new version; its type must be the old one's. Within compile() this becomes an update in place.
  SPRIG_API void set(const Tensor &next, Source at = Source::here()) const;
  SPRIG_API const TensorType &type(Source at = Source::unguarded()) const;
  /// Where it is. A value of another device that it is set to is copied there; Module::to moves it.
  SPRIG_API Device device(Source at = Source::unguarded()) const;
  const Shape &shape(Source at = Source::unguarded()) const { return type(at).shape; }
  DType dtype(Source at = Source::unguarded()) const { return type(at).dtype; }
  int64_t numel(Source at = Source::unguarded()) const { return type(at).elements(); }

  SPRIG_API bool trainable() const;
  SPRIG_API void setTrainable(bool on, Source at = Source::here()) const; ///< PyTorch's requires_grad_
  /// What backward() has summed up, or an undefined tensor.
  SPRIG_API Tensor grad(Source at = Source::unguarded()) const;
  SPRIG_API void zeroGrad(Source at = Source::here()) const;

  /// "a.weight": the dotted name within the module that was named last.
  SPRIG_API const std::string &name(Source at = Source::unguarded()) const;
  SPRIG_API void setName(std::string name, Source at = Source::unguarded()) const;

  bool same(const Parameter &other) const { return cell == other.cell; }
  frontend::Value *raw() const = delete;
  struct Cell;
  Cell *rawCell() const { return cell.get(); }

private:
  friend struct frontend::PlaceAccess;
  template <std::invocable<Parameter &> Join> Parameter(const Parameter &shared, const Join &join) : cell(shared.cell) {
    join(*this);
  }
  /// The same cell; a new one while nn::clone copies.
  SPRIG_API static std::shared_ptr<Cell> cellOfCopy(const Parameter &other);
  SPRIG_API void followPlace(const Parameter &other) noexcept;
  SPRIG_API Parameter &assign(const Parameter &other);
  SPRIG_API void leavePlace() noexcept;
  std::shared_ptr<Cell> cell;
  frontend::Place *place = nullptr; ///< of a module's member: where it is registered (lib/Frontend/Layers/Place.h)
};

/// An operand of an operation: a tensor, a parameter or a number, and the caller's line. A number takes the element
/// type of the other operand (a real number makes integers f32), as in PyTorch.
class Operand {
public:
  /// None, where an operand is optional.
  Operand() = default;
  Operand(const Tensor &tensor, Source at = Source::here()) : tensor(tensor), at(at) {}
  Operand(Tensor &&tensor, Source at = Source::here()) : tensor(std::move(tensor)), at(at) {}
  Operand(const Parameter &parameter, Source at = Source::here()) : tensor(parameter), at(at) {}
  template <typename T>
    requires std::is_arithmetic_v<T>
  Operand(T number, Source at = Source::unguarded())
      : real(double(number)), integer(integerOf(number, at)),
        kind(std::is_floating_point_v<T> ? Kind::real : Kind::integer), at(at) {}

  enum class Kind : uint8_t { tensor, real, integer };
  Tensor tensor; ///< undefined for numbers
  double real = 0;
  int64_t integer = 0;
  Kind kind = Kind::tensor;
  Source at;

private:
  template <typename T> static int64_t integerOf(T number, Source at) {
    if constexpr (std::is_floating_point_v<T>)
      return 0;
    else if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(uint64_t))
      return signedOf(number, at);
    else
      return int64_t(number);
  }
  /// Throws above the largest i64, which is what integers of the host are taken as.
  SPRIG_API static int64_t signedOf(uint64_t number, Source at);
};

/// A tensor, or a parameter's value, that is printed on the caller's line.
class Printed {
public:
  Printed(const Tensor &tensor, Source at = Source::here()) : tensor(tensor), at(at) {}
  Printed(const Parameter &parameter, Source at = Source::here()) : tensor(parameter), at(at) {}
  Tensor tensor;
  Source at;
};
/// Waits, and prints as text() does.
SPRIG_API std::ostream &operator<<(std::ostream &out, const Printed &printed);

} // namespace sprig
