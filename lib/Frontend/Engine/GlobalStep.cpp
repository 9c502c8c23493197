#include "lib/Frontend/Engine/GlobalStep.h"
#include "lib/Frontend/Engine/Trace.h"
#include "lib/Frontend/Engine/Variant.h"
#include "runtime/base/Hex.h"
#include "sprig/grad.h"
#include <algorithm>
#include <numeric>

namespace sprig::frontend {

const GlobalStep *GlobalStep::current() {
  Trace *function = Trace::currentFunction();
  return function ? function->step.get() : nullptr;
}

void GlobalStep::begin(GlobalStep step) {
  Trace &function = *Trace::currentFunction();
  const std::vector<int64_t> &passes = step.division.passes;
  const int64_t samples = std::accumulate(passes.begin(), passes.end(), int64_t(0));
  int64_t rows = 0;
  for (Tensor &input : function.inputs) {
    Shape &shape = input.raw()->type.shape;
    rows = shape[0];
    shape[0] = samples;
  }
  function.ranks = step.end;
  function.samples = {step.end, rows, samples, step.weights, false};
  function.step = std::make_unique<GlobalStep>(std::move(step));
}

void GlobalStep::nameResults(std::vector<std::string> names) {
  Trace::currentFunction()->step->division.results = std::move(names);
}

/// The value with a mark, on an operation of its own: passes that simplify leave it alone, and the phase
/// `differentiate` drops it when the marks are read.
static Tensor marked(const Tensor &value, AttrList mark, Source at) {
  NoGrad quiet;
  return record(opName("nn.stop_gradient"), {value}, std::move(mark), value.type(at), at);
}

std::vector<Tensor> GlobalStep::markGradients(std::vector<Tensor> values, const std::vector<Parameter> &of, Source at) {
  GlobalStep &step = *Trace::currentFunction()->step;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = marked(values[i], {}, at);
    step.gradients.emplace_back(values[i], of[i]);
  }
  return values;
}

/// A text as MLIR reads it: quotes, backslashes and control characters by their numbers.
static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (unsigned char each : text)
    if (each < ' ' || each == '"' || each == '\\')
      result += '\\' + hexDigits(each).substr(14);
    else
      result += char(each);
  return result + '"';
}

void GlobalStep::nameGradients(const Variant &variant) const {
  for (const auto &[value, parameter] : gradients)
    for (size_t i = 0; i < variant.parameters.size(); ++i)
      if (variant.parameters[i].same(parameter))
        value.raw()->producer->description.attrs.push_back(
            Attr::other("nn.gradients", intern("[" + quoted(variant.slots[i].name) + "]").c_str()));
}

Tensor markTotal(const Tensor &sum, const char *name, Source at) {
  if (!GlobalStep::current()) return sum;
  return marked(sum, {Attr::other("nn.total", intern(quoted(name)).c_str())}, at);
}

} // namespace sprig::frontend
