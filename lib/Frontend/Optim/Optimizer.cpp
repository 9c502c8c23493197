#include "lib/Frontend/Optim/OptimizerState.h"
#include "sprig/grad.h"
#include "lib/Frontend/Record.h"
#include "lib/Training/ReadTrainConfig.h"
#include "lib/Training/StateNames.h"
#include <cmath>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

namespace sprig::optim {

using frontend::fail;

namespace {

/// Whether an update is the same for every shape: it is elementwise, so its values are scalars or of the parameter's
/// shape, and so are its constants.
bool fitsEveryShape(const frontend::Graph &graph, const Shape &shape) {
  for (const TensorType &type : graph.types)
    if (!type.shape.empty() && !(type.shape == shape)) return false;
  for (const frontend::GraphNode &node : graph.nodes)
    if (!node.regions.empty() ||
        (node.constant && node.constant->size() != size_t(size(graph.types[node.firstResult].dtype))))
      return false;
  return true;
}

/// Whether an update depends on the number of the step, its fourth input.
bool readsSteps(const frontend::Graph &graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const frontend::GraphNode &node) {
    return std::find(node.operands.begin(), node.operands.end(), 3u) != node.operands.end();
  });
}

using Updates = std::map<std::tuple<training::OptimizerConfig, double, std::string>, Update>;

/// Derived by the compiler for one shape, and given to the others by putting theirs in its place.
Update makeUpdate(Updates &table, const training::OptimizerConfig &config, double weightDecay, const TensorType &type) {
  Update update;
  if (!type.shape.empty()) {
    const TensorType model{type.dtype, {3}};
    auto [row, isNew] = table.try_emplace({config, weightDecay, describe(model)});
    if (isNew) {
      try {
        row->second.graph = frontend::optimizerUpdate(config, model, 1, weightDecay, row->second.slots);
        row->second.countsSteps = readsSteps(row->second.graph);
      } catch (...) {
        table.erase(row);
        throw;
      }
    }
    if (fitsEveryShape(row->second.graph, model.shape)) {
      update = row->second;
      for (TensorType &each : update.graph.types)
        if (!each.shape.empty()) each.shape = type.shape;
      return update;
    }
  }
  update.graph = frontend::optimizerUpdate(config, type, 1, weightDecay, update.slots);
  update.countsSteps = readsSteps(update.graph);
  return update;
}

} // namespace

const Update &updateFor(const training::OptimizerConfig &config, double weightDecay, const TensorType &type) {
  static auto &mutex = *new std::mutex;
  static auto &table = *new Updates;
  std::lock_guard lock(mutex);
  std::tuple key(config, weightDecay, describe(type));
  auto row = table.find(key);
  if (row == table.end()) row = table.emplace(key, makeUpdate(table, config, weightDecay, type)).first;
  return row->second;
}

std::string placeOf(Source at, const std::string &what) { return frontend::placeText(at) + what; }

std::vector<std::string> stateNames(const std::vector<Parameter> &parameters) {
  std::map<std::string, int> uses;
  for (const Parameter &parameter : parameters) ++uses[parameter.name()];
  std::vector<std::string> names;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string &name = parameters[i].name();
    names.push_back(name.empty() || uses[name] > 1 ? "parameter." + std::to_string(i) : name);
  }
  return names;
}

namespace {

Parameter newState(const TensorType &type, double value, std::string name) {
  Parameter state(init::constant(type, value, Source()), /*trainable=*/false, Source());
  state.setName(std::move(name));
  return state;
}

} // namespace

Optimizer Optimizer::fromJson(const Parameters &given, const std::string &json, Source at) {
  nlohmann::json settings = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  std::string kind = "optimizer";
  if (settings.is_object() && settings.contains("name") && settings["name"].is_string())
    kind = settings["name"].get<std::string>();
  return of(given, training::parseOptimizer(json, placeOf(at, "optim::" + kind)), at);
}

training::OptimizerConfig Optimizer::settings(Source at) const {
  training::OptimizerConfig config = state->config;
  config.lr = baseLr(0, at);
  config.weightDecay = state->rows[0].weightDecay;
  return config;
}

Optimizer Optimizer::of(const Parameters &given, training::OptimizerConfig config, Source at) {
  const std::string kind = training::name(config.kind), place = placeOf(at, "optim::" + kind);
  training::check(config, place);
  Optimizer result;
  result.state = std::make_shared<State>();
  State &state = *result.state;
  state.config = config;
  state.config.lr = 1;
  state.config.weightDecay = 0;
  std::set<Parameter::Cell *> seen;
  for (size_t g = 0; g < given.groups.size(); ++g) {
    const Group &group = given.groups[g];
    double lr = group.lr.value_or(config.lr), decay = group.weightDecay.value_or(config.weightDecay);
    if (!(lr >= 0 && std::isfinite(lr)) || !(decay >= 0 && std::isfinite(decay)))
      badInput(place + ": group " + std::to_string(g) + " has lr " + frontend::realText(lr) + " and weight decay " +
               frontend::realText(decay) + ", expected numbers of at least 0");
    state.lr.push_back(newState({DType::f64, {}}, lr, training::kLr + (g ? "." + std::to_string(g) : "")));
    for (const Parameter &parameter : group.parameters) {
      requireTrained(parameter, seen, "optim::" + kind, at);
      state.parameters.push_back(parameter);
      state.rows.push_back({parameter, g, decay, &updateFor(state.config, decay, parameter.type()), {}, {}});
    }
  }
  if (state.rows.empty()) fail(at, "optim::" + kind, "there is no parameter");
  state.belonging = given;
  state.steps = newState({DType::i64, {}}, 0, training::kStep);
  std::vector<std::string> names = stateNames(state.parameters);
  for (size_t i = 0; i < state.rows.size(); ++i) {
    State::Row &row = state.rows[i];
    for (const frontend::OptimizerSlot &slot : row.update->slots)
      row.slots.push_back(newState(slot.isScalar ? TensorType{DType::f64, {}} : row.parameter.type(), slot.initial,
                                   training::slotName(slot.name, names[i])));
    if (row.update->countsSteps) row.skipped = newState({DType::i64, {}}, 0, training::kSkippedPrefix + names[i]);
  }
  return result;
}

void Optimizer::update(std::span<const Tensor> given, Source at) const {
  State &s = *state;
  s.belonging.check(s.parameters, "Optimizer::update", at);
  if (given.size() != s.rows.size())
    fail(at, "Optimizer::update",
         std::to_string(given.size()) + " gradients for " + std::to_string(s.rows.size()) + " parameters");
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i].defined() && !(given[i].type() == s.rows[i].parameter.type()))
      fail(at, "Optimizer::update",
           "parameter '" + s.rows[i].parameter.name() + "' is " + describe(s.rows[i].parameter.type()) +
               ", its gradient " + describe(given[i].type()));
  if (std::none_of(given.begin(), given.end(), [](const Tensor &g) { return g.defined(); }))
    fail(at, "Optimizer::update", "none of the " + std::to_string(given.size()) + " gradients holds a tensor");
  s.belonging.reportUntrained(s.parameters, "Optimizer::update", at);
  static constexpr frontend::HostSetting kSettings = {
      [](const void *source) { return static_cast<const State *>(source)->settings; },
      [](const void *source) { return "set to " + static_cast<const State *>(source)->settingsText(); },
  };
  for (size_t i = 0; i < given.size(); ++i)
    if (!s.isUpdated(i, given)) s.noteSkipped(s.rows[i]);
  for (const State::Row &row : s.rows)
    for (const Parameter &slot : row.slots) frontend::follow(slot, row.parameter, at);
  if (frontend::isRecording()) frontend::observe(kSettings, state, "an optimizer");
  NoGrad quiet;
  static const std::string &layer = frontend::intern("optimizer");
  frontend::LayerScope scope(&layer);
  std::vector<Tensor> gradients = s.clipped({given.begin(), given.end()}, at);

  static const frontend::OpName &cast = frontend::opName("nn.cast"), &add = frontend::opName("nn.add"),
                                &sub = frontend::opName("nn.sub"), &div = frontend::opName("nn.div");
  const TensorType i64{DType::i64, {}}, f64{DType::f64, {}};
  Tensor steps = s.steps.value(), count = frontend::record(cast, {steps}, {}, f64, at);
  std::vector<Tensor> rates;
  for (const Parameter &lr : s.lr) {
    Tensor rate = lr.value();
    if (s.rate) {
      Tensor time = steps;
      if (s.schedule->stepsPerUnit() > 1)
        time = frontend::record(div, {steps, frontend::scalarInteger(s.schedule->stepsPerUnit(), DType::i64, at)}, {},
                                i64, at);
      rate = frontend::replay(*s.rate, std::vector<Tensor>{rate, time}, at)[0];
    }
    rates.push_back(rate);
  }
  Tensor one = frontend::scalarInteger(1, DType::i64, at);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < s.rows.size(); ++i) {
    const State::Row &row = s.rows[i];
    if (!s.isUpdated(i, gradients)) {
      if (row.hasSkipped) row.skipped.set(frontend::record(add, {row.skipped.value(), one}, {}, i64, at), at);
      continue;
    }
    frontend::CreationScope there(frontend::openDevice(row.parameter.device(), "Optimizer::update", at));
    Tensor own = count;
    if (row.hasSkipped)
      own = frontend::record(cast, {frontend::record(sub, {steps, row.skipped.value()}, {}, i64, at)}, {}, f64, at);
    inputs = {row.parameter.value(), gradients[i], rates[row.group], own};
    for (const Parameter &slot : row.slots) inputs.push_back(slot.value());
    std::vector<Tensor> next = frontend::replay(row.update->graph, inputs, at);
    row.parameter.set(next[0], at);
    for (size_t j = 0; j < row.slots.size(); ++j) row.slots[j].set(next[j + 1], at);
  }
  s.steps.set(frontend::record(add, {steps, one}, {}, i64, at), at);
  frontend::endLineage();
}

/// "'a.weight', 'a.bias' and 4 others"
static std::string someNames(const std::vector<Parameter> &parameters) {
  constexpr size_t kMost = 3;
  std::vector<std::string> names = stateNames(parameters);
  std::string text;
  for (size_t i = 0; i < std::min(kMost, names.size()); ++i) text += (i ? ", '" : "'") + names[i] + "'";
  return names.size() > kMost ? text + " and " + std::to_string(names.size() - kMost) + " others" : text;
}

void Optimizer::step(Source at) const {
  state->belonging.check(state->parameters, "Optimizer::step", at);
  std::vector<Tensor> gradients;
  for (const Parameter &parameter : state->parameters) gradients.push_back(parameter.grad());
  if (std::none_of(gradients.begin(), gradients.end(), [](const Tensor &g) { return g.defined(); })) {
    bool isFrozen = std::none_of(state->parameters.begin(), state->parameters.end(),
                                 [](const Parameter &parameter) { return parameter.trainable(); });
    fail(at, "Optimizer::step",
         "none of its parameters (" + someNames(state->parameters) + ") has a gradient: " +
             (isFrozen ? "all of them are frozen (setTrainable(false))"
                       : "backward() has not run since zeroGrad(), or on what depends on other parameters; what grad() "
                         "gives goes to update()"));
  }
  update(gradients, at);
}

void Optimizer::zeroGrad(Source at) const {
  for (const Parameter &parameter : state->parameters) parameter.zeroGrad(at);
}

const std::vector<Parameter> &Optimizer::parameters() const { return state->parameters; }

static const Parameter &rateOf(const std::vector<Parameter> &lr, size_t group, Source at) {
  if (group >= lr.size())
    fail(at, "Optimizer", "group " + std::to_string(group) + " is asked for, there are " + std::to_string(lr.size()));
  return lr[group];
}

size_t Optimizer::groups() const { return state->lr.size(); }

void Optimizer::setLr(double lr, size_t group, Source at) const {
  if (!(lr >= 0 && std::isfinite(lr)))
    fail(at, "Optimizer::setLr", "the rate is " + frontend::realText(lr) + ", expected a number of at least 0");
  rateOf(state->lr, group, at).set(Tensor(lr), at);
}
double Optimizer::baseLr(size_t group, Source at) const {
  return rateOf(state->lr, group, at).value().item<double>(at);
}
double Optimizer::lr(size_t group, Source at) const {
  return state->schedule ? state->schedule->at(baseLr(group, at), steps(at)) : baseLr(group, at);
}
int64_t Optimizer::steps(Source at) const { return state->steps.value().item<int64_t>(at); }

std::string Optimizer::State::settingsText() const {
  std::string text = "schedule ";
  text += schedule ? schedule->json() : "none";
  if (schedule && schedule->stepsPerUnit() > 1) text += " by " + std::to_string(schedule->stepsPerUnit()) + " steps";
  text += ", clipNorm " + frontend::realText(clipNorm) + ", clipValue " + frontend::realText(clipValue);
  auto skipped = std::count_if(rows.begin(), rows.end(), [](const Row &row) { return row.hasSkipped; });
  return skipped ? text + ", " + std::to_string(skipped) + " parameters that steps have left alone" : text;
}

std::vector<Tensor> Optimizer::State::clipped(std::vector<Tensor> gradients, Source at) const {
  if (clipNorm > 0) gradients = clipGradNorm(gradients, clipNorm, at);
  return clipValue > 0 ? clipGradValue(gradients, clipValue, at) : gradients;
}

void Optimizer::State::noteSkipped(Row &row) {
  if (row.hasSkipped || !row.skipped.defined()) return;
  row.hasSkipped = true;
  settings = std::hash<std::string>()(settingsText());
}

void Optimizer::expect(const std::vector<std::string> &names) const {
  std::set<std::string> given(names.begin(), names.end());
  for (State::Row &row : state->rows)
    if (row.skipped.defined() && given.count(row.skipped.name())) state->noteSkipped(row);
}

Optimizer &Optimizer::setSchedule(const Schedule &schedule, Source at) {
  frontend::requireNotRecording("Optimizer::setSchedule", at);
  state->rate = std::make_shared<frontend::Graph>(frontend::learningRate(schedule.settings()));
  state->schedule = schedule;
  state->settings = std::hash<std::string>()(state->settingsText());
  return *this;
}
const std::optional<Schedule> &Optimizer::schedule() const { return state->schedule; }
/// A bound on gradients, which is set by `what`.
static double checkedBound(double most, const char *what, Source at) {
  frontend::requireNotRecording(what, at);
  if (!(most >= 0)) frontend::fail(at, what, "the bound is " + frontend::realText(most) + ", expected at least 0");
  return most;
}
Optimizer &Optimizer::setClipNorm(double most, Source at) {
  state->clipNorm = checkedBound(most, "Optimizer::setClipNorm", at);
  state->settings = std::hash<std::string>()(state->settingsText());
  return *this;
}
Optimizer &Optimizer::setClipValue(double most, Source at) {
  state->clipValue = checkedBound(most, "Optimizer::setClipValue", at);
  state->settings = std::hash<std::string>()(state->settingsText());
  return *this;
}

std::vector<std::pair<std::string, Parameter>> Optimizer::namedState() const {
  std::vector<std::pair<std::string, Parameter>> result{{state->steps.name(), state->steps}};
  for (const Parameter &lr : state->lr) result.emplace_back(lr.name(), lr);
  for (const State::Row &row : state->rows)
    for (const Parameter &slot : row.slots) result.emplace_back(slot.name(), slot);
  for (const State::Row &row : state->rows)
    if (row.hasSkipped) result.emplace_back(row.skipped.name(), row.skipped);
  return result;
}

nn::StateDict Optimizer::stateDict() const { return valuesOf(namedState()); }

void Optimizer::loadStateDict(const nn::StateDict &given, Source at) const {
  std::vector<std::string> names;
  for (const nn::NamedTensor &row : given) names.push_back(row.name);
  expect(names);
  loadNamed(namedState(), given, "Optimizer", at);
}

} // namespace sprig::optim
