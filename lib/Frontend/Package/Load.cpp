#include "lib/Frontend/Base/DeviceThreads.h"
#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Engine/CallLineage.h"
#include "lib/Frontend/Engine/MeetingTask.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Engine/Trace.h"
#include "runtime/comm/GroupHandle.h"
#include "sprig/package.h"
#include "sprig/rt/sprig_rt.hpp"
#include <algorithm>
#include <mutex>

namespace sprig {

using namespace frontend;

namespace {
/// The runtime's errors as this interface's.
Error fromRuntime(const rt::Error &error, const std::string &where = "") {
  return Error(ErrorKind(error.exitCode()), where + error.what());
}
rt::TensorView viewOf(const Tensor &tensor) {
  const Value &value = *tensor.raw();
  return rt::TensorView(value.storage->data, rt::DType(int(value.type.dtype)), rt::Dims(value.type.shape));
}
/// A package made ready for the thread's device of new tensors.
struct Loaded {
  explicit Loaded(rt::Package loaded)
      : package(std::move(loaded)), state(package),
        threads(package.info().device_count > 1 ? std::vector<DeviceId>() : std::vector{device}),
        context(package, {.pool = threads.pool(), .state = &state}) {}
  rt::Package package;
  rt::State state;
  DeviceId device = currentDevice(); ///< whose queue its functions are in
  DeviceThreads threads;
  rt::Context context;

  std::mutex joining;
  std::shared_ptr<RankEnd> rank; ///< that calls it; null: none
  sprig_rt_group group;

  /// Before each run: where devices have been opened since, fewer threads are its own.
  void takeThreads() {
    if (!threads.changed()) return;
    context = rt::Context(package, {.pool = threads.pool(), .state = &state});
    if (rank) rt::check(sprig_rt_context_set_group(context.raw(), &group));
  }
  /// Refuses in words where another rank, which has not ended, calls it.
  std::string join(std::shared_ptr<RankEnd> end) {
    std::lock_guard lock(joining);
    if (rank && !rank->isClosed() && !rank->isHere())
      return "it has been joined as " + rank->text() + ", which is another thread; each rank loads its own";
    // What was called before is of the group that was joined before.
    flushDevice(device);
    Engine::of(computeLane(device)).drain();
    sprig_rt_group given{end->group};
    rt::check(sprig_rt_context_set_group(context.raw(), &given));
    rank = std::move(end);
    group = std::move(given);
    return "";
  }
  sprig_rt_ranks_info ranksInfo(uint32_t entry) const {
    sprig_rt_ranks_info info = {};
    info.size = sizeof info;
    rt::check(sprig_rt_package_entry_ranks(package.raw(), entry, &info));
    return info;
  }
  uint32_t ranksOf(uint32_t entry) const { return std::max(ranksInfo(entry).ranks, 1u); }
  /// Whether it is the program of another rank than the one that calls.
  bool isOfOther(uint32_t entry) const {
    int32_t of = ranksInfo(entry).rank;
    return of >= 0 && rank && of != rank->group->rank();
  }

  /// The queues that its functions are in: of several devices, those of all that are open.
  std::vector<LaneId> lanes() const {
    std::vector<LaneId> lanes{computeLane(device)};
    for (uint32_t i = 0, count = package.info().device_count; count > 1 && i < count; ++i) {
      const char *name = nullptr;
      rt::check(sprig_rt_package_device(package.raw(), i, &name));
      if (auto number = findDevice(Device(name, Source())); number && *number != device)
        lanes.push_back(computeLane(*number));
    }
    return lanes;
  }

  uint32_t stateCount() const { return package.info().state_count; }
  rt::TensorInfo stateInfo(uint32_t index) const {
    sprig_rt_tensor_info info;
    rt::check(sprig_rt_package_state(package.raw(), index, &info));
    return rt::TensorInfo(info);
  }
};

class PackageTask : public Task {
public:
  std::shared_ptr<Loaded> package;
  int32_t entry = 0;
  std::string name;
  std::vector<Tensor> inputs;
  std::vector<Value *> outputs; // a reference each
  DeviceId device = 0;
  std::vector<LaneId> lanes;
  std::shared_ptr<RankEnd> rank; ///< whose collectives it has; null: none
  CollectiveOrder::Turn turn;

  ~PackageTask() override {
    for (Value *value : outputs) drop(value);
  }
  void run() override {
    for (const Tensor &input : inputs) Engine::waitForOther(*input.raw(), computeLane(device));
    if (rank) turn.await();
    execute();
    if (rank) turn.end();
  }

private:
  void execute() {
    Failure failure;
    for (const Tensor &input : inputs)
      if (input.raw()->failure) failure = input.raw()->failure;
    if (!failure) try {
        std::vector<rt::TensorView> in, out;
        for (const Tensor &input : inputs) in.push_back(viewOf(input));
        for (Value *value : outputs) {
          value->storage = Storage::allocate(value->type.bytes());
          out.emplace_back(value->storage->data, rt::DType(int(value->type.dtype)), rt::Dims(value->type.shape));
        }
        package->takeThreads();
        package->context.invoke(in, out, entry);
      } catch (const rt::Error &error) {
        failure = std::make_shared<Error>(fromRuntime(error, name + ": "));
      } catch (const Error &error) {
        failure = std::make_shared<Error>(error);
      }
    for (Value *value : outputs) {
      value->failure = failure;
      value->state.store(failure ? Value::State::failed : Value::State::ready, std::memory_order_release);
    }
    if (!failure) return;
    // The others wait for this rank. Where they have failed themselves, they know.
    if (rank) rank->group->fail({SPRIG_RT_CANCELLED, rank->text() + ": " + failure->what()});
    for (LaneId lane : lanes) Engine::of(lane).noteFailure(failure);
  }
};

} // namespace

struct Package::Impl : Loaded {
  using Loaded::Loaded;
};

std::vector<std::string> Package::functions(Source at) const {
  if (!impl) fail(at, "Package", "it holds nothing");
  std::vector<std::string> names;
  for (uint32_t i = 0; i < impl->package.entryCount(); ++i) {
    std::string name = impl->package.entry(i).name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

void Package::join(const dist::Group &group, Source at) {
  if (!impl) fail(at, "Package", "it holds nothing");
  if (group.size() == 0) fail(at, "Package", "joins a part of a group that this rank is not in");
  std::shared_ptr<RankEnd> end = dist::endOf(group);
  if (!end->isHere()) fail(at, "Package", "joins as " + end->text() + ", which is another thread or has ended");
  if (std::string why = impl->join(std::move(end)); !why.empty()) fail(at, "Package", why);
}

int Package::ranks(const std::string &function, Source at) const {
  if (!impl) fail(at, "Package", "it holds nothing");
  for (uint32_t i = 0; i < impl->package.entryCount(); ++i)
    if (impl->package.entry(i).name == function) return int(impl->ranksOf(i));
  fail(at, "Package", "there is no function '" + function + "'");
}

/// Before a function of several ranks is called: that this thread is one of them.
static void requireRank(const std::shared_ptr<RankEnd> &rank, const std::string &function, uint32_t ranks, Source at) {
  const std::string of = "is of " + std::to_string(ranks) + " ranks";
  if (!rank) fail(at, function, of + ", and the package of none: join(group) says which one calls it");
  if (!rank->isHere()) fail(at, function, "is called as " + rank->text() + ", which is another thread or has ended");
  if (uint32_t(rank->group->ranks()) != ranks) fail(at, function, of + ", and called as " + rank->text());
}

std::vector<Tensor> Package::call(const std::string &function, std::span<const Tensor> inputs, Source at) const {
  if (!impl) fail(at, "Package", "it holds nothing");
  if (Trace::current()) fail(at, function, "a loaded package is called while a function is being recorded");
  std::vector<sprig_rt_tensor> described;
  std::vector<rt::Dims> shapes;
  for (const Tensor &input : inputs) {
    requireDefined(input, function.c_str(), "an input", at);
    if (const Value &value = *input.raw(); value.isPlaced() && value.device != impl->device)
      fail(at, function,
           "got " + describe(value.type) + " on " + deviceOf(value.device).name() +
               ", and the package was loaded for " + deviceOf(impl->device).name() + "; copy it by .to(\"" +
               deviceOf(impl->device).name() + "\"), or load the package in a DeviceScope");
    shapes.emplace_back(input.shape());
  }
  // Choosing looks at types and shapes alone, but wants an address.
  static char anywhere;
  for (size_t i = 0; i < inputs.size(); ++i)
    described.push_back({&anywhere, shapes[i].data(), nullptr, uint32_t(shapes[i].size()), int32_t(inputs[i].dtype())});
  auto task = std::make_unique<PackageTask>();
  std::vector<Tensor> results;
  try {
    // The function's entry that fits exactly, else one that the batch is split or padded to.
    int64_t first = -1, exact = -1, samples = -1;
    for (uint32_t i = 0; i < impl->package.entryCount() && exact < 0; ++i) {
      if (impl->package.entry(i).name != function) continue;
      if (first < 0) first = i;
      if (impl->isOfOther(i)) continue;
      if (impl->isOfOther(uint32_t(first))) first = i;
      std::vector<rt::TensorInfo> wanted = impl->package.inputs(i);
      bool fits = wanted.size() == inputs.size();
      for (size_t k = 0; fits && k < wanted.size(); ++k)
        fits = int(wanted[k].dtype) == int(inputs[k].dtype()) && Shape(wanted[k].shape) == inputs[k].shape();
      if (fits) exact = i;
    }
    if (first < 0) {
      std::string known;
      for (const std::string &name : functions(at)) known += (known.empty() ? "'" : ", '") + name + "'";
      fail(at, "Package", "there is no function '" + function + "'; it has " + known);
    }
    uint32_t chosen = 0;
    rt::check(sprig_rt_package_choose(impl->package.raw(), int32_t(exact < 0 ? first : exact), described.data(),
                                      described.size(), &chosen, &samples));
    if (uint32_t ranks = impl->ranksOf(chosen); ranks > 1) {
      requireRank(impl->rank, function, ranks, at);
      task->rank = impl->rank;
    }
    for (const rt::TensorInfo &info : impl->package.outputs(chosen)) {
      TensorType type{DType(int(info.dtype)), Shape(info.shape)};
      if (samples >= 0) type.shape[0] = samples;
      auto *value = new Value(type, Value::State::queued);
      value->device = impl->device;
      value->lane = computeLane(impl->device);
      keep(value);
      task->outputs.push_back(value);
      results.push_back(Tensor::own(value));
    }
    task->entry = int32_t(chosen);
  } catch (const rt::Error &error) {
    throw fromRuntime(error, placeText(at));
  }
  task->package = impl;
  task->name = function;
  task->device = impl->device;
  task->inputs.assign(inputs.begin(), inputs.end());
  if (lineageIsOn())
    rememberRefused(&intern("function '" + function +
                            "' of a loaded package, which has no gradient: take it of what the package was made of"),
                    inputs, results);
  std::vector<LaneId> lanes = task->lanes = impl->lanes();
  for (LaneId lane : lanes) flushDevice(deviceOfLane(lane), /*wake=*/false);
  flushBefore(inputs);
  if (task->rank) task->turn = task->rank->order->next(computeLane(impl->device));
  pushToAll(lanes, std::move(task));
  Engine::makeRoom();
  return results;
}

Tensor Package::callMain(std::span<const Tensor> inputs, Source at) const {
  std::vector<Tensor> outputs = call("main", inputs, at);
  if (outputs.empty()) fail(at, "Package", "'main' gives no output; call() calls it");
  return outputs[0];
}

std::vector<std::string> Package::states(Source at) const {
  if (!impl) fail(at, "Package", "it holds nothing");
  std::vector<std::string> names;
  for (uint32_t i = 0; i < impl->stateCount(); ++i) names.push_back(impl->stateInfo(i).name);
  return names;
}

Tensor Package::state(const std::string &name, Source at) const {
  if (!impl) fail(at, "Package", "it holds nothing");
  for (uint32_t i = 0; i < impl->stateCount(); ++i) {
    rt::TensorInfo info = impl->stateInfo(i);
    if (info.name != name) continue;
    flushDevice(impl->device);
    Engine::of(computeLane(impl->device)).drain();
    return Tensor::copyOf(impl->state.bytes(i).data(), {DType(int(info.dtype)), Shape(info.shape)});
  }
  fail(at, "Package", "there is no state '" + name + "'");
}

template <typename Make> static Package loaded(Make make) {
  try {
    return make();
  } catch (const rt::Error &error) {
    throw fromRuntime(error);
  }
}

Package load(const std::string &path) {
  return loaded([&] {
    Package package;
    package.impl = std::make_shared<Package::Impl>(rt::Package::load(path));
    return package;
  });
}

Package loadBytes(std::span<const uint8_t> bytes, const std::string &name) {
  return loaded([&] {
    Package package;
    package.impl = std::make_shared<Package::Impl>(rt::Package::fromMemory(bytes, name));
    return package;
  });
}

} // namespace sprig
