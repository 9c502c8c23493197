// Functions of single elements, comparisons, logic, selection, conversions.
#include "lib/Export/ONNX/Exporter.h"

namespace sprig::onnxexport {

namespace {

constexpr bool isHalf(DType type) { return type == DType::f16 || type == DType::bf16; }

/// The same operator under a name of its own: operands in order, no attributes.
struct Plain {
  const char *nn, *onnx;
};
constexpr Plain kPlain[] = {
    {"nn.abs", "Abs"},     {"nn.neg", "Neg"},           {"nn.sign", "Sign"},        {"nn.exp", "Exp"},
    {"nn.log", "Log"},     {"nn.sqrt", "Sqrt"},         {"nn.floor", "Floor"},      {"nn.ceil", "Ceil"},
    {"nn.round", "Round"}, {"nn.sin", "Sin"},           {"nn.cos", "Cos"},          {"nn.tan", "Tan"},
    {"nn.asin", "Asin"},   {"nn.acos", "Acos"},         {"nn.atan", "Atan"},        {"nn.sinh", "Sinh"},
    {"nn.cosh", "Cosh"},   {"nn.tanh", "Tanh"},         {"nn.asinh", "Asinh"},      {"nn.acosh", "Acosh"},
    {"nn.atanh", "Atanh"}, {"nn.erf", "Erf"},           {"nn.relu", "Relu"},        {"nn.sigmoid", "Sigmoid"},
    {"nn.add", "Add"},     {"nn.sub", "Sub"},           {"nn.mul", "Mul"},          {"nn.div", "Div"},
    {"nn.pow", "Pow"},     {"nn.max", "Max"},           {"nn.min", "Min"},          {"nn.reciprocal", "Reciprocal"},
    {"nn.mish", "Mish"},   {"nn.softplus", "Softplus"}, {"nn.softsign", "Softsign"}};

bool plain(Site &n) {
  const char *op = nullptr;
  for (const Plain &row : kPlain)
    if (n.node.op->text == row.nn) op = row.onnx;
  if (!n.can(op, n.type(0).dtype)) return false;
  return n.out(n.emit(op, n.all()));
}

/// ONNX's Neg and Relu know no unsigned integers.
bool neg(Site &n) {
  if (!isUnsigned(n.type(0).dtype)) return plain(n);
  return n.out(n.emit("Sub", {n.scalar(0, n.type(0).dtype), n.in(0)}));
}
bool relu(Site &n) {
  if (!isUnsigned(n.type(0).dtype)) return plain(n);
  return n.out(n.emit("Identity", {n.in(0)}));
}

//===- What ONNX has no operator for: the same value by others
//---------------------------------------------------------===//

bool rsqrt(Site &n) {
  DType type = n.type(0).dtype;
  Ref x = isHalf(type) ? n.cast(n.in(0), DType::f32) : n.in(0);
  return n.out(n.cast(n.emit("Reciprocal", {n.emit("Sqrt", {x})}), type));
}

Ref either(Site &n, const Ref &a, const Ref &b) { return n.emit("Or", {a, b}, {}, DType::boolean); }
Ref isInf(Site &n, const Ref &x) { return n.emit("IsInf", {x}, {}, DType::boolean); }
Ref equal(Site &n, const Ref &a, const Ref &b) { return n.emit("Equal", {a, b}, {}, DType::boolean); }
Ref where(Site &n, const Ref &condition, const Ref &a, const Ref &b) {
  return n.emit("Where", {condition, a, b}, {}, a.dtype);
}

/// log(1 + x) for small x, too (Kahan): log(u) * x / (u - 1) with u = 1 + x, which takes out the rounding of u.
bool log1p(Site &n) {
  DType type = n.type(0).dtype, wide = isHalf(type) ? DType::f32 : type;
  Ref x = n.cast(n.in(0), wide), one = n.scalar(1, wide);
  Ref u = n.emit("Add", {one, x});
  Ref slope = n.emit("Div", {x, n.emit("Sub", {u, one})});
  Ref infinite = n.emit("IsInf", {u}, {attr("detect_negative", int64_t(0))}, DType::boolean);
  Ref itself = either(n, equal(n, u, one), infinite);
  return n.out(n.cast(where(n, itself, x, n.emit("Mul", {n.emit("Log", {u}), slope})), type));
}

/// exp(x) - 1 for small x, too (Kahan): (u - 1) * x / log(u) with u = exp(x).
bool expm1(Site &n) {
  DType type = n.type(0).dtype, wide = isHalf(type) ? DType::f32 : type;
  Ref x = n.cast(n.in(0), wide), one = n.scalar(1, wide);
  Ref u = n.emit("Exp", {x}), less = n.emit("Sub", {u, one});
  Ref scaled = n.emit("Mul", {less, n.emit("Div", {x, n.emit("Log", {u})})});
  // exp(x) was 0 or infinite: exp(x) - 1 is the result.
  Ref extreme = either(n, equal(n, less, n.scalar(-1, wide)), isInf(n, u));
  return n.out(n.cast(where(n, equal(n, u, one), x, where(n, extreme, less, scaled)), type));
}

bool remainder(Site &n) { return n.out(n.emit("Mod", {n.in(0), n.in(1)}, {attr("fmod", int64_t(1))})); }

bool modulo(Site &n) {
  Ref a = n.in(0), b = n.in(1);
  if (!isFloat(a.dtype)) return n.out(n.emit("Mod", {a, b}));
  // ONNX's is for integers: C's remainder, moved to the divisor's sign.
  Ref zero = n.scalar(0, a.dtype), rest = n.emit("Mod", {a, b}, {attr("fmod", int64_t(1))});
  auto negative = [&](const Ref &x) { return n.emit("Less", {x, zero}, {}, DType::boolean); };
  Ref differ = n.emit("Xor", {negative(rest), negative(b)}, {}, DType::boolean);
  Ref nonzero = n.emit("Not", {equal(n, rest, zero)}, {}, DType::boolean);
  Ref moves = n.emit("And", {differ, nonzero}, {}, DType::boolean);
  return n.out(where(n, moves, n.emit("Add", {rest, b}), rest));
}

//===- Logic
//------------------------------------------------------------------------------------------------------------===//

bool logic(Site &n) {
  std::string op = n.node.op->text.substr(3);
  op[0] = char(op[0] - 'a' + 'A');
  if (n.type(0).dtype != DType::boolean) op = "Bitwise" + op;
  if (!n.can(op.c_str(), n.type(0).dtype))
    n.refuse("ONNX has " + op + " from opset 18 on; the model is to have opset " + std::to_string(n.opset()));
  return n.out(n.emit(op.c_str(), n.all()));
}

bool shift(Site &n) {
  bool left = n.node.op->text == "nn.shl";
  if (!isUnsigned(n.type(0).dtype)) n.refuse("shifts " + describe(n.type(0)) + "; ONNX shifts unsigned integers");
  return n.out(n.emit("BitShift", {n.in(0), n.in(1)}, {attr("direction", std::string(left ? "LEFT" : "RIGHT"))}));
}

bool compare(Site &n) {
  std::string predicate = n.word("predicate");
  Ref a = n.in(0), b = n.in(1);
  if (predicate == "eq" || predicate == "ne") {
    Ref same = equal(n, a, b);
    return n.out(predicate == "eq" ? same : n.emit("Not", {same}));
  }
  if (a.dtype == DType::boolean) {
    a = n.cast(a, DType::u8);
    b = n.cast(b, DType::u8);
  }
  const char *op = predicate == "lt"   ? "Less"
                   : predicate == "le" ? "LessOrEqual"
                   : predicate == "gt" ? "Greater"
                                       : "GreaterOrEqual";
  return n.out(n.emit(op, {a, b}, {}, DType::boolean));
}

bool isNan(Site &n) { return n.out(n.emit("IsNaN", {n.in(0)}, {}, DType::boolean)); }

bool isInfinite(Site &n) {
  return n.out(n.emit("IsInf", {n.in(0)},
                      {attr("detect_negative", int64_t(n.flag("detect_negative", true))),
                       attr("detect_positive", int64_t(n.flag("detect_positive", true)))},
                      DType::boolean));
}

bool select(Site &n) { return n.out(where(n, n.in(0), n.in(1), n.in(2))); }

bool castTo(Site &n) {
  DType type = n.resultType().dtype;
  return n.out(n.in(0).dtype == type ? n.emit("Identity", {n.in(0)}) : n.cast(n.in(0), type));
}

//===- Activations with parameters
//--------------------------------------------------------------------------------------===//

template <auto &onnx> bool withAlpha(Site &n) {
  if (!n.can(onnx, n.type(0).dtype)) return false;
  // The defaults of the dialect, not of ONNX.
  double otherwise = n.node.op->text == "nn.leaky_relu" ? 0.01 : 1;
  return n.out(n.emit(onnx, {n.in(0)}, {realAttr("alpha", n.real("alpha", otherwise))}));
}
constexpr char kElu[] = "Elu", kCelu[] = "Celu", kLeakyRelu[] = "LeakyRelu";

bool selu(Site &n) {
  return n.out(n.emit("Selu", {n.in(0)}, {realAttr("alpha", n.real("alpha")), realAttr("gamma", n.real("gamma"))}));
}
bool hardSigmoid(Site &n) {
  return n.out(
      n.emit("HardSigmoid", {n.in(0)}, {realAttr("alpha", n.real("alpha")), realAttr("beta", n.real("beta"))}));
}
bool hardSwish(Site &n) {
  if (!n.can("HardSwish", n.type(0).dtype)) return false;
  return n.out(n.emit("HardSwish", {n.in(0)}));
}
bool gelu(Site &n) {
  if (!n.can("Gelu", n.type(0).dtype)) return false;
  std::string kind = n.flag("tanh_approximation") ? "tanh" : "none";
  return n.out(n.emit("Gelu", {n.in(0)}, {attr("approximate", kind)}));
}

} // namespace

void addElementwise(Table &t) {
  t.add("nn.neg", neg);
  t.add("nn.relu", relu);
  for (const Plain &row : kPlain) t.add(row.nn, plain); // but for those
  t.add("nn.rsqrt", rsqrt);
  t.add("nn.log1p", log1p);
  t.add("nn.expm1", expm1);
  t.add("nn.rem", remainder);
  t.add("nn.mod", modulo);
  for (const char *op : {"nn.and", "nn.or", "nn.xor", "nn.not"}) t.add(op, logic);
  for (const char *op : {"nn.shl", "nn.shr"}) t.add(op, shift);
  t.add("nn.compare", compare);
  t.add("nn.is_nan", isNan);
  t.add("nn.is_inf", isInfinite);
  t.add("nn.select", select);
  t.add("nn.cast", castTo);
  t.add("nn.elu", withAlpha<kElu>);
  t.add("nn.celu", withAlpha<kCelu>);
  t.add("nn.leaky_relu", withAlpha<kLeakyRelu>);
  t.add("nn.selu", selu);
  t.add("nn.hard_sigmoid", hardSigmoid);
  t.add("nn.hard_swish", hardSwish);
  t.add("nn.gelu", gelu);
}

} // namespace sprig::onnxexport
