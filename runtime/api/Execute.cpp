// The C ABI's functions that load and run.
#include "runtime/api/Handles.h"
#include "runtime/api/Options.h"

#include "runtime/machine/Machine.h"

#include <cstring>

using namespace sprig::rt::core;

Status sprig::rt::core::readOptionBytes(const void *given, void *options, size_t size) {
  std::memset(options, 0, size);
  if (!given) return {};
  decltype(sprig_rt_load_options::size) said;
  std::memcpy(&said, given, sizeof said);
  if (said == 0 || said > 4096)
    return {SPRIG_RT_INVALID_ARGUMENT, concat("expected options with their size set to ", size, ", got ", said)};
  std::memcpy(options, given, std::min<size_t>(size, said));
  return {};
}

namespace {

Status readLoadOptions(const sprig_rt_load_options *given, LoadOptions &options) {
  sprig_rt_load_options read;
  SPRIG_RETURN_IF_ERROR(readOptions(given, read));
  options.cpu = read.cpu ? read.cpu : "";
  options.device = read.device ? read.device : "";
  for (size_t i = 0; i < read.link_count; ++i) {
    SPRIG_RETURN_IF_ERROR(requireHandle(read.links, "links"));
    SPRIG_RETURN_IF_ERROR(requireHandle(read.links[i], "text of a link"));
    options.links.emplace_back(read.links[i]);
  }
  options.memoryLimit = read.memory_limit;
  if (read.allocator) options.allocator.hooks = *read.allocator;
  options.log = read.log;
  options.logUser = read.log_user;
  options.mapConstants = read.map_constants != 0;
  return {};
}

Status makePackage(PackageSource source, const LoadOptions &options, sprig_rt_package **package) {
  auto handle = std::make_unique<sprig_rt_package>();
  SPRIG_RETURN_IF_ERROR(Package::load(std::move(source), options, handle->package));
  for (const Image &image : handle->package->program().images) {
    std::string joined;
    for (const std::string &feature : image.features) joined += concat(joined.empty() ? "" : ",", feature);
    handle->imageFeatures.push_back(std::move(joined));
  }
  *package = handle.release();
  return {};
}

} // namespace

sprig_rt_status *sprig_rt_pool_create(const sprig_rt_pool_options *given, sprig_rt_pool **pool) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(pool, "place for the pool"));
    sprig_rt_pool_options read;
    SPRIG_RETURN_IF_ERROR(readOptions(given, read));
    PoolOptions options;
    options.threads = read.threads;
    options.spinMicroseconds = read.spin_us;
    options.pin = read.pin;
    if (read.executor) {
      SPRIG_RETURN_IF_ERROR(
          requireHandle(reinterpret_cast<const void *>(read.executor->execute), "function to execute"));
      options.executor = *read.executor;
    }
    auto handle = std::make_unique<sprig_rt_pool>();
    SPRIG_RETURN_IF_ERROR(Pool::create(options, handle->pool));
    *pool = handle.release();
    return {};
  });
}

void sprig_rt_pool_release(sprig_rt_pool *pool) { delete pool; }
int32_t sprig_rt_pool_threads(const sprig_rt_pool *pool) { return pool ? int32_t(pool->pool->threads()) : 0; }
int32_t sprig_rt_default_threads(void) { return defaultThreads(); }

sprig_rt_status *sprig_rt_package_load(const char *path, const sprig_rt_load_options *given,
                                       sprig_rt_package **package) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(path, "path"));
    SPRIG_RETURN_IF_ERROR(requireHandle(package, "place for the package"));
    LoadOptions options;
    SPRIG_RETURN_IF_ERROR(readLoadOptions(given, options));
    PackageSource source;
    source.name = path;
    SPRIG_RETURN_IF_ERROR(MappedFile::open(path, source.file), path);
    source.bytes = source.file.bytes();
    return makePackage(std::move(source), options, package);
  });
}

sprig_rt_status *sprig_rt_package_load_memory(const void *data, size_t size, void (*release)(void *user), void *user,
                                              const char *name, const sprig_rt_load_options *given,
                                              sprig_rt_package **package) {
  return guarded([&]() -> Status {
    PackageSource source;
    // First, so that the bytes are given back whatever fails.
    if (release) source.keepAlive = std::shared_ptr<void>(user, [release](void *pointer) { release(pointer); });
    SPRIG_RETURN_IF_ERROR(size ? requireHandle(data, "package in memory") : Status());
    SPRIG_RETURN_IF_ERROR(requireHandle(package, "place for the package"));
    LoadOptions options;
    SPRIG_RETURN_IF_ERROR(readLoadOptions(given, options));
    source.name = name ? name : "package in memory";
    source.bytes = {static_cast<const uint8_t *>(data), size};
    if (!release) {
      SPRIG_RETURN_IF_ERROR(Block::make(options.allocator, size, "a copy of the package", source.copy));
      if (size) std::memcpy(source.copy.data(), data, size);
      source.bytes = {source.copy.data(), size};
    }
    return makePackage(std::move(source), options, package);
  });
}

void sprig_rt_package_retain(sprig_rt_package *package) {
  if (package) package->references.fetch_add(1, std::memory_order_relaxed);
}

void sprig_rt_package_release(sprig_rt_package *package) {
  if (package && package->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete package;
}

sprig_rt_status *sprig_rt_state_create(sprig_rt_package *package, sprig_rt_state **state) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(package, "package"));
    SPRIG_RETURN_IF_ERROR(requireHandle(state, "place for the state"));
    auto handle = std::make_unique<sprig_rt_state>();
    SPRIG_RETURN_IF_ERROR(State::create(package->package, handle->state));
    *state = handle.release();
    return {};
  });
}

sprig_rt_status *sprig_rt_state_create_bound(sprig_rt_package *package, sprig_rt_state **state) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(package, "package"));
    SPRIG_RETURN_IF_ERROR(requireHandle(state, "place for the state"));
    auto handle = std::make_unique<sprig_rt_state>();
    SPRIG_RETURN_IF_ERROR(State::createBound(package->package, handle->state));
    *state = handle.release();
    return {};
  });
}

sprig_rt_status *sprig_rt_state_bind(sprig_rt_state *state, uint32_t index, void *data) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(state, "state"));
    const std::vector<StateType> &states = state->state->package().program().states;
    SPRIG_RETURN_IF_ERROR(checkIndex("a state", index, states.size()));
    if (!state->state->isBound())
      return {SPRIG_RT_INVALID_ARGUMENT,
              concat("expected a state of sprig_rt_state_create_bound, got one with memory of its own")};
    if (!data || reinterpret_cast<uintptr_t>(data) % 64)
      return {SPRIG_RT_INVALID_ARGUMENT,
              concat("state '", states[index].tensor.name, "': expected memory aligned to 64 bytes, got ",
                     data ? "an address that is not" : "null")};
    state->state->bind(index, data);
    return {};
  });
}

void sprig_rt_state_release(sprig_rt_state *state) { delete state; }

sprig_rt_status *sprig_rt_state_data(sprig_rt_state *state, uint32_t index, void **data, uint64_t *bytes) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(state, "state"));
    const std::vector<StateType> &states = state->state->package().program().states;
    SPRIG_RETURN_IF_ERROR(checkIndex("a state", index, states.size()));
    if (!state->state->device(index).sharesHostMemory())
      return {SPRIG_RT_UNSUPPORTED,
              concat("state '", states[index].tensor.name, "' lies on ", state->state->device(index).name(),
                     ": expected sprig_rt_state_read or sprig_rt_state_write, which copy")};
    if (data) *data = state->state->data(index);
    if (bytes) *bytes = states[index].tensor.bytes;
    return {};
  });
}

// `bytes` is all of the state, which has memory.
static Status requireBytes(const sprig_rt_state *state, uint32_t index, const void *data, uint64_t bytes) {
  SPRIG_RETURN_IF_ERROR(requireHandle(state, "state"));
  const std::vector<StateType> &states = state->state->package().program().states;
  SPRIG_RETURN_IF_ERROR(checkIndex("a state", index, states.size()));
  const TensorType &tensor = states[index].tensor;
  if (bytes != tensor.bytes)
    return {SPRIG_RT_INVALID_ARGUMENT,
            concat("state '", tensor.name, "': expected ", tensor.bytes, " bytes, got ", bytes)};
  if (bytes && state->state->isBound() && !state->state->data(index))
    return {SPRIG_RT_INVALID_ARGUMENT, concat("state '", tensor.name, "': expected memory, none is bound")};
  return bytes ? requireHandle(data, "memory of the host") : Status();
}

sprig_rt_status *sprig_rt_state_read(sprig_rt_state *state, uint32_t index, void *data, uint64_t bytes) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireBytes(state, index, data, bytes));
    return state->state->read(index, data);
  });
}

sprig_rt_status *sprig_rt_state_write(sprig_rt_state *state, uint32_t index, const void *data, uint64_t bytes) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireBytes(state, index, data, bytes));
    return state->state->write(index, data);
  });
}

sprig_rt_status *sprig_rt_context_create(sprig_rt_package *package, const sprig_rt_context_options *given,
                                         sprig_rt_context **context) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(package, "package"));
    SPRIG_RETURN_IF_ERROR(requireHandle(context, "place for the context"));
    sprig_rt_context_options options;
    SPRIG_RETURN_IF_ERROR(readOptions(given, options));
    std::unique_ptr<Context> created;
    SPRIG_RETURN_IF_ERROR(Context::create(package->package, options.pool ? options.pool->pool : nullptr,
                                          options.state ? options.state->state : nullptr, created));
    *context = new sprig_rt_context(std::move(created), options.queue_limit);
    return {};
  });
}

void sprig_rt_context_release(sprig_rt_context *context) { delete context; }

static Status requireTensors(const sprig_rt_tensor *tensors, size_t count, const char *what) {
  return count ? requireHandle(tensors, what) : Status();
}

sprig_rt_status *sprig_rt_invoke(sprig_rt_context *context, int32_t entry, const sprig_rt_tensor *inputs,
                                 size_t input_count, const sprig_rt_tensor *outputs, size_t output_count) {
  return guarded([&]() -> Status {
    if (!context || (input_count && !inputs) || (output_count && !outputs)) [[unlikely]] {
      SPRIG_RETURN_IF_ERROR(requireHandle(context, "context"));
      SPRIG_RETURN_IF_ERROR(requireTensors(inputs, input_count, "list of inputs"));
      return requireTensors(outputs, output_count, "list of outputs");
    }
    context->queue.waitIdle();
    return context->context->invoke(entry, {inputs, input_count}, {outputs, output_count});
  });
}

sprig_rt_status *sprig_rt_invoke_on(sprig_rt_context *context, int32_t entry, const sprig_rt_tensor *inputs,
                                    size_t input_count, const sprig_rt_tensor *outputs, size_t output_count,
                                    const sprig_rt_places *given) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(context, "context"));
    SPRIG_RETURN_IF_ERROR(requireTensors(inputs, input_count, "list of inputs"));
    SPRIG_RETURN_IF_ERROR(requireTensors(outputs, output_count, "list of outputs"));
    sprig_rt_places places;
    SPRIG_RETURN_IF_ERROR(readOptions(given, places));
    context->queue.waitIdle();
    return context->context->invokeOn(entry, {inputs, input_count}, {outputs, output_count},
                                      {places.inputs, places.outputs});
  });
}

sprig_rt_status *sprig_rt_enqueue(sprig_rt_context *context, int32_t entry, const sprig_rt_tensor *inputs,
                                  size_t input_count, const sprig_rt_tensor *outputs, size_t output_count,
                                  const char *device, void *stream) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(context, "context"));
    SPRIG_RETURN_IF_ERROR(requireTensors(inputs, input_count, "list of inputs"));
    SPRIG_RETURN_IF_ERROR(requireTensors(outputs, output_count, "list of outputs"));
    SPRIG_RETURN_IF_ERROR(requireHandle(device, "name of a device"));
    context->queue.waitIdle();
    return context->context->enqueue(entry, {inputs, input_count}, {outputs, output_count}, device, stream);
  });
}

sprig_rt_status *sprig_rt_context_wait(sprig_rt_context *context) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(context, "context"));
    context->queue.waitIdle();
    return context->context->waitForStreams();
  });
}

sprig_rt_status *sprig_rt_submit(sprig_rt_context *context, int32_t entry, const sprig_rt_tensor *inputs,
                                 size_t input_count, const sprig_rt_tensor *outputs, size_t output_count,
                                 sprig_rt_future **future) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(context, "context"));
    SPRIG_RETURN_IF_ERROR(requireHandle(future, "place for the future"));
    SPRIG_RETURN_IF_ERROR(requireTensors(inputs, input_count, "list of inputs"));
    SPRIG_RETURN_IF_ERROR(requireTensors(outputs, output_count, "list of outputs"));
    auto handle = std::make_unique<sprig_rt_future>();
    SPRIG_RETURN_IF_ERROR(
        context->queue.submit(entry, {inputs, input_count}, {outputs, output_count}, handle->submission));
    *future = handle.release();
    return {};
  });
}

void sprig_rt_context_cancel(sprig_rt_context *context) {
  if (context) context->context->cancel();
}

static sprig_rt_run_info toC(const RunInfo &run, const Package &package) {
  return {run.entry,           run.runs, run.paddedSamples, run.stagedInputs, run.stagedOutputs, package.isa().c_str(),
          run.simulatedSeconds};
}

void sprig_rt_context_last_run(const sprig_rt_context *context, sprig_rt_run_info *info) {
  if (context && info) *info = toC(context->context->lastRun(), context->context->package());
}

sprig_rt_status *sprig_rt_future_wait(sprig_rt_future *future, int64_t timeout_ns) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(future, "future"));
    std::optional<std::chrono::nanoseconds> limit;
    if (timeout_ns >= 0) limit = std::chrono::nanoseconds(timeout_ns);
    if (!future->submission->wait(limit))
      return {SPRIG_RT_TIMEOUT, concat("the run did not end within ", timeout_ns, " ns")};
    return future->submission->result();
  });
}

int32_t sprig_rt_future_ready(const sprig_rt_future *future) { return future && future->submission->ready(); }

void sprig_rt_future_run(const sprig_rt_future *future, sprig_rt_run_info *info) {
  if (!future || !info) return;
  bool hasEnded = sprig_rt_future_ready(future) != 0;
  *info = toC(hasEnded ? future->submission->info() : RunInfo(), future->submission->of());
}

int64_t sprig_rt_future_ended_ns(const sprig_rt_future *future) {
  return sprig_rt_future_ready(future) ? future->submission->endedNs() : 0;
}

void sprig_rt_future_cancel(sprig_rt_future *future) {
  if (future) future->submission->cancel();
}

sprig_rt_status *sprig_rt_future_output(const sprig_rt_future *future, uint32_t index, sprig_rt_tensor_info *info) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(future, "future"));
    SPRIG_RETURN_IF_ERROR(requireHandle(info, "place for the description"));
    const std::vector<HeldTensor> &outputs = future->submission->outputs();
    if (index >= outputs.size())
      return {SPRIG_RT_INVALID_ARGUMENT, concat("expected an output below ", outputs.size(), ", got ", index)};
    const TensorType &type = future->submission->entry().outputs[index];
    const sprig_rt_tensor &view = outputs[index].view;
    uint64_t elements = 1;
    for (int64_t size : outputs[index].shape) elements *= uint64_t(size);
    *info = {type.name.c_str(), view.shape, view.rank, view.dtype, elements * sprig_rt_dtype_size(view.dtype)};
    return {};
  });
}

void sprig_rt_future_release(sprig_rt_future *future) { delete future; }
