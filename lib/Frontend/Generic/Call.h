// One operation to run, and what its functions share: attributes, blocks of memory, errors.
// For the generic operations. They never check shapes: who recorded the operation did.
#pragma once
#include "lib/Frontend/Generic.h"
#include <algorithm>

namespace sprig::frontend::generic {

struct Call {
  const GraphNode &node;
  std::span<const ArrayRef> operands, results;

  const TensorType &type(size_t operand = 0) const { return *operands[operand].type; }
  const Shape &shape(size_t operand = 0) const { return operands[operand].type->shape; }
  const char *in(size_t operand = 0) const { return static_cast<const char *>(operands[operand].data); }
  const TensorType &resultType() const { return *results[0].type; }
  char *out(size_t result = 0) const { return static_cast<char *>(results[result].data); }

  const Attr *find(const char *name) const { return frontend::find(node.attrs, name); }
  double real(const char *name) const { return find(name)->real; }
  int64_t integer(const char *name, int64_t otherwise = 0) const {
    const Attr *attr = find(name);
    return attr ? attr->integer : otherwise;
  }
  /// A unit attribute or a true one.
  bool has(const char *name) const {
    const Attr *attr = find(name);
    return attr && (attr->kind == Attr::Kind::unit || attr->integer);
  }
  Shape integers(const char *name) const {
    const Attr *attr = find(name);
    return attr ? attr->integers : Shape();
  }
  /// The value of an enumeration: "sum" of "reduce_kind sum"; empty where there is none.
  std::string_view word(const char *name) const {
    const Attr *attr = find(name);
    if (!attr || attr->kind != Attr::Kind::word) return {};
    std::string_view text = attr->text;
    return text.substr(text.find(' ') + 1);
  }
};

/// Runs an operation, or does nothing and returns false.
using Run = bool (*)(const Call &call, int detail);

/// Bytes that may be touched of an array with this many: its block (lib/Frontend/Generic.h).
inline int64_t blockBytes(int64_t bytes) { return std::max<int64_t>(128, (bytes + 63) / 64 * 64); }

inline bool isHalf(DType type) { return type == DType::f16 || type == DType::bf16; }

/// What the kernel of a compiled program would report with this code (sprig/rt/kernel.h), in the same words.
[[noreturn]] void fail(const Call &call, int32_t code, int64_t value = 0, int64_t bound = 0);

// The operations, by file.
bool runKernel(const Call &call, int group);    // Elementwise.cpp
bool runQuotient(const Call &call, int group);  // div, rem, mod
bool runMagnitude(const Call &call, int group); // abs, relu
bool runPower(const Call &call, int group);
bool runCompare(const Call &call, int group);
bool runIsInf(const Call &call, int group);
bool runCast(const Call &call, int);
bool runBitcast(const Call &call, int);
bool runClassIndex(const Call &call, int);
bool runInRange(const Call &call, int);
bool runPhilox(const Call &call, int); // Philox.cpp
bool runCopy(const Call &call, int);   // Movement.cpp
bool runConstant(const Call &call, int);
bool runIota(const Call &call, int);
bool runBroadcast(const Call &call, int);
bool runTranspose(const Call &call, int);
bool runSlice(const Call &call, int);
bool runConcat(const Call &call, int);
bool runPad(const Call &call, int);    // Pad.cpp
bool runGather(const Call &call, int); // Gather.cpp
bool runGatherElements(const Call &call, int);
bool runGatherNd(const Call &call, int);
bool runScatterElements(const Call &call, int); // Scatter.cpp
bool runScatterNd(const Call &call, int);
bool runReduce(const Call &call, int);     // Reduce.cpp
bool runCumulative(const Call &call, int); // Cumulative.cpp
bool runArgReduce(const Call &call, int);  // Search.cpp
bool runTopK(const Call &call, int);
bool runMatmul(const Call &call, int); // Matmul.cpp

} // namespace sprig::frontend::generic
