// Normalisations.
#include "dialects/NN/Attributes.h"
#include "lib/Import/ONNX/Importer.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Import/ONNX/Table.h"

namespace sprig::onnximport {

Value perChannel(Node &n, Value v, int64_t rank, int64_t channels, const char *what);

namespace {

void checkChannels(Node &n, Value v, int64_t channels, const char *what) {
  n.require(Emit::rank(v) == 1 && Emit::shape(v)[0] == channels,
            std::string("has a ") + what + " " + typeText(v) + " for " + std::to_string(channels) + " channels");
}

/// Training mode: statistics of the batch, and the running ones moved towards them.
void batchNormTraining(Node &n, Value x, Value scale, Value shift, Value mean, Value variance, double epsilon) {
  double momentum = n.realAttr("momentum", 0.9f);
  Ints axes{0};
  for (int64_t i = 2; i < Emit::rank(x); ++i) axes.push_back(i);
  Value batchMean = n.reduceMean(x, axes, true);
  Value centred = n.sub(x, batchMean);
  Value batchVariance = n.reduceMean(n.mul(centred, centred), axes, false);
  batchMean = n.reshape(batchMean, {Emit::shape(x)[1]});
  n.out(n.op<ir::BatchNormOp>({x, scale, shift, batchMean, batchVariance}, {n.real("epsilon", epsilon)}));
  auto moved = [&](Value running, Value batch) {
    return n.add(n.mul(running, momentum), n.mul(n.cast(batch, Emit::elem(running)), 1 - momentum));
  };
  n.out(moved(mean, batchMean), 1);
  n.out(moved(variance, batchVariance), 2);
}

void batchNorm(Node &n) {
  Value x = n.in(0);
  n.require(Emit::rank(x) >= 1, "normalises a scalar");
  if (n.opset < 9 && n.intAttr("spatial", 1) == 0) n.unsupported("normalises every position by itself (spatial=0)");
  int64_t channels = Emit::rank(x) > 1 ? Emit::shape(x)[1] : 1;
  const char *names[] = {"", "scale", "shift", "mean", "variance"};
  for (unsigned i = 1; i < 5; ++i) checkChannels(n, n.in(i), channels, names[i]);
  // Statistics may be kept in another precision.
  Type type = Emit::elem(x);
  double epsilon = n.realAttr("epsilon", 1e-5f);
  bool training = n.opset >= 14  ? n.intAttr("training_mode", 0) != 0
                  : n.opset >= 7 ? n.wants(1)
                                 : n.intAttr("is_test", 0) == 0 && n.wants(1);
  // For training, a graph that was exported in training mode is as good as one for inference: what moves the running
  // statistics is the step's business.
  bool forTraining = n.importer.emitState().training;
  if (training && !forTraining) {
    if (n.wants(3)) n.unsupported("gives saved statistics");
    return batchNormTraining(n, x, n.cast(n.in(1), type), n.cast(n.in(2), type), n.in(3), n.in(4), epsilon);
  }
  n.require(!n.wants(1) || (training && !n.wants(3)), "gives running statistics, but training_mode is 0");
  Value result = n.op<ir::BatchNormOp>(
      {x, n.cast(n.in(1), type), n.cast(n.in(2), type), n.cast(n.in(3), type), n.cast(n.in(4), type)},
      {n.real("epsilon", epsilon)});
  for (unsigned i = 1; i < 3; ++i) n.out(n.in(i + 2), i);
  if (auto *norm = result.getDefiningOp(); norm && forTraining)
    norm->setAttr(ir::kMomentumAttr, n.real("momentum", n.realAttr("momentum", 0.9f)).getValue());
  n.out(result);
}

void instanceNorm(Node &n) {
  Value x = n.in(0);
  n.require(Emit::rank(x) >= 3, "normalises " + typeText(x) + "; expected batch, channels and spatial dimensions");
  int64_t channels = Emit::shape(x)[1];
  checkChannels(n, n.in(1), channels, "scale");
  checkChannels(n, n.in(2), channels, "shift");
  n.out(n.op<ir::GroupNormOp>({x, n.in(1), n.in(2)},
                              {n.attr("groups", channels), n.real("epsilon", n.realAttr("epsilon", 1e-5f))}));
}

void groupNorm(Node &n) {
  Value x = n.in(0), scale = n.in(1), shift = n.in(2);
  n.require(Emit::rank(x) >= 2, "normalises " + typeText(x) + "; expected batch and channels");
  int64_t channels = Emit::shape(x)[1], groups = n.intAttr("num_groups");
  n.require(groups >= 1 && channels % groups == 0,
            "has " + std::to_string(groups) + " groups, which do not divide " + std::to_string(channels) + " channels");
  if (n.opset < 21) { // scale and shift of each group
    checkChannels(n, scale, groups, "scale");
    checkChannels(n, shift, groups, "shift");
    auto repeat = [&](Value v) {
      return n.reshape(n.broadcast(n.reshape(v, {groups, 1}), {groups, channels / groups}), {channels});
    };
    scale = repeat(scale);
    shift = repeat(shift);
  }
  checkChannels(n, scale, channels, "scale");
  checkChannels(n, shift, channels, "shift");
  n.out(n.op<ir::GroupNormOp>({x, scale, shift},
                              {n.attr("groups", groups), n.real("epsilon", n.realAttr("epsilon", 1e-5f))}));
}

Ints axesFrom(int64_t axis, int64_t rank) {
  Ints axes;
  for (int64_t i = axis; i < rank; ++i) axes.push_back(i);
  return axes;
}

void layerNorm(Node &n) {
  Value x = n.in(0);
  int64_t axis = n.axis(n.intAttr("axis", -1), Emit::rank(x));
  double epsilon = n.realAttr("epsilon", 1e-5f);
  Type type = Emit::elem(x);
  Values operands{x, n.cast(n.in(1), type)};
  if (n.has(2)) operands.push_back(n.cast(n.in(2), type));
  n.out(n.op<ir::LayerNormOp>(operands, {n.attr("axis", axis), n.real("epsilon", epsilon)}));
  if (!n.wants(1) && !n.wants(2)) return;
  // Statistics come in the precision that they are taken in.
  Value wide = n.cast(x, n.typeAttr("stash_type", n.f32()));
  Ints axes = axesFrom(axis, Emit::rank(x));
  Value mean = n.reduceMean(wide, axes, true);
  Value centred = n.sub(wide, mean);
  Value variance = n.reduceMean(n.mul(centred, centred), axes, true);
  n.out(mean, 1);
  n.out(n.op<ir::RsqrtOp>({n.add(variance, epsilon)}), 2);
}

void rmsNorm(Node &n) {
  Value x = n.in(0);
  int64_t axis = n.axis(n.intAttr("axis", -1), Emit::rank(x));
  n.out(n.op<ir::RmsNormOp>({x, n.cast(n.in(1), Emit::elem(x))},
                            {n.attr("axis", axis), n.real("epsilon", n.realAttr("epsilon", 1e-5f))}));
  if (!n.wants(1)) return; // of SimplifiedLayerNormalization
  Value wide = n.cast(x, n.typeAttr("stash_type", n.f32()));
  Value square = n.reduceMean(n.mul(wide, wide), axesFrom(axis, Emit::rank(x)), true);
  n.out(n.op<ir::RsqrtOp>({n.add(square, n.realAttr("epsilon", 1e-5f))}), 1);
}

void localResponseNorm(Node &n) {
  Value x = n.in(0);
  n.require(Emit::rank(x) >= 2, "normalises " + typeText(x) + "; expected batch and channels");
  int64_t size = n.intAttr("size");
  n.require(size >= 1 && size <= (int64_t(1) << 30), "has size " + std::to_string(size) + "; expected at least 1");
  int64_t batch = Emit::shape(x)[0], channels = Emit::shape(x)[1];
  int64_t inner = 1;
  for (int64_t d : Emit::shape(x).drop_front(2)) inner *= d;
  // Channels as the rows of an image: the sum over neighbours is a pooling.
  Value squares = n.reshape(n.mul(x, x), {batch, 1, channels, inner});
  int64_t low = (size - 1) / 2;
  Value sums =
      n.op<ir::PoolOp>({squares}, {n.attr("kind", ir::ReduceKindAttr::get(n.context(), ir::ReduceKind::sum)),
                                   n.attr("window", {size, 1}), n.attr("strides", {1, 1}), n.attr("dilations", {1, 1}),
                                   n.attr("padding", {low, 0, size - 1 - low, 0})});
  sums = n.reshape(sums, Emit::shape(x));
  double alpha = n.realAttr("alpha", 1e-4f), beta = n.realAttr("beta", 0.75), bias = n.realAttr("bias", 1);
  Value base = n.add(n.mul(sums, alpha / double(size)), bias);
  n.out(n.div(x, n.pow(base, n.scalar(beta, Emit::elem(x)))));
}

void lpNorm(Node &n) {
  Value given = n.in(0);
  int64_t axis = n.axis(n.intAttr("axis", -1), Emit::rank(given)), p = n.intAttr("p", 2);
  n.require(p == 1 || p == 2, "has p = " + std::to_string(p) + "; known are 1 and 2");
  Type type = Emit::elem(given);
  Value x = type.isF16() ? n.cast(given, n.f32()) : given; // squares leave its range from 256 on
  Value norm = p == 1 ? n.reduce(ir::ReduceKind::sum, n.op<ir::AbsOp>({x}), {axis}, true)
                      : n.lengthOf(n.reduce(ir::ReduceKind::sum, n.mul(x, x), {axis}, true));
  // A vector of zeros stays one.
  Value zero = n.scalar(0, Emit::elem(x));
  Value isZero = n.compare(ir::ComparePredicate::eq, norm, zero);
  n.out(n.cast(n.div(x, n.select(isZero, n.scalar(1, Emit::elem(x)), norm)), type));
}

void meanVarianceNorm(Node &n) {
  Value x = n.in(0);
  Ints axes = n.axes(n.intsAttr("axes").value_or(Ints{0, 2, 3}), Emit::rank(x));
  Value centred = n.sub(x, n.reduceMean(x, axes, true));
  Value deviation = n.lengthOf(n.reduceMean(n.mul(centred, centred), axes, true));
  n.out(n.div(centred, n.add(deviation, 1e-9)));
}

} // namespace

void addNormalization(Table &t) {
  t.add("BatchNormalization", {6, 7, 9, 14, 15}, batchNorm);
  t.add("InstanceNormalization", {6, 22}, instanceNorm);
  t.add("GroupNormalization", {18, 21}, groupNorm);
  t.add("LayerNormalization", {1, 17}, layerNorm); // 1: of ONNX Runtime's optimiser
  t.add("RMSNormalization", {23}, rmsNorm);
  t.add("SimplifiedLayerNormalization", {1}, rmsNorm);
  t.add("LRN", {1, 13}, localResponseNorm);
  t.add("LpNormalization", {1, 22}, lpNorm);
  t.add("MeanVarianceNormalization", {9, 13}, meanVarianceNorm);
}

} // namespace sprig::onnximport
