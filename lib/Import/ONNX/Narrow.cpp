#include "lib/Import/ONNX/Narrow.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Import/ONNX/Tensor.h"
#include <cmath>

namespace sprig::onnximport {

static constexpr NarrowType kTypes[] = {
    {.dataType = onnx::TensorProto::UINT4, .bits = 4},
    {.dataType = onnx::TensorProto::INT4, .bits = 4, .isSigned = true},
    {.dataType = onnx::TensorProto::UINT2, .bits = 2},
    {.dataType = onnx::TensorProto::INT2, .bits = 2, .isSigned = true},
    {onnx::TensorProto::FLOAT8E4M3FN, 8, false, true, true, 3, 7, 0x7e, 0x7f, 0x7f},
    {onnx::TensorProto::FLOAT8E4M3FNUZ, 8, false, true, false, 3, 8, 0x7f, 0x80, 0x80},
    {onnx::TensorProto::FLOAT8E5M2, 8, false, true, true, 2, 15, 0x7b, 0x7e, 0x7c},
    {onnx::TensorProto::FLOAT8E5M2FNUZ, 8, false, true, false, 2, 16, 0x7f, 0x80, 0x80},
    {onnx::TensorProto::FLOAT8E8M0, 8, false, true, false, 0, 127, 0xfe, 0xff, 0xff},
    // Neither infinities nor NaN: the one saturates always, the other becomes -0.
    {onnx::TensorProto::FLOAT4E2M1, 4, false, true, true, 1, 1, 7, 8, 7},
};

const NarrowType *narrowType(int dataType) {
  auto found = llvm::find_if(kTypes, [&](const NarrowType &type) { return type.dataType == dataType; });
  return found == std::end(kTypes) ? nullptr : found;
}

Type storageType(mlir::MLIRContext *context, int dataType) {
  if (const NarrowType *type = narrowType(dataType))
    return mlir::IntegerType::get(context, 8,
                                  type->isSigned ? mlir::IntegerType::Signless : mlir::IntegerType::Unsigned);
  return elementType(context, dataType);
}

int dataTypeOf(const Item &item) { return item.narrow ? item.narrow->dataType : dataTypeOf(Emit::elem(item.value)); }

std::string itemText(const Item &item) {
  if (!item.narrow) return typeText(item.value);
  std::string name = dataTypeName(item.narrow->dataType);
  return Emit::rank(item.value) ? shapeText(Emit::shape(item.value)) + "x" + name : name;
}

/// The number that a code stands for.
static double numberOf(const NarrowType &type, int code) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (type.mantissa == 0) return code == type.nan ? kNaN : std::ldexp(1.0, code - type.bias);
  int top = 1 << (type.bits - 1), magnitude = code & (top - 1);
  if (!type.hasNegativeZero && code == type.nan) return kNaN;
  if (type.bits == 8 && magnitude > type.largest)
    return magnitude != type.overflow || type.overflow == type.nan ? kNaN
           : code & top                                            ? -std::numeric_limits<double>::infinity()
                                                                   : std::numeric_limits<double>::infinity();
  int exponent = magnitude >> type.mantissa, fraction = magnitude & ((1 << type.mantissa) - 1);
  if (exponent > 0)
    fraction |= 1 << type.mantissa;
  else
    exponent = 1;
  double number = std::ldexp(double(fraction), exponent - type.bias - type.mantissa);
  return code & top ? -number : number;
}

Value widen(Emit &n, Value bytes, const NarrowType &type) {
  if (!type.isFloat) return bytes;
  std::vector<double> numbers;
  for (int code = 0; code < 1 << type.bits; ++code) numbers.push_back(numberOf(type, code));
  Value table = n.constant({int64_t(numbers.size())}, n.f32(), numbers);
  return n.gather(table, n.cast(bytes, n.state.builder.getI32Type()), 0);
}

namespace {

/// Writes integer arithmetic on the bits of f32.
class Bits {
public:
  explicit Bits(Emit &n) : n(n), i32(n.state.builder.getI32Type()) {}
  Value number(int64_t value) { return n.scalar(double(value), i32); }
  Value masked(Value v, int64_t mask) { return n.op<ir::AndOp>({v, number(mask)}); }
  Value above(Value v, int64_t bound) { return n.compare(ir::ComparePredicate::gt, v, number(bound)); }
  Value below(Value v, int64_t bound) { return n.compare(ir::ComparePredicate::lt, v, number(bound)); }
  /// v / 2^count of what is not negative.
  Value shifted(Value v, int count) { return n.div(v, number(int64_t(1) << count)); }

  Emit &n;
  Type i32;
};

constexpr int kMantissa = 23, kBias = 127;
constexpr int64_t kInfinity = 0x7f800000;

/// Powers of two: the exponent is the code, and one more where the number is rounded up.
Value powerCode(Bits &b, Value magnitude, const NarrowType &type, bool saturate, const std::string &mode) {
  Value code = b.shifted(magnitude, kMantissa), rest = b.masked(magnitude, (1 << kMantissa) - 1);
  // What f32 has no normal numbers for: 2^-127 is half of the smallest.
  Value isSmall = b.below(code, 1);
  int64_t half = int64_t(1) << (kMantissa - 1);
  Value up;
  if (mode == "up")
    up = b.n.select(isSmall, b.above(rest, half), b.above(rest, 0));
  else if (mode == "nearest") // 1.5 is a tie, whose mantissa is even above
    up = b.n.select(isSmall, b.above(rest, half + half / 2 - 1), b.above(rest, half - 1));
  if (up) code = b.n.add(code, b.n.cast(up, b.i32));
  Value tooLarge = b.above(code, type.largest);
  code = b.n.select(tooLarge, b.number(saturate ? type.largest : type.overflow), code);
  return b.n.select(b.above(magnitude, kInfinity), b.number(type.nan), code);
}

/// The code of |x| without its sign; NaN aside.
Value magnitudeCode(Bits &b, Value magnitude, const NarrowType &type, bool saturate) {
  Emit &n = b.n;
  // The step between neighbours; the smallest normal number's below it.
  int64_t smallest = int64_t(kBias + 1 - type.bias) << kMantissa;
  Value exponent = n.max(b.masked(magnitude, kInfinity), b.number(smallest));
  Value step = n.bitcast(n.sub(exponent, b.number(int64_t(type.mantissa) << kMantissa)), n.f32());
  Value rounded = n.mul(n.op<ir::RoundOp>({n.div(n.bitcast(magnitude, n.f32()), step)}), step);
  Value bits = n.bitcast(rounded, b.i32);
  Value normal = b.shifted(n.sub(bits, b.number(int64_t(kBias - type.bias) << kMantissa)), kMantissa - type.mantissa);
  Value unit = n.scalar(std::ldexp(1.0, type.bias - 1 + type.mantissa), n.f32());
  Value inner = n.select(b.below(bits, smallest), rounded, n.scalar(0, n.f32()));
  Value code = n.select(b.below(bits, smallest), n.cast(n.mul(inner, unit), b.i32), normal);
  Value tooLarge = b.above(code, type.largest);
  return n.select(tooLarge, b.number(saturate ? type.largest : type.overflow), code);
}

/// Rounded to f32 where that is not the last rounding: of f64 a number between two of f32 becomes the one that is odd,
/// which no rounding to fewer bits takes for a tie.
Value toFloat(Emit &n, Value numbers) {
  Value rounded = n.cast(numbers, n.f32());
  if (!Emit::elem(numbers).isF64()) return rounded;
  Bits b(n);
  Value bits = n.bitcast(rounded, b.i32), back = n.cast(rounded, n.state.builder.getF64Type());
  Value isAway = n.compare(ir::ComparePredicate::gt, n.op<ir::AbsOp>({back}), n.op<ir::AbsOp>({numbers}));
  Value towardsZero = n.select(isAway, n.sub(bits, b.number(1)), bits);
  Value isBetween = n.compare(ir::ComparePredicate::ne, back, numbers);
  Value isNaN = n.op<ir::IsNanOp>({numbers});
  Value odd = n.op<ir::OrOp>({towardsZero, b.number(1)});
  isBetween = n.op<ir::AndOp>({isBetween, n.logicalNot(isNaN)});
  return n.bitcast(n.select(isBetween, odd, bits), n.f32());
}

} // namespace

Value narrow(Node &n, Value numbers, const NarrowType &type, bool saturate, const std::string &roundMode) {
  Bits b(n);
  Type storage = storageType(n.context(), type.dataType);
  if (!type.isFloat) {
    int64_t span = int64_t(1) << type.bits, low = type.isSigned ? span / 2 : 0;
    Value wrapped = b.masked(n.add(n.cast(numbers, b.i32), b.number(low)), span - 1);
    return n.cast(n.sub(wrapped, b.number(low)), storage);
  }
  n.require(roundMode == "up" || roundMode == "down" || roundMode == "nearest",
            "has round_mode '" + roundMode + "'; known are up, down and nearest");
  Value bits = n.bitcast(toFloat(n, numbers), b.i32);
  Value magnitude = b.masked(bits, 0x7fffffff);
  if (type.mantissa == 0) return n.cast(powerCode(b, magnitude, type, saturate, roundMode), storage);
  Value code = magnitudeCode(b, magnitude, type, saturate);
  int64_t top = int64_t(1) << (type.bits - 1);
  Value isNaN = b.above(magnitude, kInfinity), isNegative = b.below(bits, 0);
  if (!type.hasNegativeZero) // NaN is where -0 would be
    isNegative = n.op<ir::AndOp>({isNegative, n.op<ir::AndOp>({b.above(code, 0), b.below(code, type.nan)})});
  code = n.select(isNaN, b.number(type.nan), code);
  if (type.nan == top) isNegative = n.op<ir::AndOp>({isNegative, n.logicalNot(isNaN)});
  return n.cast(n.select(isNegative, n.op<ir::OrOp>({code, b.number(top)}), code), storage);
}

static bool moves(llvm::StringRef op) {
  static constexpr llvm::StringLiteral kMoving[] = {"Identity", "Reshape", "Transpose",
                                                    "Flatten",  "Squeeze", "Unsqueeze"};
  return llvm::is_contained(kMoving, op);
}

void checkNarrow(const Node &n) {
  static constexpr llvm::StringLiteral kReading[] = {"Cast",  "CastLike", "QuantizeLinear", "DequantizeLinear",
                                                     "Shape", "Size"};
  llvm::StringRef op = n.proto.op_type();
  if (moves(op) || llvm::is_contained(kReading, op)) return;
  for (unsigned i = 0; i < n.inputs(); ++i)
    if (n.items[i].narrow)
      n.unsupported("reads " + itemText(n.items[i]) + " (input " + std::to_string(i) +
                    "), a type that Sprig stores and converts, but does not compute with");
}

void passNarrow(Node &n) {
  if (n.inputs() == 0 || !n.items[0].narrow || !moves(n.proto.op_type())) return;
  for (Item &output : n.outputs) output.narrow = n.items[0].narrow;
}

} // namespace sprig::onnximport
