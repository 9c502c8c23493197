#include "sprig/nn/containers.h"

namespace sprig::nn {

Tensor Sequential::operator()(const Operand &x) const {
  Scope in = enter();
  Tensor value = x.tensor;
  for (size_t i = 0; i < size(); ++i) value = callChild(i, Operand(value, x.at));
  return hooked(x, value);
}

} // namespace sprig::nn
