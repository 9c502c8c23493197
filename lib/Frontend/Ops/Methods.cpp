// The methods of Tensor: the functions of the same names, with the caller's line handed on.
#include "lib/Frontend/Record.h"
#include "sprig/ops.h"

namespace sprig {

namespace {
Operand at(const Tensor &x, Source source) { return {x, source}; }
} // namespace

// Of one operand, and of two.
#define SPRIG_METHOD(name)                                                                                             \
  Tensor Tensor::name(Source source) const { return sprig::name(at(*this, source)); }
SPRIG_METHOD(abs)
SPRIG_METHOD(neg)
SPRIG_METHOD(sign)
SPRIG_METHOD(square)
SPRIG_METHOD(floor)
SPRIG_METHOD(ceil)
SPRIG_METHOD(round)
SPRIG_METHOD(exp)
SPRIG_METHOD(expm1)
SPRIG_METHOD(log)
SPRIG_METHOD(log1p)
SPRIG_METHOD(sqrt)
SPRIG_METHOD(rsqrt)
SPRIG_METHOD(reciprocal)
SPRIG_METHOD(sin)
SPRIG_METHOD(cos)
SPRIG_METHOD(tanh)
SPRIG_METHOD(erf)
SPRIG_METHOD(relu)
SPRIG_METHOD(sigmoid)
SPRIG_METHOD(silu)
SPRIG_METHOD(isNan)
SPRIG_METHOD(isInf)
SPRIG_METHOD(isFinite)
#undef SPRIG_METHOD
#define SPRIG_METHOD(name)                                                                                             \
  Tensor Tensor::name(const Operand &other, Source source) const { return sprig::name(at(*this, source), other); }
SPRIG_METHOD(add)
SPRIG_METHOD(sub)
SPRIG_METHOD(mul)
SPRIG_METHOD(div)
SPRIG_METHOD(pow)
SPRIG_METHOD(maximum)
SPRIG_METHOD(minimum)
SPRIG_METHOD(eq)
SPRIG_METHOD(ne)
SPRIG_METHOD(lt)
SPRIG_METHOD(le)
SPRIG_METHOD(gt)
SPRIG_METHOD(ge)
SPRIG_METHOD(clampMin)
SPRIG_METHOD(clampMax)
SPRIG_METHOD(matmul)
SPRIG_METHOD(mm)
SPRIG_METHOD(bmm)
SPRIG_METHOD(mv)
SPRIG_METHOD(dot)
#undef SPRIG_METHOD

// Reductions over axes.
#define SPRIG_METHOD(name)                                                                                             \
  Tensor Tensor::name(const Ints &axes, bool keepDims, Source source) const {                                          \
    return sprig::name(at(*this, source), axes, keepDims);                                                             \
  }
SPRIG_METHOD(sum)
SPRIG_METHOD(mean)
SPRIG_METHOD(prod)
SPRIG_METHOD(max)
SPRIG_METHOD(min)
SPRIG_METHOD(any)
SPRIG_METHOD(all)
SPRIG_METHOD(logsumexp)
#undef SPRIG_METHOD

Tensor Tensor::gelu(Source source) const { return sprig::gelu(at(*this, source)); }
Tensor Tensor::to(DType type, Source source) const { return sprig::cast(at(*this, source), type); }
Tensor Tensor::clamp(const Operand &low, const Operand &high, Source source) const {
  return sprig::clamp(at(*this, source), low, high);
}
Tensor Tensor::maskedFill(const Operand &mask, const Operand &value, Source source) const {
  return sprig::maskedFill(at(*this, source), mask, value);
}
Tensor Tensor::var(const Ints &axes, double correction, bool keepDims, Source source) const {
  return sprig::var(at(*this, source), axes, correction, keepDims);
}
Tensor Tensor::stdDev(const Ints &axes, double correction, bool keepDims, Source source) const {
  return sprig::stdDev(at(*this, source), axes, correction, keepDims);
}
Tensor Tensor::norm(double p, const Ints &axes, bool keepDims, Source source) const {
  return sprig::norm(at(*this, source), p, axes, keepDims);
}
Tensor Tensor::argmax(int axis, bool keepDims, Source source) const {
  return sprig::argmax(at(*this, source), axis, keepDims);
}
Tensor Tensor::argmin(int axis, bool keepDims, Source source) const {
  return sprig::argmin(at(*this, source), axis, keepDims);
}
Tensor Tensor::softmax(int axis, Source source) const { return sprig::softmax(at(*this, source), axis); }
Tensor Tensor::logSoftmax(int axis, Source source) const { return sprig::logSoftmax(at(*this, source), axis); }
Tensor Tensor::cumsum(int axis, Source source) const { return sprig::cumsum(at(*this, source), axis); }
Tensor Tensor::cumprod(int axis, Source source) const { return sprig::cumprod(at(*this, source), axis); }
Sorted Tensor::topk(int64_t k, int axis, bool largest, Source source) const {
  return sprig::topk(at(*this, source), k, axis, largest);
}
Sorted Tensor::sort(int axis, bool descending, Source source) const {
  return sprig::sort(at(*this, source), axis, descending);
}
Tensor Tensor::argsort(int axis, bool descending, Source source) const {
  return sprig::argsort(at(*this, source), axis, descending);
}

Tensor Tensor::reshape(const Shape &shape, Source source) const { return sprig::reshape(at(*this, source), shape); }
Tensor Tensor::view(const Shape &shape, Source source) const { return sprig::reshape(at(*this, source), shape); }
Tensor Tensor::flatten(int first, int last, Source source) const {
  return sprig::flatten(at(*this, source), first, last);
}
Tensor Tensor::unflatten(int axis, const Shape &sizes, Source source) const {
  return sprig::unflatten(at(*this, source), axis, sizes);
}
Tensor Tensor::transpose(int a, int b, Source source) const { return sprig::transpose(at(*this, source), a, b); }
Tensor Tensor::t(Source source) const {
  int axes = type(source).shape.rank();
  if (axes > 2)
    frontend::fail(source, "t",
                   "transposes matrices, got " + describe(type(source)) + "; transpose() exchanges two axes");
  return axes < 2 ? *this : transpose(0, 1, source);
}
Tensor Tensor::permute(const Shape &order, Source source) const { return sprig::permute(at(*this, source), order); }
Tensor Tensor::movedim(int from, int to, Source source) const { return sprig::movedim(at(*this, source), from, to); }
Tensor Tensor::unsqueeze(int axis, Source source) const { return sprig::unsqueeze(at(*this, source), axis); }
Tensor Tensor::squeeze(int axis, Source source) const { return sprig::squeeze(at(*this, source), axis); }
Tensor Tensor::squeeze(Source source) const { return sprig::squeeze(at(*this, source)); }
Tensor Tensor::expand(const Shape &shape, Source source) const { return sprig::expand(at(*this, source), shape); }
Tensor Tensor::repeat(const Shape &times, Source source) const { return sprig::tile(at(*this, source), times); }
Tensor Tensor::repeatInterleave(int64_t times, int axis, Source source) const {
  return sprig::repeatInterleave(at(*this, source), times, axis);
}
std::vector<Tensor> Tensor::split(int64_t size, int axis, Source source) const {
  return sprig::split(at(*this, source), size, axis);
}
std::vector<Tensor> Tensor::split(const std::vector<int64_t> &sizes, int axis, Source source) const {
  return sprig::split(at(*this, source), sizes, axis);
}
std::vector<Tensor> Tensor::chunk(int64_t count, int axis, Source source) const {
  return sprig::chunk(at(*this, source), count, axis);
}
std::vector<Tensor> Tensor::unbind(int axis, Source source) const { return sprig::unbind(at(*this, source), axis); }
Tensor Tensor::slice(int axis, int64_t begin, int64_t end, int64_t step, Source source) const {
  return sprig::slice(at(*this, source), axis, begin, end, step);
}
Tensor Tensor::narrow(int axis, int64_t start, int64_t length, Source source) const {
  return sprig::narrow(at(*this, source), axis, start, length);
}
Tensor Tensor::select(int axis, int64_t position, Source source) const {
  return sprig::select(at(*this, source), axis, position);
}
Tensor Tensor::gather(int axis, const Operand &indices, Source source) const {
  return sprig::gather(at(*this, source), axis, indices);
}
Tensor Tensor::indexSelect(int axis, const Operand &indices, Source source) const {
  return sprig::indexSelect(at(*this, source), axis, indices);
}
Tensor Tensor::scatterAdd(int axis, const Operand &indices, const Operand &values, Source source) const {
  return sprig::scatterAdd(at(*this, source), axis, indices, values);
}
Tensor Tensor::flip(const Ints &axes, Source source) const { return sprig::flip(at(*this, source), axes); }
Tensor Tensor::roll(int64_t shift, int axis, Source source) const {
  return sprig::roll(at(*this, source), shift, axis);
}
Tensor Tensor::tril(int64_t diagonal, Source source) const { return sprig::tril(at(*this, source), diagonal); }
Tensor Tensor::triu(int64_t diagonal, Source source) const { return sprig::triu(at(*this, source), diagonal); }

Tensor Tensor::clone(Source source) const {
  frontend::requireDefined(*this, "clone", "the tensor", source);
  return *this;
}
Tensor Tensor::contiguous(Source source) const {
  frontend::requireDefined(*this, "contiguous", "the tensor", source);
  return *this;
}

} // namespace sprig
