// Pooling layers; what they compute stands in sprig/functional.h. For programs.
#pragma once
#include "sprig/functional.h"
#include "sprig/nn/module.h"

namespace sprig::nn {

/// Largest element of each window; the stride is the window unless given.
class SPRIG_API MaxPool : public Module {
public:
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

protected:
  MaxPool(int axes, const Ints &window, const MaxPoolOptions &options) : axes(axes), window(window), options(options) {}

private:
  int axes;
  Ints window;
  MaxPoolOptions options;
};
/// Mean of each window; zeros of the padding count unless countIncludePad is off.
class SPRIG_API AvgPool : public Module {
public:
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

protected:
  AvgPool(int axes, const Ints &window, const AvgPoolOptions &options) : axes(axes), window(window), options(options) {}

private:
  int axes;
  Ints window;
  AvgPoolOptions options;
};
/// Windows that are chosen so that the result has this size.
class SPRIG_API AdaptivePool : public Module {
public:
  Tensor operator()(const Operand &x) const;
  bool runsHooks() const override { return true; }
  std::string extra() const override;

protected:
  AdaptivePool(int axes, bool isMax, const Ints &size) : axes(axes), isMax(isMax), size(size) {}

private:
  int axes;
  bool isMax;
  Ints size;
};

struct SPRIG_API MaxPool1d : MaxPool {
  explicit MaxPool1d(const Ints &window, const MaxPoolOptions &options = {}) : MaxPool(1, window, options) {}
};
struct SPRIG_API MaxPool2d : MaxPool {
  explicit MaxPool2d(const Ints &window, const MaxPoolOptions &options = {}) : MaxPool(2, window, options) {}
};
struct SPRIG_API MaxPool3d : MaxPool {
  explicit MaxPool3d(const Ints &window, const MaxPoolOptions &options = {}) : MaxPool(3, window, options) {}
};
struct SPRIG_API AvgPool1d : AvgPool {
  explicit AvgPool1d(const Ints &window, const AvgPoolOptions &options = {}) : AvgPool(1, window, options) {}
};
struct SPRIG_API AvgPool2d : AvgPool {
  explicit AvgPool2d(const Ints &window, const AvgPoolOptions &options = {}) : AvgPool(2, window, options) {}
};
struct SPRIG_API AvgPool3d : AvgPool {
  explicit AvgPool3d(const Ints &window, const AvgPoolOptions &options = {}) : AvgPool(3, window, options) {}
};
struct SPRIG_API AdaptiveAvgPool1d : AdaptivePool {
  explicit AdaptiveAvgPool1d(const Ints &size) : AdaptivePool(1, false, size) {}
};
struct SPRIG_API AdaptiveAvgPool2d : AdaptivePool {
  explicit AdaptiveAvgPool2d(const Ints &size) : AdaptivePool(2, false, size) {}
};
struct SPRIG_API AdaptiveAvgPool3d : AdaptivePool {
  explicit AdaptiveAvgPool3d(const Ints &size) : AdaptivePool(3, false, size) {}
};
struct SPRIG_API AdaptiveMaxPool1d : AdaptivePool {
  explicit AdaptiveMaxPool1d(const Ints &size) : AdaptivePool(1, true, size) {}
};
struct SPRIG_API AdaptiveMaxPool2d : AdaptivePool {
  explicit AdaptiveMaxPool2d(const Ints &size) : AdaptivePool(2, true, size) {}
};
struct SPRIG_API AdaptiveMaxPool3d : AdaptivePool {
  explicit AdaptiveMaxPool3d(const Ints &size) : AdaptivePool(3, true, size) {}
};

} // namespace sprig::nn
