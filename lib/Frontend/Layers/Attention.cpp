#include "sprig/nn/attention.h"
#include "lib/Frontend/Layers/LayerText.h"
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/ops.h"
#include <cmath>

namespace sprig::nn {

MultiheadAttention::MultiheadAttention(int64_t features, int64_t heads, const MultiheadAttentionOptions &given,
                                       Source at)
    : features(features), heads(heads), options(given) {
  needPositive(features, "MultiheadAttention", "the number of features", at);
  needPositive(heads, "MultiheadAttention", "the number of heads", at);
  if (features % heads)
    frontend::fail(at, "MultiheadAttention",
                   std::to_string(features) + " features do not divide into " + std::to_string(heads) + " heads");
  if (!(options.dropout >= 0 && options.dropout <= 1))
    frontend::fail(at, "MultiheadAttention", "the dropout is " + realText(options.dropout) + ", outside of [0, 1]");
  if (options.keyFeatures == 0) options.keyFeatures = features;
  if (options.valueFeatures == 0) options.valueFeatures = features;
  Initializer xavier = [](const TensorType &type) { return init::xavierUniform(type, 1, Source()); };
  if (options.keyFeatures == features && options.valueFeatures == features) {
    inProjWeight = addParameter("in_proj_weight", {3 * features, features}, xavier, at);
  } else {
    qProjWeight = addParameter("q_proj_weight", {features, features}, xavier, at);
    kProjWeight = addParameter("k_proj_weight", {features, options.keyFeatures}, xavier, at);
    vProjWeight = addParameter("v_proj_weight", {features, options.valueFeatures}, xavier, at);
  }
  inProjBias = addOptional(*this, options.bias, "in_proj_bias", {3 * features}, init::zeros, at);
  outProj = Linear(features, features, {.bias = false}, at);
  if (options.bias) outProj.bias = outProj.addParameter("bias", {features}, init::zeros, at);
  add("out_proj", outProj, at);
}

Tensor MultiheadAttention::operator()(const Operand &query, const Operand &key, const Operand &value,
                                      const AttentionMask &mask) const {
  return run(query, key, value, mask, false).output;
}
AttentionResult MultiheadAttention::withWeights(const Operand &query, const Operand &key, const Operand &value,
                                                const AttentionMask &mask) const {
  return run(query, key, value, mask, true);
}

/// Throws where sequences have other batches than the query's, or other lengths than the key's, in this layout.
static void checkSequences(const std::string &layer, const Operand &query, const Operand &key, const Operand &value,
                           bool batchFirst) {
  const TensorType &q = query.tensor.type(), &k = key.tensor.type(), &v = value.tensor.type();
  const int rank = q.shape.rank(), steps = rank == 3 && batchFirst ? 1 : 0;
  const std::string layout = rank == 2    ? "[steps, features]"
                             : batchFirst ? "[batch, steps, features] (batchFirst)"
                                          : "[steps, batch, features] (batchFirst is not set)";
  if (rank == 3 && (k.shape[1 - steps] != q.shape[1 - steps] || v.shape[1 - steps] != q.shape[1 - steps]))
    frontend::fail(query.at, layer,
                   "the query is " + describe(q) + ", the key " + describe(k) + " and the value " + describe(v) +
                       ", as " + layout + ": their batches have to be equal");
  if (k.shape[steps] != v.shape[steps])
    frontend::fail(query.at, layer,
                   "the key is " + describe(k) + " and the value " + describe(v) + ", as " + layout +
                       ": they have to have as many steps");
}

/// Throws where a mask has none of these shapes, as PyTorch does, or is neither boolean nor of floats.
static void checkMask(const std::string &layer, const char *what, const Tensor &mask,
                      std::initializer_list<std::pair<const char *, Shape>> shapes, const Operand &query,
                      bool batchFirst) {
  const TensorType &type = mask.type(query.at);
  std::string expected;
  bool fits = false;
  for (auto &[name, shape] : shapes) {
    fits |= type.shape == shape;
    expected += (expected.empty() ? "" : " or ") + std::string(name) + " = " + describe(shape);
  }
  if (!fits)
    frontend::fail(query.at, layer,
                   std::string(what) + " is " + describe(type) + "; for the query " + describe(query.tensor.type()) +
                       (query.tensor.rank() == 3 ? batchFirst ? " (batchFirst)" : " (batchFirst is not set)" : "") +
                       " it has to be " + expected);
  if (type.dtype != DType::boolean && !isFloat(type.dtype))
    frontend::fail(query.at, layer,
                   std::string(what) + " is " + describe(type) + "; it takes booleans, which hide, or floats");
}

AttentionResult MultiheadAttention::run(const Operand &query, const Operand &key, const Operand &value,
                                        const AttentionMask &mask, bool wantsWeights) const {
  InLayer in(scope());
  const Operand &caller = query;
  auto as = [&](const Tensor &tensor) { return with(tensor, caller); };
  if (features == 0) frontend::fail(caller.at, typeName(), "the layer was made without sizes");
  struct Input {
    const Operand &given;
    const char *what;
    int64_t features;
  };
  for (const Input &input :
       {Input{query, "query", features}, {key, "key", options.keyFeatures}, {value, "value", options.valueFeatures}}) {
    frontend::requireDefined(input.given.tensor, "MultiheadAttention", input.what, caller.at);
    const TensorType &type = input.given.tensor.type();
    if (type.shape.rank() != query.tensor.rank() || (type.shape.rank() != 3 && type.shape.rank() != 2) ||
        type.shape.back() != input.features)
      frontend::fail(caller.at, typeName(),
                     std::string("the ") + input.what + " needs 3 dimensions (or 2 without a batch, as the query), " +
                         "the last of size " + std::to_string(input.features) + ", it is " + describe(type));
  }

  checkSequences(typeName(), query, key, value, options.batchFirst);

  // Queries, keys and values: one product where all three come from one tensor.
  auto rows = [&](const Parameter &p, int part) {
    return p.defined() ? as(slice(with(p, caller), 0, part * features, (part + 1) * features)) : Operand();
  };
  std::vector<Tensor> mapped;
  bool oneSource = query.tensor.raw() == key.tensor.raw() && key.tensor.raw() == value.tensor.raw();
  if (inProjWeight.defined() && oneSource) {
    Tensor all = linear(query, with(inProjWeight, caller), with(inProjBias, caller));
    mapped = chunk(as(all), 3, -1);
  } else {
    const Operand *inputs[] = {&query, &key, &value};
    const Parameter *weights[] = {&qProjWeight, &kProjWeight, &vProjWeight};
    for (int i = 0; i < 3; ++i)
      mapped.push_back(linear(*inputs[i], inProjWeight.defined() ? rows(inProjWeight, i) : with(*weights[i], caller),
                              rows(inProjBias, i)));
  }

  // [batch, heads, steps, features / heads] of each.
  bool batched = query.tensor.rank() == 3;
  auto split = [&](Tensor x) {
    if (!batched) x = unsqueeze(as(x), 0);
    bool batchFirst = !batched || options.batchFirst;
    Shape shape = x.shape();
    Tensor heads4 = reshape(as(x), {shape[0], shape[1], heads, features / heads});
    return permute(as(heads4), batchFirst ? Shape{0, 2, 1, 3} : Shape{1, 2, 0, 3});
  };
  Tensor q = split(mapped[0]), k = split(mapped[1]), v = split(mapped[2]);
  int64_t batch = q.shape()[0], length = q.shape()[2], keys = k.shape()[2];

  // Masks as scaledDotProductAttention has them: booleans that show, floats that are added.
  Tensor hidden, added;
  auto combine = [&](const Tensor &part) {
    Tensor &into = part.dtype() == DType::boolean ? hidden : added;
    if (!into.defined())
      into = part;
    else
      into = part.dtype() == DType::boolean ? logicalOr(as(into), as(part)) : sprig::add(as(into), as(part));
  };
  if (mask.mask.defined()) {
    Tensor part = mask.mask;
    const char *each = batched ? "[batch heads, steps, keys]" : "[heads, steps, keys]";
    checkMask(typeName(), "the mask", part, {{"[steps, keys]", {length, keys}}, {each, {batch * heads, length, keys}}},
              query, options.batchFirst);
    if (part.rank() == 3) part = reshape(as(part), {batch, heads, length, keys});
    combine(part);
  }
  if (mask.keyPadding.defined()) {
    const std::pair<const char *, Shape> shape =
        batched ? std::pair("[batch, keys]", Shape{batch, keys}) : std::pair("[keys]", Shape{keys});
    checkMask(typeName(), "keyPadding", mask.keyPadding, {shape}, query, options.batchFirst);
    combine(reshape(as(mask.keyPadding), {batch, 1, 1, keys}));
  }
  AttentionOptions form;
  form.causal = mask.causal && !wantsWeights;
  form.dropout = isTraining() ? options.dropout : 0;
  if (hidden.defined() && added.defined())
    form.mask = where(as(hidden), -std::numeric_limits<double>::infinity(), as(added));
  else if (hidden.defined())
    form.mask = logicalNot(as(hidden));
  else
    form.mask = added;

  AttentionResult result;
  Tensor heads4;
  if (!wantsWeights) {
    heads4 = scaledDotProductAttention(as(q), as(k), as(v), form);
  } else { // the same, spelled out
    Tensor scores = matmul(as(q), as(transpose(as(k), -2, -1)));
    scores = mul(as(scores), 1 / std::sqrt(double(features / heads)));
    if (mask.causal) {
      DeviceScope there(frontend::deviceFor(scores), caller.at);
      Tensor later = gt(as(arange(keys, caller.at)), as(unsqueeze(as(arange(length, caller.at)), 1)));
      scores = maskedFill(as(scores), as(later), -std::numeric_limits<double>::infinity());
    }
    if (form.mask.defined() && form.mask.dtype() == DType::boolean)
      scores = where(as(form.mask), as(scores), -std::numeric_limits<double>::infinity());
    else if (form.mask.defined())
      scores = sprig::add(as(scores), as(form.mask));
    Tensor seen = frontend::Emitter("MultiheadAttention", caller.at).attentionWeights(scores, form.mask.defined());
    Tensor weights = dropout(as(seen), form.dropout, form.dropout > 0);
    heads4 = matmul(as(weights), as(v));
    result.weights = mean(as(weights), 1);
    if (!batched) result.weights = squeeze(as(result.weights), 0);
  }

  bool batchFirst = !batched || options.batchFirst;
  Tensor joined = permute(as(heads4), batchFirst ? Shape{0, 2, 1, 3} : Shape{2, 0, 1, 3});
  joined = reshape(as(joined), query.tensor.shape());
  result.output = outProj(as(joined));
  return result;
}

} // namespace sprig::nn
