// Arithmetic, comparisons, logic, choices, conversions.
#include "sprig/elementwise.h"
#include "lib/Frontend/Ops/Emitter.h"
#include <cmath>

namespace sprig {

using frontend::Attr;
using frontend::AttrList;
using frontend::Emitter;
using frontend::lineOf;
using frontend::OpName;
using frontend::Pair;

namespace {

Pair promoted(const Emitter &r, const Operand &a, const Operand &b, DType type) {
  return {r.converted(a, type), r.converted(b, type)};
}

/// x and a bound of its type. A number takes the gradient where both are equal, a tensor half of it: PyTorch's rules.
AttrList boundedBy(const Operand &bound) {
  return bound.kind == Operand::Kind::tensor ? AttrList() : AttrList{Attr::unit("bound")};
}
Tensor withBound(const Emitter &r, const OpName &name, const Tensor &x, const Operand &bound) {
  return r.binary(name, x, r.converted(bound, x.type(r.at).dtype), boundedBy(bound));
}

/// The operation on both, converted to their common type; `onBooleans` is what it means for i1 (null: refused).
/// `isBound`: b is a bound of a.
Tensor arithmetic(const char *op, const OpName &name, const OpName *onBooleans, const Operand &a, const Operand &b,
                  bool isBound = false) {
  Emitter r(op, lineOf(a, b));
  // The common case first: two tensors of one type.
  if (a.kind == Operand::Kind::tensor && b.kind == Operand::Kind::tensor) {
    const TensorType &x = r.typeOf(a.tensor), &y = r.typeOf(b.tensor);
    if (x.dtype == y.dtype && x.dtype != DType::boolean) return r.binary(name, a.tensor, b.tensor);
  }
  const Operand *both[] = {&a, &b};
  DType type = r.promote(both);
  if (type == DType::boolean && !onBooleans)
    r.fail("is not for booleans, " + describe(a.tensor.type(r.at)) + " and " + describe(b.tensor.type(r.at)) +
           "; use logicalXor or convert with to()");
  auto [x, y] = promoted(r, a, b, type);
  if (type == DType::boolean) return r.binary(*onBooleans, x, y);
  return r.binary(name, x, y, isBound ? boundedBy(b) : AttrList());
}

Tensor comparison(const char *op, const char *word, const Operand &a, const Operand &b) {
  Emitter r(op, lineOf(a, b));
  const Operand *both[] = {&a, &b};
  auto [x, y] = promoted(r, a, b, r.promote(both));
  return r.compare(word, x, y);
}

Tensor asBoolean(const Emitter &r, const Operand &x) { return r.cast(r.tensorOf(x), DType::boolean); }

Tensor logical(const char *op, const OpName &name, const Operand &a, const Operand &b) {
  Emitter r(op, lineOf(a, b));
  return r.binary(name, asBoolean(r, a), asBoolean(r, b));
}

Tensor bitwise(const char *op, const OpName &name, const Operand &a, const Operand &b, bool isShift = false) {
  Emitter r(op, lineOf(a, b));
  const Operand *both[] = {&a, &b};
  DType type = r.promote(both);
  if (isFloat(type) || (isShift && type == DType::boolean))
    r.fail("takes integers" + std::string(isShift ? "" : " or booleans") + ", got " + sprig::name(type));
  auto [x, y] = promoted(r, a, b, type);
  return r.binary(name, x, y);
}

/// Division that needs no rounding rule of its own: floats stay, the others become f32.
DType quotientType(const Emitter &r, const Operand &a, const Operand &b) {
  const Operand *both[] = {&a, &b};
  DType type = r.promote(both);
  return isFloat(type) ? type : DType::f32;
}

} // namespace

Tensor add(const Operand &a, const Operand &b) { return arithmetic("add", SPRIG_OP("add"), &SPRIG_OP("or"), a, b); }
Tensor sub(const Operand &a, const Operand &b) { return arithmetic("sub", SPRIG_OP("sub"), nullptr, a, b); }
Tensor mul(const Operand &a, const Operand &b) { return arithmetic("mul", SPRIG_OP("mul"), &SPRIG_OP("and"), a, b); }
Tensor maximum(const Operand &a, const Operand &b) {
  return arithmetic("maximum", SPRIG_OP("max"), &SPRIG_OP("or"), a, b);
}
Tensor minimum(const Operand &a, const Operand &b) {
  return arithmetic("minimum", SPRIG_OP("min"), &SPRIG_OP("and"), a, b);
}
Tensor remainder(const Operand &a, const Operand &b) { return arithmetic("remainder", SPRIG_OP("mod"), nullptr, a, b); }
Tensor fmod(const Operand &a, const Operand &b) { return arithmetic("fmod", SPRIG_OP("rem"), nullptr, a, b); }

Tensor div(const Operand &a, const Operand &b) {
  Emitter r("div", lineOf(a, b));
  if (a.kind == Operand::Kind::tensor && b.kind == Operand::Kind::tensor) {
    const TensorType &x = r.typeOf(a.tensor), &y = r.typeOf(b.tensor);
    if (x.dtype == y.dtype && isFloat(x.dtype)) return r.div(a.tensor, b.tensor);
  }
  auto [x, y] = promoted(r, a, b, quotientType(r, a, b));
  return r.div(x, y);
}

Tensor floorDivide(const Operand &a, const Operand &b) {
  Emitter r("floorDivide", lineOf(a, b));
  const Operand *both[] = {&a, &b};
  DType type = r.promote(both);
  if (type == DType::boolean) r.fail("is not for booleans; convert with to()");
  auto [x, y] = promoted(r, a, b, type);
  if (isFloat(type)) return r.unary(SPRIG_OP("floor"), r.div(x, y));
  Tensor quotient = r.div(x, y);
  if (isUnsigned(type)) return quotient;
  // nn.div truncates: one less where there is a remainder and the signs differ, that is, where mod and rem differ.
  Tensor differs = r.compare("predicate ne", r.binary(SPRIG_OP("mod"), x, y), r.binary(SPRIG_OP("rem"), x, y));
  return r.sub(quotient, r.cast(differs, type));
}

Tensor pow(const Operand &base, const Operand &exponent) {
  Emitter r("pow", lineOf(base, exponent));
  const Operand *both[] = {&base, &exponent};
  DType type = r.promote(both);
  if (type == DType::boolean) r.fail("is not for booleans; convert with to()");
  if (!isFloat(type) && exponent.kind == Operand::Kind::integer && exponent.integer < 0)
    r.fail("raises integers to the power of " + std::to_string(exponent.integer) +
           ", which are no integers; convert the base with to(DType::f32)");
  Tensor x = r.converted(base, type);
  if (exponent.kind != Operand::Kind::tensor && exponent.real == 2) return r.mul(x, x);
  return r.binary(SPRIG_OP("pow"), x, r.converted(exponent, type));
}

Tensor neg(const Operand &x) {
  Emitter r("neg", x.at);
  Tensor operand = r.tensorOf(x);
  if (operand.type(r.at).dtype == DType::boolean) r.fail("is not for booleans; use logicalNot");
  return r.neg(operand);
}

Tensor eq(const Operand &a, const Operand &b) { return comparison("eq", "predicate eq", a, b); }
Tensor ne(const Operand &a, const Operand &b) { return comparison("ne", "predicate ne", a, b); }
Tensor lt(const Operand &a, const Operand &b) { return comparison("lt", "predicate lt", a, b); }
Tensor le(const Operand &a, const Operand &b) { return comparison("le", "predicate le", a, b); }
Tensor gt(const Operand &a, const Operand &b) { return comparison("gt", "predicate gt", a, b); }
Tensor ge(const Operand &a, const Operand &b) { return comparison("ge", "predicate ge", a, b); }

namespace {
Tensor closeness(const Emitter &r, const Operand &a, const Operand &b, const CloseOptions &options) {
  if (!(options.rtol >= 0) || !(options.atol >= 0))
    r.fail("has rtol " + frontend::realText(options.rtol) + " and atol " + frontend::realText(options.atol) +
           "; expected at least 0");
  const Operand *both[] = {&a, &b};
  DType type = r.promote(both);
  auto [x, y] = promoted(r, a, b, type);
  Tensor isEqual = r.compare("predicate eq", x, y);
  Tensor p = isFloat(type) ? x : r.cast(x, DType::f64), q = isFloat(type) ? y : r.cast(y, DType::f64);
  Tensor distance = r.abs(r.sub(p, q));
  Tensor bound = r.add(r.mul(r.abs(q), r.number(options.rtol, q)), r.number(options.atol, q));
  // An infinite bound is no bound: infinities are close to themselves alone.
  Tensor isNear = r.binary(SPRIG_OP("and"), r.compare("predicate le", distance, bound),
                           r.compare("predicate lt", distance, r.number(HUGE_VAL, distance)));
  Tensor result = r.binary(SPRIG_OP("or"), isEqual, isNear);
  if (!options.equalNan || !isFloat(type)) return result;
  Tensor bothNan = r.binary(SPRIG_OP("and"), r.predicate(SPRIG_OP("is_nan"), p), r.predicate(SPRIG_OP("is_nan"), q));
  return r.binary(SPRIG_OP("or"), result, bothNan);
}
} // namespace

Tensor isclose(const Operand &a, const Operand &b, const CloseOptions &options) {
  return closeness(Emitter("isclose", lineOf(a, b)), a, b, options);
}
Tensor allclose(const Operand &a, const Operand &b, const CloseOptions &options) {
  Emitter r("allclose", lineOf(a, b));
  Tensor each = closeness(r, a, b, options);
  return r.reduce("reduce_kind min", each, r.axesOf({}, each.type(r.at)), false);
}

Tensor logicalAnd(const Operand &a, const Operand &b) { return logical("logicalAnd", SPRIG_OP("and"), a, b); }
Tensor logicalOr(const Operand &a, const Operand &b) { return logical("logicalOr", SPRIG_OP("or"), a, b); }
Tensor logicalXor(const Operand &a, const Operand &b) { return logical("logicalXor", SPRIG_OP("xor"), a, b); }
Tensor logicalNot(const Operand &x) {
  Emitter r("logicalNot", x.at);
  return r.unary(SPRIG_OP("not"), asBoolean(r, x));
}

Tensor bitwiseAnd(const Operand &a, const Operand &b) { return bitwise("bitwiseAnd", SPRIG_OP("and"), a, b); }
Tensor bitwiseOr(const Operand &a, const Operand &b) { return bitwise("bitwiseOr", SPRIG_OP("or"), a, b); }
Tensor bitwiseXor(const Operand &a, const Operand &b) { return bitwise("bitwiseXor", SPRIG_OP("xor"), a, b); }
Tensor bitwiseLeftShift(const Operand &a, const Operand &b) {
  return bitwise("bitwiseLeftShift", SPRIG_OP("shl"), a, b, true);
}
Tensor bitwiseRightShift(const Operand &a, const Operand &b) {
  return bitwise("bitwiseRightShift", SPRIG_OP("shr"), a, b, true);
}
Tensor bitwiseNot(const Operand &x) {
  Emitter r("bitwiseNot", x.at);
  Tensor operand = r.tensorOf(x);
  if (isFloat(operand.type(r.at).dtype)) r.fail("takes integers or booleans, got " + describe(operand.type(r.at)));
  return r.unary(SPRIG_OP("not"), operand);
}

namespace {
Tensor choose(const Emitter &r, const Operand &condition, const Operand &a, const Operand &b) {
  Tensor choice = r.tensorOf(condition, "condition");
  if (choice.type(r.at).dtype != DType::boolean)
    r.fail("takes a boolean condition, got " + describe(choice.type(r.at)) + "; compare it, for instance with != 0");
  const Operand *both[] = {&a, &b};
  auto [x, y] = promoted(r, a, b, r.promote(both));
  return r.select(choice, x, y);
}
} // namespace

Tensor where(const Operand &condition, const Operand &a, const Operand &b) {
  return choose(Emitter("where", condition.at), condition, a, b);
}

Tensor maskedFill(const Operand &x, const Operand &mask, const Operand &value) {
  Emitter r("maskedFill", x.at);
  const TensorType &type = r.typeOf(x.tensor);
  Tensor result = choose(r, mask, {r.converted(value, type.dtype), r.at}, x);
  if (result.type(r.at) != type)
    r.fail("has mask " + describe(mask.tensor.type(r.at)) + " and value " + describe(r.tensorOf(value).type(r.at)) +
           ", which do not broadcast to " + describe(type));
  return result;
}

Tensor clamp(const Operand &x, const Operand &low, const Operand &high) {
  Emitter r("clamp", x.at);
  const Operand *all[] = {&x, &low, &high};
  DType type = r.promote(all);
  if (type == DType::boolean) r.fail("is not for booleans; convert with to()");
  return withBound(r, SPRIG_OP("min"), withBound(r, SPRIG_OP("max"), r.converted(x, type), low), high);
}
Tensor clampMin(const Operand &x, const Operand &low) {
  return arithmetic("clampMin", SPRIG_OP("max"), &SPRIG_OP("or"), x, low, true);
}
Tensor clampMax(const Operand &x, const Operand &high) {
  return arithmetic("clampMax", SPRIG_OP("min"), &SPRIG_OP("and"), x, high, true);
}

Tensor lerp(const Operand &a, const Operand &b, const Operand &weight) {
  Emitter r("lerp", lineOf(a, b));
  const Operand *all[] = {&a, &b, &weight};
  DType type = r.promote(all);
  if (!isFloat(type)) type = DType::f32;
  Tensor x = r.converted(a, type), y = r.converted(b, type);
  return r.add(x, r.mul(r.converted(weight, type), r.sub(y, x)));
}

Tensor cast(const Operand &x, DType type) {
  Emitter r("to", x.at);
  return x.kind == Operand::Kind::tensor ? r.cast(r.tensorOf(x), type) : r.converted(x, type);
}

Tensor stopGradient(const Operand &x) {
  Emitter r("stopGradient", x.at);
  return r.tensorOf(x).detach(r.at);
}

} // namespace sprig
