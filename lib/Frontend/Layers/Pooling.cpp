#include "sprig/nn/pooling.h"
#include "lib/Frontend/Layers/LayerText.h"

namespace sprig::nn {

namespace {
std::string poolText(const Ints &window, const Ints &stride, const Ints &padding) {
  return "kernel_size=" + intsText(window) + ", stride=" + intsText(stride.empty() ? window : stride) +
         ", padding=" + intsText(padding);
}
} // namespace

Tensor MaxPool::operator()(const Operand &x) const {
  InLayer in(scope());
  return hooked(x, (axes == 1 ? maxPool1d : axes == 2 ? maxPool2d : maxPool3d)(x, window, options));
}
std::string MaxPool::extra() const {
  return poolText(window, options.stride, options.padding) + ", dilation=" + intsText(options.dilation) +
         ", ceil_mode=" + boolText(options.ceilMode);
}

Tensor AvgPool::operator()(const Operand &x) const {
  InLayer in(scope());
  return hooked(x, (axes == 1 ? avgPool1d : axes == 2 ? avgPool2d : avgPool3d)(x, window, options));
}
std::string AvgPool::extra() const { return poolText(window, options.stride, options.padding); }

Tensor AdaptivePool::operator()(const Operand &x) const {
  InLayer in(scope());
  if (isMax)
    return hooked(x, (axes == 1 ? adaptiveMaxPool1d : axes == 2 ? adaptiveMaxPool2d : adaptiveMaxPool3d)(x, size));
  return hooked(x, (axes == 1 ? adaptiveAvgPool1d : axes == 2 ? adaptiveAvgPool2d : adaptiveAvgPool3d)(x, size));
}
std::string AdaptivePool::extra() const { return "output_size=" + intsText(size); }

} // namespace sprig::nn
