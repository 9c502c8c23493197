// PyTorch's way to gradients: backward() adds them up on parameters. Within compile() they are state like the
// parameters themselves: what there was before is an input, what is there in the end an output.
#include "lib/Frontend/Engine/Lineage.h"
#include "lib/Frontend/Engine/Trace.h"
#include "sprig/grad.h"
#include <algorithm>

namespace sprig {

using namespace frontend;

/// A branch may not be taken and a loop's body runs again and again: neither leaves a gradient somewhere.
static void refuseInRegion(const char *op, Source at) {
  if (Trace *trace = Trace::current(); trace && trace->kind == Trace::Kind::region)
    fail(at, op,
         "is called in a branch, a loop or a checkpoint, which cannot set gradients of parameters; take grad() there "
         "and return it, or call it outside");
}

static void requireCell(const Parameter &parameter, const char *op, Source at) {
  if (!parameter.defined()) fail(at, op, "the parameter holds nothing");
}

Tensor Parameter::grad(Source at) const {
  requireCell(*this, "Parameter::grad", at);
  if (Trace *trace = Trace::currentFunction()) return trace->gradient(*this);
  return cell->gradient;
}

void Parameter::zeroGrad(Source at) const {
  requireCell(*this, "Parameter::zeroGrad", at);
  refuseInRegion("zeroGrad", at);
  if (Trace *trace = Trace::currentFunction())
    trace->setGradient(*this, {});
  else
    cell->gradient = {};
}

/// The parameters that roots are values of, as the function that is being recorded has them.
static std::vector<Parameter> tracedParameters(Trace &trace, std::span<Value *const> roots, Source at) {
  std::vector<Parameter> parameters;
  for (Value *root : roots) {
    auto cell = std::find_if(trace.cells.begin(), trace.cells.end(),
                             [&](const TracedCell &cell) { return cell.current.raw() == root; });
    if (cell == trace.cells.end())
      fail(at, "backward",
           "the output depends on parameter '" + root->owner->name +
               "' through a tensor that was computed outside of the function that is being recorded; compute it in the "
               "function, or detach() it");
    parameters.push_back(cell->parameter);
  }
  return parameters;
}

void Tensor::backward(Source at) const {
  requireDefined(*this, "backward", "the output", at);
  refuseInRegion("backward", at);
  std::vector<Value *> roots = parametersBehind(*this, at);
  Trace *trace = Trace::currentFunction();
  if (trace) noteUse(*trace, *this, {});
  if (roots.empty()) fail(at, "backward", "the output depends on no trainable parameter" + whyUnreached({this, 1}, {}));
  std::vector<Parameter> traced;
  if (trace) traced = tracedParameters(*trace, roots, at);
  std::vector<Tensor> wrt;
  for (Value *root : roots) wrt.push_back(handleTo(root));
  std::vector<Tensor> gradients = gradientsOf({this, 1}, wrt, {}, at);
  noteUntrained(roots, wrt);
  NoGrad quiet;
  for (size_t i = 0; i < roots.size(); ++i) {
    Parameter::Cell *cell = roots[i]->owner;
    Tensor before = trace ? trace->gradient(traced[i]) : cell->gradient, &g = gradients[i];
    Tensor sum = before.defined() ? record(opName("nn.add"), {before, g}, {}, g.type(), at) : g;
    if (trace)
      trace->setGradient(traced[i], std::move(sum));
    else
      cell->gradient = std::move(sum);
  }
}

} // namespace sprig
