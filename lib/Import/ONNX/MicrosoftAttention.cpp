// Attention as ONNX Runtime's optimiser fuses it: with its projections (Attention), behind them (MultiHeadAttention),
// and with projections of quantised tensors (QAttention).
#include "dialects/NN/NNComposite.h"
#include "lib/Import/ONNX/Microsoft.h"
#include "lib/Import/ONNX/MicrosoftSchemas.h"
#include "lib/Import/ONNX/Quantized.h"
#include "lib/Import/ONNX/Table.h"
#include "lib/Import/ONNX/Tensor.h"
#include <cmath>
#include <limits>

namespace sprig::onnximport {

Value matmulOfAnyRank(Node &n, Value a, Value b);

namespace {

/// One attention: queries, keys and values as [batch, heads, positions, size], with what is in front of the keys.
class Attending {
public:
  explicit Attending(Node &n) : n(n), heads(n.intAttr("num_heads")) {
    n.require(heads >= 1, "has " + std::to_string(heads) + " heads");
  }

  /// [batch, positions, heads * size] with its heads second.
  Value split(Value v, const char *name) {
    n.require(Emit::rank(v) == 3 && Emit::shape(v)[2] % heads == 0,
              std::string("has ") + name + " " + typeText(v) + "; expected batch, positions and a multiple of " +
                  std::to_string(heads) + " heads");
    Ints shape{Emit::shape(v)[0], Emit::shape(v)[1], heads, Emit::shape(v)[2] / heads};
    return n.transpose(n.reshape(v, shape), {0, 2, 1, 3});
  }

  /// Keys or values behind those of the steps before.
  Value append(Value past, Value now, const char *name) {
    IntsRef before = Emit::shape(past), after = Emit::shape(now);
    n.require(before.size() == 4 && before[0] == after[0] && before[1] == after[1] && before[3] == after[3],
              std::string("has ") + name + " " + typeText(past) + " in front of " + typeText(now));
    pastLength = before[2];
    return n.concat({past, now}, 2);
  }

  /// Checks the parts once they are complete.
  void set(Value query, Value key, Value value) {
    q = query, k = key, v = value;
    IntsRef qs = Emit::shape(q), ks = Emit::shape(k), vs = Emit::shape(v);
    n.require(qs[0] == ks[0] && qs[1] == ks[1] && qs[3] == ks[3] && vs[0] == ks[0] && vs[1] == ks[1] && vs[2] == ks[2],
              "has queries " + typeText(q) + ", keys " + typeText(k) + " and values " + typeText(v) +
                  " (batch, heads, positions, size), which do not fit together");
    batch = qs[0], positions = qs[2], total = ks[2];
  }

  /// What is added to the scores: nothing where the mask says that a key counts, else the filter's value.
  void mask(Value given, const char *name) {
    Type element = Emit::elem(q), integer = Emit::elem(given);
    IntsRef shape = Emit::shape(given);
    Value counts;
    if (shape == IntsRef{batch} || shape == IntsRef{2 * batch}) { // ends, and starts behind them
      Value places = n.iota({1, total}, integer, 1);
      auto part = [&](int64_t from) { return n.reshape(n.sliceAxis(given, 0, from, batch), {batch, 1}); };
      counts = n.compare(ir::ComparePredicate::lt, places, part(0));
      if (shape[0] == 2 * batch && batch > 0) {
        Value started = n.compare(ir::ComparePredicate::ge, places, part(batch));
        counts = n.op<ir::AndOp>({counts, started});
      }
      counts = n.reshape(counts, {batch, 1, 1, total});
    } else if (shape == IntsRef{batch, total} || shape == IntsRef{batch, positions, total}) {
      Ints whole{batch, 1, shape.size() == 2 ? 1 : positions, total};
      counts = n.compare(ir::ComparePredicate::gt, n.reshape(given, whole), n.scalar(0, integer));
    } else {
      n.unsupported(std::string("has ") + name + " " + typeText(given) + "; Sprig has those of shape " +
                    shapeText({batch}) + ", " + shapeText({2 * batch}) + ", " + shapeText({batch, total}) + " and " +
                    shapeText({batch, positions, total}));
    }
    double filter = n.realAttr("mask_filter_value", -10000);
    plus(n.select(counts, n.scalar(0, element), n.scalar(filter, element)));
  }

  void bias(Value given) {
    IntsRef shape = Emit::shape(given);
    int64_t whole[] = {batch, heads, positions, total};
    bool fits = shape.size() == 4 && (shape[0] == 1 || shape[0] == batch) && (shape[1] == 1 || shape[1] == heads) &&
                shape[2] == positions && shape[3] == total;
    n.require(fits, "has attention_bias " + typeText(given) + "; expected one that broadcasts to " + shapeText(whole));
    plus(given);
  }

  /// softmax(q k^T scale + ...) v as [batch, positions, heads * size].
  Value run() {
    double size = double(Emit::shape(q)[3]), scale = n.realAttr("scale", 0);
    if (scale == 0) scale = 1 / std::sqrt(size);
    if (n.intAttr("unidirectional", 0) != 0) {
      // ONNX Runtime's own mask is of another form there, with a last row that sees all.
      if (total != pastLength + positions)
        n.unsupported("has unidirectional = 1 for " + std::to_string(positions) + " positions and " +
                      std::to_string(total) + " keys, " + std::to_string(pastLength) + " of them from before");
      Type i64 = n.i64();
      Value rows = n.add(n.iota({1, 1, positions, 1}, i64, 2), n.scalar(double(total - positions), i64));
      Value seen = n.compare(ir::ComparePredicate::le, n.iota({1, 1, 1, total}, i64, 3), rows);
      constexpr double kNever = -std::numeric_limits<double>::infinity();
      plus(n.select(seen, n.scalar(0, Emit::elem(q)), n.scalar(kNever, Emit::elem(q))));
    }
    Value scores = n.mul(n.matmul(q, k, false, true), scale);
    if (added) scores = n.add(scores, added);
    Value result = n.matmul(n.op<ir::SoftmaxOp>({scores}, {n.attr("axis", 3), n.unit("masked")}), v);
    return n.reshape(n.transpose(result, {0, 2, 1, 3}), {batch, positions, heads * Emit::shape(v)[3]});
  }

  const int64_t &headCount() const { return heads; }

private:
  void plus(Value term) { added = added ? n.add(added, term) : term; }

  Node &n;
  int64_t heads, batch = 0, positions = 0, total = 0, pastLength = 0;
  Value q, k, v, added;
};

/// Attention over the projected tensor [batch, positions, queries, keys and values side by side].
void attendProjected(Node &n, Value projected, IntsRef sizes, unsigned maskInput, unsigned pastInput,
                     std::optional<unsigned> biasInput) {
  refuseFlag(n, "do_rotary");
  refuseFlag(n, "past_present_share_buffer");
  Attending a(n);
  const char *names[] = {"queries", "keys", "values"};
  Value parts[3];
  int64_t at = 0;
  for (int i = 0; i < 3; ++i) {
    parts[i] = a.split(n.sliceAxis(projected, 2, at, sizes[i]), names[i]);
    at += sizes[i];
  }
  if (n.has(pastInput)) {
    Value past = n.in(pastInput);
    n.require(Emit::rank(past) == 5 && Emit::shape(past)[0] == 2,
              "has past " + typeText(past) + "; expected keys and values, batch, heads, positions and size");
    for (int i = 0; i < 2; ++i)
      parts[i + 1] = a.append(n.squeeze(n.sliceAxis(past, 0, i, 1), 0), parts[i + 1], i ? "past values" : "past keys");
  }
  if (n.wants(1)) {
    n.require(Emit::shape(parts[1]) == Emit::shape(parts[2]),
              "gives keys " + typeText(parts[1]) + " and values " + typeText(parts[2]) + " as one tensor");
    n.out(n.concat({n.unsqueeze(parts[1], 0), n.unsqueeze(parts[2], 0)}, 0), 1);
  }
  a.set(parts[0], parts[1], parts[2]);
  if (n.has(maskInput)) a.mask(n.in(maskInput), "mask_index");
  if (biasInput && n.has(*biasInput)) a.bias(n.in(*biasInput));
  n.out(a.run());
}

void checkProjection(Node &n) {
  Value x = n.in(0), weights = n.in(1);
  n.require(Emit::rank(x) == 3 && Emit::rank(weights) == 2 && Emit::shape(x)[2] == Emit::shape(weights)[0],
            "projects " + typeText(x) + " by " + typeText(weights) +
                "; expected batch, positions and features, and as many rows");
  if (n.has(2))
    n.require(Emit::shape(n.in(2)) == IntsRef{Emit::shape(weights)[1]},
              "adds a bias " + typeText(n.in(2)) + " to " + std::to_string(Emit::shape(weights)[1]) + " columns");
}

/// The columns of queries, keys and values.
Ints columnsOf(Node &n) {
  int64_t columns = Emit::shape(n.in(1))[1];
  std::optional<Ints> given = n.intsAttr("qkv_hidden_sizes");
  if (!given || given->empty()) {
    n.require(columns % 3 == 0, "has " + std::to_string(columns) + " columns of weights, no multiple of 3");
    return Ints(3, columns / 3);
  }
  n.require(given->size() == 3 && llvm::all_of(*given, [](int64_t size) { return size >= 0; }) &&
                (*given)[0] <= columns && (*given)[1] <= columns && (*given)[0] + (*given)[1] + (*given)[2] == columns,
            "has qkv_hidden_sizes " + shapeText(*given) + " for " + std::to_string(columns) + " columns of weights");
  return *given;
}

void attention(Node &n) {
  refuseInput(n, 6, "past_sequence_length");
  checkProjection(n);
  Value projected = n.matmul(n.in(0), n.in(1));
  if (n.has(2)) projected = n.add(projected, n.in(2));
  attendProjected(n, projected, columnsOf(n), 3, 4, 5);
}

void qAttention(Node &n) {
  checkProjection(n);
  Value product = multiplyIntegers(n, n.in(0), n.in(1), n.inOr(6, {}), n.inOr(7, {}));
  n.require(Emit::count(n.in(3)) == 1, "has input_scale " + typeText(n.in(3)) + "; expected one number");
  Value columns = Emit::count(n.in(4)) == 1 ? n.reshape(n.in(4), {}) : n.in(4);
  Value scale = n.mul(n.reshape(n.in(3), {}), columns);
  attendProjected(n, n.add(n.mul(n.cast(product, n.f32()), scale), n.in(2)), columnsOf(n), 5, 8, std::nullopt);
}

/// Part i of a tensor with several side by side before its last axis: [batch, positions, heads, parts, size], with the
/// heads second.
Value packed(Node &n, Value v, int64_t i) {
  Ints shape(Emit::shape(v));
  shape.erase(shape.begin() + 3);
  return n.transpose(n.reshape(n.sliceAxis(v, 3, i, 1), shape), {0, 2, 1, 3});
}

/// Queries, keys and values of MultiHeadAttention with their heads second, before biases.
std::array<Value, 3> partsOf(Node &n, Attending &a) {
  auto isPacked = [&](unsigned input, int64_t parts, const char *name) {
    if (Emit::rank(n.in(input)) != 5) return false;
    IntsRef shape = Emit::shape(n.in(input));
    n.require(shape[2] == a.headCount() && shape[3] == parts,
              std::string("has ") + name + " " + typeText(n.in(input)) + "; expected batch, positions, " +
                  std::to_string(a.headCount()) + " heads, " + std::to_string(parts) + " parts and size");
    return true;
  };
  if (!n.has(1) && !n.has(2)) {
    if (!isPacked(0, 3, "query")) n.bad("has neither keys nor values, and query " + typeText(n.in(0)));
    return {packed(n, n.in(0), 0), packed(n, n.in(0), 1), packed(n, n.in(0), 2)};
  }
  Value query = a.split(n.in(0), "query");
  if (!n.has(2)) {
    if (!isPacked(1, 2, "key")) n.bad("has no values, and key " + typeText(n.in(1)));
    return {query, packed(n, n.in(1), 0), packed(n, n.in(1), 1)};
  }
  if (Emit::rank(n.in(1)) == 4 && Emit::rank(n.in(2)) == 4) return {query, n.in(1), n.in(2)};
  return {query, a.split(n.in(1), "key"), a.split(n.in(2), "value")};
}

void multiHeadAttention(Node &n) {
  refuseInput(n, 8, "past_sequence_length");
  refuseInput(n, 9, "cache_indirection");
  if (n.wants(3)) n.unsupported("gives qk, the products of queries and keys, which Sprig does not have here");
  n.require(n.has(6) == n.has(7),
            std::string("has ") + (n.has(6) ? "past_key without past_value" : "past_value without past_key"));
  Attending a(n);
  std::array<Value, 3> parts = partsOf(n, a);
  if (n.has(3)) {
    if (n.has(1) && Emit::rank(n.in(1)) == 4)
      n.unsupported("adds a bias to keys " + typeText(n.in(1)) + ", whose heads are second already");
    int64_t at = 0, columns = 0;
    for (Value part : parts) columns += a.headCount() * Emit::shape(part)[3];
    n.require(Emit::shape(n.in(3)) == IntsRef{columns},
              "has a bias " + typeText(n.in(3)) + "; expected " + std::to_string(columns) + " elements");
    for (Value &part : parts) {
      int64_t size = Emit::shape(part)[3], width = a.headCount() * size;
      part = n.add(part, n.reshape(n.sliceAxis(n.in(3), 0, at, width), {1, a.headCount(), 1, size}));
      at += width;
    }
  }
  if (n.has(6)) {
    parts[1] = a.append(n.in(6), parts[1], "past_key");
    parts[2] = a.append(n.in(7), parts[2], "past_value");
  }
  n.out(parts[1], 1);
  n.out(parts[2], 2);
  a.set(parts[0], parts[1], parts[2]);
  if (n.has(4)) a.mask(n.in(4), "key_padding_mask");
  if (n.has(5)) a.bias(n.in(5));
  n.out(a.run());
}

} // namespace

void addMicrosoftAttention(Table &t) {
  t.add("Attention", {1}, attention, kMicrosoftDomain);
  t.add("QAttention", {1}, qAttention, kMicrosoftDomain);
  t.add("MultiHeadAttention", {1}, multiHeadAttention, kMicrosoftDomain);
}

} // namespace sprig::onnximport
