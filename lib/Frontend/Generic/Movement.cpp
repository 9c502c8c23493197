// Operations that move or repeat elements and compute nothing.
#include "lib/Frontend/Generic/Chunks.h"
#include "lib/Frontend/Generic/Kernels.h"
#include "lib/Frontend/Generic/Strides.h"
#include <cstring>
#include <vector>

namespace sprig::frontend::generic {

static int64_t elementBytes(const Call &call) { return size(call.resultType().dtype); }

// reshape, stop_gradient, after, and casts that change no bit.
bool runCopy(const Call &call, int) {
  std::memcpy(call.out(), call.in(), call.resultType().bytes());
  return true;
}

bool runConstant(const Call &call, int) {
  if (!call.node.constant) return false;
  const std::vector<char> &bytes = *call.node.constant;
  if (int64_t(bytes.size()) == call.resultType().bytes())
    std::memcpy(call.out(), bytes.data(), bytes.size());
  else if (int64_t(bytes.size()) == elementBytes(call))
    fill(call.out(), bytes.data(), elementBytes(call), call.resultType().elements());
  else
    return false;
  return true;
}

bool runIota(const Call &call, int) {
  const Shape &shape = call.resultType().shape;
  int axis = int(call.integer("axis"));
  int64_t length = shape[axis], bytes = elementBytes(call);
  if (call.resultType().elements() == 0) return true;
  // The numbers along the axis, converted as compiled code converts them.
  struct alignas(64) Line {
    int64_t words[8];
  };
  std::vector<Line> numbers(length / 8 + 3), converted(length / 8 + 3);
  int64_t *words = numbers[0].words;
  for (int64_t i = 0; i < length; ++i) words[i] = i;
  const void *line = words;
  if (call.resultType().dtype != DType::i64) {
    TensorType from{DType::i64, {length}}, to{call.resultType().dtype, {length}};
    ArrayRef source{words, &from}, target{converted.data(), &to};
    if (!runCast({call.node, {&source, 1}, {&target, 1}}, 0)) return false;
    line = converted.data();
  }
  Shape strides;
  for (int d = 0; d < shape.rank(); ++d) strides.push_back(d == axis ? 1 : 0);
  copyBetween(call.out(), rowMajor(shape), line, strides, shape, bytes);
  return true;
}

bool runBroadcast(const Call &call, int) {
  const Shape &shape = call.resultType().shape, &own = call.shape();
  Shape strides, from = rowMajor(own);
  int missing = shape.rank() - own.rank();
  for (int d = 0; d < shape.rank(); ++d)
    strides.push_back(d < missing || own[d - missing] == 1 ? 0 : from[d - missing]);
  copyBetween(call.out(), rowMajor(shape), call.in(), strides, shape, elementBytes(call));
  return true;
}

bool runTranspose(const Call &call, int) {
  Shape order = call.integers("permutation"), from = rowMajor(call.shape()), strides;
  for (int64_t source : order) strides.push_back(from[int(source)]);
  copyBetween(call.out(), rowMajor(call.resultType().shape), call.in(), strides, call.resultType().shape,
              elementBytes(call));
  return true;
}

bool runSlice(const Call &call, int) {
  Shape starts = call.integers("starts"), steps = call.integers("steps"), from = rowMajor(call.shape()), strides;
  int64_t offset = 0;
  if (call.resultType().elements() == 0) return true;
  for (int d = 0; d < from.rank(); ++d) {
    offset += starts[d] * from[d];
    strides.push_back(steps[d] * from[d]);
  }
  copyBetween(call.out(), rowMajor(call.resultType().shape), call.in() + offset * elementBytes(call), strides,
              call.resultType().shape, elementBytes(call));
  return true;
}

bool runConcat(const Call &call, int) {
  const Shape &shape = call.resultType().shape;
  int axis = int(call.integer("axis"));
  int64_t outer = 1, inner = elementBytes(call);
  for (int d = 0; d < axis; ++d) outer *= shape[d];
  for (int d = axis + 1; d < shape.rank(); ++d) inner *= shape[d];
  char *to = call.out();
  for (size_t i = 0; i < call.operands.size(); ++i) {
    int64_t row = call.shape(i)[axis] * inner;
    for (int64_t o = 0; o < outer && row; ++o) std::memcpy(to + o * shape[axis] * inner, call.in(i) + o * row, row);
    to += row;
  }
  return true;
}

} // namespace sprig::frontend::generic
