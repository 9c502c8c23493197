// Random tensors from nn.philox: word i, of stream 0 and 1, of the operation's own counter belongs to element i.
// The formulas stand in docs/numerics.md; nothing else in the front-end turns bits into numbers.
#include "sprig/random.h"
#include "lib/Frontend/Engine/BatchScope.h"
#include "lib/Frontend/Ops/Indexing.h"
#include <cmath>
#include <limits>
#include <numbers>

namespace sprig {

using frontend::Attr;
using frontend::CreationScope;
using frontend::Emitter;

namespace {
/// The words of one random operation.
class Words {
public:
  Words(const Emitter &r, const Shape &shape) : r(r), shape(shape) {
    r.checkShape(shape);
    if (shape.elements() >= int64_t(1) << 34) r.fail("draws " + describe(shape) + ", of 2^34 elements or more");
    index = frontend::drawOfShape(shape, [&](const Shape &all) { return frontend::flatPositions(r, all); }, r.at);
    words = frontend::nextRandom(r.at);
  }

  /// 32 bits for each element.
  Tensor bits(int64_t stream) const {
    return r.emit(SPRIG_OP("philox"), {index, words.key, words.counter}, {Attr::of("stream", stream)},
                  {DType::u32, shape});
  }

  /// The upper bits of a word, as many as the type's significand has, over their range: [0, 1). Of f64: 53 bits of two.
  Tensor uniform(DType type, int64_t stream = 0) const {
    if (type == DType::f64) {
      Tensor high = upper(bits(stream), 27, type), low = upper(bits(stream + 1), 26, type);
      Tensor whole = r.add(r.mul(high, r.number(0x1p26, high)), low);
      return r.mul(whole, r.number(0x1p-53, whole));
    }
    int count = type == DType::f32 ? 24 : type == DType::f16 ? 11 : 8;
    Tensor whole = upper(bits(stream), count, type);
    return r.mul(whole, r.number(std::ldexp(1, -count), whole));
  }

  /// Box and Muller: sqrt(-2 log(1 - u)) cos(2 pi v). 1 - u is exact and in (0, 1].
  Tensor normal(DType type) const {
    DType wide = size(type) < 4 ? DType::f32 : type;
    Tensor u = uniform(wide, 0), v = uniform(wide, wide == DType::f64 ? 2 : 1);
    Tensor radius = r.sqrt(r.mul(r.log(r.sub(r.number(1, u), u)), r.number(-2, u)));
    Tensor angle = r.unary(SPRIG_OP("cos"), r.mul(v, r.number(2 * std::numbers::pi, v)));
    return r.cast(r.mul(radius, angle), type);
  }

private:
  Tensor upper(const Tensor &word, int count, DType type) const {
    return r.cast(r.binary(SPRIG_OP("shr"), word, frontend::scalarInteger(32 - count, DType::u32, r.at)), type);
  }

  const Emitter &r;
  Shape shape;
  Tensor index;
  frontend::RandomWords words;
};

void requireFloatType(const Emitter &r, DType type) {
  if (!isFloat(type)) r.fail(std::string("draws floats, got the type ") + name(type));
}

/// a * x + b, without what changes nothing.
Tensor affine(const Emitter &r, const Tensor &x, double a, double b) {
  Tensor result = a == 1 ? x : r.mul(x, r.number(a, x));
  return b == 0 ? result : r.add(result, r.number(b, result));
}

Tensor uniformOf(const Emitter &r, const Shape &shape, DType type) {
  requireFloatType(r, type);
  return Words(r, shape).uniform(type);
}
Tensor normalOf(const Emitter &r, const Shape &shape, DType type) {
  requireFloatType(r, type);
  return Words(r, shape).normal(type);
}

/// -log of an exponential draw: the largest of log weights plus this is a draw from the weights.
Tensor gumbel(const Emitter &r, const Shape &shape, DType type) {
  Tensor u = Words(r, shape).uniform(type);
  Tensor exponential = r.neg(r.log(r.sub(r.number(1, u), u)));
  // u = 0 stands for all that is below the next u.
  return r.neg(r.log(r.max(exponential, r.number(type == DType::f64 ? 0x1p-54 : 0x1p-25, u))));
}
} // namespace

Tensor rand(const Shape &shape, DType type, Source at) {
  CreationScope here;
  return uniformOf(Emitter("rand", at), shape, type);
}
Tensor randn(const Shape &shape, DType type, Source at) {
  CreationScope here;
  return normalOf(Emitter("randn", at), shape, type);
}
Tensor randLike(const Operand &x) {
  Emitter r("randLike", x.at);
  Tensor tensor = r.tensorOf(x);
  DeviceScope there(frontend::deviceFor(tensor), x.at);
  CreationScope here;
  const TensorType &type = tensor.type(r.at);
  return uniformOf(r, type.shape, type.dtype);
}
Tensor randnLike(const Operand &x) {
  Emitter r("randnLike", x.at);
  Tensor tensor = r.tensorOf(x);
  DeviceScope there(frontend::deviceFor(tensor), x.at);
  CreationScope here;
  const TensorType &type = tensor.type(r.at);
  return normalOf(r, type.shape, type.dtype);
}

Tensor uniform(const Shape &shape, double low, double high, DType type, Source at) {
  Emitter r("uniform", at);
  CreationScope here;
  if (!(low <= high)) r.fail("draws from " + frontend::realText(low) + " to " + frontend::realText(high));
  return affine(r, uniformOf(r, shape, type), high - low, low);
}

Tensor normal(const Shape &shape, double mean, double standardDeviation, DType type, Source at) {
  Emitter r("normal", at);
  CreationScope here;
  if (!(standardDeviation >= 0)) r.fail("has standard deviation " + frontend::realText(standardDeviation));
  return affine(r, normalOf(r, shape, type), standardDeviation, mean);
}

Tensor randint(int64_t low, int64_t high, const Shape &shape, DType type, Source at) {
  Emitter r("randint", at);
  CreationScope here;
  if (low >= high) r.fail("draws from " + frontend::realText(low) + " up to, but without, " + frontend::realText(high));
  if (type == DType::boolean) r.fail("draws numbers, not booleans");
  if (!isFloat(type))
    for (int64_t end : {low, high - 1}) frontend::bitsOfInteger(end, type, at, r.op);
  uint64_t range = uint64_t(high) - uint64_t(low);
  Words words(r, shape);
  Tensor result;
  if (range <= uint64_t(1) << 31) {
    // The upper half of word times range: as even as 32 bits can be.
    Tensor word = r.cast(words.bits(0), DType::i64);
    Tensor product = r.mul(word, frontend::scalarInteger(int64_t(range), DType::i64, at));
    result = r.binary(SPRIG_OP("shr"), product, frontend::scalarInteger(32, DType::i64, at));
  } else {
    Tensor upper =
        r.binary(SPRIG_OP("shl"), r.cast(words.bits(0), DType::u64), frontend::scalarInteger(32, DType::u64, at));
    Tensor word = r.add(upper, r.cast(words.bits(1), DType::u64));
    word = r.binary(SPRIG_OP("mod"), word, frontend::scalarInteger(int64_t(range), DType::u64, at));
    result = r.cast(word, DType::i64);
  }
  if (low != 0) result = r.add(result, frontend::scalarInteger(low, DType::i64, at));
  return r.cast(result, type);
}

Tensor randperm(int64_t n, Source at) {
  Emitter r("randperm", at);
  CreationScope here;
  if (n < 0) r.fail("permutes " + std::to_string(n) + " numbers");
  frontend::refuseDrawOfAll(r.op, n, at);
  // The order of random keys; 64 bits, so that equal ones do not matter.
  Words words(r, {n});
  Tensor upper =
      r.binary(SPRIG_OP("shl"), r.cast(words.bits(0), DType::i64), frontend::scalarInteger(32, DType::i64, at));
  Tensor keys = r.add(upper, r.cast(words.bits(1), DType::i64));
  const TensorType results[] = {{DType::i64, {n}}, {DType::i64, {n}}};
  return frontend::recordAll(SPRIG_OP("top_k"), std::span(&keys, 1),
                             {Attr::of("k", n), Attr::of("axis", 0), Attr::of("largest", false)}, results, at)[1];
}

Tensor bernoulli(const Operand &probabilities) {
  Emitter r("bernoulli", probabilities.at);
  Tensor p = r.requireFloat(probabilities, "probabilities");
  const TensorType type = p.type(r.at);
  DType wide = size(type.dtype) < 4 ? DType::f32 : type.dtype;
  Tensor u = uniformOf(r, type.shape, wide);
  return r.cast(r.compare("predicate lt", u, r.inRange(r.cast(p, wide), 0, 1)), type.dtype);
}

Tensor bernoulli(const Shape &shape, double probability, Source at) {
  Emitter r("bernoulli", at);
  CreationScope here;
  if (!(probability >= 0 && probability <= 1)) r.fail("has probability " + frontend::realText(probability));
  Tensor u = uniformOf(r, shape, DType::f32);
  return r.cast(r.compare("predicate lt", u, r.number(probability, u)), DType::f32);
}

Tensor multinomial(const Operand &weights, int64_t samples, bool replacement) {
  Emitter r("multinomial", weights.at);
  Tensor w = r.requireFloat(weights, "weights");
  if (size(w.type(r.at).dtype) < 4) w = r.cast(w, DType::f32);
  const TensorType type = w.type(r.at);
  int rank = type.shape.rank();
  if (rank != 1 && rank != 2) r.fail("takes weights [classes] or [rows, classes], got " + describe(type));
  int64_t classes = type.shape.back();
  if (samples < 1 || classes < 1 || (!replacement && samples > classes))
    r.fail("draws " + std::to_string(samples) + " of " + std::to_string(classes) + " classes" +
           (replacement ? "" : " without replacement"));
  double largest = type.dtype == DType::f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  w = r.inRange(w, 0, largest);
  // Each row has as many classes with a weight as are drawn of it.
  Tensor positive = r.cast(r.compare("predicate gt", w, r.number(0, w)), type.dtype);
  Tensor count = r.inRange(r.sum(positive, {rank - 1}, true), replacement ? 1 : double(samples));
  Tensor logits = r.select(r.compare("predicate gt", count, r.number(0, count)), r.log(w), r.number(0, w));
  if (replacement) {
    Shape each = type.shape; // [rows, samples, classes]
    each[rank - 1] = samples;
    each.push_back(classes);
    Tensor scores = r.add(r.unsqueeze(logits, rank - 1), gumbel(r, each, type.dtype));
    return r.emit(SPRIG_OP("arg_reduce"), {scores}, {Attr::word("kind", "reduce_kind max"), Attr::of("axis", rank)},
                  {DType::i64, frontend::reducedShape(each, {rank}, false)});
  }
  Tensor scores = r.add(logits, gumbel(r, type.shape, type.dtype));
  TensorType values = type;
  values.shape[rank - 1] = samples;
  const TensorType results[] = {values, {DType::i64, values.shape}};
  return frontend::recordAll(SPRIG_OP("top_k"), std::span(&scores, 1),
                             {Attr::of("k", samples), Attr::of("axis", rank - 1), Attr::of("largest", true)}, results,
                             r.at)[1];
}

Tensor categorical(const Operand &logits) {
  Emitter r("categorical", logits.at);
  Tensor x = r.requireFloat(logits, "logits");
  if (size(x.type(r.at).dtype) < 4) x = r.cast(x, DType::f32);
  const TensorType type = x.type(r.at);
  if (type.shape.empty() || type.shape.back() == 0) r.fail("takes logits [..., classes], got " + describe(type));
  int axis = type.shape.rank() - 1;
  Tensor scores = r.add(x, gumbel(r, type.shape, type.dtype));
  return r.emit(SPRIG_OP("arg_reduce"), {scores}, {Attr::word("kind", "reduce_kind max"), Attr::of("axis", axis)},
                {DType::i64, frontend::reducedShape(type.shape, {axis}, false)});
}

} // namespace sprig
