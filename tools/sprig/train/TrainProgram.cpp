#include "tools/sprig/train/TrainProgram.h"
#include "sprig/rt/utf8.hpp"
#include "lib/Training/StateNames.h"
#include "runtime/api/Handles.h"
#include "runtime/collective/Piece.h"
#include "tools/sprig/Report.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

namespace sprig::cli {
namespace {

using training::kEvaluationEntry, training::kStepEntry, training::kStepsEntry;

std::shared_ptr<void> alignedBuffer(const TensorSpec &spec) {
  size_t bytes = size_t(data::byteSize(spec.dtype, spec.shape).value_or(0));
  std::shared_ptr<void> memory(std::aligned_alloc(64, (bytes + 64) / 64 * 64), std::free);
  if (!memory) throw std::bad_alloc();
  std::memset(memory.get(), 0, bytes);
  return memory;
}

// Results are read as what they are: a program of another compiler may have other ones.
void expectScalar(const TensorSpec &spec, data::DType type, const std::string &entry) {
  if (spec.dtype != type || !spec.shape.empty())
    badInput("entry '" + entry + "' of the package gives " + spec.name + " as " +
             data::describe(spec.dtype, spec.shape) + ", expected " + std::string(data::name(type)));
}

} // namespace

training::Evaluation EvaluationSums::scores() const {
  training::Evaluation result{added, std::nullopt, samples, correct, counted};
  for (size_t i = 0; i < sums.size(); ++i) result.loss += sums[i] / weights[i];
  if (counted > 0) result.accuracy = double(correct) / double(counted);
  return result;
}

void TrainProgram::Call::stop() {
  if (!future) return;
  sprig_rt_future_cancel(future.get());
  sprig_rt_status_free(sprig_rt_future_wait(future.get(), -1));
  future.reset();
}

bool TrainProgram::isOfAnyRank(const Runner &runner) {
  for (size_t entry = 0; entry < runner.entryCount(); ++entry)
    if (runner.ranks(entry).rank >= 0) return false;
  return true;
}

// What all ranks have of an entry together; of one rank its arrays say it, and 0 is returned.
static int64_t samplesOfRanks(const Runner &runner, uint32_t entry, const RankShare &share) {
  sprig_rt_ranks_info info = runner.ranks(entry);
  int ranks = std::max(1, int(info.ranks));
  if (ranks != share.ranks)
    badInput("the package has steps of " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") + ", expected " +
             std::to_string(share.ranks));
  if (info.rank >= 0 && info.rank != share.rank)
    badInput("the package has steps of rank " + std::to_string(info.rank) + ", expected rank " +
             std::to_string(share.rank));
  if (ranks > 1 && (info.samples == 0 || info.samples > uint64_t(std::numeric_limits<int64_t>::max())))
    badInput("the package has steps of " + std::to_string(ranks) + " ranks, which have " +
             std::to_string(info.samples) + " samples together");
  return ranks > 1 ? int64_t(info.samples) : 0;
}

// Packages from before do not state pieces: a tensor of the optimizer is one that has not the shape of its parameter,
// whose name follows its own ("optimizer/momentum/fc.weight").
static std::vector<std::vector<int64_t>> wholesByName(const std::vector<checkpoints::ArrayView> &state, int ranks) {
  std::vector<std::vector<int64_t>> wholes(state.size());
  for (size_t i = 0; i < state.size(); ++i) {
    std::string_view name = state[i].name;
    size_t slash = name.find('/', training::kOptimizerPrefix.size());
    if (!name.starts_with(training::kOptimizerPrefix) || slash == name.npos) continue;
    auto parameter = std::find_if(state.begin(), state.end(),
                                  [&](const auto &other) { return other.name == name.substr(slash + 1); });
    if (parameter == state.end() || parameter->shape == state[i].shape) continue;
    int64_t piece = rt::collective::flatPieceOf(rt::collective::elementsOf(parameter->shape), ranks);
    if (state[i].shape == std::vector{piece}) wholes[i] = parameter->shape;
  }
  return wholes;
}

// By array of a state: what it is a piece of, by so many ranks; nothing of whole ones.
static std::vector<std::vector<int64_t>> wholesOf(const Runner &runner,
                                                  const std::vector<checkpoints::ArrayView> &state, int ranks) {
  std::vector<std::vector<int64_t>> wholes;
  bool isStated = false;
  for (const rt::core::StateType &each : runner.package()->package->program().states) {
    const std::vector<int64_t> &whole = wholes.emplace_back(each.tensor.piece), &own = each.tensor.shape;
    if (whole.empty()) continue;
    isStated = true;
    if (own.size() == 1 && rt::collective::isFlatPiece(own[0], whole) &&
        rt::collective::flatPieceOf(rt::collective::elementsOf(whole), ranks) == own[0])
      continue;
    auto dtype = data::DType(each.tensor.dtype);
    badInput("state '" + each.tensor.name + "' of the package is " + data::describe(dtype, own) + ", no piece of " +
             data::describe(dtype, whole) + " by " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks"));
  }
  return isStated || ranks == 1 ? wholes : wholesByName(state, ranks);
}

// On the processor there is nothing to upload, shares of it over links included: a step that lies ready there hides
// only that its samples are gathered, and a hand-off to the queue's thread costs more than that.
TrainProgram::TrainProgram(Runner given, RankShare share)
    : runner(std::move(given)), share(share), ahead(share.ranks == 1 && !runner.package()->package->isOnHost()) {
  for (size_t i = 0; i < runner.entryCount(); ++i) {
    sprig_rt_entry_info info = runner.entryInfo(i);
    bool isStep = info.name == kStepEntry;
    if (!isStep && info.name != kEvaluationEntry) continue;
    std::vector<Calls> &calls = isStep ? steps : evaluations;
    Calls &added = calls.emplace_back(Calls{uint32_t(i), 0, 1, !isStep});
    added.turns[0] = prepare(added);
    added.samples = added.turns[0]->samples;
  }
  if (steps.empty() || !runner.state())
    badInput("the package has no entry 'train_step' that updates state: 'sprig compile --train' "
             "makes packages that train");
  wholes = wholesOf(runner, state(), share.ranks);
  interface = steps.front().turns[0]->specs;
  for (TensorSpec &spec : interface) spec.shape.erase(spec.shape.begin());
  for (size_t i = 0; i < runner.entryCount(); ++i) {
    sprig_rt_entry_info info = runner.entryInfo(i);
    if (info.name == kStepsEntry) findSeveral(uint32_t(i));
  }
}

// Of a package that two of them are in, the first: nothing makes such a one.
void TrainProgram::findSeveral(uint32_t entry) {
  if (several) return;
  size_t count = runner.inputs(entry).size(), each = interface.size();
  if (count < 2 * each || count % each)
    badInput("entry '" + std::string(kStepsEntry) + "' of the package takes " + std::to_string(count) +
             " arrays, expected " + std::to_string(each) + " for each of several steps");
  Calls calls{entry, 0, int64_t(count / each), false};
  calls.turns[0] = prepare(calls);
  calls.samples = calls.turns[0]->samples;
  several = std::move(calls);
}

std::unique_ptr<TrainProgram::Call> TrainProgram::prepare(const Calls &of) const {
  auto call = std::make_unique<Call>();
  uint32_t entry = of.entry;
  bool evaluation = of.evaluation;
  std::string name(evaluation ? kEvaluationEntry : of.steps > 1 ? kStepsEntry : kStepEntry);
  call->entry = int32_t(entry);
  call->steps = of.steps;
  call->samples = samplesOfRanks(runner, entry, share) / of.steps;
  call->specs = runner.inputs(entry);
  auto refuse = [&](const std::string &what) { badInput("entry '" + name + "' of the package " + what); };
  if (call->specs.size() < 2)
    refuse("takes " + std::to_string(call->specs.size()) + " arrays, expected inputs and targets");
  size_t perStep = call->specs.size() / size_t(of.steps);
  for (TensorSpec &spec : call->specs) {
    if (of.steps > 1) { // of a step of its own they are as of a single one
      const TensorSpec &single = interface[call->inputs.size() % perStep];
      if (spec.dtype != single.dtype || spec.shape.size() != single.shape.size() + 1 ||
          !std::equal(single.shape.begin(), single.shape.end(), spec.shape.begin() + 1))
        refuse("takes " + spec.name + " as " + data::describe(spec.dtype, spec.shape) + ", expected samples of " +
               data::describe(single.dtype, single.shape));
    }
    if (spec.shape.empty()) refuse("takes " + spec.name + " as a single number, expected samples");
    if (!call->samples) call->samples = spec.shape[0];
    int64_t own = evaluation ? share.sizeOfPass(call->samples) : share.sizeOfStep(call->samples);
    if (spec.shape[0] != own)
      refuse("takes " + spec.name + " as " + data::describe(spec.dtype, spec.shape) + ", expected " +
             std::to_string(own) + " samples first" +
             (share.ranks == 1 ? ""
                               : ": the share of rank " + std::to_string(share.rank) + " of " +
                                     std::to_string(call->samples) + " by " + std::to_string(share.ranks) + " ranks"));
    call->inputs.push_back(alignedBuffer(spec));
    call->inputViews.push_back(
        {call->inputs.back().get(), spec.shape.data(), nullptr, uint32_t(spec.shape.size()), int32_t(spec.dtype)});
    call->intakes.push_back({spec.dtype,
                             {spec.shape.begin() + 1, spec.shape.end()},
                             scalesBytes((call->inputs.size() - 1) % perStep, perStep)});
  }
  std::vector<TensorSpec> outputs = runner.outputs(entry);
  auto give = [&](void *place, data::DType type) {
    expectScalar(outputs[call->outputViews.size()], type, name);
    call->outputViews.push_back({place, nullptr, nullptr, 0, int32_t(type)});
  };
  size_t steps = size_t(of.steps), each = outputs.size() / steps;
  if (outputs.size() % steps || (evaluation ? each < 3 || each % 2 == 0 : each < 1 || each > 2))
    refuse("gives " + std::to_string(outputs.size()) + " results");
  call->results.resize(steps);
  call->losses.resize(evaluation ? each - 2 : steps);
  call->norms.resize(steps);
  if (evaluation) {
    for (float &loss : call->losses) give(&loss, data::DType::f32);
    give(&call->correct, data::DType::i64);
    give(&call->counted, data::DType::i64);
    return call;
  }
  for (size_t step = 0; step < steps; ++step) {
    give(&call->losses[step], data::DType::f32);
    if (each == 2) give(&call->norms[step], data::DType::f32);
  }
  return call;
}

// What its arrays were used for before has ended: two calls at most are under way.
TrainProgram::Call &TrainProgram::take(Calls &calls) {
  if (ahead) turn = 1 - turn;
  if (!calls.turns[turn]) calls.turns[turn] = prepare(calls);
  return *calls.turns[turn];
}

TrainProgram::Call &TrainProgram::nextSteps(int64_t samples, int64_t count) {
  if (count == 1) return next(steps, samples);
  if (!several || several->steps != count || several->samples != samples)
    badInput("the program has no entry for " + std::to_string(count) + " steps of " + std::to_string(samples) +
             " samples in one call");
  return take(*several);
}

TrainProgram::Call &TrainProgram::next(std::vector<Calls> &calls, int64_t samples) {
  std::string sizes;
  for (Calls &each : calls) {
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(each.samples);
    if (each.samples == samples) return take(each);
  }
  badInput("the program has no entry for " + std::to_string(samples) +
           " samples, only: " + (sizes.empty() ? "none" : sizes));
}

static std::vector<int64_t> sizesOf(const auto &calls) {
  std::vector<int64_t> sizes;
  for (auto &each : calls) sizes.push_back(each.samples);
  return sizes;
}
std::vector<int64_t> TrainProgram::stepSizes() const { return sizesOf(steps); }
std::vector<int64_t> TrainProgram::evaluationSizes() const { return sizesOf(evaluations); }

void TrainProgram::gather(Call &call, int64_t step, const TrainData &data, std::span<const int64_t> indices) {
  size_t each = call.inputs.size() / size_t(call.steps), first = size_t(step) * each;
  for (size_t i = 0; i < each; ++i)
    data::gather(i + 1 < each ? data.inputs[i] : *data.targets, indices, call.intakes[first + i],
                 call.inputs[first + i].get());
}

void TrainProgram::handOver() {
  Call &call = *std::exchange(loaded, nullptr);
  call.result.ready = training::Clock::now();
  if (ahead) {
    sprig_rt_future *future = nullptr;
    check(sprig_rt_submit(runner.runContext(), call.entry, call.inputViews.data(), call.inputViews.size(),
                          call.outputViews.data(), call.outputViews.size(), &future));
    call.future.reset(future);
  } else {
    check(sprig_rt_invoke(runner.runContext(), call.entry, call.inputViews.data(), call.inputViews.size(),
                          call.outputViews.data(), call.outputViews.size()));
    call.result.end = training::Clock::now();
  }
  underWay.push_back(&call);
}

TrainProgram::Call &TrainProgram::finishCall() {
  Call &call = *underWay.front();
  underWay.erase(underWay.begin());
  if (call.future) {
    std::unique_ptr<sprig_rt_future, Release> future = std::move(call.future);
    sprig_rt_status *status = sprig_rt_future_wait(future.get(), -1);
    call.batches.clear();
    check(status);
    sprig_rt_run_info run;
    sprig_rt_future_run(future.get(), &run);
    call.result.simulatedSeconds = run.simulated_seconds;
    // It may have ended while the samples of the next one were waited for.
    call.result.end = training::Clock::time_point(std::chrono::nanoseconds(sprig_rt_future_ended_ns(future.get())));
  }
  call.result.begin = std::max(call.result.begin, lastEnd);
  call.result.ready = std::max(call.result.ready, lastEnd);
  lastEnd = call.result.end;
  return call;
}

void TrainProgram::cancel() {
  for (Call *call : underWay) call->stop();
  underWay.clear();
}

void TrainProgram::load(const TrainData &data, std::span<const int64_t> all, int64_t count) {
  auto begin = training::Clock::now();
  size_t samples = all.size() / size_t(count);
  Call &call = nextSteps(int64_t(samples), count);
  if (share.ranks > 1) share.ofStep(int64_t(samples), places);
  for (int64_t step = 0; step < count; ++step) {
    std::span<const int64_t> given = all.subspan(size_t(step) * samples, samples);
    if (share.ranks > 1) {
      indices.clear();
      for (int64_t place : places) indices.push_back(given[size_t(place)]);
      given = indices;
    }
    gather(call, step, data, given);
  }
  call.result.begin = begin;
  loaded = &call;
}

void TrainProgram::load(std::span<const data::Batch> batches, training::Clock::time_point begin) {
  Call &call = nextSteps(batches.front().size(), int64_t(batches.size()));
  if (ahead) call.batches.assign(batches.begin(), batches.end()); // keeps their memory
  if (share.ranks > 1) share.ofStep(call.samples, places);
  for (size_t input = 0; input < call.inputViews.size(); ++input) {
    size_t i = input % interface.size();
    const void *bytes = batches[input / interface.size()].host(i).bytes();
    if (share.ranks == 1) {
      call.inputViews[input].data = const_cast<void *>(bytes); // inputs are only read
      continue;
    }
    size_t row = size_t(*data::byteSize(interface[i].dtype, interface[i].shape));
    char *own = static_cast<char *>(call.inputs[input].get());
    for (size_t at = 0; at < places.size(); ++at)
      std::memcpy(own + at * row, static_cast<const char *>(bytes) + size_t(places[at]) * row, row);
  }
  call.result.begin = begin;
  loaded = &call;
}

std::span<const StepResult> TrainProgram::finish() {
  Call &call = finishCall();
  bool hasNorm = call.outputViews.size() > size_t(call.steps);
  auto each = (call.result.end - call.result.ready) / call.steps;
  for (size_t step = 0; step < call.results.size(); ++step) {
    StepResult &result = call.results[step] = call.result;
    result.loss = call.losses[step];
    result.hasNorm = hasNorm;
    result.gradNorm = hasNorm ? call.norms[step] : std::nanf("");
    result.simulatedSeconds /= double(call.steps);
    if (step) result.begin = result.ready = call.results[step - 1].end;
    if (step + 1 < call.results.size()) result.end = result.ready + each;
  }
  return call.results;
}

int64_t TrainProgram::loadEvaluation(const TrainData &data, int64_t first) {
  int64_t count = data.count(), largest = 0;
  for (const Calls &each : evaluations) largest = std::max(largest, each.samples);
  // The rest is of a size that there is an entry for as well.
  int64_t samples = std::min(largest ? largest : count, count - first);
  Call &call = next(evaluations, samples);
  if (share.ranks > 1) {
    share.ofPass(samples, indices);
    for (int64_t &index : indices) index += first;
  } else {
    indices.resize(size_t(samples));
    std::iota(indices.begin(), indices.end(), first);
  }
  gather(call, 0, data, indices);
  loaded = &call;
  return samples;
}

void TrainProgram::finishEvaluation(EvaluationSums &result) {
  const Call &call = finishCall();
  size_t means = call.losses.size() / 2;
  result.sums.resize(means);
  result.weights.resize(means);
  result.added += double(call.losses.front());
  for (size_t i = 0; i < means; ++i) {
    result.sums[i] += double(call.losses[1 + 2 * i]);
    result.weights[i] += double(call.losses[2 + 2 * i]);
  }
  result.correct += call.correct;
  result.counted += call.counted;
  result.samples += call.samples;
}

// Where the state lies, or what it is now where that is not the host's memory.
const void *TrainProgram::stateOnHost(uint32_t index, uint64_t bytes) const {
  void *data = nullptr;
  sprig_rt_status *status = sprig_rt_state_data(runner.state(), index, &data, nullptr);
  if (sprig_rt_status_code(status) != SPRIG_RT_UNSUPPORTED) {
    check(status);
    return data;
  }
  sprig_rt_status_free(status);
  mirror.resize(std::max<size_t>(mirror.size(), index + 1));
  mirror[index].resize(bytes);
  check(sprig_rt_state_read(runner.state(), index, mirror[index].data(), bytes));
  return mirror[index].data();
}

std::vector<checkpoints::ArrayView> TrainProgram::state() const {
  sprig_rt_package_info info;
  sprig_rt_package_describe(runner.package(), &info);
  std::vector<checkpoints::ArrayView> views;
  for (uint32_t i = 0; i < info.state_count; ++i) {
    sprig_rt_tensor_info tensor;
    check(sprig_rt_package_state(runner.package(), i, &tensor));
    views.push_back({tensor.name,
                     data::DType(tensor.dtype),
                     {tensor.shape, tensor.shape + tensor.rank},
                     {static_cast<const char *>(stateOnHost(i, tensor.bytes)), size_t(tensor.bytes)}});
  }
  return views;
}

bool TrainProgram::hasPieces() const {
  return std::any_of(wholes.begin(), wholes.end(), [](const auto &whole) { return !whole.empty(); });
}

void TrainProgram::start(double lr, uint64_t seed) {
  int64_t key = int64_t(seed);
  uint32_t index = 0;
  for (auto &view : state()) {
    const void *value = view.name == training::kLr     ? static_cast<const void *>(&lr)
                        : view.name == training::kSeed ? &key
                                                       : nullptr;
    if (value && view.bytes.size() == 8) check(sprig_rt_state_write(runner.state(), index, value, 8));
    ++index;
  }
}

uint64_t TrainProgram::stateBytes() const {
  sprig_rt_package_info info;
  sprig_rt_package_describe(runner.package(), &info);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < info.state_count; ++i) {
    sprig_rt_tensor_info tensor;
    check(sprig_rt_package_state(runner.package(), i, &tensor));
    bytes += tensor.bytes;
  }
  return bytes;
}

void TrainProgram::restore(std::span<const data::Array> arrays) {
  std::vector<checkpoints::ArrayView> views = state();
  if (views.size() != arrays.size())
    badInput("the checkpoint has " + std::to_string(arrays.size()) + " arrays, the program " +
             std::to_string(views.size()));
  std::vector<const data::Array *> sources;
  for (size_t i = 0; i < views.size(); ++i) {
    const checkpoints::ArrayView &view = views[i];
    const data::Array *source = nullptr;
    for (const data::Array &array : arrays)
      if (array.name == view.name || array.name == rt::validUtf8(view.name)) source = &array; // of a file, or of a copy
    if (!source) badInput("the checkpoint has no array '" + view.name + "'");
    const std::vector<int64_t> &shape = wholeOf(i) ? *wholeOf(i) : view.shape;
    if (source->dtype != view.dtype || source->shape != shape)
      badInput("'" + view.name + "' is " + data::describe(*source) + " in the checkpoint, " +
               data::describe(view.dtype, shape) + " in the program");
    sources.push_back(source);
  }
  // All of it fits; only now is anything changed.
  for (size_t i = 0; i < views.size(); ++i) {
    std::vector<char> piece;
    if (wholeOf(i))
      piece = rt::collective::cutFlat(sources[i]->bytes, data::size(views[i].dtype), share.ranks, share.rank);
    const std::vector<char> &bytes = wholeOf(i) ? piece : sources[i]->bytes;
    check(sprig_rt_state_write(runner.state(), uint32_t(i), bytes.data(), views[i].bytes.size()));
  }
}

std::vector<data::Array> TrainProgram::parameters() const {
  std::vector<checkpoints::ArrayView> views = state();
  std::vector<data::Array> result;
  for (auto &view : views) {
    if (training::isTrainingState(view.name)) continue;
    auto average = std::find_if(views.begin(), views.end(),
                                [&](auto &other) { return other.name == training::averageName(view.name); });
    const auto &source = average == views.end() ? view : *average;
    result.push_back({view.name, view.dtype, view.shape, {source.bytes.begin(), source.bytes.end()}});
  }
  return result;
}

void TrainProgram::setParameters(std::span<const data::Array> arrays) {
  uint32_t index = 0;
  for (const checkpoints::ArrayView &view : state()) {
    for (const data::Array &array : arrays)
      if (view.name == array.name || view.name == training::averageName(array.name))
        check(sprig_rt_state_write(runner.state(), index, array.bytes.data(), array.bytes.size()));
    ++index;
  }
}

} // namespace sprig::cli
