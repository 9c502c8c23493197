// Which elementwise kernels are compiled when Sprig is built, and where each stands in their table.
// For the tool that compiles them (MakeKernels) and for the library that calls them. Places count through the groups in
// order, in each through its types in order.
#pragma once
#include "sprig/dtype.h"
#include <cstdint>
#include <iterator>

namespace sprig::frontend::generic {

inline constexpr int kTypeCount = int(DType::boolean) + 1;
/// Elements of a kernel's tile: a call works on whole tiles.
inline constexpr int64_t kTile = 16;

using TypeSet = uint32_t;
constexpr TypeSet setOf(DType type) { return TypeSet(1) << int(type); }
inline constexpr TypeSet kFloats = setOf(DType::f64) | setOf(DType::f32) | setOf(DType::f16) | setOf(DType::bf16);
inline constexpr TypeSet kSigned = setOf(DType::i64) | setOf(DType::i32) | setOf(DType::i16) | setOf(DType::i8);
inline constexpr TypeSet kUnsigned = setOf(DType::u64) | setOf(DType::u32) | setOf(DType::u16) | setOf(DType::u8);
inline constexpr TypeSet kBool = setOf(DType::boolean);
inline constexpr TypeSet kAll = kFloats | kSigned | kUnsigned | kBool;

enum class KernelForm : uint8_t {
  unary,      ///< T to T
  binary,     ///< T, T to T
  comparison, ///< T, T to i1
  predicate,  ///< T to i1
  select,     ///< i1, T, T to T
  cast,       ///< `from` to T
};

struct KernelGroup {
  const char *op;      ///< "compare"
  const char *variant; ///< as it stands in the text: a word before the operands, or attributes in braces after them
  KernelForm form;
  TypeSet types;
  /// Whether the code for signed integers serves unsigned ones of the same width, which have none of their own.
  bool signless = false;
  DType from = DType::f32; ///< of a cast
};

inline constexpr KernelGroup kKernelGroups[] = {
    {"exp", "", KernelForm::unary, kFloats},
    {"log", "", KernelForm::unary, kFloats},
    {"log1p", "", KernelForm::unary, kFloats},
    {"expm1", "", KernelForm::unary, kFloats},
    {"sqrt", "", KernelForm::unary, kFloats},
    {"rsqrt", "", KernelForm::unary, kFloats},
    {"reciprocal", "", KernelForm::unary, kFloats},
    {"floor", "", KernelForm::unary, kFloats},
    {"ceil", "", KernelForm::unary, kFloats},
    {"round", "", KernelForm::unary, kFloats},
    {"sin", "", KernelForm::unary, kFloats},
    {"cos", "", KernelForm::unary, kFloats},
    {"tan", "", KernelForm::unary, kFloats},
    {"asin", "", KernelForm::unary, kFloats},
    {"acos", "", KernelForm::unary, kFloats},
    {"atan", "", KernelForm::unary, kFloats},
    {"sinh", "", KernelForm::unary, kFloats},
    {"cosh", "", KernelForm::unary, kFloats},
    {"tanh", "", KernelForm::unary, kFloats},
    {"asinh", "", KernelForm::unary, kFloats},
    {"acosh", "", KernelForm::unary, kFloats},
    {"atanh", "", KernelForm::unary, kFloats},
    {"erf", "", KernelForm::unary, kFloats},
    {"sigmoid", "", KernelForm::unary, kFloats},
    {"abs", "", KernelForm::unary, kFloats | kSigned},
    {"neg", "", KernelForm::unary, kFloats | kSigned, true},
    {"sign", "", KernelForm::unary, kFloats | kSigned | kUnsigned},
    {"relu", "", KernelForm::unary, kFloats | kSigned},
    {"not", "", KernelForm::unary, kSigned | kBool, true},
    {"is_nan", "", KernelForm::predicate, kFloats},
    {"is_inf", "", KernelForm::predicate, kFloats},
    {"is_inf", "{detect_negative = false}", KernelForm::predicate, kFloats},
    {"is_inf", "{detect_positive = false}", KernelForm::predicate, kFloats},
    {"add", "", KernelForm::binary, kFloats | kSigned, true},
    {"sub", "", KernelForm::binary, kFloats | kSigned, true},
    {"mul", "", KernelForm::binary, kFloats | kSigned, true},
    {"div", "", KernelForm::binary, kFloats | kSigned | kUnsigned},
    {"rem", "", KernelForm::binary, kFloats | kSigned | kUnsigned},
    {"mod", "", KernelForm::binary, kFloats | kSigned | kUnsigned},
    {"max", "", KernelForm::binary, kFloats | kSigned | kUnsigned},
    {"min", "", KernelForm::binary, kFloats | kSigned | kUnsigned},
    {"pow", "", KernelForm::binary, kFloats},
    {"and", "", KernelForm::binary, kSigned | kBool, true},
    {"or", "", KernelForm::binary, kSigned | kBool, true},
    {"xor", "", KernelForm::binary, kSigned | kBool, true},
    {"shl", "", KernelForm::binary, kSigned, true},
    {"shr", "", KernelForm::binary, kSigned | kUnsigned},
    {"compare", "eq", KernelForm::comparison, kFloats | kSigned | kBool, true},
    {"compare", "ne", KernelForm::comparison, kFloats | kSigned | kBool, true},
    {"compare", "lt", KernelForm::comparison, kAll},
    {"compare", "le", KernelForm::comparison, kAll},
    {"compare", "gt", KernelForm::comparison, kAll},
    {"compare", "ge", KernelForm::comparison, kAll},
    {"select", "", KernelForm::select, kFloats | kSigned | kBool, true},
    {"cast", "", KernelForm::cast, kAll & ~setOf(DType::f64), false, DType::f64},
    {"cast", "", KernelForm::cast, kAll & ~setOf(DType::f32), false, DType::f32},
    {"cast", "", KernelForm::cast, kAll & ~setOf(DType::f16), false, DType::f16},
    {"cast", "", KernelForm::cast, kAll & ~setOf(DType::bf16), false, DType::bf16},
    {"cast", "", KernelForm::cast, kAll & ~kUnsigned & ~setOf(DType::i64), true, DType::i64},
    {"cast", "", KernelForm::cast, kAll & ~kUnsigned & ~setOf(DType::i32), true, DType::i32},
    {"cast", "", KernelForm::cast, kAll & ~kUnsigned & ~setOf(DType::i16), true, DType::i16},
    {"cast", "", KernelForm::cast, kAll & ~kUnsigned & ~setOf(DType::i8), true, DType::i8},
    {"cast", "", KernelForm::cast, kAll & ~kUnsigned & ~setOf(DType::i64), true, DType::u64},
    {"cast", "", KernelForm::cast, kAll & ~kUnsigned & ~setOf(DType::i32), true, DType::u32},
    {"cast", "", KernelForm::cast, kAll & ~kUnsigned & ~setOf(DType::i16), true, DType::u16},
    {"cast", "", KernelForm::cast, kAll & ~kUnsigned & ~setOf(DType::i8), true, DType::u8},
    {"cast", "", KernelForm::cast, kAll & ~kUnsigned & ~kBool, true, DType::boolean},
};
inline constexpr int kGroupCount = int(std::size(kKernelGroups));

constexpr bool hasType(const KernelGroup &group, DType type) { return group.types & setOf(type); }

constexpr int countKernels() {
  int count = 0;
  for (const KernelGroup &group : kKernelGroups)
    for (int type = 0; type < kTypeCount; ++type) count += hasType(group, DType(type));
  return count;
}
inline constexpr int kKernelCount = countKernels();

/// The signed type of the same width.
constexpr DType signedOf(DType type) {
  return isUnsigned(type) ? DType(int(type) - int(DType::u64) + int(DType::i64)) : type;
}

} // namespace sprig::frontend::generic
