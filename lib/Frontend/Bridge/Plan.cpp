// compilePlan and compilePackage: graphs to packages, and one of them loaded on the caller's memory.
#include "dialects/NN/Attributes.h"
#include "lib/Frontend/Base/DeviceThreads.h"
#include "lib/Frontend/Base/DevicesUsed.h"
#include "lib/Frontend/Bridge/PlanFunction.h"
#include "lib/JIT/TimePackage.h"
#include "lib/Pipeline/Pipeline.h"
#include "runtime/comm/GroupHandle.h"
#include "sprig/error.h"
#include "sprig/rt/sprig_rt.hpp"
#include <map>

using namespace sprig;
using namespace sprig::frontend;

namespace {

std::vector<uint8_t> compile(mlir::ModuleOp module, const CompileOptions &options) {
  try {
    return compileModule(module, options, nullptr, options.tuneSeconds > 0 ? packageTimer(options.threads) : nullptr)
        .package;
  } catch (const Error &error) {
    throw Error(error.kind(), bridge::withoutOpNames(error.what()));
  }
}

class CompiledPlan final : public Plan {
public:
  CompiledPlan(rt::Package code, const Graph &graph, std::span<const StateSlot> slots, const std::string &name,
               std::vector<DeviceId> devices, std::shared_ptr<rt::comm::RankGroup> given, int64_t repetitions)
      : name(name), package(std::move(code)), repetitions(repetitions), state(rt::State::bound(package)),
        threads(std::move(devices)), context(package, {threads.pool(), &state, 0}), ranks{std::move(given)} {
    if (repetitions > 1) entry = package.findEntry(repeatedName(name));
    std::vector<char> isState(graph.inputCount), isNext(graph.outputs.size());
    for (const StateSlot &slot : slots) {
      isState[slot.input] = true;
      if (slot.output >= 0) isNext[size_t(slot.output)] = true;
    }
    for (uint32_t i = 0; i < graph.inputCount; ++i)
      if (!isState[i]) inputTypes.push_back(graph.types[i]);
    if (ranks.group) { // of samples that ranks divide the package has this one's
      std::vector<rt::TensorInfo> own = package.inputs(0);
      for (size_t i = 0; i < inputTypes.size(); ++i)
        inputTypes[i].shape = Shape(own[i].shape.data(), own[i].shape.size());
    }
    for (size_t i = 0; i < graph.outputs.size(); ++i)
      if (!isNext[i]) outputTypes.push_back(graph.types[graph.outputs[i]]);
    for (std::vector<sprig::TensorType> *ports : {&inputTypes, &outputTypes}) {
      const std::vector<sprig::TensorType> one = *ports;
      for (int64_t more = 1; more < repetitions; ++more) ports->insert(ports->end(), one.begin(), one.end());
    }
    for (const StateSlot &slot : slots) slotNames.push_back(slot.name);
    start();
  }
  CompiledPlan(const CompiledPlan &other, DeviceId device, bool isOnce)
      : name(other.name), package(other.package), entry(isOnce ? 0 : other.entry),
        repetitions(isOnce ? 1 : other.repetitions), state(rt::State::bound(package)), threads({device}),
        context(package, {threads.pool(), &state, 0}), ranks(other.ranks), inputTypes(other.inputTypes),
        outputTypes(other.outputTypes), slotNames(other.slotNames) {
    for (std::vector<sprig::TensorType> *ports : {&inputTypes, &outputTypes})
      ports->resize(ports->size() / size_t(other.repetitions / repetitions));
    start();
  }

  std::unique_ptr<Plan> on(DeviceId device) const override {
    return std::make_unique<CompiledPlan>(*this, device, /*isOnce=*/false);
  }
  std::unique_ptr<Plan> once(DeviceId device) const override {
    return std::make_unique<CompiledPlan>(*this, device, /*isOnce=*/true);
  }

  void run(std::span<void *const> in, std::span<void *const> out, std::span<void *const> states,
           uint64_t version) override {
    if (in.size() != inputs.size() || out.size() != outputs.size() || states.size() != bound.size())
      internalError("'" + name + "' is run on " + std::to_string(in.size()) + " inputs, " + std::to_string(out.size()) +
                    " outputs and " + std::to_string(states.size()) + " states, which are not those that it has");
    if (threads.changed()) [[unlikely]] {
      context = rt::Context(package, {threads.pool(), &state, 0});
      join();
    }
    for (size_t i = 0; i < in.size(); ++i) inputs[i].data = in[i];
    for (size_t i = 0; i < out.size(); ++i) outputs[i].data = out[i];
    for (size_t i = 0; i < states.size(); ++i)
      if (states[i] != bound[i].data) rebind(bound[i], states[i]);
    if (!prepared.empty() && (version == 0 || version != preparedVersion)) {
      preparedVersion = 0;
      check(sprig_rt_invoke(context.raw(), kPrepareEntry, nullptr, 0, nullptr, 0));
      preparedVersion = version;
    }
    check(sprig_rt_invoke(context.raw(), int32_t(entry), inputs.data(), inputs.size(), outputs.data(), outputs.size()));
    used->note();
  }

  static std::string repeatedName(const std::string &name) { return name + ", repeated"; }

private:
  static constexpr int32_t kPrepareEntry = 1; // after the graph's own

  struct Bound {
    int64_t index = -1; // among the package's states; -1: nothing uses it
    void *data = nullptr;
  };

  /// The context becomes the rank that it is to be.
  void join() {
    if (ranks.group) check(sprig_rt_context_set_group(context.raw(), &ranks));
  }

  void start() {
    join();
    inputs = tensorsOf(inputTypes);
    outputs = tensorsOf(outputTypes);
    findStates();
    const char *kind = "";
    rt::check(sprig_rt_package_device(package.raw(), 0, &kind));
    used = &UsedDevice::of(kind);
  }

  static std::vector<sprig_rt_tensor> tensorsOf(const std::vector<sprig::TensorType> &types) {
    std::vector<sprig_rt_tensor> tensors;
    for (const sprig::TensorType &type : types)
      tensors.push_back({nullptr, type.shape.data(), nullptr, uint32_t(type.shape.rank()), int32_t(type.dtype)});
    return tensors;
  }

  void findStates() {
    std::map<std::string, int64_t> indices;
    for (uint32_t i = 0; i < package.info().state_count; ++i) {
      sprig_rt_tensor_info info;
      rt::check(sprig_rt_package_state(package.raw(), i, &info));
      indices[info.name] = i;
    }
    for (const std::string &slot : slotNames) {
      auto found = indices.find(slot);
      bound.push_back({found == indices.end() ? -1 : found->second});
      indices.erase(slot);
    }
    // The rest is the compiler's.
    for (auto &[prepare, index] : indices) {
      sprig_rt_tensor_info info;
      rt::check(sprig_rt_package_state(package.raw(), uint32_t(index), &info));
      prepared.emplace_back(rt::DType(info.dtype), std::vector<int64_t>(info.shape, info.shape + info.rank));
      state.bind(uint32_t(index), prepared.back().data());
    }
  }

  void rebind(Bound &slot, void *data) {
    if (slot.index >= 0) state.bind(uint32_t(slot.index), data);
    slot.data = data;
  }

  // The runtime names the entry and quotes what errors call the operation: "entry 'f': 'train.cpp:7: gather': ...".
  void check(sprig_rt_status *status) {
    if (status) [[unlikely]]
      fail(status);
  }
  [[noreturn]] void fail(sprig_rt_status *status) {
    std::string text = sprig_rt_status_message(status);
    std::string prefix = "entry '" + (entry ? repeatedName(name) : name) + "': ";
    sprig_rt_status_free(status);
    if (text.starts_with(prefix)) text.erase(0, prefix.size());
    if (size_t end = text.find("': "); text.starts_with("'") && end != std::string::npos)
      text = text.substr(1, end - 1) + text.substr(end + 1);
    runtimeError(text);
  }

  std::string name;
  rt::Package package;
  uint32_t entry = 0;
  int64_t repetitions;
  rt::State state;
  DeviceThreads threads;
  rt::Context context;
  sprig_rt_group ranks; // nobody's: none
  std::vector<sprig::TensorType> inputTypes, outputTypes;
  std::vector<std::string> slotNames;
  std::vector<sprig_rt_tensor> inputs, outputs;
  std::vector<Bound> bound;
  std::vector<rt::Array> prepared;
  uint64_t preparedVersion = 0;
  UsedDevice *used = nullptr; // of the package's first lane
};

} // namespace

std::unique_ptr<Plan> frontend::compilePlan(const Graph &graph, std::span<const StateSlot> states,
                                            const CompileOptions &given, const std::string &name,
                                            std::vector<DeviceId> devices, PlanRanks ranks, int64_t repetitions) {
  CompileOptions options = given;
  options.prepare &= repetitions == 1;
  std::vector<uint8_t> bytes;
  {
    bridge::Workspace work;
    mlir::func::FuncOp function = bridge::addPlanFunction(*work.module, graph, states, name, ranks, options);
    if (repetitions > 1) {
      mlir::Builder b(function.getContext());
      if (ranks.buckets.turn) function->setAttr(ir::kRepeatTurnAttr, b.getI64IntegerAttr(*ranks.buckets.turn));
      function->setAttr(ir::kRepeatAttr, b.getI64IntegerAttr(repetitions));
      function->setAttr(ir::kRepeatEntryAttr, b.getStringAttr(CompiledPlan::repeatedName(name)));
    }
    bridge::stateDivision(*work.module, ranks, options);
    bytes = compile(*work.module, options);
  }
  try {
    return std::make_unique<CompiledPlan>(rt::Package::fromMemory(std::move(bytes), name), graph, states, name,
                                          std::move(devices), std::move(ranks.group), repetitions);
  } catch (const rt::Error &error) {
    runtimeError(error.what());
  }
}

std::vector<uint8_t> frontend::compilePackage(std::span<const PackageEntry> entries, const CompileOptions &given) {
  bridge::Workspace work;
  bridge::EntryBuilder builder(*work.module);
  for (const PackageEntry &entry : entries) builder.add(entry);
  work.lease.retire(); // initial values are attributes of the context
  CompileOptions options = bridge::entryOptions(given, entries.empty() ? "" : entries.front().name);
  options.prepare = false; // who runs a package knows of no such entry
  return compile(*work.module, options);
}
