#include "lib/Import/ONNX/Random.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNRandom.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Import/ONNX/Importer.h"
#include "lib/Import/ONNX/SeedName.h"
#include "lib/Import/ONNX/Table.h"
#include "lib/Import/ONNX/Tensor.h"
#include "llvm/ADT/bit.h"
#include "runtime/base/Decimal.h"
#include <cmath>
#include <numbers>

namespace sprig::onnximport {

RandomWords::RandomWords(Node &n) {
  if (!table().draws(normalizeDomain(n.proto.domain()), n.proto))
    throw std::logic_error("the table does not say that " + n.proto.op_type() + " draws random numbers");
  EmitState &state = n.importer.emitState();
  if (state.rolledLoops > 0) throw NeedsNumber();
  if (state.training) requireDrawOfSteps(n);
  if (!n.attribute("seed") && !state.seed && !state.training)
    n.unsupported("draws random numbers, but has no attribute 'seed'; give one to all such nodes with --value " +
                  std::string(kRandomSeed) + "=7 (CompileOptions::values)");
  // Dropout's seed is an integer, the others' a float.
  const auto *own = n.attribute("seed");
  double seed = !own                                       ? state.seed.value_or(0)
                : own->type() == onnx::AttributeProto::INT ? double(own->i())
                                                           : double(own->f());
  bool isWhole = seed == std::trunc(seed) && std::abs(seed) < 0x1p53;
  key = n.ints({isWhole ? int64_t(seed) : llvm::bit_cast<int64_t>(seed)}, {});
  counter = n.ints({state.draws++}, {});
}

void requireDrawOfSteps(Node &n) {
  mlir::Operation *parent = n.state.builder.getInsertionBlock()->getParentOp();
  if (!llvm::isa_and_present<mlir::func::FuncOp>(parent))
    n.unsupported("draws random numbers in a branch or a loop, which in training would be the same in all steps");
}

namespace {

/// The words of one node, one of each stream for each element.
class NodeWords {
public:
  NodeWords(Node &n, IntsRef shape) : n(n), words(n) {
    constexpr int64_t kMost = int64_t(1) << 34;
    int64_t count = n.tensor(shape, n.i64()).getNumElements();
    if (count >= kMost) n.unsupported("draws " + shapeText(shape) + " random numbers; the limit is 2^34");
    index = n.reshape(n.iota({count}, n.i64(), 0), shape);
    // No other node and no dropout has these streams.
    if (EmitState &state = n.importer.emitState(); state.training) {
      draw = state.dropouts;
      state.dropouts += kStreams;
    }
  }

  /// [0, 1): as many upper bits as the type's significand has; of f64 53 bits of two words.
  Value uniform(Type type, int64_t stream = 0) {
    if (type.isF64()) {
      Value high = n.mul(upper(stream, 27, type), 0x1p26);
      return n.mul(n.add(high, upper(stream + 1, 26, type)), 0x1p-53);
    }
    int count = type.isF32() ? 24 : type.isF16() ? 11 : 8;
    return n.mul(upper(stream, count, type), std::ldexp(1, -count));
  }

  /// Box and Muller.
  Value normal(Type type) {
    Type wide = Emit::isHalf(type) ? n.f32() : type;
    Value u = uniform(wide, 0), v = uniform(wide, wide.isF64() ? 2 : 1);
    Value radius = n.op<ir::SqrtOp>({n.mul(n.op<ir::LogOp>({n.sub(1, u)}), -2)});
    return n.cast(n.mul(radius, n.op<ir::CosOp>({n.mul(v, 2 * std::numbers::pi)})), type);
  }

  /// The largest of log weights plus this is a draw from the weights.
  Value gumbel(Type type) {
    Value exponential = n.op<ir::NegOp>({n.op<ir::LogOp>({n.sub(1, uniform(type))})});
    Value least = n.scalar(type.isF64() ? 0x1p-54 : 0x1p-25, type);
    return n.op<ir::NegOp>({n.op<ir::LogOp>({n.max(exponential, least)})});
  }

private:
  Value upper(int64_t stream, int count, Type type) {
    Value bits =
        draw ? wordsOfStep(stream) : n.op<ir::PhiloxOp>({index, words.key, words.counter}, {n.attr("stream", stream)});
    return n.cast(n.op<ir::ShrOp>({bits, n.scalar(32 - count, Emit::elem(bits))}), type);
  }

  // Steps give another counter: nothing of it is known yet.
  Value wordsOfStep(int64_t stream) {
    mlir::OpBuilder &b = n.state.builder;
    auto words = ir::PhiloxOp::create(b, n.loc, index, this->words.key, this->words.counter, uint64_t(stream));
    words->setAttr(ir::kDrawAttr, b.getI64IntegerAttr(*draw + stream));
    return words;
  }

  static constexpr int64_t kStreams = 4; ///< of a node, at most
  Node &n;
  RandomWords words;
  Value index;
  std::optional<int64_t> draw; ///< its first stream in a step of training
};

Type drawnType(Node &n, Type otherwise) {
  Type type = n.typeAttr("dtype", otherwise);
  n.require(llvm::isa<mlir::FloatType>(type), "draws floats, but has no dtype of them");
  return type;
}

Value affine(Node &n, Value x, double factor, double offset) {
  if (factor != 1) x = n.mul(x, factor);
  return offset == 0 ? x : n.add(x, offset);
}

void drawUniform(Node &n, IntsRef shape, Type type) {
  double low = n.realAttr("low", 0), high = n.realAttr("high", 1);
  n.require(low <= high, "draws from low " + decimal::shortest(low) + " to high " + decimal::shortest(high));
  n.out(affine(n, NodeWords(n, shape).uniform(type), high - low, low));
}
void drawNormal(Node &n, IntsRef shape, Type type) {
  double scale = n.realAttr("scale", 1);
  n.require(scale >= 0, "has scale " + decimal::shortest(scale) + ", a standard deviation below 0");
  n.out(affine(n, NodeWords(n, shape).normal(type), scale, n.realAttr("mean", 0)));
}

Ints shapeAttr(Node &n) {
  auto shape = n.intsAttr("shape");
  if (!shape) n.bad("needs attribute 'shape'");
  return *shape;
}
void randomUniform(Node &n) { drawUniform(n, shapeAttr(n), drawnType(n, n.f32())); }
void randomNormal(Node &n) { drawNormal(n, shapeAttr(n), drawnType(n, n.f32())); }
void randomUniformLike(Node &n) { drawUniform(n, Emit::shape(n.in(0)), drawnType(n, Emit::elem(n.in(0)))); }
void randomNormalLike(Node &n) { drawNormal(n, Emit::shape(n.in(0)), drawnType(n, Emit::elem(n.in(0)))); }

void bernoulli(Node &n) {
  Value p = n.in(0);
  Type wide = Emit::isHalf(Emit::elem(p)) ? n.f32() : Emit::elem(p), type = n.typeAttr("dtype", Emit::elem(p));
  Value u = NodeWords(n, Emit::shape(p)).uniform(wide);
  n.out(n.cast(n.compare(ir::ComparePredicate::lt, u, n.cast(p, wide)), type));
}

void multinomial(Node &n) {
  Value x = n.in(0);
  IntsRef shape = Emit::shape(x);
  n.require(shape.size() == 2 && shape[1] > 0, "draws from " + typeText(x) + "; expected batch and classes");
  int64_t samples = n.intAttr("sample_size", 1);
  n.require(samples >= 1, "has sample_size " + std::to_string(samples));
  Type type = n.typeAttr("dtype", n.state.builder.getI32Type());
  n.require(type.isInteger(32) || type.isInteger(64), "has a dtype that is neither int32 nor int64");
  Type wide = Emit::isHalf(Emit::elem(x)) ? n.f32() : Emit::elem(x);
  Value weights = n.unsqueeze(n.cast(x, wide), 1), drawn = NodeWords(n, {shape[0], samples, shape[1]}).gumbel(wide);
  Value best = n.argReduce(ir::ReduceKind::max, n.add(weights, drawn), 2, /*keepDims=*/false, /*lastIndex=*/false);
  n.out(n.cast(best, type));
}

} // namespace

void addRandom(Table &t) {
  t.add("RandomUniform", {1, 22}, randomUniform);
  t.add("RandomUniformLike", {1, 22}, randomUniformLike);
  t.add("RandomNormal", {1, 22}, randomNormal);
  t.add("RandomNormalLike", {1, 22}, randomNormalLike);
  t.add("Bernoulli", {15, 22}, bernoulli);
  t.add("Multinomial", {7, 22}, multinomial);
  for (const char *op :
       {"RandomUniform", "RandomUniformLike", "RandomNormal", "RandomNormalLike", "Bernoulli", "Multinomial"})
    t.draws(op);
}

} // namespace sprig::onnximport
