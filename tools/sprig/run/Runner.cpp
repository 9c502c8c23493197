#include "tools/sprig/run/Runner.h"
#include "sprig/error.h"
#include "tools/sprig/MemoryLimit.h"
#include "runtime/api/Handles.h"
#include "runtime/device/DeviceNames.h"
#include "tools/sprig/Report.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

namespace sprig::cli {
namespace {

TensorSpec specOf(const sprig_rt_tensor_info &info) {
  return {info.name, data::DType(info.dtype), std::vector<int64_t>(info.shape, info.shape + info.rank)};
}

// Points to the strings of what it was made of.
struct LoadOptions {
  explicit LoadOptions(const RunnerOptions &options) {
    raw.size = sizeof raw;
    raw.memory_limit = givenMemoryLimit();
    raw.device = options.device.empty() ? nullptr : options.device.c_str();
    for (const std::string &link : options.links) links.push_back(link.c_str());
    raw.links = links.data();
    raw.link_count = links.size();
    raw.log = [](void *, int32_t level, const char *text) {
      if (level >= SPRIG_RT_LOG_WARNING) inform(std::string("note: ") + text);
    };
  }
  sprig_rt_load_options raw = {};
  std::vector<const char *> links;
};

std::shared_ptr<void> alignedCopy(const void *data, size_t size) {
  size_t rounded = (size + 63) / 64 * 64;
  std::shared_ptr<void> memory(std::aligned_alloc(64, rounded ? rounded : 64), std::free);
  if (!memory) throw std::bad_alloc();
  if (data && size) std::memcpy(memory.get(), data, size);
  return memory;
}

// Such a copy is no command: the runtime lets shares of the processor read and write the caller's arrays.
void warnOfArrays(const sprig_rt_package *package, const RunnerOptions &options) {
  rt::core::GivenDevices given;
  if (!rt::core::parseDevices(options.device, given).isOk()) return; // which the load has refused
  std::set<std::pair<std::string, std::string>> arrays;              // array, device
  for (const rt::core::Entry &entry : package->package->program().entries)
    for (const rt::core::Buffer &buffer : entry.buffers) {
      bool isInput = buffer.kind == rt::core::BufferKind::Input;
      if ((!isInput && buffer.kind != rt::core::BufferKind::Output) || buffer.device >= given.list.size()) continue;
      std::string device = given.list[buffer.device].name();
      if (std::find(options.ownMemory.begin(), options.ownMemory.end(), device) == options.ownMemory.end()) continue;
      arrays.emplace((isInput ? entry.inputs : entry.outputs)[buffer.index].name, device);
    }
  for (const auto &[array, device] : arrays)
    warn("--topology: the caller's '" + array + "' is used on " + device +
         ", which has memory of its own there: that copy takes no time here ('sprig simulate' counts it)");
}

} // namespace

void check(sprig_rt_status *status) {
  if (!status) return;
  std::string message = sprig_rt_status_message(status);
  int exit = sprig_rt_code_exit(sprig_rt_status_code(status));
  sprig_rt_status_free(status);
  throw Error(ErrorKind(exit), message);
}

void checkPin(int pin, int threads) {
  if (!pin) return;
  rt::core::Status status = rt::core::Pool::checkPin({.pin = pin}, threads ? threads : sprig_rt_default_threads());
  if (!status.isOk()) badUse("--" + std::string(status.message()));
}

void Runner::start(const RunnerOptions &options) {
  if (!options.ownMemory.empty()) warnOfArrays(packageHandle.get(), options);
  sprig_rt_pool_options poolOptions = {};
  poolOptions.size = sizeof poolOptions;
  poolOptions.threads = options.threads;
  poolOptions.pin = options.pin;
  checkPin(options.pin, options.threads);
  sprig_rt_pool *poolPointer = nullptr;
  check(sprig_rt_pool_create(&poolOptions, &poolPointer));
  pool.reset(poolPointer, sprig_rt_pool_release);
  if (int wanted = options.threads ? options.threads : sprig_rt_default_threads(); threads() < wanted)
    warn("the system starts only " + std::to_string(threads()) + " of " + std::to_string(wanted) +
         " threads; running on those");
  sprig_rt_context_options contextOptions = {};
  contextOptions.size = sizeof contextOptions;
  contextOptions.pool = pool.get();
  sprig_rt_package_info info;
  sprig_rt_package_describe(package(), &info);
  if (info.state_count > 0) {
    sprig_rt_state *statePointer = nullptr;
    check(sprig_rt_state_create(package(), &statePointer));
    stateHandle.reset(statePointer, sprig_rt_state_release);
    contextOptions.state = statePointer;
  }
  sprig_rt_context *contextPointer = nullptr;
  check(sprig_rt_context_create(packageHandle.get(), &contextOptions, &contextPointer));
  context.reset(contextPointer, sprig_rt_context_release);
}

Runner Runner::load(const std::string &path, const RunnerOptions &options) {
  Runner runner;
  LoadOptions load(options);
  sprig_rt_package *package = nullptr;
  check(sprig_rt_package_load(path.c_str(), &load.raw, &package));
  runner.packageHandle.reset(package, sprig_rt_package_release);
  runner.packageTables = std::make_shared<const PackageTables>(PackageTables::ofFile(path));
  runner.start(options);
  return runner;
}

Runner Runner::load(std::span<const uint8_t> bytes, std::unique_ptr<std::vector<uint8_t>> kept, const std::string &name,
                    const RunnerOptions &options) {
  Runner runner;
  LoadOptions load(options);
  sprig_rt_package *package = nullptr;
  runner.packageTables = std::make_shared<const PackageTables>(bytes);                 // which the runtime may let go
  auto release = [](void *user) { delete static_cast<std::vector<uint8_t> *>(user); }; // called on failure, too
  check(sprig_rt_package_load_memory(bytes.data(), bytes.size(), release, kept.release(), name.c_str(), &load.raw,
                                     &package));
  runner.packageHandle.reset(package, sprig_rt_package_release);
  runner.start(options);
  return runner;
}

Runner Runner::load(std::vector<uint8_t> bytes, const std::string &name, const RunnerOptions &options) {
  auto kept = std::make_unique<std::vector<uint8_t>>(std::move(bytes));
  std::span<const uint8_t> whole = *kept;
  return load(whole, std::move(kept), name, options);
}

Runner Runner::loadInPlace(std::span<const uint8_t> bytes, const std::string &name, const RunnerOptions &options) {
  return load(bytes, nullptr, name, options);
}

sprig_rt_ranks_info Runner::ranks(size_t entry) const {
  sprig_rt_ranks_info info = {};
  info.size = sizeof info;
  check(sprig_rt_package_entry_ranks(package(), uint32_t(entry), &info));
  return info;
}

std::optional<uint32_t> entryOfRank(const Runner &runner, size_t like, int rank) {
  const std::vector<rt::core::Entry> &all = runner.package()->package->program().entries;
  auto isAlike = [](const rt::core::TensorType &a, const rt::core::TensorType &b) {
    return a.name == b.name && std::ranges::equal(a.whole(), b.whole());
  };
  for (uint32_t i = 0; i < all.size(); ++i)
    if (all[i].rank == rank && all[i].name == all[like].name &&
        std::ranges::equal(all[i].inputs, all[like].inputs, isAlike))
      return i;
  return std::nullopt;
}

std::string meshText(const Runner &runner, size_t entry) {
  std::string text;
  for (const rt::core::Axis &axis : runner.package()->package->program().entries[entry].mesh)
    text += (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.ranks);
  return text;
}

Runner Runner::another(const RunnerOptions &options) const {
  Runner runner;
  runner.packageHandle = packageHandle;
  runner.packageTables = packageTables;
  runner.start(options);
  return runner;
}

void Runner::join(std::shared_ptr<sprig_rt_group> joined) {
  check(sprig_rt_context_set_group(context.get(), joined.get()));
  group = std::move(joined);
}

void Runner::failGroup(const std::string &why) const {
  sprig_rt_group_fail(group.get(), SPRIG_RT_INVALID_ARGUMENT, why.c_str());
}

void Runner::allReduce(std::span<uint64_t> numbers, sprig_rt_reduction reduction, const char *name) const {
  check(sprig_rt_group_all_reduce(group.get(), SPRIG_RT_U64, reduction, numbers.data(), numbers.size(), name));
}

sprig_rt_group_times Runner::groupTimes() const {
  sprig_rt_group_times times = {sizeof times, 0, 0, 0};
  if (group) check(sprig_rt_group_get_times(group.get(), &times));
  return times;
}

void Runner::allGather(std::span<char> bytes, const char *name) const {
  check(sprig_rt_group_all_gather(group.get(), SPRIG_RT_U8, bytes.data(), bytes.size(), name));
}

std::vector<std::shared_ptr<sprig_rt_group>> threadsAsRanks(int ranks) {
  std::vector<sprig_rt_group *> handles(static_cast<size_t>(ranks), nullptr);
  check(sprig_rt_groups_create(uint32_t(ranks), nullptr, handles.data()));
  std::vector<std::shared_ptr<sprig_rt_group>> groups;
  for (sprig_rt_group *handle : handles) groups.emplace_back(handle, sprig_rt_group_release);
  return groups;
}

std::shared_ptr<sprig_rt_group> processAsRank() {
  sprig_rt_group *handle = nullptr;
  check(sprig_rt_group_join(nullptr, &handle));
  return {handle, sprig_rt_group_release};
}

std::string Runner::deviceName(uint32_t device) const {
  const char *name = "";
  check(sprig_rt_package_device(package(), device, &name));
  std::string text = name; // the first of a kind goes by its kind alone
  return text.find(':') == std::string::npos ? text + ":0" : text;
}

size_t Runner::entryCount() const {
  sprig_rt_package_info info;
  sprig_rt_package_describe(package(), &info);
  return info.entry_count;
}

static std::vector<TensorSpec> specsOf(const sprig_rt_package *package, size_t entry, uint32_t count,
                                       decltype(sprig_rt_package_input) describe) {
  std::vector<TensorSpec> specs;
  for (uint32_t i = 0; i < count; ++i) {
    sprig_rt_tensor_info tensor;
    check(describe(package, uint32_t(entry), i, &tensor));
    specs.push_back(specOf(tensor));
  }
  return specs;
}

sprig_rt_entry_info Runner::entryInfo(size_t entry) const {
  sprig_rt_entry_info info;
  check(sprig_rt_package_entry(package(), uint32_t(entry), &info));
  return info;
}

std::vector<TensorSpec> Runner::inputs(size_t entry) const {
  return specsOf(package(), entry, entryInfo(entry).input_count, sprig_rt_package_input);
}

std::vector<TensorSpec> Runner::outputs(size_t entry) const {
  return specsOf(package(), entry, entryInfo(entry).output_count, sprig_rt_package_output);
}

// What a size that is the caller's to choose is called, empty where it follows from another; nothing where it is fixed.
static std::optional<std::string> symbolOf(const rt::core::Entry &entry, size_t input, size_t dim) {
  for (const rt::core::GrowingDim &each : entry.inputs[input].growing)
    if (each.dim == dim) return each.multiple == 1 && each.add == 0 && each.divisor == 1 ? entry.lengths->axis : "";
  // Where the runtime splits or pads.
  if (dim == 0 && entry.independentSamples) return "batch";
  return std::nullopt;
}

std::vector<InputSpec> Runner::inputSpecs() const {
  std::vector<InputSpec> result;
  for (size_t index = 0; index < entryCount(); ++index) {
    const rt::core::Entry &entry = package()->package->program().entries[index];
    auto specs = inputs(index);
    for (size_t i = 0; i < specs.size(); ++i) {
      if (index == 0) result.push_back({specs[i].name, std::string(data::name(specs[i].dtype)), {}, true});
      if (i >= result.size()) continue;
      std::vector<Dim> &dims = result[i].dims;
      for (size_t d = 0; d < specs[i].shape.size(); ++d) {
        std::optional<std::string> symbol = symbolOf(entry, i, d);
        if (index > 0 && dims.size() != specs[i].shape.size()) break;
        int64_t shortest =
            symbol && entry.lengths ? entry.inputs[i].sizeAt(d, entry.lengths->first) : specs[i].shape[d];
        if (symbol && !entry.lengths) shortest = 1; // any number of samples
        if (index == 0) {
          dims.push_back(symbol ? Dim{std::nullopt, *symbol, shortest} : Dim{specs[i].shape[d], ""});
          continue;
        }
        Dim &dim = dims[d];
        if (!symbol && dim.size == specs[i].shape[d]) continue;
        dim.least = std::min(dim.size.value_or(dim.least), shortest);
        if (symbol || dim.size) dim.symbol = symbol.value_or(d == 0 ? "batch" : "");
        dim.size = std::nullopt;
      }
    }
  }
  return result;
}

size_t Runner::chooseEntry(const std::map<std::string, data::Array> &arrays) const {
  // The runtime chooses in full; the command line needs the entry's outputs to make room for them.
  size_t best = 0;
  for (size_t entry = 0; entry < entryCount(); ++entry) {
    bool exact = true, sameNames = true;
    for (const TensorSpec &spec : inputs(entry)) {
      auto found = arrays.find(spec.name);
      sameNames &= found != arrays.end();
      exact &= found != arrays.end() && found->second.shape == spec.shape;
    }
    if (exact) return entry;
    if (sameNames) best = entry;
  }
  return best;
}

PreparedCall Runner::prepare(const std::map<std::string, data::Array> &arrays) const {
  return prepare(chooseEntry(arrays), arrays);
}

PreparedCall Runner::prepare(size_t entry, const std::map<std::string, data::Array> &arrays) const {
  if (uint32_t ranks = this->ranks(entry).ranks; ranks > 1 && !group)
    unsupported("entry '" + package()->package->program().entries[entry].name + "' is of " + std::to_string(ranks) +
                " ranks, which " +
                (meshText(*this, entry).empty()
                     ? "'sprig train' and 'sprig profile' run with --mesh data=" + std::to_string(ranks)
                     : "'sprig run' runs, and 'sprig simulate --mesh " + meshText(*this, entry) + "' plays"));
  PreparedCall call;
  call.context = context.get();
  bool exact = true;
  for (const TensorSpec &spec : inputs(entry)) {
    auto found = arrays.find(spec.name);
    if (found == arrays.end()) badUse("input '" + spec.name + "' is not given");
    exact &= found->second.shape == spec.shape;
    call.inputs.push_back(found->second);
    call.inputs.back().name = spec.name;
  }
  auto view = [&](data::Array &array) {
    auto bytes = size_t(*data::byteSize(array.dtype, array.shape));
    call.storage.push_back(alignedCopy(array.bytes.data(), array.bytes.size() == bytes ? bytes : 0));
    if (array.bytes.size() != bytes) call.storage.back() = alignedCopy(nullptr, bytes);
    return sprig_rt_tensor{call.storage.back().get(), array.shape.data(), nullptr, uint32_t(array.shape.size()),
                           int32_t(array.dtype)};
  };
  for (auto &array : call.inputs) call.inputViews.push_back(view(array));
  call.entry = exact ? int32_t(entry) : SPRIG_RT_ANY_ENTRY;
  auto chosen = uint32_t(entry);
  if (!exact)
    check(sprig_rt_package_choose(package(), call.entry, call.inputViews.data(), call.inputViews.size(), &chosen,
                                  nullptr));
  for (const TensorSpec &spec : outputs(chosen)) {
    data::Array array{spec.name, spec.dtype, spec.shape, {}};
    if (!exact && !array.shape.empty())
      check(sprig_rt_package_output_of(package(), chosen, call.inputViews.data(), call.inputViews.size(),
                                       uint32_t(call.outputs.size()), array.shape.data()));
    auto bytes = data::byteSize(array.dtype, array.shape);
    if (!bytes) badInput("output '" + spec.name + "' of " + data::describe(array) + " is too large");
    call.outputs.push_back(std::move(array));
  }
  for (auto &array : call.outputs) call.outputViews.push_back(view(array));
  return call;
}

void PreparedCall::invoke() {
  check(sprig_rt_invoke(context, entry, inputViews.data(), inputViews.size(), outputViews.data(), outputViews.size()));
}

void PreparedCall::read(const std::string &input, const void *bytes) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].name == input) inputViews[i].data = const_cast<void *>(bytes);
}

sprig_rt_future *PreparedCall::submit() {
  sprig_rt_future *future = nullptr;
  check(sprig_rt_submit(context, entry, inputViews.data(), inputViews.size(), outputViews.data(), outputViews.size(),
                        &future));
  return future;
}

std::vector<data::Array> PreparedCall::takeOutputs() {
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto bytes = size_t(*data::byteSize(outputs[i].dtype, outputs[i].shape));
    const char *data = static_cast<const char *>(outputViews[i].data);
    outputs[i].bytes.assign(data, data + bytes);
  }
  return std::move(outputs);
}

std::vector<data::Array> Runner::run(const std::map<std::string, data::Array> &arrays) const {
  PreparedCall call = prepare(arrays);
  call.invoke();
  return call.takeOutputs();
}

sprig_rt_run_info Runner::lastRun() const {
  sprig_rt_run_info info;
  sprig_rt_context_last_run(context.get(), &info);
  return info;
}

std::string Runner::describeLastRun() const {
  sprig_rt_run_info info = lastRun();
  sprig_rt_entry_info entry = entryInfo(info.entry);
  std::string text = std::string("ran entry '") + entry.name + "' (" + std::to_string(info.entry) + ") with " +
                     info.isa + " code on " + std::to_string(sprig_rt_pool_threads(pool.get())) + " thread(s)";
  if (info.runs > 1) text += ", split into " + std::to_string(info.runs) + " runs";
  if (info.padded_samples) text += ", " + std::to_string(info.padded_samples) + " sample(s) of padding";
  if (info.simulated_seconds > 0)
    text += ", " + formatDouble(info.simulated_seconds * 1e9, 12) + " ns by the devices' own clock";
  return text;
}

std::vector<std::string> devicesOf(const Runner &runner) {
  sprig_rt_package_info info;
  sprig_rt_package_describe(runner.package(), &info);
  std::vector<std::string> names;
  for (uint32_t i = 0; i < info.device_count; ++i) names.push_back(runner.deviceName(i));
  return names;
}

std::vector<std::string> devicesFor(const Runner &runner, const Settings &settings) {
  std::vector<std::string> own = devicesOf(runner);
  rt::core::GivenDevices given = settings.parsedDevices();
  if (given.list.empty() || given.threads) return own;
  std::vector<std::string> names;
  if (given.keepsTimeOnly())
    for (size_t i = 0; i < own.size(); ++i) names.push_back("null:" + std::to_string(i));
  else
    for (const rt::core::GivenDevice &device : given.list) names.push_back(device.name());
  if (names.size() != own.size()) {
    std::string list;
    for (const std::string &name : own) list += (list.empty() ? "" : ", ") + name;
    unsupported("--devices " + settings.givenDevices() + ": the program runs on " + std::to_string(own.size()) +
                (own.size() == 1 ? " device (" : " devices (") + list + "), given " + std::to_string(names.size()));
  }
  return names;
}

} // namespace sprig::cli
