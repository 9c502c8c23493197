// Linear layers, lookup tables, and layers that only change shapes. For programs.
#pragma once
#include "sprig/nn/module.h"
#include <optional>

namespace sprig::nn {

struct LinearOptions {
  bool bias = true;
};
/// x [..., in] to [..., out]: x times the transpose of weight, plus bias. Both start uniform within ± 1 / sqrt(in).
class SPRIG_API Linear : public Module {
public:
  Linear() = default;
  Linear(int64_t in, int64_t out, const LinearOptions &options = {}, Source at = Source::here());
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

  Parameter weight; ///< [out, in]
  Parameter bias;   ///< [out]; not defined without one
};

/// x1 [..., in1] and x2 [..., in2] to [..., out]: x1^T weight x2 + bias, all uniform within ± 1 / sqrt(in1).
class SPRIG_API Bilinear : public Module {
public:
  Bilinear() = default;
  Bilinear(int64_t in1, int64_t in2, int64_t out, const LinearOptions &options = {}, Source at = Source::here());
  Tensor operator()(const Operand &x1, const Operand &x2) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

  Parameter weight; ///< [out, in1, in2]
  Parameter bias;   ///< [out]
};

/// Gives back what it gets.
class SPRIG_API Identity : public Module {
public:
  Tensor operator()(const Operand &x) const { return hooked(x, x.tensor); }
  bool runsHooks() const override { return true; }
};

struct EmbeddingOptions {
  std::optional<int64_t> paddingIndex; ///< its row starts as zeros and gets no gradient
};
/// Rows of a table by indices (i64 or i32) of any shape: [...] to [..., features]. Starts normal (0, 1). An index out
/// of range is an error when it runs.
class SPRIG_API Embedding : public Module {
public:
  Embedding() = default;
  Embedding(int64_t count, int64_t features, const EmbeddingOptions &options = {}, Source at = Source::here());
  Tensor operator()(const Operand &indices) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

  Parameter weight; ///< [count, features]

private:
  EmbeddingOptions options;
};

/// How the rows of a bag become one.
enum class Bag { mean, sum, max };
/// Rows of a table by bags of indices (i64 or i32) [batch, n], one row for each bag: [batch, features]. With mode sum
/// each may have a weight, of the indices' shape and the table's element type. Starts normal (0, 1).
class SPRIG_API EmbeddingBag : public Module {
public:
  EmbeddingBag() = default;
  EmbeddingBag(int64_t count, int64_t features, Bag mode = Bag::mean, Source at = Source::here());
  Tensor operator()(const Operand &indices, const Operand &weights = {}) const;
  bool runsHooks() const override { return true; }
  /// Bags of their own lengths, one behind the other: indices [n], and where each bag begins, [batch], from 0 and
  /// ascending (PyTorch's offsets). A bag without indices gives zeros. Weights [n] as above. Offsets that do not begin
  /// at 0, do not ascend, or lie beyond n, are an error when it runs.
  Tensor byOffsets(const Operand &indices, const Operand &offsets, const Operand &weights = {}) const;
  /// Bags [batch, n] of which the first lengths [batch] indices count, 0 to n, else it is an error when it runs; the
  /// others may be anything.
  Tensor byLengths(const Operand &indices, const Operand &lengths, const Operand &weights = {}) const;
  std::string extra() const override;

  Parameter weight; ///< [count, features]

private:
  Tensor rowsOf(const Operand &indices, const Operand &weights) const;
  Bag mode = Bag::mean;
};

/// Axes first to last become one: [N, C, H, W] to [N, C H W] as it stands.
class SPRIG_API Flatten : public Module {
public:
  explicit Flatten(int first = 1, int last = -1) : first(first), last(last) {}
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

private:
  int first, last;
};

/// One axis becomes several; one size may be -1.
class SPRIG_API Unflatten : public Module {
public:
  Unflatten(int axis, const Shape &sizes) : axis(axis), sizes(sizes) {}
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

private:
  int axis;
  Shape sizes;
};

} // namespace sprig::nn
