// Metrics that accumulate on the device: adding a batch waits for nothing, reading waits once.
// For training loops and evaluations, and inside compiled functions: their sums are state. Copies share it.
//
//     metrics::Mean loss; metrics::Accuracy accuracy;
//     for (auto [x, y] : loader) loss.add(step(x, y));
//     std::printf("%f\n", loss.value());
#pragma once
#include "sprig/tensor.h"
#include <string>

namespace sprig::metrics {

/// The mean of all numbers that were added, in f64.
class SPRIG_API Mean {
public:
  Mean();
  /// A scalar counts `weight` times (the size of its batch, where it is a batch's mean); of a tensor with dimensions
  /// each element does.
  void add(const Operand &value, int64_t weight = 1) const;
  /// Waits; NaN before the first add.
  double value(Source at = Source::here()) const;
  int64_t count(Source at = Source::here()) const; ///< waits
  void reset() const;
  /// The mean as a scalar of f64, without waiting.
  Tensor tensor(Source at = Source::here()) const;

private:
  Parameter sum, weights;
};

/// The share of samples whose class is among the k highest of the logits.
class SPRIG_API Accuracy {
public:
  explicit Accuracy(int64_t k = 1, Source at = Source::here());
  /// Logits [N, classes, ...] and classes [N, ...] of integers; or predicted classes of the classes' shape.
  void add(const Operand &logits, const Operand &classes) const;
  double value(Source at = Source::here()) const;  ///< waits; NaN before the first add
  int64_t count(Source at = Source::here()) const; ///< samples; waits
  void reset() const;

private:
  int64_t k;
  Parameter hits, samples;
};

/// How often class i (row) was taken for class j (column).
class SPRIG_API ConfusionMatrix {
public:
  explicit ConfusionMatrix(int64_t classes, Source at = Source::here());
  /// As Accuracy::add. A class out of range is an error when it runs.
  void add(const Operand &logits, const Operand &classes) const;
  /// [classes, classes] of i64, without waiting.
  Tensor counts() const;
  double accuracy(Source at = Source::here()) const; ///< waits
  /// Per class; NaN where it never came up. These wait.
  std::vector<double> precision(Source at = Source::here()) const;
  std::vector<double> recall(Source at = Source::here()) const;
  void reset() const;
  std::string text(Source at = Source::here()) const; ///< waits

private:
  int64_t classes;
  Parameter matrix;
};

} // namespace sprig::metrics
