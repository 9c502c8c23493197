// The methods of Tensor: the functions of the same names, with the caller's line handed on.
#include "sprig/ops.h"

namespace sprig {

namespace {
Operand at(const Tensor &x, Source source) { return {x, source.file, source.line}; }
} // namespace

Tensor Tensor::reshape(const Shape &shape, Source source) const { return sprig::reshape(at(*this, source), shape); }
Tensor Tensor::flatten(int first, int last, Source source) const {
  return sprig::flatten(at(*this, source), first, last);
}
Tensor Tensor::transpose(int a, int b, Source source) const { return sprig::transpose(at(*this, source), a, b); }
Tensor Tensor::permute(const Shape &order, Source source) const { return sprig::permute(at(*this, source), order); }
Tensor Tensor::unsqueeze(int axis, Source source) const { return sprig::unsqueeze(at(*this, source), axis); }
Tensor Tensor::squeeze(int axis, Source source) const { return sprig::squeeze(at(*this, source), axis); }
Tensor Tensor::expand(const Shape &shape, Source source) const { return sprig::expand(at(*this, source), shape); }
Tensor Tensor::to(DType type, Source source) const { return cast(at(*this, source), type); }
Tensor Tensor::slice(int axis, int64_t begin, int64_t end, int64_t step, Source source) const {
  return sprig::slice(at(*this, source), axis, begin, end, step);
}
Tensor Tensor::sum(const Ints &axes, bool keepDims, Source source) const {
  return sprig::sum(at(*this, source), axes, keepDims);
}
Tensor Tensor::mean(const Ints &axes, bool keepDims, Source source) const {
  return sprig::mean(at(*this, source), axes, keepDims);
}
Tensor Tensor::max(const Ints &axes, bool keepDims, Source source) const {
  return sprig::max(at(*this, source), axes, keepDims);
}
Tensor Tensor::min(const Ints &axes, bool keepDims, Source source) const {
  return sprig::min(at(*this, source), axes, keepDims);
}
Tensor Tensor::argmax(int axis, bool keepDims, Source source) const {
  return sprig::argmax(at(*this, source), axis, keepDims);
}

} // namespace sprig
