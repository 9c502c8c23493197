#include "lib/Frontend/Engine/Trace.h"

namespace sprig::frontend {

static thread_local Trace *innermostTrace = nullptr;

Trace::Trace(Kind kind, Source source)
    : kind(kind), source(source), outer(innermostTrace), lineageOutside(lineageIsOn()) {
  innermostTrace = this;
}
Trace::~Trace() { innermostTrace = outer; }

Trace *Trace::current() { return innermostTrace; }
Trace *Trace::currentFunction() {
  Trace *trace = innermostTrace;
  while (trace && trace->kind != Kind::function) trace = trace->outer;
  return trace;
}

Tensor Trace::input(const TensorType &type) {
  auto *value = new Value(type, Value::State::traced);
  value->trace = this;
  inputs.push_back(Tensor::own(value));
  recording.reach(value); // inputs are the first externals, used or not
  return inputs.back();
}

TracedCell &Trace::cell(const Parameter &parameter) {
  for (TracedCell &cell : cells)
    if (cell.parameter.same(parameter)) return cell;
  TracedCell fresh;
  fresh.parameter = parameter;
  if (kind == Kind::function) {
    Parameter::Cell *cell = parameter.rawCell();
    host.observe(kTrainableInUse, {cell->shared_from_this(), &cell->trainable}, "parameter '" + cell->name + "'");
    if (cell->isPiece() && !step)
      fail(source, "Parameter", "'" + cell->name + "' is in pieces on ranks, which steps of the trainer alone read");
    auto *value = new Value(cell->type, Value::State::traced);
    value->trace = this;
    value->tracked = value->root = cell->trainable;
    value->owner = cell;
    value->version = cell->number;
    value->device = cell->current.raw()->device;
    fresh.initial = Tensor::own(value);
  } else {
    // What the parameter is where the region stands.
    Trace *inner = std::exchange(innermostTrace, outer);
    fresh.initial = parameter.value();
    innermostTrace = inner;
  }
  fresh.current = fresh.initial;
  cells.push_back(std::move(fresh));
  return cells.back();
}

Tensor Trace::gradient(const Parameter &parameter) {
  TracedCell &traced = cell(parameter);
  if (!traced.gradientSeen && !traced.gradientSet) {
    traced.gradientSeen = true;
    if (parameter.rawCell()->gradient.defined()) {
      auto *value = new Value(parameter.rawCell()->type, Value::State::traced);
      value->trace = this;
      value->device = parameter.rawCell()->gradient.raw()->device;
      traced.gradient = traced.gradientBefore = Tensor::own(value);
    }
  }
  return traced.gradient;
}

void Trace::setGradient(const Parameter &parameter, Tensor gradient) {
  TracedCell &traced = cell(parameter);
  traced.gradientSet = true;
  traced.gradient = std::move(gradient);
}

Graph traceRegion(std::span<const TensorType> inputs,
                  const std::function<std::vector<Tensor>(std::span<const Tensor>)> &f, std::vector<Tensor> &captured,
                  Source at, std::vector<Parameter> *set) {
  Trace trace(Trace::Kind::region, at);
  for (const TensorType &type : inputs) trace.input(type).raw()->unplaced = true; // where the operation runs
  std::vector<Tensor> arguments = trace.inputs;
  std::vector<Tensor> results = f(arguments);
  for (const TracedCell &cell : trace.cells) {
    if (!cell.written()) continue;
    if (!set) fail(at, "region", "sets parameter '" + cell.parameter.name() + "'; state is set outside of regions");
    set->push_back(cell.parameter);
    results.push_back(cell.current);
  }
  std::vector<Value *> outputs;
  for (const Tensor &result : results) {
    requireDefined(result, "region", "its result", at);
    trace.recording.reach(result.raw()); // it may be an input, or something of outside
    outputs.push_back(result.raw());
  }
  for (size_t i = inputs.size(); i < trace.recording.externals.size(); ++i)
    captured.push_back(handleTo(trace.recording.externals[i]));
  return trace.recording.graph(outputs);
}

} // namespace sprig::frontend
