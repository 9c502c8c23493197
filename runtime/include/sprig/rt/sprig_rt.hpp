// Sprig's runtime for C++: small value handles over the C ABI of sprig_rt.h, which has the rules on threads, ownership
// and units. Header-only; needs libsprig_rt and C++20. Everything that fails throws sprig::rt::Error.
//
//   auto package = sprig::rt::Package::load("mlp.sprig");
//   sprig::rt::Context context(package);
//   std::vector<float> x(784), y(10);
//   context.invoke({TensorView(x.data(), {1, 784})}, {TensorView(y.data(), {1, 10})});
#ifndef SPRIG_RT_SPRIG_RT_HPP
#define SPRIG_RT_SPRIG_RT_HPP

#include "sprig/rt/memory.h"
#include "sprig/rt/sprig_rt.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sprig::rt {

class Error : public std::runtime_error {
public:
  Error(sprig_rt_code code, const std::string &message) : std::runtime_error(message), errorCode(code) {}
  sprig_rt_code code() const { return errorCode; }
  // What the command line exits with for this kind of error.
  int exitCode() const { return sprig_rt_code_exit(errorCode); }

private:
  sprig_rt_code errorCode;
};

// Throws what a status says, and frees it.
inline void check(sprig_rt_status *status) {
  if (!status) return;
  std::unique_ptr<sprig_rt_status, decltype(&sprig_rt_status_free)> owned(status, sprig_rt_status_free);
  throw Error(sprig_rt_status_code(status), sprig_rt_status_message(status));
}

using DType = sprig_rt_dtype;

template <typename T> struct DTypeOf;
#define SPRIG_RT_DTYPE(type, value)                                                                                    \
  template <> struct DTypeOf<type> {                                                                                   \
    static constexpr DType dtype = value;                                                                              \
  };
SPRIG_RT_DTYPE(double, SPRIG_RT_F64)
SPRIG_RT_DTYPE(float, SPRIG_RT_F32)
SPRIG_RT_DTYPE(int64_t, SPRIG_RT_I64)
SPRIG_RT_DTYPE(int32_t, SPRIG_RT_I32)
SPRIG_RT_DTYPE(int16_t, SPRIG_RT_I16)
SPRIG_RT_DTYPE(int8_t, SPRIG_RT_I8)
SPRIG_RT_DTYPE(uint64_t, SPRIG_RT_U64)
SPRIG_RT_DTYPE(uint32_t, SPRIG_RT_U32)
SPRIG_RT_DTYPE(uint16_t, SPRIG_RT_U16)
SPRIG_RT_DTYPE(uint8_t, SPRIG_RT_U8)
SPRIG_RT_DTYPE(bool, SPRIG_RT_I1)
#undef SPRIG_RT_DTYPE

// 32x128xf32
inline std::string shapeText(std::span<const int64_t> shape, int32_t dtype) {
  std::string text;
  for (int64_t size : shape) text += std::to_string(size) + "x";
  const char *name = sprig_rt_dtype_name(dtype);
  return text + (name ? name : "?");
}

// Type and shape of an input, output or state.
struct TensorInfo {
  std::string name;
  DType dtype = SPRIG_RT_F32;
  std::vector<int64_t> shape;
  uint64_t bytes = 0;

  TensorInfo() = default;
  explicit TensorInfo(const sprig_rt_tensor_info &info)
      : name(info.name), dtype(DType(info.dtype)), shape(info.shape, info.shape + info.rank), bytes(info.bytes) {}
  std::string text() const { return shapeText(shape, dtype); }
};

// Sizes or strides; the usual few without an allocation.
class Dims {
public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) : Dims(values.begin(), values.size()) {}
  Dims(std::span<const int64_t> values) : Dims(values.data(), values.size()) {}
  Dims(const std::vector<int64_t> &values) : Dims(values.data(), values.size()) {}
  Dims(const int64_t *values, size_t size) : count(size) {
    if (size > kFew) many.assign(values, values + size);
    for (size_t i = 0; i < size && size <= kFew; ++i) few[i] = values[i];
  }
  const int64_t *data() const { return count > kFew ? many.data() : few; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  operator std::span<const int64_t>() const { return {data(), count}; }

private:
  static constexpr size_t kFew = 6;
  size_t count = 0;
  int64_t few[kFew];
  std::vector<int64_t> many;
};

// A caller's memory as an array; owns nothing. Strides are in elements, none means row-major.
class TensorView {
public:
  TensorView(void *data, DType dtype, Dims shape, Dims strides = {})
      : pointer(data), type(dtype), sizes(std::move(shape)), steps(std::move(strides)) {
    if (!steps.empty() && steps.size() != sizes.size())
      throw Error(SPRIG_RT_INVALID_ARGUMENT,
                  "expected " + std::to_string(sizes.size()) + " strides, got " + std::to_string(steps.size()));
  }
  template <typename T>
  TensorView(T *data, Dims shape, Dims strides = {})
      : TensorView(const_cast<std::remove_const_t<T> *>(data), DTypeOf<std::remove_const_t<T>>::dtype, std::move(shape),
                   std::move(strides)) {}

  void *data() const { return pointer; }
  DType dtype() const { return type; }
  std::span<const int64_t> shape() const { return sizes; }
  sprig_rt_tensor raw() const {
    return {pointer, sizes.data(), steps.empty() ? nullptr : steps.data(), uint32_t(sizes.size()), int32_t(type)};
  }

private:
  void *pointer;
  DType type;
  Dims sizes;
  Dims steps;
};

// An array of its own, aligned as kernels like it; sprig::rt::memory counts it.
class Array {
public:
  Array(DType dtype, std::vector<int64_t> shape) : type(dtype), sizes(std::move(shape)), memory(nullptr, Release{}) {
    bytesHeld = sprig_rt_dtype_size(dtype);
    for (int64_t size : sizes) bytesHeld *= size_t(size);
    void *block = nullptr;
    check(sprig_rt_memory_allocate(bytesHeld, &block));
    memory = {static_cast<std::byte *>(block), Release{bytesHeld}};
  }
  void *data() const { return memory.get(); }
  template <typename T> T *as() const { return reinterpret_cast<T *>(memory.get()); }
  DType dtype() const { return type; }
  const std::vector<int64_t> &shape() const { return sizes; }
  size_t bytes() const { return bytesHeld; }
  size_t elements() const { return bytesHeld / sprig_rt_dtype_size(type); }
  TensorView view() const { return TensorView(data(), type, sizes); }

private:
  struct Release {
    size_t bytes = 0;
    void operator()(std::byte *pointer) const { sprig_rt_memory_release(pointer, bytes); }
  };
  DType type;
  std::vector<int64_t> sizes;
  size_t bytesHeld = 0;
  std::unique_ptr<std::byte, Release> memory;
};

struct LoadOptions {
  std::string cpu;    // "x86-64-v3": use no better instruction set
  std::string device; // "null:0", see sprig_rt_load_options; "null": execute nothing, keep simulated time
  uint64_t memoryLimit = 0;
  const sprig_rt_allocator *allocator = nullptr;
  sprig_rt_log_fn log = nullptr;
  void *logUser = nullptr;
  bool mapConstants = false;      // use large constants in the file's own pages, too
  std::vector<std::string> links; // "cpu:0-cpu:1=5us,1GB/s", see sprig_rt_load_options
};

// A loaded program, immutable; copies share it.
class Package {
public:
  static Package load(const std::string &path, const LoadOptions &options = {}) {
    sprig_rt_package *handle = nullptr;
    RawOptions raw(options);
    check(sprig_rt_package_load(path.c_str(), &raw.options, &handle));
    return Package(handle);
  }

  // Copies the bytes.
  static Package fromMemory(std::span<const uint8_t> bytes, const std::string &name = "package in memory",
                            const LoadOptions &options = {}) {
    sprig_rt_package *handle = nullptr;
    RawOptions raw(options);
    check(sprig_rt_package_load_memory(bytes.data(), bytes.size(), nullptr, nullptr, name.c_str(), &raw.options,
                                       &handle));
    return Package(handle);
  }

  // Takes the bytes over, without a copy.
  static Package fromMemory(std::vector<uint8_t> &&bytes, const std::string &name = "package in memory",
                            const LoadOptions &options = {}) {
    auto *held = new std::vector<uint8_t>(std::move(bytes));
    auto release = [](void *user) { delete static_cast<std::vector<uint8_t> *>(user); };
    sprig_rt_package *handle = nullptr;
    RawOptions raw(options);
    check(sprig_rt_package_load_memory(held->data(), held->size(), release, held, name.c_str(), &raw.options, &handle));
    return Package(handle);
  }

  sprig_rt_package *raw() const { return handle.get(); }
  sprig_rt_package_info info() const {
    sprig_rt_package_info result;
    sprig_rt_package_describe(raw(), &result);
    return result;
  }
  std::string isa() const { return info().isa; }

  uint32_t entryCount() const { return info().entry_count; }
  sprig_rt_entry_info entry(uint32_t index) const {
    sprig_rt_entry_info result;
    check(sprig_rt_package_entry(raw(), index, &result));
    return result;
  }
  sprig_rt_ranks_info ranks(uint32_t index) const {
    sprig_rt_ranks_info result = {};
    result.size = sizeof result;
    check(sprig_rt_package_entry_ranks(raw(), index, &result));
    return result;
  }
  // `axis` is null where all shapes are fixed.
  sprig_rt_lengths_info lengths(uint32_t index) const {
    sprig_rt_lengths_info result = {};
    result.size = sizeof result;
    check(sprig_rt_package_entry_lengths(raw(), index, &result));
    return result;
  }
  uint32_t findEntry(const std::string &name) const {
    uint32_t index = 0;
    check(sprig_rt_package_find_entry(raw(), name.c_str(), &index));
    return index;
  }
  std::vector<TensorInfo> inputs(uint32_t entryIndex) const {
    return tensors(entryIndex, entry(entryIndex).input_count, sprig_rt_package_input);
  }
  std::vector<TensorInfo> outputs(uint32_t entryIndex) const {
    return tensors(entryIndex, entry(entryIndex).output_count, sprig_rt_package_output);
  }
  // The same at a length of an entry that takes several.
  std::vector<TensorInfo> inputsAt(uint32_t entryIndex, int64_t length) const {
    return at(entryIndex, length, inputs(entryIndex), sprig_rt_package_input_at);
  }
  std::vector<TensorInfo> outputsAt(uint32_t entryIndex, int64_t length) const {
    return at(entryIndex, length, outputs(entryIndex), sprig_rt_package_output_at);
  }

private:
  explicit Package(sprig_rt_package *owned) : handle(owned, sprig_rt_package_release) {}

  // Points to the strings of what it was made of.
  struct RawOptions {
    explicit RawOptions(const LoadOptions &given) {
      options.size = sizeof options;
      options.cpu = given.cpu.empty() ? nullptr : given.cpu.c_str();
      options.device = given.device.empty() ? nullptr : given.device.c_str();
      options.memory_limit = given.memoryLimit;
      options.allocator = given.allocator;
      options.log = given.log;
      options.log_user = given.logUser;
      options.map_constants = given.mapConstants;
      for (const std::string &link : given.links) links.push_back(link.c_str());
      options.links = links.data();
      options.link_count = links.size();
    }
    sprig_rt_load_options options = {};
    std::vector<const char *> links;
  };

  template <typename Query> std::vector<TensorInfo> tensors(uint32_t entryIndex, uint32_t count, Query query) const {
    std::vector<TensorInfo> result;
    for (uint32_t i = 0; i < count; ++i) {
      sprig_rt_tensor_info info;
      check(query(raw(), entryIndex, i, &info));
      result.emplace_back(info);
    }
    return result;
  }

  template <typename Query>
  std::vector<TensorInfo> at(uint32_t entryIndex, int64_t length, std::vector<TensorInfo> infos, Query query) const {
    for (size_t i = 0; i < infos.size(); ++i)
      if (!infos[i].shape.empty()) check(query(raw(), entryIndex, uint32_t(i), length, infos[i].shape.data()));
    return infos;
  }

  std::shared_ptr<sprig_rt_package> handle;
};

struct PoolOptions {
  int threads = 0; // the caller's included; 0: the default number
  int pin = 0;     // 1: each on a processor of its own, see sprig_rt_pool_options
  const sprig_rt_executor *executor = nullptr;
};

// The threads that help to run; copies share it.
class Pool {
public:
  explicit Pool(const PoolOptions &given) {
    sprig_rt_pool_options options = {sizeof options, given.threads, 0, given.executor, given.pin};
    sprig_rt_pool *created = nullptr;
    check(sprig_rt_pool_create(&options, &created));
    handle.reset(created, sprig_rt_pool_release);
  }
  explicit Pool(int threads, const sprig_rt_executor *executor = nullptr) : Pool(PoolOptions{threads, 0, executor}) {}
  int threads() const { return sprig_rt_pool_threads(handle.get()); }
  sprig_rt_pool *raw() const { return handle.get(); }

private:
  std::shared_ptr<sprig_rt_pool> handle;
};

// "dispatch": what a command is called that has no name.
inline const char *commandKindName(int32_t kind) {
  constexpr const char *names[] = {"dispatch",       "copy",       "record",    "wait",   "all_reduce",
                                   "reduce_scatter", "all_gather", "broadcast", "reduce", "gather",
                                   "scatter",        "all_to_all", "barrier",   "part"};
  return kind >= 0 && kind < int32_t(std::size(names)) ? names[kind] : "command";
}

// One rank's place among those that run an entry together; copies share it.
class Group {
public:
  Group() = default;
  // Threads of this process as ranks, in their order; a rank that waits for longer than `timeout` fails the group,
  // zero: it waits as long as it takes. `collectiveThreads`: sprig_rt_group_options.
  static std::vector<Group> threads(uint32_t ranks, std::chrono::milliseconds timeout = std::chrono::minutes(5),
                                    int collectiveThreads = 0) {
    sprig_rt_group_options options = {sizeof options, timeout.count() ? timeout.count() : -1, 0, collectiveThreads};
    std::vector<sprig_rt_group *> created(ranks);
    check(sprig_rt_groups_create(ranks, &options, created.data()));
    std::vector<Group> groups;
    for (sprig_rt_group *group : created) groups.push_back(Group(group));
    return groups;
  }
  // Whether this process was started as a rank, and that rank: sprig_rt_group_join.
  static bool isRankProcess() { return sprig_rt_is_rank_process(); }
  static Group join(std::chrono::milliseconds timeout = std::chrono::minutes(5)) {
    sprig_rt_join_options options = {sizeof options, timeout.count() ? timeout.count() : -1};
    sprig_rt_group *created = nullptr;
    check(sprig_rt_group_join(&options, &created));
    return Group(created);
  }
  uint32_t rank() const { return sprig_rt_group_rank(handle.get()); }
  uint32_t ranks() const { return sprig_rt_group_ranks(handle.get()); }
  // Tells the others, who wait for this rank, why it does not come.
  void fail(sprig_rt_code code, const std::string &text) const {
    sprig_rt_group_fail(handle.get(), code, text.c_str());
  }
  // All ranks' elements, one by one, in place.
  void allReduce(std::span<float> elements, sprig_rt_reduction reduction = SPRIG_RT_SUM,
                 const char *name = "all_reduce") const {
    check(sprig_rt_group_all_reduce(handle.get(), SPRIG_RT_F32, reduction, elements.data(), elements.size(), name));
  }
  // Each rank's piece of the bytes, larger ones first, one after the other, on all.
  void allGather(std::span<std::byte> bytes, const char *name = "all_gather") const {
    check(sprig_rt_group_all_gather(handle.get(), SPRIG_RT_U8, bytes.data(), bytes.size(), name));
  }
  sprig_rt_group_times times() const {
    sprig_rt_group_times times = {sizeof times, 0, 0, 0};
    check(sprig_rt_group_get_times(handle.get(), &times));
    return times;
  }
  sprig_rt_group *raw() const { return handle.get(); }

private:
  explicit Group(sprig_rt_group *owned) : handle(owned, sprig_rt_group_release) {}
  std::shared_ptr<sprig_rt_group> handle;
};

// Buffers that runs update in place; copies share them.
class State {
public:
  explicit State(const Package &package) {
    sprig_rt_state *created = nullptr;
    check(sprig_rt_state_create(package.raw(), &created));
    handle.reset(created, sprig_rt_state_release);
  }
  // Without memory of its own: `bind` gives each state's bytes before the first run that uses it.
  static State bound(const Package &package) {
    sprig_rt_state *created = nullptr;
    check(sprig_rt_state_create_bound(package.raw(), &created));
    return State(created);
  }
  // 64-byte aligned memory of the caller, from the next run on.
  void bind(uint32_t index, void *data) const { check(sprig_rt_state_bind(handle.get(), index, data)); }

  // Copies, on whichever device the state lies.
  void read(uint32_t index, std::span<uint8_t> to) const {
    check(sprig_rt_state_read(handle.get(), index, to.data(), to.size()));
  }
  void write(uint32_t index, std::span<const uint8_t> from) const {
    check(sprig_rt_state_write(handle.get(), index, from.data(), from.size()));
  }
  // On devices that work on the host's memory. Not to be touched while a run uses the state.
  std::span<uint8_t> bytes(uint32_t index) const {
    void *data = nullptr;
    uint64_t size = 0;
    check(sprig_rt_state_data(handle.get(), index, &data, &size));
    return {static_cast<uint8_t *>(data), size_t(size)};
  }
  sprig_rt_state *raw() const { return handle.get(); }

private:
  explicit State(sprig_rt_state *created) : handle(created, sprig_rt_state_release) {}
  std::shared_ptr<sprig_rt_state> handle;
};

// Versions of a package's state, for threads that run on the newest one while another thread makes the next: a learner
// publishes after a step, actors act. No call waits for another thread, gets SPRIG_RT_BUSY or mixes two versions. There
// are as many versions as are in use at a time; once these are there, nothing is allocated. It outlives its readers.
class Snapshots {
  struct Version {
    explicit Version(std::span<const uint64_t> sizes) {
      for (uint64_t size : sizes) states.emplace_back(SPRIG_RT_U8, std::vector<int64_t>{int64_t(size)});
    }
    std::vector<Array> states;
    uint64_t number = 0;
    std::atomic<uint32_t> users = 0;
  };

public:
  // Version 0 is what the package has.
  explicit Snapshots(const Package &package) : package(package) {
    for (uint32_t i = 0; i < package.info().state_count; ++i) {
      sprig_rt_tensor_info info;
      check(sprig_rt_package_state(package.raw(), i, &info));
      sizes.push_back(info.bytes);
    }
    try {
      State::bound(package);
    } catch (const Error &error) {
      if (error.code() != SPRIG_RT_UNSUPPORTED) throw;
      isHosts = false; // readers have copies
    }
    publish(State(package));
  }
  Snapshots(const Snapshots &) = delete;
  Snapshots &operator=(const Snapshots &) = delete;

  // Copies a state of the package, and gives the number of the new version: 1, 2, ... From one thread at a time, and
  // not during a run that uses the state, which is SPRIG_RT_BUSY.
  uint64_t publish(const State &from) {
    Version &next = unused();
    for (size_t i = 0; i < sizes.size(); ++i)
      from.read(uint32_t(i), {next.states[i].as<uint8_t>(), next.states[i].bytes()});
    next.number = count;
    newest = &next;
    return count++;
  }

  // What one thread runs on: its contexts are made with state().
  class Reader {
  public:
    // `entries`: those that it runs. One that updates the state is SPRIG_RT_INVALID_ARGUMENT, as others read it, too.
    explicit Reader(Snapshots &snapshots, std::initializer_list<const char *> entries = {"main"})
        : from(snapshots), own(from.isHosts ? State::bound(from.package) : State(from.package)) {
      for (const char *name : entries)
        if (from.package.entry(from.package.findEntry(name)).updates_state)
          throw Error(SPRIG_RT_INVALID_ARGUMENT, "entry '" + std::string(name) +
                                                     "': expected one that reads the state, found one that updates it");
      update();
    }
    ~Reader() {
      if (held) --held->users;
    }
    Reader(const Reader &) = delete;
    Reader &operator=(const Reader &) = delete;

    const State &state() const { return own; }
    // Takes the newest version, and gives its number. Between runs, on the reader's thread.
    uint64_t update() {
      Version *next = from.newest;
      while (next != held) {
        // Who makes versions looks at users behind `newest`, so one of both sees the other.
        ++next->users;
        Version *now = from.newest;
        if (now == next) return take(*next);
        --next->users;
        next = now;
      }
      return held->number;
    }

  private:
    uint64_t take(Version &version) {
      Version *before = std::exchange(held, &version);
      if (before) --before->users;
      for (size_t i = 0; i < version.states.size(); ++i) {
        const Array &bytes = version.states[i];
        from.isHosts ? own.bind(uint32_t(i), bytes.data())
                     : own.write(uint32_t(i), {bytes.as<uint8_t>(), bytes.bytes()});
      }
      return version.number;
    }

    Snapshots &from;
    State own;
    Version *held = nullptr;
  };

private:
  Version &unused() {
    for (Version &each : versions)
      if (&each != newest && each.users == 0) return each;
    return versions.emplace_back(sizes);
  }

  Package package;
  bool isHosts = true; // the memory that states lie in
  std::vector<uint64_t> sizes;
  std::deque<Version> versions; // of which the publisher alone knows
  std::atomic<Version *> newest = nullptr;
  uint64_t count = 0;
};

// A submitted run. Asking for types and shapes never waits; reading does.
class Future {
public:
  explicit Future(sprig_rt_future *owned) : handle(owned, sprig_rt_future_release) {}
  // Waits, and throws what the run failed with.
  void wait() const { check(sprig_rt_future_wait(handle.get(), -1)); }
  // Whether the run ended within the time; throws what it failed with.
  bool waitFor(std::chrono::nanoseconds limit) const {
    sprig_rt_status *status = sprig_rt_future_wait(handle.get(), limit.count() < 0 ? 0 : limit.count());
    if (sprig_rt_status_code(status) == SPRIG_RT_TIMEOUT) {
      sprig_rt_status_free(status);
      return false;
    }
    check(status);
    return true;
  }
  bool ready() const { return sprig_rt_future_ready(handle.get()) != 0; }
  void cancel() const { sprig_rt_future_cancel(handle.get()); }
  TensorInfo output(uint32_t index) const {
    sprig_rt_tensor_info info;
    check(sprig_rt_future_output(handle.get(), index, &info));
    return TensorInfo(info);
  }

  // Of a run that has ended.
  sprig_rt_run_info run() const {
    sprig_rt_run_info info;
    sprig_rt_future_run(handle.get(), &info);
    return info;
  }
  // When it ended; the clock's epoch while it has not.
  std::chrono::steady_clock::time_point endedAt() const {
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(sprig_rt_future_ended_ns(handle.get())));
  }

private:
  std::shared_ptr<sprig_rt_future> handle;
};

struct ContextOptions {
  const Pool *pool = nullptr;   // null: the process's
  const State *state = nullptr; // null: a fresh one
  uint32_t queueLimit = 0;
};

// Where a call's arrays lie, by their order: "cuda:0" is the memory of a device, "", or a list without any, the host's.
struct Places {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

// What one running thread needs; used by one thread at a time.
class Context {
public:
  explicit Context(const Package &package, const ContextOptions &options = {}) : owner(package) {
    sprig_rt_context_options raw = {sizeof raw, options.pool ? options.pool->raw() : nullptr,
                                    options.state ? options.state->raw() : nullptr, options.queueLimit};
    sprig_rt_context *created = nullptr;
    check(sprig_rt_context_create(package.raw(), &raw, &created));
    handle.reset(created);
  }

  // Runs and returns when the outputs are written.
  void invoke(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
              int32_t entry = SPRIG_RT_ANY_ENTRY) {
    RawTensors in(inputs), out(outputs);
    check(sprig_rt_invoke(raw(), entry, in.data(), in.size(), out.data(), out.size()));
  }
  void invoke(std::initializer_list<TensorView> inputs, std::initializer_list<TensorView> outputs,
              int32_t entry = SPRIG_RT_ANY_ENTRY) {
    invoke(std::span(inputs.begin(), inputs.size()), std::span(outputs.begin(), outputs.size()), entry);
  }

  // With arrays on devices, whose views have addresses there (sprig_rt_places).
  void invoke(std::span<const TensorView> inputs, std::span<const TensorView> outputs, const Places &places,
              int32_t entry = SPRIG_RT_ANY_ENTRY) {
    RawTensors in(inputs), out(outputs);
    std::vector<const char *> inNames = namesOf(places.inputs, in.size()),
                              outNames = namesOf(places.outputs, out.size());
    sprig_rt_places given = {sizeof given, inNames.empty() ? nullptr : inNames.data(),
                             outNames.empty() ? nullptr : outNames.data()};
    check(sprig_rt_invoke_on(raw(), entry, in.data(), in.size(), out.data(), out.size(), &given));
  }
  void invoke(std::initializer_list<TensorView> inputs, std::initializer_list<TensorView> outputs, const Places &places,
              int32_t entry = SPRIG_RT_ANY_ENTRY) {
    invoke(std::span(inputs.begin(), inputs.size()), std::span(outputs.begin(), outputs.size()), places, entry);
  }
  // All arrays are on a GPU: runs in the caller's stream of it, a CUstream, and returns at once (sprig_rt_enqueue).
  void enqueue(std::span<const TensorView> inputs, std::span<const TensorView> outputs, const std::string &device,
               void *stream, int32_t entry = SPRIG_RT_ANY_ENTRY) {
    RawTensors in(inputs), out(outputs);
    check(sprig_rt_enqueue(raw(), entry, in.data(), in.size(), out.data(), out.size(), device.c_str(), stream));
  }
  void enqueue(std::initializer_list<TensorView> inputs, std::initializer_list<TensorView> outputs,
               const std::string &device, void *stream, int32_t entry = SPRIG_RT_ANY_ENTRY) {
    enqueue(std::span(inputs.begin(), inputs.size()), std::span(outputs.begin(), outputs.size()), device, stream,
            entry);
  }
  // For all that was submitted or enqueued; throws what the first run in a stream failed with.
  void wait() { check(sprig_rt_context_wait(raw())); }

  // Runs into fresh arrays.
  std::vector<Array> run(std::span<const TensorView> inputs, int32_t entry = SPRIG_RT_ANY_ENTRY) {
    RawTensors in(inputs);
    uint32_t chosen = 0;
    check(sprig_rt_package_choose(owner.raw(), entry, in.data(), in.size(), &chosen, nullptr));
    std::vector<Array> results;
    std::vector<TensorView> views;
    for (const TensorInfo &info : owner.outputs(chosen)) {
      std::vector<int64_t> shape = info.shape;
      if (!shape.empty())
        check(sprig_rt_package_output_of(owner.raw(), chosen, in.data(), in.size(), uint32_t(results.size()),
                                         shape.data()));
      views.push_back(results.emplace_back(info.dtype, std::move(shape)).view());
    }
    invoke(inputs, views, int32_t(chosen));
    return results;
  }

  // Queues a run and returns at once; the arrays must stay as they are until it is ready.
  Future submit(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                int32_t entry = SPRIG_RT_ANY_ENTRY) {
    RawTensors in(inputs), out(outputs);
    sprig_rt_future *future = nullptr;
    check(sprig_rt_submit(raw(), entry, in.data(), in.size(), out.data(), out.size(), &future));
    return Future(future);
  }
  Future submit(std::initializer_list<TensorView> inputs, std::initializer_list<TensorView> outputs,
                int32_t entry = SPRIG_RT_ANY_ENTRY) {
    return submit(std::span(inputs.begin(), inputs.size()), std::span(outputs.begin(), outputs.size()), entry);
  }

  // The rank that the calls are from now on.
  void join(const Group &group) { check(sprig_rt_context_set_group(raw(), group.raw())); }

  // From any thread.
  void cancel() { sprig_rt_context_cancel(raw()); }

  sprig_rt_run_info lastRun() const {
    sprig_rt_run_info info = {};
    sprig_rt_context_last_run(handle.get(), &info);
    return info;
  }
  const Package &package() const { return owner; }
  sprig_rt_context *raw() const { return handle.get(); }

private:
  static std::vector<const char *> namesOf(const std::vector<std::string> &places, size_t count) {
    if (!places.empty() && places.size() != count)
      throw Error(SPRIG_RT_INVALID_ARGUMENT,
                  "expected " + std::to_string(count) + " places, got " + std::to_string(places.size()));
    std::vector<const char *> names;
    for (const std::string &place : places) names.push_back(place.empty() ? nullptr : place.c_str());
    return names;
  }

  // The C form of a few tensors, without allocation for the usual number.
  class RawTensors {
  public:
    explicit RawTensors(std::span<const TensorView> views) : count(views.size()) {
      if (count > std::size(few)) many.resize(count);
      for (size_t i = 0; i < count; ++i) (many.empty() ? few : many.data())[i] = views[i].raw();
    }
    const sprig_rt_tensor *data() const { return many.empty() ? few : many.data(); }
    size_t size() const { return count; }

  private:
    size_t count;
    sprig_rt_tensor few[16];
    std::vector<sprig_rt_tensor> many;
  };

  struct Release {
    void operator()(sprig_rt_context *context) const { sprig_rt_context_release(context); }
  };
  Package owner;
  std::unique_ptr<sprig_rt_context, Release> handle;
};

} // namespace sprig::rt

#endif
