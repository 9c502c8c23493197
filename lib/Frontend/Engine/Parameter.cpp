// Parameters, and the tensor methods that concern gradients.
#include "lib/Frontend/Engine/Lineage.h"
#include "lib/Frontend/Engine/Trace.h"
#include "sprig/grad.h"

namespace sprig {

using namespace frontend;

/// Makes a value the one that a cell holds: a root for gradients where the parameter is trainable.
static Tensor asRoot(const Tensor &value, Parameter::Cell *owner) {
  Value *raw = value.raw();
  // A value that others see as part of their lineage stays what it is; the cell gets a twin.
  if (raw->tracked || raw->owner || raw->constant) {
    NoGrad quiet;
    Tensor twin = record(opName("nn.reshape"), {value}, {}, value.type(), {});
    twin.raw()->owner = owner;
    twin.raw()->tracked = twin.raw()->root = owner && owner->trainable;
    return twin;
  }
  raw->owner = owner;
  raw->tracked = raw->root = owner && owner->trainable;
  return value;
}

Parameter::Parameter(const Tensor &initial, bool trainable) : cell(std::make_shared<Cell>()) {
  requireDefined(initial, "Parameter", "its initial value", {});
  cell->type = initial.type();
  cell->trainable = trainable && isFloat(initial.dtype());
  cell->current = asRoot(initial, cell.get());
}

static void requireCell(const Parameter &parameter) {
  if (!parameter.defined()) fail({}, "Parameter", "it holds nothing");
}

Tensor Parameter::value() const {
  requireCell(*this);
  for (Trace *trace = Trace::current(); trace; trace = trace->outer) {
    if (trace->kind == Trace::Kind::function) return trace->cell(*this).current;
    for (const TracedCell &traced : trace->cells)
      if (traced.parameter.same(*this)) return traced.current;
  }
  return cell->current;
}

void Parameter::set(const Tensor &next, Source at) const {
  requireCell(*this);
  requireDefined(next, "Parameter::set", "the next value", at);
  if (!(next.type() == cell->type))
    fail(at, "Parameter::set",
         "parameter '" + cell->name + "' is " + describe(cell->type) + ", its next value " + describe(next.type()));
  if (Trace *trace = Trace::current()) {
    TracedCell &traced = trace->cell(*this);
    if (trace->kind == Trace::Kind::function && next.raw()->state.load() == Value::State::traced)
      traced.current = asRoot(next, cell.get());
    else
      traced.current = next;
    return;
  }
  Tensor root = asRoot(next, cell.get());
  if (cell->current.raw() != root.raw()) cell->current.raw()->owner = nullptr;
  cell->current = std::move(root);
}

const TensorType &Parameter::type() const {
  requireCell(*this);
  return cell->type;
}

bool Parameter::trainable() const { return cell && cell->trainable; }

void Parameter::setTrainable(bool on) const {
  requireCell(*this);
  if (on && !isFloat(cell->type.dtype))
    fail({}, "Parameter", "'" + cell->name + "' is " + describe(cell->type) + "; only floats are trained");
  cell->trainable = on;
  Value *value = cell->current.raw();
  value->tracked = value->root = on;
}

Tensor Parameter::grad() const {
  requireCell(*this);
  if (Trace *trace = Trace::currentFunction()) return trace->cell(*this).gradient;
  return cell->gradient;
}

void Parameter::zeroGrad() const {
  requireCell(*this);
  if (Trace *trace = Trace::currentFunction())
    trace->cell(*this).gradient = {};
  else
    cell->gradient = {};
}

const std::string &Parameter::name() const {
  requireCell(*this);
  return cell->name;
}
void Parameter::setName(std::string name) const {
  requireCell(*this);
  cell->name = std::move(name);
}

void Tensor::backward(Source at) const {
  requireDefined(*this, "backward", "the output", at);
  std::vector<Value *> roots = parametersBehind(*this);
  if (roots.empty()) fail(at, "backward", "the output depends on no trainable parameter");
  std::vector<Tensor> wrt;
  for (Value *root : roots) wrt.push_back(handleTo(root));
  std::vector<Tensor> gradients = sprig::grad({this, 1}, wrt, {}, at);
  NoGrad quiet;
  Trace *trace = Trace::currentFunction();
  for (size_t i = 0; i < roots.size(); ++i) {
    Parameter::Cell *cell = roots[i]->owner;
    Tensor *sum = &cell->gradient;
    if (trace)
      for (TracedCell &traced : trace->cells)
        if (traced.parameter.rawCell() == cell) sum = &traced.gradient;
    *sum = sum->defined() ? record(opName("nn.add"), {*sum, gradients[i]}, {}, gradients[i].type(), at) : gradients[i];
  }
}

Tensor Tensor::detach() const {
  requireDefined(*this, "detach", "the tensor", {});
  if (!value->tracked) return *this;
  NoGrad quiet;
  return record(opName("nn.reshape"), {*this}, {}, value->type, {});
}

Tensor Tensor::requireGrad() const {
  requireDefined(*this, "requireGrad", "the tensor", {});
  if (!isFloat(value->type.dtype))
    fail({}, "requireGrad", "the tensor is " + describe(value->type) + ", expected floats");
  // A twin that depends on this one: gradients of gradients go through it.
  Tensor twin = record(opName("nn.reshape"), {*this}, {}, value->type, {});
  twin.raw()->tracked = true;
  if (twin.raw()->producer && !twin.raw()->producer->tracked) twin.raw()->root = true;
  return twin;
}

} // namespace sprig
