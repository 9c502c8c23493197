#include "tools/sprig/train/TrainProgram.h"
#include "sprig/rt/utf8.hpp"
#include "lib/Training/StateNames.h"
#include "sprig/error.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace sprig::cli {
namespace {

using training::kEvaluationEntry, training::kStepEntry;

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
    throw Error(ErrorKind::badInput, "entry '" + entry + "' of the package gives " + spec.name + " as " +
                                         data::describe(spec.dtype, spec.shape) + ", expected " +
                                         std::string(data::name(type)));
}

} // namespace

TrainProgram::TrainProgram(Runner loaded) : runner(std::move(loaded)) {
  for (size_t i = 0; i < runner.entryCount(); ++i) {
    sprig_rt_entry_info info;
    check(sprig_rt_package_entry(runner.package(), uint32_t(i), &info));
    if (info.name == kStepEntry) steps.push_back(prepare(uint32_t(i), false));
    if (info.name == kEvaluationEntry) evaluations.push_back(prepare(uint32_t(i), true));
  }
  if (steps.empty() || !runner.state())
    throw Error(ErrorKind::badInput,
                "the package has no entry 'train_step' that updates state: 'sprig compile --train' "
                "makes packages that train");
  interface = steps.front()->specs;
  for (TensorSpec &spec : interface) spec.shape.erase(spec.shape.begin());
}

std::unique_ptr<TrainProgram::Call> TrainProgram::prepare(uint32_t entry, bool evaluation) {
  auto call = std::make_unique<Call>();
  std::string name(evaluation ? kEvaluationEntry : kStepEntry);
  call->entry = int32_t(entry);
  call->specs = runner.inputs(entry);
  auto refuse = [&](const std::string &what) {
    throw Error(ErrorKind::badInput, "entry '" + name + "' of the package " + what);
  };
  if (call->specs.size() < 2)
    refuse("takes " + std::to_string(call->specs.size()) + " arrays, expected inputs and targets");
  for (TensorSpec &spec : call->specs) {
    if (spec.shape.empty()) refuse("takes " + spec.name + " as a single number, expected samples");
    call->samples = spec.shape[0];
    call->inputs.push_back(alignedBuffer(spec));
    call->inputViews.push_back(
        {call->inputs.back().get(), spec.shape.data(), nullptr, uint32_t(spec.shape.size()), int32_t(spec.dtype)});
    call->intakes.push_back({spec.dtype,
                             {spec.shape.begin() + 1, spec.shape.end()},
                             scalesBytes(call->inputs.size() - 1, call->specs.size())});
  }
  std::vector<TensorSpec> outputs = runner.outputs(entry);
  size_t least = evaluation ? 3 : 1, most = evaluation ? 3 : 2;
  if (outputs.size() < least || outputs.size() > most) refuse("gives " + std::to_string(outputs.size()) + " results");
  void *floats[] = {&call->loss, &call->norm}, *counts[] = {&call->loss, &call->correct, &call->counted};
  for (size_t i = 0; i < outputs.size(); ++i) {
    data::DType type = evaluation && i > 0 ? data::DType::i64 : data::DType::f32;
    expectScalar(outputs[i], type, name);
    call->outputViews.push_back({evaluation ? counts[i] : floats[i], nullptr, nullptr, 0, int32_t(type)});
  }
  return call;
}

TrainProgram::Call &TrainProgram::ofSize(std::vector<std::unique_ptr<Call>> &calls, int64_t samples) {
  for (auto &call : calls)
    if (call->samples == samples) return *call;
  std::string sizes;
  for (auto &call : calls) sizes += (sizes.empty() ? "" : ", ") + std::to_string(call->samples);
  throw Error(ErrorKind::badInput, "the program has no entry for " + std::to_string(samples) +
                                       " samples, only: " + (sizes.empty() ? "none" : sizes));
}

static std::vector<int64_t> sizesOf(const auto &calls) {
  std::vector<int64_t> sizes;
  for (auto &call : calls) sizes.push_back(call->samples);
  return sizes;
}
std::vector<int64_t> TrainProgram::stepSizes() const { return sizesOf(steps); }
std::vector<int64_t> TrainProgram::evaluationSizes() const { return sizesOf(evaluations); }

void TrainProgram::gather(Call &call, const TrainData &data, std::span<const int64_t> indices) {
  for (size_t i = 0; i + 1 < call.inputs.size(); ++i)
    data::gather(data.inputs[i], indices, call.intakes[i], call.inputs[i].get());
  data::gather(*data.targets, indices, call.intakes.back(), call.inputs.back().get());
}

void TrainProgram::invoke(Call &call) {
  check(sprig_rt_invoke(runner.runContext(), call.entry, call.inputViews.data(), call.inputViews.size(),
                        call.outputViews.data(), call.outputViews.size()));
}

StepResult TrainProgram::stepOf(Call &call, StepResult::Clock::time_point begin) {
  StepResult result;
  result.begin = begin;
  result.ready = StepResult::Clock::now();
  invoke(call);
  result.end = StepResult::Clock::now();
  result.loss = call.loss;
  result.gradNorm = call.outputViews.size() > 1 ? call.norm : std::nanf("");
  return result;
}

StepResult TrainProgram::step(const TrainData &data, std::span<const int64_t> indices) {
  auto begin = StepResult::Clock::now();
  Call &call = ofSize(steps, int64_t(indices.size()));
  gather(call, data, indices);
  return stepOf(call, begin);
}

StepResult TrainProgram::step(const data::Batch &batch, StepResult::Clock::time_point begin) {
  Call &call = ofSize(steps, batch.size());
  for (size_t i = 0; i < call.inputViews.size(); ++i)
    call.inputViews[i].data = const_cast<void *>(batch.host(i).bytes()); // inputs are only read
  return stepOf(call, begin);
}

EvaluationResult TrainProgram::evaluate(const TrainData &data) {
  int64_t count = data.count(), largest = 0;
  for (auto &call : evaluations) largest = std::max(largest, call->samples);
  EvaluationResult result;
  std::vector<int64_t> indices;
  for (int64_t first = 0; first < count; first += int64_t(indices.size())) {
    // The rest is of a size that there is an entry for as well.
    indices.resize(size_t(std::min(largest ? largest : count, count - first)));
    std::iota(indices.begin(), indices.end(), first);
    Call &call = ofSize(evaluations, int64_t(indices.size()));
    gather(call, data, indices);
    invoke(call);
    result.lossSum += double(call.loss);
    result.correct += call.correct;
    result.counted += call.counted;
    result.samples += int64_t(indices.size());
  }
  return result;
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

std::vector<checkpoint::ArrayView> TrainProgram::state() const {
  sprig_rt_package_info info;
  sprig_rt_package_describe(runner.package(), &info);
  std::vector<checkpoint::ArrayView> views;
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
  uint64_t bytes = 0;
  for (auto &view : state()) bytes += view.bytes.size();
  return bytes;
}

void TrainProgram::restore(std::span<const data::Array> arrays) {
  std::vector<checkpoint::ArrayView> views = state();
  if (views.size() != arrays.size())
    throw Error(ErrorKind::badInput, "the checkpoint has " + std::to_string(arrays.size()) + " arrays, the program " +
                                         std::to_string(views.size()));
  std::vector<const data::Array *> sources;
  for (auto &view : views) {
    const data::Array *source = nullptr;
    for (const data::Array &array : arrays)
      if (array.name == view.name || array.name == rt::validUtf8(view.name)) source = &array; // of a file, or of a copy
    if (!source) throw Error(ErrorKind::badInput, "the checkpoint has no array '" + view.name + "'");
    if (source->dtype != view.dtype || source->shape != view.shape)
      throw Error(ErrorKind::badInput, "'" + view.name + "' is " + data::describe(*source) + " in the checkpoint, " +
                                           data::describe(view.dtype, view.shape) + " in the program");
    sources.push_back(source);
  }
  // All of it fits; only now is anything changed.
  for (size_t i = 0; i < views.size(); ++i)
    check(sprig_rt_state_write(runner.state(), uint32_t(i), sources[i]->bytes.data(), views[i].bytes.size()));
}

std::vector<data::Array> TrainProgram::parameters() const {
  std::vector<checkpoint::ArrayView> views = state();
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

} // namespace sprig::cli
