// What exporters of language models write: products with weights of few bits (MatMulNBits), and attention whose heads
// of keys serve several heads of queries and whose keys of earlier steps are inputs and outputs (GroupQueryAttention).
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNLoss.h"
#include "dialects/NN/NNQuantized.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Import/ONNX/Microsoft.h"
#include "lib/Import/ONNX/MicrosoftSchemas.h"
#include "lib/Import/ONNX/Table.h"
#include "lib/Import/ONNX/Tensor.h"
#include "llvm/Support/SaveAndRestore.h"
#include <cmath>
#include <limits>

namespace sprig::onnximport {

Value matmulOfAnyRank(Node &n, Value a, Value b);

namespace {

/// The numbers of a few bits that bytes [..., bytes] hold, lowest bits first: [..., numbers].
Value unpacked(Node &n, Value bytes, int64_t bits) {
  int64_t perByte = 8 / bits, rank = Emit::rank(bytes);
  if (perByte == 1) return bytes;
  std::vector<double> shifts;
  for (int64_t i = 0; i < perByte; ++i) shifts.push_back(double(i * bits));
  Value spread = n.op<ir::ShrOp>({n.unsqueeze(bytes, rank), n.constant({perByte}, n.ui8(), shifts)});
  Value numbers = n.op<ir::AndOp>({spread, n.scalar(double((1 << bits) - 1), n.ui8())});
  Ints shape(Emit::shape(bytes));
  shape.back() *= perByte;
  return n.reshape(numbers, shape);
}

/// [columns, blocks, 1] zero points as floats, where they are given as such, or as bytes.
Value zeroPoints(Node &n, int64_t columns, int64_t blocks, int64_t bits) {
  if (!n.has(3)) return n.scalar(double(int64_t(1) << (bits - 1)), n.ui8());
  Value zero = n.in(3);
  int64_t width = Emit::isFloat(zero) ? blocks : (blocks * bits + 7) / 8;
  n.require(Emit::count(zero) == columns * width, "has zero_points " + typeText(zero) + "; expected " +
                                                      std::to_string(columns) + " rows of " + std::to_string(width));
  zero = n.reshape(zero, {columns, width});
  if (!Emit::isFloat(zero)) zero = n.sliceAxis(unpacked(n, zero, bits), 1, 0, blocks);
  return n.reshape(zero, {columns, blocks, 1});
}

/// What eight bits leave of rows: integers of -127 to 127 with a scale for each block, that of its largest number.
Value roundedByBlocks(Node &n, Value a, int64_t block) {
  Ints shape(Emit::shape(a)), low(shape.size(), 0), high(shape.size(), 0);
  int64_t rank = Emit::rank(a), inner = shape.back(), blocksOfRow = (inner + block - 1) / block;
  high.back() = blocksOfRow * block - inner;
  Value one = n.scalar(1, n.f32()), none = n.scalar(0, n.f32()),
        whole = n.pad(ir::PadMode::constant, a, none, low, high);
  shape.back() = blocksOfRow;
  shape.push_back(block);
  Value blocks = n.reshape(whole, shape);
  Value largest = n.reduce(ir::ReduceKind::max, n.op<ir::AbsOp>({blocks}), {rank}, true);
  Value scale = n.div(largest, n.scalar(127, n.f32()));
  scale = n.select(n.compare(ir::ComparePredicate::eq, scale, none), one, scale); // of zeros any serves
  // An infinity leaves no number of its block, with neither sign.
  Value infinity = n.scalar(std::numeric_limits<double>::infinity(), n.f32()),
        noNumber = n.scalar(std::numeric_limits<double>::quiet_NaN(), n.f32());
  scale = n.select(n.compare(ir::ComparePredicate::eq, scale, infinity), noNumber, scale);
  Value zero = n.scalar(0, n.state.builder.getIntegerType(8));
  Value bytes = n.op<ir::QuantizeOp>({blocks, scale, zero});
  Value rounded = n.reshape(n.op<ir::DequantizeOp>({bytes, scale, zero}), Emit::shape(whole));
  return n.sliceAxis(rounded, rank - 1, 0, inner);
}

void matMulNBits(Node &n) {
  refuseInput(n, 4, "g_idx");
  refuseFlag(n, "weight_prepacked");
  Value a = n.in(0), b = n.in(1), scales = n.in(2);
  int64_t inner = n.intAttr("K"), columns = n.intAttr("N"), bits = n.intAttr("bits", 4),
          block = n.intAttr("block_size");
  if (bits != 2 && bits != 4 && bits != 8)
    n.unsupported("has weights of " + std::to_string(bits) + " bits; Sprig has those of 2, 4 and 8");
  n.require(block >= 16 && (block & (block - 1)) == 0 && block <= (int64_t(1) << 20),
            "has block_size " + std::to_string(block) + "; expected a power of two, at least 16");
  n.require(inner >= 1 && columns >= 1 && Emit::rank(a) >= 1 && Emit::shape(a).back() == inner,
            "multiplies " + typeText(a) + " by weights of K = " + std::to_string(inner) +
                " and N = " + std::to_string(columns));
  int64_t blocks = (inner + block - 1) / block, bytes = block * bits / 8;
  n.require(Emit::shape(b) == IntsRef{columns, blocks, bytes},
            "has weights " + typeText(b) + "; expected " + shapeText({columns, blocks, bytes}));
  n.require(Emit::count(scales) == columns * blocks,
            "has scales " + typeText(scales) + "; expected " + std::to_string(columns * blocks) + " of them");
  // The weights stay in their bytes: unpacking them is not done while importing.
  llvm::SaveAndRestore asBytes(n.state.limits.foldedBytes, int64_t(0));
  Value weights = unpacked(n, b, bits), zeros = zeroPoints(n, columns, blocks, bits);
  scales = n.reshape(n.cast(scales, n.f32()), {columns, blocks, 1});
  weights = Emit::isFloat(zeros) ? n.mul(n.sub(n.cast(weights, n.f32()), n.cast(zeros, n.f32())), scales)
                                 : n.op<ir::DequantizeOp>({weights, scales, zeros});
  weights = n.sliceAxis(n.reshape(weights, {columns, blocks * block}), 1, 0, inner);
  constexpr int64_t kEightBits = 4; // of accuracy_level: activations of at least as many
  if (bits == 4 && n.intAttr("accuracy_level", 0) == kEightBits && Emit::elem(a).isF32())
    a = roundedByBlocks(n, a, block);
  Value product = matmulOfAnyRank(n, a, n.transpose(n.cast(weights, Emit::elem(a)), {1, 0}));
  if (!n.has(5)) return n.out(product);
  n.require(Emit::shape(n.in(5)) == IntsRef{columns},
            "has a bias " + typeText(n.in(5)) + "; expected " + std::to_string(columns) + " elements");
  n.out(n.add(product, n.in(5)));
}

/// Heads of queries in groups that share keys and values; places of the keys differ by sequence.
class GroupAttention {
public:
  explicit GroupAttention(Node &n) : n(n), heads(n.intAttr("num_heads")), groups(n.intAttr("kv_num_heads")) {
    constexpr int64_t kMost = int64_t(1) << 20;
    n.require(heads >= 1 && heads <= kMost && groups >= 1 && heads % groups == 0,
              "has " + std::to_string(heads) + " heads for " + std::to_string(groups) + " of keys");
    readParts();
    readLengths();
  }

  void run() {
    if (n.intAttr("do_rotary", 0) != 0) turn();
    key = n.transpose(key, {0, 2, 1, 3}), value = n.transpose(value, {0, 2, 1, 3});
    key = withPast(3, key, "past_key"), value = withPast(4, value, "past_value");
    n.out(key, 1);
    n.out(value, 2);
    // The heads of a group are more rows of its queries.
    int64_t each = heads / groups;
    Value q = n.reshape(n.transpose(query, {0, 2, 1, 3}), {batch, groups, each * positions, size});
    double scale = n.realAttr("scale", 0), softcap = n.realAttr("softcap", 0);
    Value scores = n.mul(n.matmul(q, key, false, true), scale == 0 ? 1 / std::sqrt(double(size)) : scale);
    scores = n.reshape(scores, {batch, heads, positions, total});
    if (softcap > 0) scores = n.mul(n.op<ir::TanhOp>({n.mul(scores, 1 / softcap)}), softcap);
    if (n.has(10)) scores = n.add(scores, bias());
    scores = n.select(seen(), scores, n.scalar(-std::numeric_limits<double>::infinity(), Emit::elem(scores)));
    Value weights = n.op<ir::SoftmaxOp>({scores}, {n.attr("axis", 3), n.unit("masked")});
    Value result = n.matmul(n.reshape(weights, {batch, groups, each * positions, total}), value);
    result = n.reshape(result, {batch, heads, positions, size});
    n.out(n.reshape(n.transpose(result, {0, 2, 1, 3}), {batch, positions, heads * size}));
  }

private:
  /// [batch, positions, heads, size].
  Value part(Value v, int64_t from, int64_t count) {
    return n.reshape(n.sliceAxis(v, 2, from * size, count * size), {batch, positions, count, size});
  }

  void readParts() {
    Value q = n.in(0);
    n.require(n.has(1) == n.has(2), std::string("has ") + (n.has(1) ? "keys without values" : "values without keys"));
    int64_t side = n.has(1) ? heads : heads + 2 * groups; // else keys and values lie behind the queries
    n.require(Emit::rank(q) == 3 && Emit::shape(q)[2] % side == 0,
              "has query " + typeText(q) + "; expected batch, positions and a multiple of " + std::to_string(side) +
                  " heads");
    batch = Emit::shape(q)[0], positions = Emit::shape(q)[1], size = Emit::shape(q)[2] / side;
    for (unsigned i = 1; n.has(1) && i < 3; ++i)
      n.require(Emit::shape(n.in(i)) == IntsRef{batch, positions, groups * size},
                std::string("has ") + (i == 1 ? "key " : "value ") + typeText(n.in(i)) + "; expected " +
                    shapeText({batch, positions, groups * size}));
    query = part(q, 0, heads);
    key = n.has(1) ? part(n.in(1), 0, groups) : part(q, heads, groups);
    value = n.has(1) ? part(n.in(2), 0, groups) : part(q, heads + groups, groups);
  }

  /// How many keys there are at most, and where the new ones of each sequence begin.
  void readLengths() {
    n.require(n.has(3) == n.has(4),
              std::string("has ") + (n.has(3) ? "past_key without past_value" : "past_value without past_key"));
    Value ends = n.in(5);
    n.require(Emit::count(ends) == batch, "has seqlens_k " + typeText(ends) + "; expected " + std::to_string(batch) +
                                              " numbers, one for each sequence");
    all = n.knownInt(6);
    if (n.has(3)) {
      IntsRef shape = Emit::shape(n.in(3));
      n.require(shape.size() == 4, "has past_key " + typeText(n.in(3)) + "; expected batch, heads, positions and size");
      past = shape[2];
    }
    n.require(all >= positions && all <= past + positions, "has total_sequence_length " + std::to_string(all) +
                                                               " for " + std::to_string(past) + " positions before " +
                                                               std::to_string(positions));
    isFirst = all == positions;
    total = std::max(all, past);
    // The last place of a sequence is given, so that new ones end there.
    Value last = n.reshape(n.cast(ends, n.i64()), {batch, 1});
    // Both ends are checked when it runs.
    auto checked = [&](Value place) { return n.op<ir::ClassIndexOp>({place}, {n.attr("classes", total)}); };
    begin = isFirst ? n.splat(0, {batch, 1}, n.i64()) : checked(n.add(checked(last), n.ints({1 - positions}, {})));
  }

  void turn() {
    Value cosines = n.in(7), sines = n.in(8);
    n.require(Emit::rank(cosines) == 2 && Emit::shape(cosines) == Emit::shape(sines) &&
                  2 * Emit::shape(cosines)[1] <= size,
              "has cos_cache " + typeText(cosines) + " and sin_cache " + typeText(sines) + " for heads of " +
                  std::to_string(size));
    Value places = n.has(9) ? n.in(9) : n.add(begin, n.iota({1, positions}, n.i64(), 1));
    n.require(Emit::shape(places) == IntsRef{batch, positions},
              "has position_ids " + typeText(places) + "; expected " + shapeText({batch, positions}));
    bool interleaved = n.intAttr("rotary_interleaved", 0) != 0;
    int64_t rotated = 2 * Emit::shape(cosines)[1];
    cosines = n.gather(cosines, places, 0), sines = n.gather(sines, places, 0);
    query = rotate(n, query, cosines, sines, rotated, interleaved);
    key = rotate(n, key, cosines, sines, rotated, interleaved);
  }

  /// [batch, groups, total, size]: the new ones from where each sequence goes on, those of before around them.
  Value withPast(unsigned input, Value now, const char *name) {
    Value before;
    if (n.has(input)) {
      before = n.in(input);
      n.require(Emit::shape(before) == IntsRef{batch, groups, past, size}, std::string("has ") + name + " " +
                                                                               typeText(before) + "; expected " +
                                                                               shapeText({batch, groups, past, size}));
    }
    if (total == positions && isFirst) return now;
    Type element = Emit::elem(now);
    if (!before) before = n.splat(0, {batch, groups, 0, size}, element);
    if (total > past) before = n.concat({before, n.splat(0, {batch, groups, total - past, size}, element)}, 2);
    if (isFirst) return n.concat({now, n.sliceAxis(before, 2, positions, total - positions)}, 2);
    Value from = n.sub(n.iota({1, total}, n.i64(), 1), begin), zero = n.ints({0}, {});
    Value last = n.ints({positions - 1}, {});
    Value isNew = n.op<ir::AndOp>(
        {n.compare(ir::ComparePredicate::ge, from, zero), n.compare(ir::ComparePredicate::le, from, last)});
    if (positions > 1) {
      Value at = n.reshape(n.min(n.max(from, zero), last), {batch, 1, total, 1});
      now = n.gatherElements(now, n.broadcast(at, {batch, groups, total, size}), 2);
    }
    return n.select(n.reshape(isNew, {batch, 1, total, 1}), now, before);
  }

  Value bias() {
    Value given = n.in(10);
    IntsRef shape = Emit::shape(given);
    bool fits = shape.size() == 4 && (shape[0] == 1 || shape[0] == batch) && (shape[1] == 1 || shape[1] == heads) &&
                shape[2] == positions && shape[3] == all;
    n.require(fits, "has attention_bias " + typeText(given) + "; expected one that broadcasts to " +
                        shapeText({batch, heads, positions, all}));
    // Behind those that there are, keys of the buffer are not seen.
    if (total == all) return given;
    return n.concat({given, n.splat(0, {shape[0], shape[1], positions, total - all}, Emit::elem(given))}, 3);
  }

  /// Which keys a query sees: those up to its own, no further back than the window.
  Value seen() {
    Value own = n.add(n.reshape(begin, {batch, 1, 1, 1}), n.iota({1, 1, positions, 1}, n.i64(), 2));
    Value places = n.iota({1, 1, 1, total}, n.i64(), 3);
    Value result = n.compare(ir::ComparePredicate::le, places, own);
    int64_t window = n.intAttr("local_window_size", -1);
    n.require(window == -1 || window > 0,
              "has local_window_size " + std::to_string(window) + "; expected -1, or 1 or more");
    if (window == -1) return result;
    Value near = n.compare(ir::ComparePredicate::gt, places, n.add(own, n.ints({-window}, {})));
    return n.op<ir::AndOp>({result, near});
  }

  Node &n;
  int64_t heads, groups, batch = 0, positions = 0, size = 0, past = 0, total = 0;
  int64_t all = 0; ///< positions that there are, at most `total`
  bool isFirst = false;
  Value query, key, value;
  Value begin; ///< [batch, 1], i64
};

void groupQueryAttention(Node &n) {
  refuseInput(n, 11, "head_sink");
  for (const char *flag : {"qk_output", "kv_cache_bit_width"}) refuseFlag(n, flag);
  if (n.intAttr("smooth_softmax", -1) > 0) n.unsupported("has smooth_softmax = 1, which Sprig does not have");
  if (n.intAttr("causal", 1) != 1) n.unsupported("has causal = 0, which Sprig does not have");
  for (const char *kind : {"k_quant_type", "v_quant_type"})
    if (std::string text = n.stringAttr(kind, "NONE"); text != "NONE")
      n.unsupported(std::string("has ") + kind + " '" + text + "', which Sprig does not have");
  if (n.wants(3)) n.unsupported("gives output_qk, the products of queries and keys, which Sprig does not have here");
  GroupAttention(n).run();
}

} // namespace

void addMicrosoftLanguage(Table &t) {
  t.add("MatMulNBits", {1}, matMulNBits, kMicrosoftDomain);
  t.add("GroupQueryAttention", {1}, groupQueryAttention, kMicrosoftDomain);
}

} // namespace sprig::onnximport
