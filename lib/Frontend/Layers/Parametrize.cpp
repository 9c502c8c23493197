// Weight and spectral norms: what a layer has in place of its weight, and the weight of it at each call.
#include "sprig/nn/parametrize.h"
#include "lib/Frontend/Layers/LayerText.h"
#include "lib/Frontend/Layers/ModuleState.h"
#include "lib/Frontend/Layers/QuantizedWeight.h"
#include "sprig/contract.h"
#include "sprig/grad.h"
#include "sprig/nn/convolution.h"
#include "sprig/nn/linear.h"
#include "sprig/ops.h"

namespace sprig::nn {

using frontend::fail;

namespace {

constexpr const char *kHolder = "parametrizations", *kWeight = "weight";
constexpr int kFirstIterations = 15; // PyTorch's

/// Modules that only hold names.
struct Holder : Module {
  explicit Holder(const char *type) : type(type) {}
  std::string typeName() const override { return type; }
  const char *type;
};

bool takesNorms(const Module &layer) {
  auto is = [&]<typename... M>(std::tuple<M...> *) { return (dynamic_cast<const M *>(&layer) || ...); };
  return is(static_cast<std::tuple<Linear, Bilinear, Embedding, EmbeddingBag, Conv, ConvTranspose> *>(nullptr));
}

const Module::State &childOf(const Module::State &state, const char *name) {
  for (const Module::State::Child &child : state.children)
    if (child.name == name) return child.module->rawState();
  assert(false && "a norm has its modules");
  return state;
}

Parameter partOf(const std::vector<Module::State::Entry> &entries, const char *name) {
  for (const Module::State::Entry &entry : entries)
    if (entry.name == name) return entry.parameter;
  return {};
}

/// The axis first, as rows; of all others columns.
Tensor asMatrix(const Tensor &weight, int axis, Source at) {
  Tensor first = weight;
  if (axis != 0) {
    Shape order = {axis};
    for (int i = 0; i < weight.rank(); ++i)
      if (i != axis) order.push_back(i);
    first = permute({weight, at}, order);
  }
  return reshape({first, at}, {first.shape()[0], -1});
}

/// Of each slice along the axis, which stays: [1, n, 1].
Tensor lengths(const Tensor &weight, int axis, Source at) {
  Shape others;
  for (int i = 0; i < weight.rank(); ++i)
    if (i != axis) others.push_back(i);
  Tensor squares = square({weight, at});
  return sqrt({sum({squares, at}, others, /*keepDims=*/true), at});
}

struct Singular {
  Tensor u, v;
};
void iterate(Singular &vectors, const Tensor &matrix, int times, double eps, Source at) {
  Tensor turned = transpose({matrix, at}, 0, 1);
  for (int i = 0; i < times; ++i) {
    vectors.u = normalize({mv({matrix, at}, {vectors.v, at}), at}, 2, 0, eps);
    vectors.v = normalize({mv({turned, at}, {vectors.u, at}), at}, 2, 0, eps);
  }
}

Tensor spectral(const Module::State &state, const Module::State::Norm &norm, bool isTraining, Source at) {
  const Module::State &list = childOf(childOf(state, kHolder), kWeight), &buffers = childOf(list, "0");
  Tensor weight = partOf(list.parameters, "original").value(), matrix = asMatrix(weight, norm.axis, at);
  Parameter u = partOf(buffers.buffers, "_u"), v = partOf(buffers.buffers, "_v");
  Singular vectors{u.value(), v.value()};
  if (isTraining) {
    NoGrad quiet;
    iterate(vectors, stopGradient({matrix, at}), norm.iterations, norm.eps, at);
    u.set(vectors.u, at);
    v.set(vectors.v, at);
  }
  auto fixed = [&](const Tensor &x) { return Operand(stopGradient({x, at}), at); };
  Tensor sigma = dot(fixed(vectors.u), {mv({matrix, at}, fixed(vectors.v)), at});
  return div({weight, at}, {sigma, at});
}

Tensor compute(const Module &layer, bool isTraining, Source at) {
  const Module::State &state = layer.rawState();
  const Module::State::Norm &norm = *state.norm;
  if (norm.bits)
    return quantizedWeight(partOf(childOf(childOf(state, kHolder), kWeight).parameters, "original").value(), norm.axis,
                           norm.bits, at);
  if (norm.iterations) return spectral(state, norm, isTraining, at);
  const Module::State &list = childOf(childOf(state, kHolder), kWeight);
  Tensor g = partOf(list.parameters, "original0").value(), v = partOf(list.parameters, "original1").value();
  return mul({v, at}, {div({g, at}, {lengths(v, norm.axis, at), at}), at});
}

/// Takes the weight out of the layer and gives it; the axis counts from the end where it is below 0.
Parameter takeWeight(const Module &layer, int &axis, const char *what, Source at) {
  frontend::requireNotRecording(what, at);
  if (!takesNorms(layer))
    fail(at, what,
         "a " + layer.typeName() +
             " has no weight that can be computed at each call; Linear, Bilinear, "
             "Embedding, EmbeddingBag and convolutions have");
  Module::State &state = layer.rawState();
  if (state.norm) fail(at, what, "the weight of the " + layer.typeName() + " has a norm already");
  Module::State::Entry *entry = state.entryNamed(kWeight);
  if (!entry || !entry->parameter.defined()) fail(at, what, "the " + layer.typeName() + " was made without sizes");
  if (!entry->initializer)
    fail(at, what, "'" + entry->parameter.name() + "' is shared with another module, which it would leave");
  Parameter weight = entry->parameter;
  int rank = weight.shape().rank(), given = axis;
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank)
    fail(at, what, "axis " + std::to_string(given) + " is out of range of " + describe(weight.type()));
  replaceParameter(*entry->slot, Parameter(), at);
  return weight;
}

/// Adds a part of the weight, which is trainable as it was.
void addPart(Module &list, const char *name, const Tensor &value, const Parameter &weight, Source at) {
  list.addParameter(name, value, at).setTrainable(weight.trainable(), at);
}

} // namespace

void quantizeWeight(const Module &given, int axis, int bits, bool perChannel, Source at) {
  Parameter weight = takeWeight(given, axis, "nn::quantizeAware", at);
  Holder holder("ModuleDict"), list("ParametrizationList");
  addPart(list, "original", weight.value().detach(at), weight, at);
  list.add("0", Holder("FakeQuantizeWeight"), at);
  holder.add(kWeight, list, at);
  const_cast<Module &>(given).add(kHolder, holder, at);
  given.rawState().norm = {weight.shape(), perChannel ? axis : -1, 0, 0, bits};
}

void weightNorm(const Module &given, const WeightNormOptions &options, Source at) {
  StructureLock lock;
  int axis = options.axis;
  Parameter weight = takeWeight(given, axis, "nn::weightNorm", at);
  Tensor value = weight.value().detach(at);
  Holder holder("ModuleDict"), list("ParametrizationList");
  addPart(list, "original0", lengths(value, axis, at), weight, at);
  addPart(list, "original1", value, weight, at);
  list.add("0", Holder("WeightNorm"), at);
  holder.add(kWeight, list, at);
  const_cast<Module &>(given).add(kHolder, holder, at);
  given.rawState().norm = {weight.shape(), axis, 0, 0};
}

void spectralNorm(const Module &given, const SpectralNormOptions &options, Source at) {
  StructureLock lock;
  const char *what = "nn::spectralNorm";
  if (options.powerIterations < 1)
    fail(at, what, "there are " + std::to_string(options.powerIterations) + " power iterations, expected at least 1");
  if (!(options.eps > 0)) fail(at, what, "eps is " + realText(options.eps) + ", expected a number above 0");
  int axis = options.axis.value_or(dynamic_cast<const ConvTranspose *>(&given) ? 1 : 0);
  Parameter weight = takeWeight(given, axis, what, at);
  Holder holder("ModuleDict"), list("ParametrizationList"), buffers("SpectralNorm");
  Tensor value = weight.value().detach(at), matrix = asMatrix(value, axis, at);
  {
    NoGrad quiet;
    auto start = [&](int64_t size) {
      Tensor drawn = init::normal({weight.dtype(), {size}}, 0, 1, at).to(weight.device(), false, at);
      return normalize({drawn, at}, 2, 0, options.eps);
    };
    Singular vectors;
    vectors.u = start(matrix.shape()[0]);
    vectors.v = start(matrix.shape()[1]);
    iterate(vectors, matrix, kFirstIterations, options.eps, at);
    buffers.addBuffer("_u", vectors.u, true, at);
    buffers.addBuffer("_v", vectors.v, true, at);
  }
  addPart(list, "original", value, weight, at);
  list.add("0", buffers, at);
  holder.add(kWeight, list, at);
  const_cast<Module &>(given).add(kHolder, holder, at);
  given.rawState().norm = {weight.shape(), axis, options.powerIterations, options.eps};
}

std::optional<Tensor> computedWeight(const Module &layer, Source at) {
  const auto &norm = layer.rawState().norm;
  if (!norm) return std::nullopt;
  return compute(layer, norm->iterations && layer.isTraining(), at);
}

Shape weightShape(const Parameter &weight, const Module &layer) {
  if (weight.defined()) return weight.shape();
  return layer.rawState().norm ? layer.rawState().norm->shape : Shape();
}

Tensor weightOf(const Module &layer, Source at) {
  if (layer.rawState().norm) return compute(layer, /*isTraining=*/false, at);
  Module::State::Entry *entry = layer.rawState().entryNamed(kWeight);
  if (!entry || !entry->parameter.defined()) fail(at, "nn::weightOf", "a " + layer.typeName() + " has no weight");
  return entry->parameter.value(at);
}

} // namespace sprig::nn
