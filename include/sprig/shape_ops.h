// Operations that move elements: shapes, joins, parts, gathering and scattering. For programs.
// Nothing is a view that writes reach: a tensor never changes. Negative axes count from the end.
#pragma once
#include "sprig/index.h"

namespace sprig {

/// Several tensors, and the caller's line: cat({a, b}, 1).
class Operands {
public:
  Operands(std::initializer_list<Operand> each, Source at = Source::here()) : at(at) {
    tensors.reserve(each.size());
    for (const Operand &one : each) tensors.push_back(one.tensor);
  }
  Operands(std::vector<Tensor> tensors, Source at = Source::here()) : tensors(std::move(tensors)), at(at) {}

  std::vector<Tensor> tensors;
  Source at;
};

/// The same elements, row-major, in another shape; one size may be -1 and follows from the others.
SPRIG_API Tensor reshape(const Operand &x, const Shape &shape);
/// Axes first to last become one.
SPRIG_API Tensor flatten(const Operand &x, int first = 0, int last = -1);
/// One axis becomes several; one size may be -1.
SPRIG_API Tensor unflatten(const Operand &x, int axis, const Shape &sizes);
/// Exchanges two axes.
SPRIG_API Tensor transpose(const Operand &x, int a = -2, int b = -1);
/// Axis i of the result is axis order[i] of x.
SPRIG_API Tensor permute(const Operand &x, const Shape &order);
/// Moves one axis, the others keep their order.
SPRIG_API Tensor movedim(const Operand &x, int from, int to);
/// Takes an axis of size 1 out (without an axis, all of them); an axis of another size stays, as in PyTorch.
SPRIG_API Tensor squeeze(const Operand &x, int axis);
SPRIG_API Tensor squeeze(const Operand &x);
SPRIG_API Tensor unsqueeze(const Operand &x, int axis);
/// Repeats along axes of size 1 and new leading ones; -1 keeps an axis.
SPRIG_API Tensor expand(const Operand &x, const Shape &shape);
/// The same without -1 (NumPy's broadcast_to).
SPRIG_API Tensor broadcastTo(const Operand &x, const Shape &shape);
/// Copies of the whole: PyTorch's repeat, NumPy's tile.
SPRIG_API Tensor tile(const Operand &x, const Shape &times);
/// Each element several times in a row.
SPRIG_API Tensor repeatInterleave(const Operand &x, int64_t times, int axis);

/// Joins along an axis; element types are promoted.
SPRIG_API Tensor cat(const Operands &tensors, int axis = 0);
/// Joins along a new axis.
SPRIG_API Tensor stack(const Operands &tensors, int axis = 0);
/// Which axis of the results the first tensor runs along: axis 0, or (NumPy's xy) axis 1.
enum class Indexing { ij, xy };
/// Vectors (or scalars) as coordinates of a grid: each repeated along the axes of the others. Of one element type.
SPRIG_API std::vector<Tensor> meshgrid(const Operands &tensors, Indexing indexing = Indexing::ij);
/// Parts of `size` (the last may be smaller).
SPRIG_API std::vector<Tensor> split(const Operand &x, int64_t size, int axis = 0);
/// Parts of the given sizes, which sum to the axis.
SPRIG_API std::vector<Tensor> split(const Operand &x, const std::vector<int64_t> &sizes, int axis = 0);
/// At most `count` parts of equal size (the last may be smaller).
SPRIG_API std::vector<Tensor> chunk(const Operand &x, int64_t count, int axis = 0);
/// The slices along an axis, which disappears.
SPRIG_API std::vector<Tensor> unbind(const Operand &x, int axis = 0);

/// See sprig/index.h: slice(x, 1, 2, -1) is x[:, 2:-1].
SPRIG_API Tensor slice(const Operand &x, int axis, int64_t begin, int64_t end = Slice::kOpen, int64_t step = 1);
/// `length` elements from `start` on.
SPRIG_API Tensor narrow(const Operand &x, int axis, int64_t start, int64_t length);
/// The slice at a position; the axis disappears.
SPRIG_API Tensor select(const Operand &x, int axis, int64_t position);
/// One of sprig/index.h for each axis, from the first on. At most one of them is a tensor of indices.
SPRIG_API Tensor index(const Operand &x, std::initializer_list<Index> each);
/// x with the picked part replaced (PyTorch's x[...] = value, as a new tensor); value broadcasts to the part. A boolean
/// mask picks along as many axes as it has, beside `all` and `rest` alone; the value is then one for all that
/// it picks (one for each: maskedScatter() of sprig/masks.h).
[[nodiscard]] SPRIG_API Tensor assign(const Operand &x, std::initializer_list<Index> each, const Operand &value);

/// Turns the order of elements along axes around.
SPRIG_API Tensor flip(const Operand &x, const Ints &axes);
/// Moves elements on by `shift`; what leaves at the end comes in at the front.
SPRIG_API Tensor roll(const Operand &x, int64_t shift, int axis);
/// On and below the diagonal (above it for offsets > 0); zero elsewhere. Of the last two axes.
SPRIG_API Tensor tril(const Operand &x, int64_t diagonal = 0);
SPRIG_API Tensor triu(const Operand &x, int64_t diagonal = 0);
/// A matrix with x on its diagonal (x a vector), or the diagonal of a matrix.
SPRIG_API Tensor diag(const Operand &x, int64_t diagonal = 0);

enum class Padding { constant, reflect, replicate, circular };
/// Elements around the tensor. Amounts as in PyTorch: {before, after} of the last axis, then of the one before it, ...
/// Negative amounts cut (mode constant).
SPRIG_API Tensor pad(const Operand &x, const std::vector<int64_t> &amounts, Padding mode = Padding::constant,
                     double value = 0);

struct UnfoldOptions {
  Ints stride = 1;
  Ints padding = 0; ///< zeros at both ends
  Ints dilation = 1;
};
/// Windows of images [N, C, H, W] (or [C, H, W]) as columns: [N, C x elements of a window, windows], windows row after
/// row (PyTorch's functional.unfold, im2col).
SPRIG_API Tensor unfold(const Operand &x, const Ints &window, const UnfoldOptions &options = {});
/// The sum of such columns as images of `size`: [N, C x elements of a window, windows] to [N, C, H, W].
SPRIG_API Tensor fold(const Operand &x, const Ints &size, const Ints &window, const UnfoldOptions &options = {});
/// Every `step`-th window of `size` elements along an axis, whose elements become a new last axis (Tensor.unfold).
SPRIG_API Tensor unfold(const Operand &x, int axis, int64_t size, int64_t step);

// An index out of range is an error when it runs; so is a negative one, but of take() and x[indices], which count from
// the end.

/// result[.., i, ..] = x[.., indices[.., i, ..], ..].
SPRIG_API Tensor gather(const Operand &x, int axis, const Operand &indices);
/// Slices along an axis, picked by a vector of indices.
SPRIG_API Tensor indexSelect(const Operand &x, int axis, const Operand &indices);
/// Elements by indices of any shape, which takes the axis's place (NumPy's take).
SPRIG_API Tensor take(const Operand &x, const Operand &indices, int axis);
/// Elements of x flattened.
SPRIG_API Tensor take(const Operand &x, const Operand &indices);
/// Rows of a table [rows, features] by indices of any shape: [..., features].
SPRIG_API Tensor embedding(const Operand &indices, const Operand &table);

enum class Scatter { none, add, mul, max, min };
/// A copy of x into which source is written: result[.., indices[.., i, ..], ..] takes source[.., i, ..]; with add, mul,
/// max and min it is combined with what is there. In ascending order of i.
SPRIG_API Tensor scatter(const Operand &x, int axis, const Operand &indices, const Operand &source,
                         Scatter how = Scatter::none);
inline Tensor scatterAdd(const Operand &x, int axis, const Operand &indices, const Operand &source) {
  return scatter(x, axis, indices, source, Scatter::add);
}
/// A copy of x to whose slices at `indices` (a vector) those of source are added.
SPRIG_API Tensor indexAdd(const Operand &x, int axis, const Operand &indices, const Operand &source);
/// 1 at each class index, else 0: [...] becomes [..., classes]. PyTorch gives i64; here the type is chosen.
SPRIG_API Tensor oneHot(const Operand &indices, int64_t classes, DType type = DType::i64);

enum class Interpolation { nearest, linear, bilinear, trilinear, area, bicubic };
struct InterpolateOptions {
  Ints size = {};                              ///< of each spatial axis; or
  std::vector<double> scale = {};              ///< one for all, or one for each spatial axis
  Interpolation mode = Interpolation::nearest; ///< linear, bilinear and bicubic, trilinear: for 1, 2, 3 axes
  bool alignCorners = false;                   ///< of the linear modes and bicubic
};
/// Resamples [N, C, spatial...].
SPRIG_API Tensor interpolate(const Operand &x, const InterpolateOptions &options);
/// [N, C r^2, H, W] to [N, C, H r, W r] (arXiv:1609.05158).
SPRIG_API Tensor pixelShuffle(const Operand &x, int64_t factor);
SPRIG_API Tensor pixelUnshuffle(const Operand &x, int64_t factor);

} // namespace sprig
