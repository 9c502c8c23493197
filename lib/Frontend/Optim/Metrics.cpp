#include "lib/Frontend/Record.h"
#include "sprig/grad.h"
#include "sprig/init.h"
#include "sprig/metrics.h"
#include "sprig/ops.h"
#include <cstdio>
#include <limits>

namespace sprig::metrics {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Parameter stateOf(const TensorType &type, const char *name) {
  Parameter state(init::zeros(type), /*trainable=*/false, Source());
  state.setName(std::string("metrics/") + name);
  return state;
}

Operand as(const Tensor &tensor, const Operand &caller) { return Operand(tensor, caller.at); }

void clear(const Parameter &state) { state.set(init::zeros(state.type()), Source()); }

/// state + more, converted to its type, where the state is.
void grow(const Parameter &state, const Tensor &more, const Operand &caller) {
  Tensor number = cast(as(more, caller), state.dtype());
  if (number.rank()) number = number.to(state.device(), /*nonBlocking=*/true, caller.at);
  Tensor sum = add(as(state.value(), caller), as(number, caller));
  state.set(sum, caller.at);
}

/// Predicted classes and which shape they must have; the axis of the classes is axis 1, or the only one.
void checkShapes(const char *who, const Operand &logits, const Operand &classes) {
  frontend::requireDefined(logits.tensor, who, "the logits", logits.at);
  frontend::requireDefined(classes.tensor, who, "the classes", logits.at);
  const TensorType &x = logits.tensor.type(), &y = classes.tensor.type();
  auto refuse = [&] {
    frontend::fail(logits.at, who,
                   "logits of " + describe(x) + " and classes of " + describe(y) +
                       ": expected logits [N, classes, ...] and integer classes [N, ...], or integers of one shape");
  };
  if (isFloat(y.dtype) || y.dtype == DType::boolean) refuse();
  if (x.shape == y.shape) {
    if (isFloat(x.dtype)) refuse();
    return;
  }
  if (x.shape.rank() != y.shape.rank() + 1 || x.shape.rank() < 2) refuse();
  for (int i = 0; i < y.shape.rank(); ++i)
    if (y.shape[i] != x.shape[i ? i + 1 : 0]) refuse();
}

} // namespace

Mean::Mean() : sum(stateOf({DType::f64, {}}, "sum")), weights(stateOf({DType::f64, {}}, "weights")) {}

void Mean::add(const Operand &value, int64_t weight) const {
  NoGrad quiet;
  if (value.kind == Operand::Kind::tensor)
    frontend::requireDefined(value.tensor, "metrics::Mean", "the value", value.at);
  Tensor x = value.kind == Operand::Kind::tensor
                 ? value.tensor
                 : Tensor(value.kind == Operand::Kind::real ? value.real : double(value.integer));
  Tensor total = cast(as(x, value), DType::f64);
  if (x.rank()) total = sprig::sum(as(total, value));
  if (weight != 1) total = mul(as(total, value), double(weight));
  grow(sum, total, value);
  grow(weights, Tensor(double(weight) * double(x.numel())), value);
}

double Mean::value(Source at) const {
  double count = weights.value().item<double>(at);
  return count == 0 ? kNone : sum.value().item<double>(at) / count;
}
int64_t Mean::count(Source at) const { return weights.value().item<int64_t>(at); }
void Mean::reset() const {
  clear(sum);
  clear(weights);
}
Tensor Mean::tensor(Source at) const { return div(Operand(sum.value(), at), Operand(weights.value(), at)); }

Accuracy::Accuracy(int64_t k, Source at)
    : k(k), hits(stateOf({DType::i64, {}}, "hits")), samples(stateOf({DType::i64, {}}, "samples")) {
  if (k < 1) frontend::fail(at, "metrics::Accuracy", "k is " + std::to_string(k) + ", expected at least 1");
}

void Accuracy::add(const Operand &logits, const Operand &classes) const {
  NoGrad quiet;
  checkShapes("metrics::Accuracy", logits, classes);
  Tensor same;
  if (logits.tensor.shape() == classes.tensor.shape()) {
    same = eq(logits, classes);
  } else if (k == 1) {
    same = eq(as(argmax(logits, 1), logits), classes);
  } else {
    if (k > logits.tensor.shape()[1])
      frontend::fail(logits.at, "metrics::Accuracy",
                     "the " + std::to_string(k) + " highest of " + std::to_string(logits.tensor.shape()[1]) +
                         " classes are asked for");
    Tensor highest = topk(logits, k, 1).indices;
    same = any(as(eq(as(highest, logits), as(unsqueeze(classes, 1), logits)), logits), 1);
  }
  grow(hits, sum(as(same, logits)), logits);
  grow(samples, Tensor(classes.tensor.numel()), logits);
}

double Accuracy::value(Source at) const {
  int64_t count = samples.value().item<int64_t>(at);
  return count == 0 ? kNone : double(hits.value().item<int64_t>(at)) / double(count);
}
int64_t Accuracy::count(Source at) const { return samples.value().item<int64_t>(at); }
void Accuracy::reset() const {
  clear(hits);
  clear(samples);
}

ConfusionMatrix::ConfusionMatrix(int64_t classes, Source at) : classes(classes) {
  if (classes < 1)
    frontend::fail(at, "metrics::ConfusionMatrix", std::to_string(classes) + " classes, expected at least 1");
  matrix = stateOf({DType::i64, {classes, classes}}, "confusion");
}

void ConfusionMatrix::add(const Operand &logits, const Operand &truth) const {
  NoGrad quiet;
  checkShapes("metrics::ConfusionMatrix", logits, truth);
  bool areClasses = logits.tensor.shape() == truth.tensor.shape();
  if (!areClasses && logits.tensor.shape()[1] != classes)
    frontend::fail(logits.at, "metrics::ConfusionMatrix",
                   "logits of " + describe(logits.tensor.type()) + " for " + std::to_string(classes) + " classes");
  // Ones at (true class, predicted class): a sum of products of one-hot rows, exact in i64 and refusing what is out of
  // range where the scatter reads its index.
  Tensor predicted = areClasses ? logits.tensor : argmax(logits, 1);
  auto flat = [&](const Tensor &x) { return reshape(as(cast(as(x, logits), DType::i64), logits), {-1, 1}); };
  int64_t count = truth.tensor.numel();
  DeviceScope there(frontend::deviceFor(logits.tensor), logits.at);
  Tensor rows = scatter(as(zeros({count, classes}, DType::i64, logits.at), logits), 1, as(flat(truth.tensor), logits),
                        as(ones({count, 1}, DType::i64, logits.at), logits));
  Tensor columns = scatter(as(zeros({count, classes}, DType::i64, logits.at), logits), 1, as(flat(predicted), logits),
                           as(ones({count, 1}, DType::i64, logits.at), logits));
  grow(matrix, matmul(as(transpose(as(rows, logits), 0, 1), logits), as(columns, logits)), logits);
}

Tensor ConfusionMatrix::counts() const { return matrix.value(); }

double ConfusionMatrix::accuracy(Source at) const {
  std::vector<int64_t> n = counts().toVector<int64_t>(at);
  int64_t right = 0, total = 0;
  for (int64_t i = 0; i < classes * classes; ++i) {
    total += n[size_t(i)];
    if (i / classes == i % classes) right += n[size_t(i)];
  }
  return total ? double(right) / double(total) : kNone;
}

static std::vector<double> shares(const std::vector<int64_t> &n, int64_t classes, bool ofRows) {
  std::vector<double> result;
  for (int64_t i = 0; i < classes; ++i) {
    int64_t total = 0;
    for (int64_t j = 0; j < classes; ++j) total += n[size_t(ofRows ? i * classes + j : j * classes + i)];
    result.push_back(total ? double(n[size_t(i * classes + i)]) / double(total) : kNone);
  }
  return result;
}
std::vector<double> ConfusionMatrix::precision(Source at) const {
  return shares(counts().toVector<int64_t>(at), classes, false);
}
std::vector<double> ConfusionMatrix::recall(Source at) const {
  return shares(counts().toVector<int64_t>(at), classes, true);
}
void ConfusionMatrix::reset() const { clear(matrix); }

std::string ConfusionMatrix::text(Source at) const {
  std::vector<int64_t> n = counts().toVector<int64_t>(at);
  size_t width = 1;
  for (int64_t value : n) width = std::max(width, std::to_string(value).size());
  std::string result;
  for (int64_t i = 0; i < classes; ++i) {
    for (int64_t j = 0; j < classes; ++j) {
      std::string cell = std::to_string(n[size_t(i * classes + j)]);
      result += std::string(width + (j ? 1 : 0) - cell.size(), ' ') + cell;
    }
    result += "\n";
  }
  return result;
}

} // namespace sprig::metrics
