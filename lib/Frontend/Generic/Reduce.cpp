// nn.reduce. Floats keep the order of docs/numerics.md: where the innermost dimension is reduced, 16 partial
// accumulators and a fixed tree, else one chain for each result; reduced dimensions run in ascending order. Long sums
// over samples are those of each sample, added up.
#include "dialects/NN/SumOfSamples.h"
#include "lib/Frontend/Generic/Scratch.h"
#include "lib/Frontend/Generic/Strides.h"
#include "lib/Frontend/Generic/VectorKernels.h"
#include <limits>

namespace sprig::frontend::generic {

namespace {
/// The dimensions before the innermost run, outermost first, kept ones apart from reduced ones.
struct Space {
  Strided kept, reduced;
  int64_t inner = 1;         // elements that lie one after the other
  bool innerReduced = false; // else they are neighbouring results
  int64_t keptCount = 1, reducedCount = 1;

  Space(const Shape &shape, const Shape &axes) {
    Shape strides = rowMajor(shape);
    auto isReduced = [&](int d) { return std::find(axes.begin(), axes.end(), d) != axes.end(); };
    int last = shape.rank();
    innerReduced = last > 0 && isReduced(last - 1);
    if (innerReduced) {
      inner = shape[--last]; // alone: element i goes to accumulator i mod 16
    } else {
      while (last > 0 && !isReduced(last - 1)) inner *= shape[--last];
    }
    for (int d = 0; d < last; ++d) {
      (isReduced(d) ? reduced : kept).add(shape[d], strides[d]);
      (isReduced(d) ? reducedCount : keptCount) *= shape[d];
    }
  }
};

/// Calls f with the offset of each position in ascending order.
template <typename F> void forOffsets(const Strided &dims, int64_t count, F f) {
  int64_t index[Shape::kMaxRank] = {}, offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    f(offset);
    for (int d = dims.rank - 1; d >= 0; --d) {
      offset += dims.strides[d];
      if (++index[d] < dims.sizes[d]) break;
      offset -= dims.strides[d] * dims.sizes[d];
      index[d] = 0;
    }
  }
}

template <typename T> void reduceFloats(const Space &space, const Reducer<T> &reducer, const T *from, T *to) {
  forOffsets(space.kept, space.keptCount, [&](int64_t kept) {
    if (space.innerReduced) {
      alignas(64) T partials[kPartials];
      std::fill_n(partials, kPartials, reducer.identity);
      forOffsets(space.reduced, space.reducedCount,
                 [&](int64_t offset) { reducer.row(partials, from + kept + offset, space.inner); });
      *to++ = reducer.tree(partials);
      return;
    }
    constexpr int64_t kColumns = 1024; // sums that stay in the first-level cache
    for (int64_t begin = 0; begin < space.inner; begin += kColumns) {
      int64_t count = std::min(kColumns, space.inner - begin);
      std::fill_n(to, count, reducer.identity);
      forOffsets(space.reduced, space.reducedCount,
                 [&](int64_t offset) { reducer.columns(to, from + kept + offset + begin, count); });
      to += count;
    }
  });
}

/// Whatever the order, integers give the same.
template <typename T, typename Step>
void reduceIntegers(const Space &space, T identity, const T *from, T *to, Step step) {
  int64_t results = space.innerReduced ? 1 : space.inner;
  forOffsets(space.kept, space.keptCount, [&](int64_t kept) {
    std::fill_n(to, results, identity);
    forOffsets(space.reduced, space.reducedCount, [&](int64_t offset) {
      const T *row = from + kept + offset;
      if (space.innerReduced)
        for (int64_t i = 0; i < space.inner; ++i) *to = step(*to, row[i]);
      else
        for (int64_t i = 0; i < space.inner; ++i) to[i] = step(to[i], row[i]);
    });
    to += results;
  });
}

template <typename T> void reduceIntegers(const Space &space, Reduction kind, const void *from, void *to) {
  auto run = [&](T identity, auto step) {
    reduceIntegers(space, identity, static_cast<const T *>(from), static_cast<T *>(to), step);
  };
  using Wide = std::make_unsigned_t<T>;
  switch (kind) {
  case Reduction::sum: return run(0, [](T a, T b) { return T(Wide(a) + Wide(b)); });
  case Reduction::prod: return run(1, [](T a, T b) { return T(uint64_t(a) * uint64_t(b)); });
  case Reduction::max: return run(std::numeric_limits<T>::lowest(), [](T a, T b) { return std::max(a, b); });
  case Reduction::min: return run(std::numeric_limits<T>::max(), [](T a, T b) { return std::min(a, b); });
  }
}

/// The maximum is "any", the minimum "all". Every byte but zero is true.
void reduceBooleans(const Space &space, Reduction kind, const void *from, void *to) {
  auto run = [&](bool identity, auto step) {
    reduceIntegers<uint8_t>(space, identity, static_cast<const uint8_t *>(from), static_cast<uint8_t *>(to),
                            [&](uint8_t a, uint8_t b) -> uint8_t { return step(a != 0, b != 0); });
  };
  if (kind == Reduction::max)
    run(false, [](bool a, bool b) { return a || b; });
  else
    run(true, [](bool a, bool b) { return a && b; });
}
} // namespace

namespace {
template <typename T> void sumOfSamples(const Call &call, const Reducer<T> &reducer) {
  const Shape &shape = call.shape();
  Shape axes = call.integers("axes"), otherAxes(axes.data() + 1, axes.size() - 1);
  int64_t results = call.resultType().elements();
  Scratch<T> samples(shape[0] * results);
  reduceFloats<T>(Space(shape, otherAxes), reducer, reinterpret_cast<const T *>(call.in()), samples.data());
  // Of a scalar the results lie one after the other.
  Shape rows = axes.rank() == shape.rank() ? Shape{shape[0]} : Shape{shape[0], results};
  reduceFloats<T>(Space(rows, Shape{0}), reducer, samples.data(), reinterpret_cast<T *>(call.out()));
}

bool reduce(const Call &call, bool isRounded) {
  std::string_view word = call.word("kind");
  Reduction kind = word == "sum"    ? Reduction::sum
                   : word == "prod" ? Reduction::prod
                   : word == "max"  ? Reduction::max
                                    : Reduction::min;
  if (word != "min" && kind == Reduction::min) return false;
  if (call.resultType().elements() == 0) return true;
  Space space(call.shape(), call.integers("axes"));
  const void *from = call.in();
  void *to = call.out();
  auto floats = [&](auto kindOf) {
    using T = decltype(kindOf);
    const Reducer<T> &reducer = vectorKernels().of<T>().reducers[int(kind)];
    if (!isRounded && kind == Reduction::sum && ir::isSumOfSamples(call.shape(), call.integers("axes")))
      sumOfSamples(call, reducer);
    else
      reduceFloats<T>(space, reducer, static_cast<const T *>(from), static_cast<T *>(to));
  };
  switch (call.type().dtype) {
  case DType::f32: floats(float()); return true;
  case DType::f64: floats(double()); return true;
  case DType::f16:
  case DType::bf16: return throughF32(call, [](const Call &wide) { return reduce(wide, /*isRounded=*/true); });
  case DType::i64: reduceIntegers<int64_t>(space, kind, from, to); return true;
  case DType::i32: reduceIntegers<int32_t>(space, kind, from, to); return true;
  case DType::i16: reduceIntegers<int16_t>(space, kind, from, to); return true;
  case DType::i8: reduceIntegers<int8_t>(space, kind, from, to); return true;
  case DType::u64: reduceIntegers<uint64_t>(space, kind, from, to); return true;
  case DType::u32: reduceIntegers<uint32_t>(space, kind, from, to); return true;
  case DType::u16: reduceIntegers<uint16_t>(space, kind, from, to); return true;
  case DType::u8: reduceIntegers<uint8_t>(space, kind, from, to); return true;
  case DType::boolean: reduceBooleans(space, kind, from, to); return true;
  }
  return false;
}
} // namespace

bool runReduce(const Call &call, int) { return reduce(call, /*isRounded=*/false); }

} // namespace sprig::frontend::generic
