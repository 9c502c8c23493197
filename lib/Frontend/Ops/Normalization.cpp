// Normalisation by statistics that are given, of the batch, or of each sample.
#include "lib/Frontend/Engine/BatchScope.h"
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/functional.h"

namespace sprig {

using frontend::Attr;
using frontend::Emitter;

namespace {
/// A parameter of this shape; where there is none, a constant.
Tensor parameterOr(const Emitter &r, const Operand &given, double otherwise, const TensorType &type, const char *what,
                   const TensorType &input) {
  Tensor value = r.optional(given, type.dtype, what);
  if (!value.defined()) return frontend::splat(otherwise, type, r.at);
  if (value.type(r.at) != type)
    r.fail("has " + std::string(what) + " " + describe(value.type(r.at)) + " for input " + describe(input) +
           "; it takes " + describe(type));
  return value;
}

/// An input with channels at axis 1.
Tensor channelled(const Emitter &r, const Operand &x) {
  Tensor input = r.requireFloat(x, "input");
  if (input.type(r.at).shape.rank() < 2) r.fail("takes [N, C, ...], got " + describe(input.type(r.at)));
  return input;
}

TensorType perChannel(const TensorType &input) { return {input.dtype, {input.shape[1]}}; }

/// The first of the last axes that have this shape.
int axisOfShape(const Emitter &r, const TensorType &input, const Ints &shape) {
  int first = input.shape.rank() - shape.rank();
  bool fits = first >= 0 && !shape.empty();
  for (int i = 0; fits && i < shape.rank(); ++i) fits = input.shape[first + i] == shape[i];
  if (!fits)
    r.fail("normalises over " + describe(static_cast<const Shape &>(shape)) + ", which are not the last axes of " +
           describe(input));
  return first;
}
} // namespace

Tensor batchNorm(const Operand &x, const Operand &mean, const Operand &variance, const Operand &scale,
                 const Operand &shift, double epsilon) {
  Emitter r("batchNorm", x.at);
  Tensor input = channelled(r, x);
  const TensorType type = input.type(r.at), each = perChannel(type);
  return r.emit(SPRIG_OP("batch_norm"),
                {input, parameterOr(r, scale, 1, each, "scale", type), parameterOr(r, shift, 0, each, "shift", type),
                 parameterOr(r, mean, 0, each, "mean", type), parameterOr(r, variance, 1, each, "variance", type)},
                {Attr::of("epsilon", epsilon)}, type);
}

BatchStatistics batchNormTraining(const Operand &x, const Operand &scale, const Operand &shift, double epsilon) {
  Emitter r("batchNormTraining", x.at);
  Tensor input = channelled(r, x);
  const TensorType type = input.type(r.at), each = perChannel(type);
  const Tensor operands[] = {input, parameterOr(r, scale, 1, each, "scale", type),
                             parameterOr(r, shift, 0, each, "shift", type)};
  double correction = 1;
  auto norm = [&](std::span<const Tensor> in) {
    const TensorType &all = in[0].type(r.at);
    int64_t count = all.elements() / std::max<int64_t>(all.shape[1], 1);
    if (count < 2) r.fail("has one value or none for each channel of " + describe(all) + ", which have no variance");
    frontend::AttrList attrs = frontend::normGroups();
    if (attrs.empty()) correction = double(count) / double(count - 1); // else variances are unbiased
    attrs.insert(attrs.begin(), Attr::of("epsilon", epsilon));
    const TensorType results[] = {all, each, each};
    return frontend::recordAll(SPRIG_OP("batch_norm_train"), in, std::move(attrs), results, r.at);
  };
  auto found = frontend::overSamples(r.op, operands, /*keepsSamples=*/true, norm, r.at);
  return {found[0], found[1], found[2], correction};
}

Tensor layerNorm(const Operand &x, const Ints &shape, const Operand &scale, const Operand &shift, double epsilon) {
  Emitter r("layerNorm", x.at);
  Tensor input = r.requireFloat(x, "input");
  const TensorType type = input.type(r.at);
  int axis = axisOfShape(r, type, shape);
  TensorType own{type.dtype, shape};
  Tensor factor = parameterOr(r, scale, 1, own, "scale", type);
  frontend::AttrList attrs{Attr::of("axis", axis), Attr::of("epsilon", epsilon)};
  if (shift.kind == Operand::Kind::tensor && !shift.tensor.defined())
    return r.emit(SPRIG_OP("layer_norm"), {input, factor}, std::move(attrs), type);
  return r.emit(SPRIG_OP("layer_norm"), {input, factor, parameterOr(r, shift, 0, own, "shift", type)}, std::move(attrs),
                type);
}

Tensor rmsNorm(const Operand &x, const Ints &shape, const Operand &scale, double epsilon) {
  Emitter r("rmsNorm", x.at);
  Tensor input = r.requireFloat(x, "input");
  const TensorType type = input.type(r.at);
  int axis = axisOfShape(r, type, shape);
  // The distance from 1 to the next number of the type.
  if (epsilon < 0)
    epsilon = type.dtype == DType::f64   ? 0x1p-52
              : type.dtype == DType::f32 ? 0x1p-23
              : type.dtype == DType::f16 ? 0x1p-10
                                         : 0x1p-7;
  return r.emit(SPRIG_OP("rms_norm"), {input, parameterOr(r, scale, 1, {type.dtype, shape}, "scale", type)},
                {Attr::of("axis", axis), Attr::of("epsilon", epsilon)}, type);
}

namespace {
Tensor grouped(const Emitter &r, const Tensor &input, int64_t groups, const Operand &scale, const Operand &shift,
               double epsilon) {
  const TensorType type = input.type(r.at), each = perChannel(type);
  return r.emit(SPRIG_OP("group_norm"),
                {input, parameterOr(r, scale, 1, each, "scale", type), parameterOr(r, shift, 0, each, "shift", type)},
                {Attr::of("groups", groups), Attr::of("epsilon", epsilon)}, type);
}
} // namespace

Tensor groupNorm(const Operand &x, int64_t groups, const Operand &scale, const Operand &shift, double epsilon) {
  Emitter r("groupNorm", x.at);
  Tensor input = channelled(r, x);
  int64_t channels = input.type(r.at).shape[1];
  if (groups < 1 || channels % groups)
    r.fail("splits the " + std::to_string(channels) + " channels of " + describe(input.type(r.at)) + " into " +
           std::to_string(groups) + " groups");
  return grouped(r, input, groups, scale, shift, epsilon);
}

Tensor instanceNorm(const Operand &x, const Operand &scale, const Operand &shift, double epsilon) {
  Emitter r("instanceNorm", x.at);
  Tensor input = channelled(r, x);
  const TensorType &type = input.type(r.at);
  int64_t positions = 1;
  for (int axis = 2; axis < type.shape.rank(); ++axis) positions *= type.shape[axis];
  if (positions < 2)
    r.fail("has one value or none for each channel and sample of " + describe(type) + ", which have no variance");
  return grouped(r, input, type.shape[1], scale, shift, epsilon);
}

Tensor localResponseNorm(const Operand &x, int64_t size, double alpha, double beta, double k) {
  Emitter r("localResponseNorm", x.at);
  Tensor input = channelled(r, x);
  const TensorType type = input.type(r.at);
  if (size < 1 || size > int64_t(1) << 30) r.fail("has size " + std::to_string(size));
  // A pool over the channels, which are the rows of images [N, 1, C, positions]; zeros beyond both ends count.
  int64_t channels = type.shape[1], rest = 1;
  for (int i = 2; i < type.shape.rank(); ++i) rest *= type.shape[i];
  TensorType images{type.dtype, {type.shape[0], 1, channels, rest}};
  Tensor squares = r.reshape(r.mul(input, input), images.shape);
  Shape padding{size / 2, 0, (size - 1) / 2, 0};
  Tensor means =
      r.emit(SPRIG_OP("avg_pool"), {squares},
             {Attr::of("window", Shape{size, 1}), Attr::of("strides", Shape{1, 1}), Attr::of("dilations", Shape{1, 1}),
              Attr::of("padding", padding), Attr::of("counted_padding", padding)},
             images);
  Tensor base = r.reshape(means, type.shape);
  base = r.add(r.mul(base, r.number(alpha, base)), r.number(k, base));
  return r.div(input, r.binary(SPRIG_OP("pow"), base, r.number(beta, base)));
}

} // namespace sprig
