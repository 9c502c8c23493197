// Parameters, and the tensors that gradients begin and end at.
#include "lib/Frontend/Base/Place.h"
#include "lib/Frontend/Engine/NonFinite.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Engine/Trace.h"
#include "sprig/grad.h"
#include <atomic>
#include <utility>

namespace sprig {

using namespace frontend;

/// The same value, without a lineage.
static Tensor twinOf(const Tensor &value, Source at) {
  NoGrad quiet;
  return record(opName("nn.reshape"), {value}, {}, value.type(), at);
}

/// The value where the parameter is: what was computed elsewhere is copied there.
static Tensor atHome(const Tensor &value, DeviceId home, Source at) {
  Value *raw = value.raw();
  if (raw->constant || raw->device == home) return value;
  NoGrad quiet;
  return copyTo(value, home, at);
}

/// Makes a value the one that a cell holds: a root for gradients where the parameter is trainable.
static Tensor asRoot(const Tensor &value, Parameter::Cell &owner, Source at) {
  Value *raw = value.raw();
  // A value that others see as part of their lineage stays what it is; the cell gets a twin.
  if (raw->tracked || raw->owner || raw->constant) return asRoot(twinOf(value, at), owner, at);
  raw->unplaced = false;
  raw->owner = &owner;
  raw->version = owner.number;
  raw->tracked = raw->root = owner.trainable;
  raw->ofGradient = false;
  return value;
}

Parameter::Parameter(const Tensor &initial, bool trainable, Source at) : cell(std::make_shared<Cell>()) {
  requireNotRecording("Parameter", at);
  requireDefined(initial, "Parameter", "its initial value", at);
  cell->number = newScope();
  cell->type = initial.type();
  cell->trainable = trainable && isFloat(initial.dtype());
  CreationScope here;
  cell->current = asRoot(initial, *cell, at);
  cell->standing.made = at;
}

static void requireParameterCell(const Parameter &parameter, Source at) {
  if (!parameter.defined()) fail(at, "Parameter", "it holds nothing");
}

Tensor Parameter::value(Source at) const {
  requireParameterCell(*this, at);
  for (Trace *trace = Trace::current(); trace; trace = trace->outer) {
    if (trace->kind == Trace::Kind::function) return trace->cell(*this).current;
    for (const TracedCell &traced : trace->cells)
      if (traced.parameter.same(*this)) return traced.current;
  }
  return cell->current;
}

static void setCell(Parameter::Cell &cell, const Tensor &next, Source at) {
  requireFinite(next, CheckedAs::state, [&] { return "the next value of parameter '" + cell.name + "'"; }, at);
  CreationScope home(cell.current.raw()->device);
  Tensor root = asRoot(atHome(next, cell.current.raw()->device, at), cell, at);
  if (cell.current.raw() != root.raw()) cell.current.raw()->owner = nullptr;
  cell.current = std::move(root);
}

void Parameter::set(const Tensor &next, Source at) const {
  requireParameterCell(*this, at);
  requireDefined(next, "Parameter::set", "the next value", at);
  if (!cell->standing.layer) cell->standing.isSettled = true; // it is the program's own
  const TensorType &type = Trace::current() ? cell->type : cell->current.raw()->type;
  if (!(next.type() == type))
    fail(at, "Parameter::set",
         "parameter '" + cell->name + "' is " + describe(type) + ", its next value " + describe(next.type()));
  if (Trace *trace = Trace::current()) {
    TracedCell &traced = trace->cell(*this);
    if (trace->kind == Trace::Kind::region) { // refused when the region ends
      traced.current = next;
      return;
    }
    // A value of outside stays what it is.
    bool isOurs = next.raw()->state.load() == Value::State::traced;
    CreationScope home(traced.current.raw()->device);
    Tensor there = atHome(next, traced.current.raw()->device, at);
    Tensor root = asRoot(isOurs || there.raw() != next.raw() ? there : twinOf(next, at), *cell, at);
    if (root.raw() != traced.current.raw()) traced.current.raw()->owner = nullptr;
    traced.current = std::move(root);
    return;
  }
  setCell(*cell, next, at);
}

void frontend::setPiece(const Parameter &parameter, const Tensor &value, Source at) {
  setCell(*parameter.rawCell(), value, at);
}

/// At once, also while a function is being recorded, which then finds it there.
static void moveCell(Parameter::Cell &cell, DeviceId device, Source at) {
  if (cell.current.raw()->device == device) return;
  NoGrad quiet;
  Tensor root = asRoot(queueCopy(cell.current, device, at), cell, at);
  cell.current.raw()->owner = nullptr;
  cell.current = std::move(root);
  if (cell.gradient.defined()) cell.gradient = queueCopy(cell.gradient, device, at);
}

Device Parameter::device(Source at) const {
  requireParameterCell(*this, at);
  return deviceOf(cell->current.raw()->device);
}

void frontend::moveParameter(const Parameter &parameter, const Device &device, Source at) {
  requireNotRecording("to", at);
  moveCell(*parameter.rawCell(), openDevice(device, "to", at), at);
}

void frontend::follow(const Parameter &state, const Parameter &leader, Source at) {
  moveCell(*state.rawCell(), leader.rawCell()->current.raw()->device, at);
}

const TensorType &Parameter::type(Source at) const {
  requireParameterCell(*this, at);
  return cell->type;
}

bool Parameter::trainable() const {
  if (!cell) return false;
  if (isRecording()) observe(kTrainable, {cell, &cell->trainable}, "parameter '" + cell->name + "'");
  return cell->trainable;
}

void Parameter::setTrainable(bool on, Source at) const {
  requireParameterCell(*this, at);
  if (on && !isFloat(cell->type.dtype))
    fail(at, "Parameter", "'" + cell->name + "' is " + describe(cell->type) + "; only floats are trained");
  if (Trace *trace = Trace::currentFunction()) {
    // Until the function ends, and of its own versions; each call sets the flag.
    trace->host.set({cell, &cell->trainable}, on, *this);
    Value *version = trace->cell(*this).current.raw();
    if (version->trace == trace) version->tracked = version->root = on;
    return;
  }
  cell->trainable = on;
  Value *value = cell->current.raw();
  value->tracked = value->root = on;
}

Standing &frontend::standingOf(const Parameter &parameter) {
  requireParameterCell(parameter, {});
  return parameter.rawCell()->standing;
}

void frontend::noteUntrained(std::span<Value *const> reached, std::span<const Tensor> wrt) {
  Parameter::Cell *updated = nullptr;
  for (const Tensor &t : wrt)
    if (Parameter::Cell *cell = t.raw()->owner; cell && cell->standing.isSettled && !updated) updated = cell;
  if (!updated) return;
  updated->untrained.clear();
  for (Value *root : reached)
    if (root->owner && !root->owner->standing.isSettled) updated->untrained.push_back(root->owner->weak_from_this());
}

std::vector<Parameter> frontend::takeUntrained(const Parameter &parameter) {
  std::vector<Parameter> result;
  for (const std::weak_ptr<Parameter::Cell> &each : std::exchange(parameter.rawCell()->untrained, {}))
    if (std::shared_ptr<Parameter::Cell> cell = each.lock(); cell && cell->trainable && !cell->standing.isSettled)
      PlaceAccess::cell(result.emplace_back()) = std::move(cell);
  return result;
}

static std::atomic<uint64_t> &structureCounter() {
  static std::atomic<uint64_t> counter{1};
  return counter;
}
uint64_t frontend::structureClock() { return structureCounter().load(std::memory_order_acquire); }
uint64_t frontend::tickStructureClock() { return structureCounter().fetch_add(1, std::memory_order_acq_rel) + 1; }

const std::string &Parameter::name(Source at) const {
  requireParameterCell(*this, at);
  return cell->name;
}
void Parameter::setName(std::string name, Source at) const {
  requireParameterCell(*this, at);
  if (size_t end = name.find('\0'); end != std::string::npos)
    fail(at, "setName", "the name has a NUL after '" + name.substr(0, end) + "', at which readers of files end it");
  cell->name = std::move(name);
}

Tensor Tensor::detach(Source at) const {
  requireDefined(*this, "detach", "the tensor", at);
  NoGrad quiet;
  // Whether a value of a function is tracked is another thing at each call.
  if (value->state.load(std::memory_order_relaxed) == Value::State::traced && isFloat(value->type.dtype))
    return record(opName("nn.stop_gradient"), {*this}, {}, value->type, at);
  if (!value->tracked) return *this;
  return record(opName("nn.reshape"), {*this}, {}, value->type, at);
}

Tensor Tensor::requireGrad(Source at) const {
  requireDefined(*this, "requireGrad", "the tensor", at);
  if (!isFloat(value->type.dtype))
    fail(at, "requireGrad", "the tensor is " + describe(value->type) + ", expected floats");
  // A twin that depends on this one: gradients of gradients go through it.
  Tensor twin = record(opName("nn.reshape"), {*this}, {}, value->type, at);
  twin.raw()->tracked = true;
  if (twin.raw()->producer && !twin.raw()->producer->tracked) twin.raw()->root = true;
  return twin;
}

} // namespace sprig
