// Operators of com.microsoft that fuse others, as the optimiser of ONNX Runtime writes them: products and convolutions
// with their activations, normalisations with what is added before, rotations.
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Import/ONNX/Microsoft.h"
#include "lib/Import/ONNX/MicrosoftSchemas.h"
#include "lib/Import/ONNX/Table.h"

namespace sprig::onnximport {

Value matmulOfAnyRank(Node &n, Value a, Value b);

Value importAs(Node &n, const char *op, int64_t opset, Items inputs) {
  n.require(n.wants(0), "gives nothing: its output has no name");
  ImportFunction row = table().find("", op, opset);
  std::swap(n.items, inputs);
  int64_t own = std::exchange(n.opset, opset);
  row(n);
  n.opset = own;
  std::swap(n.items, inputs);
  return n.outputs[0].value;
}

void refuseInput(const Node &n, unsigned input, const char *name) {
  if (n.has(input)) n.unsupported(std::string("has an input '") + name + "', which Sprig does not have");
}

void refuseFlag(const Node &n, const char *attribute) {
  if (int64_t value = n.intAttr(attribute, 0))
    n.unsupported(std::string("has ") + attribute + " = " + std::to_string(value) + ", which Sprig does not have");
}

static Ints moved(int64_t rank, int64_t from, int64_t to) {
  Ints order;
  for (int64_t i = 0; i < rank; ++i)
    if (i != from) order.push_back(i);
  order.insert(order.begin() + to, from);
  return order;
}

Value channelsSecond(Node &n, Value x) {
  n.require(Emit::rank(x) >= 3, "has an input " + typeText(x) + "; expected batch, spatial dimensions and channels");
  return n.transpose(x, moved(Emit::rank(x), Emit::rank(x) - 1, 1));
}
Value channelsLast(Node &n, Value x) { return n.transpose(x, moved(Emit::rank(x), 1, Emit::rank(x) - 1)); }

Value rotate(Node &n, Value x, Value cosines, Value sines, int64_t rotated, bool interleaved) {
  int64_t half = rotated / 2, size = Emit::shape(x)[3];
  cosines = n.unsqueeze(cosines, 2), sines = n.unsqueeze(sines, 2);
  int64_t step = interleaved ? 2 : 1;
  Value a = n.sliceAxis(x, 3, 0, half, step), b = n.sliceAxis(x, 3, interleaved ? 1 : half, half, step);
  Value first = n.sub(n.mul(a, cosines), n.mul(b, sines)), second = n.add(n.mul(b, cosines), n.mul(a, sines));
  Value turned;
  if (interleaved) {
    Ints shape(Emit::shape(x));
    shape[3] = rotated;
    turned = n.reshape(n.concat({n.unsqueeze(first, 4), n.unsqueeze(second, 4)}, 4), shape);
  } else {
    turned = n.concat({first, second}, 3);
  }
  return rotated == size ? turned : n.concat({turned, n.sliceAxis(x, 3, rotated, size - rotated)}, 3);
}

namespace {

/// transBatch brings the first axis in front of the last one; trans swaps the last two. Vectors stay.
Value transposed(Node &n, Value v, bool batch, bool matrix) {
  int64_t rank = Emit::rank(v);
  if (rank < 2) return v;
  if (batch) {
    n.require(rank >= 3, "transposes the batch axes of " + typeText(v) + ", which has none");
    v = n.transpose(v, moved(rank, 0, rank - 2));
  }
  return matrix ? n.transpose(v, moved(rank, rank - 1, rank - 2)) : v;
}

void fusedMatMul(Node &n) {
  Value a = transposed(n, n.in(0), n.intAttr("transBatchA", 0) != 0, n.intAttr("transA", 0) != 0);
  Value b = transposed(n, n.in(1), n.intAttr("transBatchB", 0) != 0, n.intAttr("transB", 0) != 0);
  Value product = matmulOfAnyRank(n, a, b);
  double alpha = n.realAttr("alpha", 1);
  n.out(alpha == 1 ? product : n.mul(product, alpha));
}

/// The activation behind a fused operator, with its parameters in the order of ONNX's attributes.
Value activate(Node &n, Value v, const std::string &name, llvm::ArrayRef<double> parameters) {
  auto parameter = [&](size_t i, double otherwise) { return i < parameters.size() ? parameters[i] : otherwise; };
  if (name.empty()) return v;
  if (name == "Relu") return n.op<ir::ReluOp>({v});
  if (name == "Tanh") return n.op<ir::TanhOp>({v});
  if (name == "Sigmoid") return n.op<ir::SigmoidOp>({v});
  if (name == "HardSwish") return n.op<ir::HardSwishOp>({v});
  if (name == "LeakyRelu") return n.op<ir::LeakyReluOp>({v}, {n.real("alpha", parameter(0, 0.01f))});
  if (name == "HardSigmoid")
    return n.op<ir::HardSigmoidOp>({v}, {n.real("alpha", parameter(0, 0.2f)), n.real("beta", parameter(1, 0.5))});
  if (name == "Clip") {
    n.require(parameters.size() == 2,
              "has " + std::to_string(parameters.size()) + " parameters of its activation Clip; expected 2");
    return n.atMost(n.atLeast(v, n.scalar(parameters[0], Emit::elem(v))), n.scalar(parameters[1], Emit::elem(v)));
  }
  n.unsupported("has the activation '" + name + "', which Sprig does not have here");
}

void fusedGemm(Node &n) {
  Value product = importAs(n, "Gemm", 13, n.items);
  double alpha = n.realAttr("activation_alpha", 0.01f);
  n.out(activate(n, product, n.stringAttr("activation", ""), {alpha, n.realAttr("activation_beta", 0)}));
}

void fusedConv(Node &n) {
  Value result = importAs(n, "Conv", 22, {n.item(0), n.item(1), n.has(2) ? n.item(2) : Item()});
  if (n.has(3)) {
    n.require(Emit::shape(n.in(3)) == Emit::shape(result),
              "adds " + typeText(n.in(3)) + " to a convolution's " + typeText(result));
    result = n.add(result, n.in(3));
  }
  n.out(activate(n, result, n.stringAttr("activation", ""), n.realsAttr("activation_params")));
}

void nhwcConv(Node &n) {
  Items inputs{channelsSecond(n, n.in(0)), channelsSecond(n, n.in(1)), n.has(2) ? n.item(2) : Item()};
  n.out(channelsLast(n, importAs(n, "Conv", 22, inputs)));
}

void microsoftGelu(Node &n) { n.out(n.op<ir::GeluOp>({n.in(0)})); }
void biasGelu(Node &n) { n.out(n.op<ir::GeluOp>({n.add(n.in(0), n.in(1))})); }
void fastGelu(Node &n) {
  Value x = n.has(1) ? n.add(n.in(0), n.in(1)) : n.in(0);
  n.out(n.op<ir::GeluOp>({x}, {n.unit("tanh_approximation")}));
}
void quickGelu(Node &n) {
  Value x = n.in(0);
  n.out(n.mul(x, n.op<ir::SigmoidOp>({n.mul(x, n.realAttr("alpha", 1.702f))})));
}
void biasAdd(Node &n) { n.out(n.add(n.add(n.in(0), n.in(1)), n.in(2))); }

void expectVector(Node &n, unsigned input, int64_t size, const char *name) {
  n.require(Emit::shape(n.in(input)) == IntsRef{size}, std::string("has ") + name + " " + typeText(n.in(input)) +
                                                           "; expected " + std::to_string(size) +
                                                           " elements, as many as a row has");
}

/// Normalises rows of the sum that stands in front; `shift` may be null. RMS where `simplified`.
void skipNorm(Node &n, Value sum, unsigned scale, std::optional<unsigned> shift, bool simplified) {
  int64_t axis = Emit::rank(sum) - 1, size = Emit::shape(sum).back();
  double epsilon = n.realAttr("epsilon", 1e-12f);
  expectVector(n, scale, size, "gamma");
  Values operands{sum, n.in(scale)};
  if (shift) {
    expectVector(n, *shift, size, "beta");
    operands.push_back(n.in(*shift));
  }
  llvm::SmallVector<NamedAttribute> attributes{n.attr("axis", axis), n.real("epsilon", epsilon)};
  n.out(simplified ? n.op<ir::RmsNormOp>(operands, attributes) : n.op<ir::LayerNormOp>(operands, attributes));
}

void skipLayerNorm(Node &n, bool simplified) {
  Value x = n.in(0), skip = n.in(1);
  if (n.wants(1) || n.wants(2)) n.unsupported("gives mean or inv_std_var, which Sprig does not have here");
  n.require(Emit::rank(x) >= 2, "normalises " + typeText(x) + "; expected positions and features");
  IntsRef whole = Emit::shape(x), part = Emit::shape(skip);
  // The skipped input may be the same for all of the batch.
  bool fits = part == whole || part == whole.drop_front() ||
              (part.size() == whole.size() && part[0] == 1 && part.drop_front() == whole.drop_front());
  n.require(fits, "adds skip " + typeText(skip) + " to input " + typeText(x));
  Value sum = n.add(x, skip);
  unsigned bias = simplified ? 3 : 4;
  if (n.has(bias)) {
    expectVector(n, bias, whole.back(), "bias");
    sum = n.add(sum, n.in(bias));
  }
  n.out(sum, 3);
  skipNorm(n, sum, 2, simplified || !n.has(3) ? std::nullopt : std::optional<unsigned>(3), simplified);
}
void skipLayerNormalization(Node &n) { skipLayerNorm(n, false); }
void skipSimplifiedLayerNormalization(Node &n) { skipLayerNorm(n, true); }

void embedLayerNormalization(Node &n) {
  Value ids = n.in(0);
  n.require(Emit::rank(ids) == 2, "has input_ids " + typeText(ids) + "; expected batch and positions");
  int64_t batch = Emit::shape(ids)[0], positions = Emit::shape(ids)[1];
  n.require(n.has(1) == n.has(4), std::string("has ") + (n.has(1) ? "segment_ids without segment_embedding"
                                                                  : "segment_embedding without segment_ids"));
  Value sum = n.gather(n.in(2), ids, 0);
  Value places = n.has(8) ? n.in(8) : n.iota({1, positions}, n.i64(), 1);
  n.require(Emit::shape(places) == IntsRef{batch, positions} || Emit::shape(places) == IntsRef{1, positions},
            "has position_ids " + typeText(places) + " for input_ids " + typeText(ids));
  sum = n.add(sum, n.gather(n.in(3), places, 0));
  if (n.has(1)) {
    n.require(Emit::shape(n.in(1)) == Emit::shape(ids),
              "has segment_ids " + typeText(n.in(1)) + " and input_ids " + typeText(ids));
    sum = n.add(sum, n.gather(n.in(4), n.in(1), 0));
  }
  n.out(sum, 2);
  skipNorm(n, sum, 5, 6, false);
  if (!n.wants(1)) return;
  // How many positions of each sequence count.
  Type i32 = n.state.builder.getI32Type();
  if (!n.has(7)) return n.out(n.splat(0, {batch}, i32), 1);
  n.require(Emit::shape(n.in(7)) == Emit::shape(ids), "has a mask " + typeText(n.in(7)) + " for " + typeText(ids));
  Value ones = n.compare(ir::ComparePredicate::eq, n.in(7), n.scalar(1, Emit::elem(n.in(7))));
  n.out(n.reduce(ir::ReduceKind::sum, n.cast(ones, i32), {1}, false), 1);
}

/// With an activation of its own, 0 or 1.
Value siluWhereAsked(Node &n, Value v) {
  int64_t activation = n.intAttr("activation");
  n.require(activation == 0 || activation == 1,
            "has activation " + std::to_string(activation) + "; known are 0 (none) and 1 (SiLU)");
  return activation ? n.op<ir::SiluOp>({v}) : v;
}

/// Channels are the last dimension where the node does not say otherwise.
void groupNormOf(Node &n, Value x) {
  bool last = n.intAttr("channels_last", 1) != 0;
  if (last) x = channelsSecond(n, x);
  n.require(Emit::rank(x) >= 3, "has an input " + typeText(x) + "; expected batch, channels and spatial dimensions");
  int64_t channels = Emit::shape(x)[1], groups = n.intAttr("groups");
  n.require(groups >= 1 && channels % groups == 0,
            "has " + std::to_string(groups) + " groups of " + std::to_string(channels) + " channels");
  expectVector(n, 1, channels, "gamma");
  expectVector(n, 2, channels, "beta");
  Type element = Emit::elem(x);
  Value y = n.op<ir::GroupNormOp>({x, n.cast(n.in(1), element), n.cast(n.in(2), element)},
                                  {n.attr("groups", groups), n.real("epsilon", n.realAttr("epsilon", 1e-5f))});
  y = siluWhereAsked(n, y);
  n.out(last ? channelsLast(n, y) : y);
}
void microsoftGroupNorm(Node &n) { groupNormOf(n, n.in(0)); }

void microsoftTrilu(Node &n) { importAs(n, "Trilu", 14, n.items); }
void microsoftPad(Node &n) { importAs(n, "Pad", 13, n.items); }

void rotaryEmbedding(Node &n) {
  refuseFlag(n, "is_packed_batching");
  if (n.realAttr("scale", 1) != 1) n.unsupported("has a scale other than 1, which Sprig does not have");
  Value x = n.in(0), places = n.in(1), cosines = n.in(2), sines = n.in(3);
  bool headsSecond = Emit::rank(x) == 4;
  n.require(headsSecond || Emit::rank(x) == 3,
            "has an input " + typeText(x) + "; expected 3 dimensions, or 4 with the heads second");
  n.require(Emit::rank(cosines) == 2 && Emit::shape(cosines) == Emit::shape(sines),
            "has cos_cache " + typeText(cosines) + " and sin_cache " + typeText(sines) +
                "; expected matrices of one shape");
  int64_t rotated = n.intAttr("rotary_embedding_dim", 0), heads = n.intAttr("num_heads", 0);
  n.require(rotated == 0 || headsSecond || heads > 0, "has rotary_embedding_dim, but no num_heads");
  if (headsSecond) {
    x = n.transpose(x, {0, 2, 1, 3});
  } else {
    int64_t width = Emit::shape(x)[2], size = heads > 0 ? width / heads : 2 * Emit::shape(cosines)[1];
    n.require(size > 0 && width % size == 0 && (heads == 0 || size * heads == width),
              "has an input " + typeText(x) + ", whose last axis does not divide into heads" +
                  (heads > 0 ? ", of which there are " + std::to_string(heads) : ""));
    x = n.reshape(x, {Emit::shape(x)[0], Emit::shape(x)[1], width / size, size});
  }
  if (rotated == 0) rotated = Emit::shape(x)[3];
  int64_t batch = Emit::shape(x)[0], positions = Emit::shape(x)[1];
  n.require(rotated % 2 == 0 && rotated <= Emit::shape(x)[3] && Emit::shape(cosines)[1] == rotated / 2,
            "rotates " + std::to_string(rotated) + " of the " + std::to_string(Emit::shape(x)[3]) +
                " elements of a head by cos_cache " + typeText(cosines));
  if (Emit::count(places) == 1 && Emit::rank(places) == 1) // the first position
    places = n.add(n.reshape(places, {1, 1}), n.iota({1, positions}, Emit::elem(places), 1));
  n.require(Emit::shape(places) == IntsRef{batch, positions} || Emit::shape(places) == IntsRef{1, positions},
            "has position_ids " + typeText(places) + "; expected one, or batch and positions");
  x = rotate(n, x, n.gather(cosines, places, 0), n.gather(sines, places, 0), rotated, n.intAttr("interleaved", 0) != 0);
  n.out(headsSecond ? n.transpose(x, {0, 2, 1, 3}) : n.reshape(x, Emit::shape(n.in(0))));
}

} // namespace

void addMicrosoftFused(Table &t) {
  auto add = [&](const char *op, ImportFunction import) { t.add(op, {1}, import, kMicrosoftDomain); };
  add("FusedMatMul", fusedMatMul);
  add("FusedGemm", fusedGemm);
  add("FusedConv", fusedConv);
  add("NhwcConv", nhwcConv);
  add("Gelu", microsoftGelu);
  add("BiasGelu", biasGelu);
  add("FastGelu", fastGelu);
  add("QuickGelu", quickGelu);
  add("BiasAdd", biasAdd);
  add("SkipLayerNormalization", skipLayerNormalization);
  add("SkipSimplifiedLayerNormalization", skipSimplifiedLayerNormalization);
  add("EmbedLayerNormalization", embedLayerNormalization);
  add("RotaryEmbedding", rotaryEmbedding);
  add("GroupNorm", microsoftGroupNorm);
  add("Trilu", microsoftTrilu);
  add("Pad", microsoftPad);
}

} // namespace sprig::onnximport
