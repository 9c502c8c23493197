#include "lib/Target/CPU/Kernels/Convolution/WinogradTransform.h"
#include <cmath>

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
/// Sums of multiples of vectors. A factor of 1 costs an addition; the order is that of the calls.
class Sum {
public:
  explicit Sum(KernelBuilder &k) : k(k) {}
  Sum &plus(Value value) { return add(value, 1); }
  Sum &add(Value value, double factor) {
    if (!total)
      total = factor == 1 ? value : Value(arith::MulFOp::create(k.b, k.loc, value, constant(value, factor)));
    else if (factor == 1)
      total = arith::AddFOp::create(k.b, k.loc, total, value);
    else if (factor == -1)
      total = arith::SubFOp::create(k.b, k.loc, total, value);
    else
      total = k.multiplyAdd(value, constant(value, factor), total);
    return *this;
  }
  Value get() const { return total; }

private:
  Value constant(Value like, double factor) {
    auto type = cast<VectorType>(like.getType());
    return k.splat(k.constant(type.getElementType(), factor), type.getDimSize(0));
  }
  KernelBuilder &k;
  Value total;
};
} // namespace

/// The polynomial with coefficients of x^first, x^(first + 2), ..., applied to a line; highest power first.
static Value apply(KernelBuilder &k, ArrayRef<double> coefficients, int64_t first, ValueRange line) {
  Sum sum(k);
  for (int64_t i = static_cast<int64_t>(coefficients.size()) - 1; i >= 0; --i)
    sum.add(line[first + 2 * i], coefficients[i]);
  return sum.get();
}

SmallVector<Value> sprig::cpu::emitInputTransform(KernelBuilder &k, const kernel::WinogradLine &line,
                                                  ValueRange inputs) {
  if (line.frequencies() == 1) return SmallVector<Value>(inputs);
  SmallVector<double> all = line.evenPolynomial();
  SmallVector<Value> result{apply(k, all, 0, inputs)};
  for (auto [i, point] : llvm::enumerate(line.pairs())) {
    SmallVector<double> rest = line.evenPolynomial(i);
    Value even = apply(k, rest, 2, inputs), odd = apply(k, rest, 1, inputs);
    result.push_back(Sum(k).plus(even).add(odd, point).get());
    result.push_back(Sum(k).plus(even).add(odd, -point).get());
  }
  result.push_back(apply(k, all, 1, inputs));
  return result;
}

SmallVector<Value> sprig::cpu::emitOutputTransform(KernelBuilder &k, const kernel::WinogradLine &line,
                                                   ValueRange frequencies) {
  if (line.frequencies() == 1) return SmallVector<Value>(frequencies);
  ArrayRef<double> pairs = line.pairs();
  SmallVector<Value> sums, differences;
  for (size_t i = 0; i < pairs.size(); ++i) {
    Value plus = frequencies[1 + 2 * i], minus = frequencies[2 + 2 * i];
    sums.push_back(arith::AddFOp::create(k.b, k.loc, plus, minus));
    if (line.outputs() > 1) differences.push_back(arith::SubFOp::create(k.b, k.loc, plus, minus));
  }
  SmallVector<Value> result;
  for (int64_t power = 0; power < line.outputs(); ++power) {
    Sum sum(k);
    if (power == 0) sum.plus(frequencies.front());
    if (power == line.outputs() - 1) sum.plus(frequencies.back());
    for (auto [i, point] : llvm::enumerate(pairs))
      sum.add(power % 2 ? differences[i] : sums[i], std::pow(point, static_cast<double>(power)));
    result.push_back(sum.get());
  }
  return result;
}
