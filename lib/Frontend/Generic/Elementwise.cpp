// Elementwise operations: the kernels that were compiled with Sprig, and the few that move bits alone.
#include "lib/Frontend/Generic/Chunks.h"
#include "lib/Frontend/Generic/Kernels.h"
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace sprig::frontend::generic {

namespace {
struct KernelContext {
  sprig_rt_kernel kernel;
  size_t operandCount;
  const Call *call;
};

void callKernel(const void *opaque, const void *const *in, void *out, int64_t count) {
  const auto &context = *static_cast<const KernelContext *>(opaque);
  void *buffers[4];
  for (size_t i = 0; i < context.operandCount; ++i) buffers[i] = const_cast<void *>(in[i]);
  buffers[context.operandCount] = out;
  sprig_rt_kernel_status status = {};
  sprig_rt_args args = {buffers, 0, (count + kTile - 1) / kTile, nullptr, &status};
  int32_t code = context.kernel(&args);
  if (code == SPRIG_RT_KERNEL_OK) [[likely]]
    return;
  fail(*context.call, code, status.value, status.bound);
}

bool runKernelFor(const Call &call, int group, DType type, bool checked = false) {
  sprig_rt_kernel kernel = kernelOf(group, type);
  if (!kernel) return false;
  KernelContext context{kernel, call.operands.size(), &call};
  runElementwise(call, {callKernel, &context, /*tiles=*/true, checked});
  return true;
}
} // namespace

bool runKernel(const Call &call, int group) {
  return runKernelFor(call, group, call.type(call.operands.size() - 1).dtype);
}

bool runPower(const Call &call, int group) {
  return call.type(0).dtype == call.type(1).dtype && runKernel(call, group);
}

bool runQuotient(const Call &call, int group) {
  return runKernelFor(call, group, call.type().dtype, /*checked=*/!isFloat(call.type().dtype));
}

bool runMagnitude(const Call &call, int group) {
  return isUnsigned(call.type().dtype) ? runCopy(call, 0) : runKernel(call, group);
}

bool runCompare(const Call &call, int group) {
  std::string_view predicate = call.word("predicate");
  for (; group < kGroupCount && std::strcmp(kKernelGroups[group].op, "compare") == 0; ++group)
    if (predicate == kKernelGroups[group].variant) return runKernelFor(call, group, call.type().dtype);
  return false;
}

bool runIsInf(const Call &call, int group) {
  bool negative = call.integer("detect_negative", 1), positive = call.integer("detect_positive", 1);
  if (!negative && !positive) return false;
  return runKernelFor(call, group + (!negative ? 1 : !positive ? 2 : 0), call.type().dtype);
}

bool runCast(const Call &call, int) {
  DType from = call.type().dtype, to = call.resultType().dtype;
  bool bitsStay = from == to || (!isFloat(from) && !isFloat(to) && from != DType::boolean && to != DType::boolean &&
                                 size(from) == size(to));
  if (bitsStay) return runCopy(call, 0);
  static const auto groups = [] {
    std::array<int, kTypeCount> table;
    for (int type = 0; type < kTypeCount; ++type) table[type] = castGroup(DType(type));
    return table;
  }();
  int group = groups[int(from)];
  return group >= 0 && runKernelFor(call, group, to);
}

bool runBitcast(const Call &call, int) {
  DType from = call.type().dtype, to = call.resultType().dtype;
  // Compiled code widens half types, which changes the bits of some NaNs.
  if (from != to && (isHalf(from) || isHalf(to))) return false;
  if (from == DType::boolean || to == DType::boolean) return false;
  return runCopy(call, 0);
}

namespace {
template <typename T> void checkClasses(const Call &call, int64_t classes) {
  const T *indices = reinterpret_cast<const T *>(call.in());
  int64_t count = call.resultType().elements();
  for (int64_t i = 0; i < count; ++i)
    if (uint64_t(int64_t(indices[i])) >= uint64_t(classes)) {
      // As a vector of compiled code finds it: of those side by side the largest.
      int64_t worst = indices[i];
      for (int64_t j = i; j < std::min(count, i / kTile * kTile + kTile); ++j)
        if (uint64_t(int64_t(indices[j])) >= uint64_t(classes)) worst = std::max<int64_t>(worst, indices[j]);
      fail(call, SPRIG_RT_KERNEL_INDEX_OUT_OF_RANGE, worst, classes);
    }
}
} // namespace

bool runClassIndex(const Call &call, int) {
  int64_t classes = call.integer("classes");
  if (call.type().dtype == DType::i32)
    checkClasses<int32_t>(call, classes);
  else
    checkClasses<int64_t>(call, classes);
  return runCopy(call, 0);
}

namespace {
/// Values from `first` up to `last`, one of which is outside, as a vector of compiled code finds it: too small ones
/// before those that are too large, and of several the largest bit pattern: NaN, else what is farthest below zero or
/// above.
template <typename T, typename Bits>
[[noreturn]] void failRange(const Call &call, const T *first, const T *last, T low, T high) {
  auto isBelow = [&](T value) { return !(value >= low); };
  bool below = std::any_of(first, last, isBelow);
  Bits worst = std::numeric_limits<Bits>::min();
  for (const T *value = first; value < last; ++value)
    if (below ? isBelow(*value) : *value > high) worst = std::max(worst, std::bit_cast<Bits>(*value));
  fail(call, below ? SPRIG_RT_KERNEL_VALUE_TOO_SMALL : SPRIG_RT_KERNEL_VALUE_TOO_LARGE,
       std::bit_cast<int64_t>(double(std::bit_cast<T>(worst))), std::bit_cast<int64_t>(double(below ? low : high)));
}

template <typename T, typename Bits> void checkRange(const Call &call) {
  T low = T(call.real("low")), high = T(call.real("high"));
  const T *values = reinterpret_cast<const T *>(call.in());
  int64_t count = call.resultType().elements();
  for (int64_t i = 0; i < count; ++i)
    if (!(values[i] >= low && values[i] <= high)) {
      int64_t tile = i / kTile * kTile;
      failRange<T, Bits>(call, values + tile, values + std::min(count, tile + kTile), low, high);
    }
}
} // namespace

bool runInRange(const Call &call, int) {
  if (call.type().dtype == DType::f32)
    checkRange<float, int32_t>(call);
  else if (call.type().dtype == DType::f64)
    checkRange<double, int64_t>(call);
  else
    return false;
  return runCopy(call, 0);
}

} // namespace sprig::frontend::generic
