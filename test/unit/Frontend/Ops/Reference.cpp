#include "test/unit/Frontend/Ops/Reference.h"
#include <algorithm>

namespace sprig::test {

Array numbers(const Shape &shape, unsigned seed, double low, double high) {
  Array a{shape, {}};
  uint64_t state = seed * 0x9e3779b97f4a7c15ull + 12345;
  for (int64_t i = 0; i < shape.elements(); ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    double unit = double(state >> 40) / double(1 << 24);
    a.values.push_back(double(float(low + (high - low) * unit)));
  }
  return a;
}

Array counting(const Shape &shape) {
  Array a{shape, {}};
  for (int64_t i = 0; i < shape.elements(); ++i) a.values.push_back(double(i));
  return a;
}

template <typename T> static Tensor typed(const Array &array) {
  std::vector<T> values(array.values.begin(), array.values.end());
  TensorType type{DTypeFor<T>::dtype, array.shape};
  return Tensor::copyOf(values.data(), type);
}
static Tensor booleans(const Array &array) {
  std::vector<uint8_t> values;
  for (double v : array.values) values.push_back(v != 0);
  TensorType type{DType::boolean, array.shape};
  return Tensor::copyOf(values.data(), type);
}

Tensor tensorOf(const Array &array, DType type) {
  switch (type) {
  case DType::f64: return typed<double>(array);
  case DType::f32: return typed<float>(array);
  case DType::i64: return typed<int64_t>(array);
  case DType::i32: return typed<int32_t>(array);
  case DType::i16: return typed<int16_t>(array);
  case DType::i8: return typed<int8_t>(array);
  case DType::u64: return typed<uint64_t>(array);
  case DType::u32: return typed<uint32_t>(array);
  case DType::u16: return typed<uint16_t>(array);
  case DType::u8: return typed<uint8_t>(array);
  case DType::boolean: return booleans(array);
  default: return typed<float>(array).to(type);
  }
}

template <typename T> static std::vector<double> widened(const Tensor &tensor) {
  const T *data = static_cast<const T *>(tensor.bytes());
  return std::vector<double>(data, data + tensor.numel());
}

Array arrayOf(const Tensor &tensor) {
  Array a{tensor.shape(), {}};
  switch (tensor.dtype()) {
  case DType::f64: a.values = widened<double>(tensor); break;
  case DType::f32: a.values = widened<float>(tensor); break;
  case DType::i64: a.values = widened<int64_t>(tensor); break;
  case DType::i32: a.values = widened<int32_t>(tensor); break;
  case DType::i16: a.values = widened<int16_t>(tensor); break;
  case DType::i8: a.values = widened<int8_t>(tensor); break;
  case DType::u64: a.values = widened<uint64_t>(tensor); break;
  case DType::u32: a.values = widened<uint32_t>(tensor); break;
  case DType::u16: a.values = widened<uint16_t>(tensor); break;
  case DType::u8:
  case DType::boolean: a.values = widened<uint8_t>(tensor); break;
  default: a.values = widened<float>(tensor.to(DType::f32));
  }
  return a;
}

int64_t positionOf(const Shape &shape, const std::vector<int64_t> &index) {
  int64_t position = 0;
  for (int i = 0; i < shape.rank(); ++i) position = position * shape[i] + index[size_t(i)];
  return position;
}

std::vector<int64_t> indexOf(const Shape &shape, int64_t position) {
  std::vector<int64_t> index(shape.size());
  for (int i = shape.rank() - 1; i >= 0; --i) {
    index[size_t(i)] = position % shape[i];
    position /= shape[i];
  }
  return index;
}

Array generate(const Shape &shape, const std::function<double(const std::vector<int64_t> &)> &f) {
  Array a{shape, {}};
  for (int64_t i = 0; i < shape.elements(); ++i) a.values.push_back(f(indexOf(shape, i)));
  return a;
}

double at(const Array &a, const std::vector<int64_t> &index) { return a.values[size_t(positionOf(a.shape, index))]; }

Array map(const Array &a, const std::function<double(double)> &f) {
  Array result{a.shape, {}};
  for (double v : a.values) result.values.push_back(f(v));
  return result;
}

Array zip(const Array &a, const Array &b, const std::function<double(double, double)> &f) {
  int rank = std::max(a.shape.rank(), b.shape.rank());
  Shape shape;
  auto sizeOf = [&](const Array &x, int i) {
    int own = i - (rank - x.shape.rank());
    return own < 0 ? int64_t(1) : x.shape[own];
  };
  for (int i = 0; i < rank; ++i) shape.push_back(sizeOf(a, i) == 1 ? sizeOf(b, i) : sizeOf(a, i));
  auto pick = [&](const Array &x, const std::vector<int64_t> &index) {
    std::vector<int64_t> own;
    for (int i = rank - x.shape.rank(); i < rank; ++i) own.push_back(sizeOf(x, i) == 1 ? 0 : index[size_t(i)]);
    return at(x, own);
  };
  return generate(shape, [&](const std::vector<int64_t> &index) { return f(pick(a, index), pick(b, index)); });
}

Array reduce(const Array &a, const std::vector<int> &axes, bool keepDims,
             const std::function<double(const std::vector<double> &)> &f) {
  auto isReduced = [&](int i) { return std::find(axes.begin(), axes.end(), i) != axes.end(); };
  Shape kept, shape;
  for (int i = 0; i < a.shape.rank(); ++i) {
    kept.push_back(isReduced(i) ? 1 : a.shape[i]);
    if (!isReduced(i) || keepDims) shape.push_back(kept.back());
  }
  std::vector<std::vector<double>> groups(size_t(kept.elements()));
  for (int64_t i = 0; i < a.shape.elements(); ++i) {
    auto index = indexOf(a.shape, i);
    for (int axis : axes) index[size_t(axis)] = 0;
    groups[size_t(positionOf(kept, index))].push_back(a.values[size_t(i)]);
  }
  Array result{shape, {}};
  for (auto &group : groups) result.values.push_back(f(group));
  return result;
}

Array permuted(const Array &a, const std::vector<int> &order) {
  Shape shape;
  for (int axis : order) shape.push_back(a.shape[axis]);
  return generate(shape, [&](const std::vector<int64_t> &index) {
    std::vector<int64_t> source(index.size());
    for (size_t i = 0; i < order.size(); ++i) source[size_t(order[i])] = index[i];
    return at(a, source);
  });
}

namespace {
Shape tail(const Shape &shape) { return Shape(shape.data() + 2, shape.size() - 2); }
} // namespace

Array convolution(const Array &x, const Array &w, const ConvShape &c) {
  Shape in = tail(x.shape), window = tail(w.shape), shape{x.shape[0], w.shape[0]};
  for (int i = 0; i < in.rank(); ++i) {
    int64_t reach = c.dilation[size_t(i)] * (window[i] - 1) + 1;
    shape.push_back((in[i] + 2 * c.padding[size_t(i)] - reach) / c.stride[size_t(i)] + 1);
  }
  int64_t perGroup = w.shape[1], outPerGroup = w.shape[0] / c.groups;
  return generate(shape, [&](const std::vector<int64_t> &o) {
    double sum = 0;
    for (int64_t k = 0; k < perGroup; ++k)
      for (int64_t t = 0; t < window.elements(); ++t) {
        auto tap = indexOf(window, t);
        std::vector<int64_t> source{o[0], o[1] / outPerGroup * perGroup + k}, weight{o[1], k};
        bool isInside = true;
        for (size_t d = 0; d < tap.size(); ++d) {
          source.push_back(o[2 + d] * c.stride[d] + tap[d] * c.dilation[d] - c.padding[d]);
          weight.push_back(tap[d]);
          isInside &= source.back() >= 0 && source.back() < in[int(d)];
        }
        if (isInside) sum += at(x, source) * at(w, weight);
      }
    return sum;
  });
}

Array transposedConvolution(const Array &x, const Array &w, const ConvShape &c,
                            const std::vector<int64_t> &outputPadding) {
  Shape in = tail(x.shape), window = tail(w.shape), shape{x.shape[0], w.shape[1] * c.groups};
  for (int i = 0; i < in.rank(); ++i) {
    size_t d = size_t(i);
    shape.push_back((in[i] - 1) * c.stride[d] + (window[i] - 1) * c.dilation[d] + 1 + outputPadding[d] -
                    2 * c.padding[d]);
  }
  Array result = generate(shape, [](const std::vector<int64_t> &) { return 0.0; });
  int64_t perGroup = x.shape[1] / c.groups;
  for (int64_t i = 0; i < x.shape.elements(); ++i) {
    auto source = indexOf(x.shape, i);
    for (int64_t k = 0; k < w.shape[1]; ++k)
      for (int64_t t = 0; t < window.elements(); ++t) {
        auto tap = indexOf(window, t);
        std::vector<int64_t> target{source[0], source[1] / perGroup * w.shape[1] + k}, weight{source[1], k};
        bool isInside = true;
        for (size_t d = 0; d < tap.size(); ++d) {
          target.push_back(source[2 + d] * c.stride[d] + tap[d] * c.dilation[d] - c.padding[d]);
          weight.push_back(tap[d]);
          isInside &= target.back() >= 0 && target.back() < shape[2 + int(d)];
        }
        if (isInside) result.values[size_t(positionOf(shape, target))] += x.values[size_t(i)] * at(w, weight);
      }
  }
  return result;
}

Array pool(const Array &x, const std::vector<int64_t> &window, const ConvShape &c, const std::vector<int64_t> &outputs,
           const std::function<double(const std::vector<double> &, int64_t)> &f) {
  Shape in = tail(x.shape), taps(window), shape{x.shape[0], x.shape[1]};
  for (int64_t n : outputs) shape.push_back(n);
  return generate(shape, [&](const std::vector<int64_t> &o) {
    std::vector<double> inside;
    int64_t padded = 0;
    for (int64_t t = 0; t < taps.elements(); ++t) {
      auto tap = indexOf(taps, t);
      std::vector<int64_t> source{o[0], o[1]};
      bool isInput = true, isPadded = true;
      for (size_t d = 0; d < tap.size(); ++d) {
        int64_t p = o[2 + d] * c.stride[d] + tap[d] * c.dilation[d] - c.padding[d];
        source.push_back(p);
        isInput &= p >= 0 && p < in[int(d)];
        isPadded &= p < in[int(d)] + c.padding[d];
      }
      padded += isPadded;
      if (isInput) inside.push_back(at(x, source));
    }
    return f(inside, padded);
  });
}

} // namespace sprig::test
