// Operands of operators that ONNX spells out as functions: what the body would broadcast or reshape in silence.
#include "lib/Import/ONNX/CheckOperands.h"
#include "dialects/NN/NNLoss.h"
#include "lib/Import/ONNX/Tensor.h"
#include "llvm/ADT/StringSwitch.h"

namespace sprig::onnximport {

namespace {

/// Both facts about a size that two operands must agree on.
void expectEqual(const Node &n, int64_t a, const char *aName, Value aValue, int64_t b, const char *bName, Value bValue,
                 const char *what) {
  n.require(a == b, "has " + std::to_string(a) + " " + what + " in " + aName + " (" + typeText(aValue) + ") and " +
                        std::to_string(b) + " in " + bName + " (" + typeText(bValue) + ")");
}

/// Batch, heads, positions and size of a head; operands of rank 3 have the heads in their last axis.
struct Heads {
  Value value;
  const char *name;
  int64_t batch = 0, heads = 0, positions = 0, size = 0;
};

Heads readHeads(const Node &n, unsigned input, const char *name, const char *attribute) {
  Heads result{n.in(input), name};
  IntsRef shape = Emit::shape(result.value);
  n.require(shape.size() == 3 || shape.size() == 4, std::string("has ") + name + " " + typeText(result.value) +
                                                        "; expected 3 dimensions, or 4 with the heads second");
  result.batch = shape[0];
  if (shape.size() == 4) {
    result.heads = shape[1], result.positions = shape[2], result.size = shape[3];
    return result;
  }
  result.heads = n.intAttr(attribute, 0);
  n.require(result.heads >= 1, std::string("has ") + name + " " + typeText(result.value) + " of 3 dimensions; needs " +
                                   attribute + " of at least 1, got " + std::to_string(result.heads));
  n.require(shape[2] % result.heads == 0, std::string("has ") + name + " " + typeText(result.value) + ", whose last " +
                                              "axis does not divide into " + std::to_string(result.heads) + " heads");
  result.positions = shape[1], result.size = shape[2] / result.heads;
  return result;
}

void expectShape(const Node &n, Value v, const char *name, IntsRef shape) {
  n.require(Emit::shape(v) == shape,
            std::string("has ") + name + " " + typeText(v) + "; expected shape " + shapeText(shape));
}

void checkAttention(const Node &n) {
  Heads q = readHeads(n, 0, "Q", "q_num_heads"), k = readHeads(n, 1, "K", "kv_num_heads"),
        v = readHeads(n, 2, "V", "kv_num_heads");
  expectEqual(n, q.batch, q.name, q.value, k.batch, k.name, k.value, "batches");
  expectEqual(n, q.batch, q.name, q.value, v.batch, v.name, v.value, "batches");
  expectEqual(n, k.heads, k.name, k.value, v.heads, v.name, v.value, "heads");
  expectEqual(n, k.positions, k.name, k.value, v.positions, v.name, v.value, "positions");
  expectEqual(n, q.size, q.name, q.value, k.size, k.name, k.value, "elements of a head");
  n.require(k.heads > 0 && q.heads % k.heads == 0, "has " + std::to_string(q.heads) + " heads in Q (" +
                                                       typeText(q.value) + "), no multiple of the " +
                                                       std::to_string(k.heads) + " in K (" + typeText(k.value) + ")");
  int64_t past = 0;
  n.require(n.has(4) == n.has(5),
            std::string("has ") + (n.has(4) ? "past_key without past_value" : "past_value without past_key"));
  if (n.has(4)) {
    past = Emit::rank(n.in(4)) == 4 ? Emit::shape(n.in(4))[2] : 0;
    expectShape(n, n.in(4), "past_key", {k.batch, k.heads, past, k.size});
    expectShape(n, n.in(5), "past_value", {k.batch, k.heads, past, v.size});
  }
  if (n.has(6)) expectShape(n, n.in(6), "nonpad_kv_seqlen", {q.batch});
  if (!n.has(3)) return;
  // Missing leading axes are broadcast; from opset 24 on a mask may end early.
  Value mask = n.in(3);
  int64_t total = past + k.positions, whole[] = {q.batch, q.heads, q.positions, total};
  IntsRef shape = Emit::shape(mask);
  bool fits = shape.size() >= 2 && shape.size() <= 4;
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    int64_t size = shape[shape.size() - 1 - i], wanted = whole[3 - i];
    fits = size == wanted || size == 1 || (i == 0 && n.opset >= 24 && size < wanted);
  }
  n.require(fits, "has attn_mask " + typeText(mask) + "; expected one that broadcasts to " + shapeText(whole));
}

void checkRotaryEmbedding(const Node &n) {
  Heads x = readHeads(n, 0, "X", "num_heads");
  Value cosines = n.in(1), sines = n.in(2);
  int64_t rotated = n.intAttr("rotary_embedding_dim", 0);
  if (rotated == 0) rotated = x.size;
  n.require(rotated > 0 && rotated <= x.size && rotated % 2 == 0,
            "rotates " + std::to_string(rotated) + " of the " + std::to_string(x.size) +
                " elements of a head; expected an even number of them");
  n.require(Emit::shape(cosines) == Emit::shape(sines),
            "has cos_cache " + typeText(cosines) + " and sin_cache " + typeText(sines) + ", which differ");
  if (n.has(3)) {
    expectShape(n, n.in(3), "position_ids", {x.batch, x.positions});
    n.require(Emit::rank(cosines) == 2 && Emit::shape(cosines)[1] == rotated / 2,
              "has cos_cache " + typeText(cosines) + "; with position_ids, expected positions and " +
                  std::to_string(rotated / 2) + " columns");
    return;
  }
  expectShape(n, cosines, "cos_cache", {x.batch, x.positions, rotated / 2});
}

/// Scores [N, C, ...] against classes [N, ...] and weights [C].
void checkClassLoss(const Node &n) {
  Value scores = n.in(0), classes = n.in(1);
  n.require(Emit::rank(scores) >= 2, "has scores " + typeText(scores) + "; expected batch and classes");
  Ints wanted(Emit::shape(scores));
  wanted.erase(wanted.begin() + 1);
  expectShape(n, classes, "classes", wanted);
  if (n.has(2)) expectShape(n, n.in(2), "weights", {Emit::shape(scores)[1]});
}

/// Affine transforms of images: theta [N, 2, 3] with size [4], or [N, 3, 4] with [5].
void checkAffineGrid(const Node &n) {
  Value theta = n.in(0);
  Ints size = n.knownInts(1);
  n.require(size.size() == 4 || size.size() == 5,
            "has a size of " + std::to_string(size.size()) + " numbers; expected 4 or 5");
  int64_t dimensions = int64_t(size.size()) - 2;
  expectShape(n, theta, "theta", {size[0], dimensions, dimensions + 1});
}

} // namespace

void checkOperands(const Node &n) {
  using Check = void (*)(const Node &);
  Check check = llvm::StringSwitch<Check>(n.proto.op_type())
                    .Case("Attention", checkAttention)
                    .Case("RotaryEmbedding", checkRotaryEmbedding)
                    .Cases({"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}, checkClassLoss)
                    .Case("AffineGrid", checkAffineGrid)
                    .Default(nullptr);
  if (check) check(n);
}

void checkLengths(Node &n, Value &lengths, int64_t steps) {
  if (std::optional<Ints> known = n.tryInts(lengths)) {
    for (size_t i = 0; i < known->size(); ++i)
      n.require((*known)[i] >= 0 && (*known)[i] <= steps, "has " + std::to_string((*known)[i]) +
                                                              " as length of sequence " + std::to_string(i) +
                                                              "; expected 0 to " + std::to_string(steps));
    return;
  }
  lengths = n.op<ir::ClassIndexOp>({lengths}, {n.attr("classes", steps + 1)});
}

} // namespace sprig::onnximport
