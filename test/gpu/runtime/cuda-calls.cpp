// cuda-calls PACKAGE DEVICES: calls each entry of a package in all the ways that there are, with other values in each
// call: one by one, submitted ahead, its state read and written in between, and on a single GPU in two streams of the
// caller's with arrays there. For scripts/gpu-mutate, which drops what orders all that (SPRIG_STANDIN_DROP); nothing
// here waits but by the runtime. LD_LIBRARY_PATH has to name the stand-in.
#include "sprig/rt/sprig_rt.hpp"

#include <cstdio>
#include <cstring>
#include <deque>
#include <dlfcn.h>

using namespace sprig::rt;

namespace {

struct Arrays {
  std::vector<Array> arrays;
  std::vector<TensorView> views;

  Arrays(const std::vector<TensorInfo> &infos, uint32_t call) {
    for (const TensorInfo &info : infos) {
      Array &array = arrays.emplace_back(info.dtype, info.shape);
      std::memset(array.data(), 0, array.bytes());
      // Whole numbers may be labels or indices: 0 or 1.
      uint64_t words = array.bytes() / 4;
      auto *floats = static_cast<float *>(array.data());
      if (info.dtype == SPRIG_RT_F32)
        for (uint64_t i = 0; i < words; ++i) floats[i] = float((i * 7 + call * 13) % 101) / 50 - 1;
      else if (array.bytes() > 0)
        *static_cast<char *>(array.data()) = char(call % 2);
      views.push_back(array.view());
    }
  }
};

// Threads to help with that do nothing before they are told: so all calls are submitted before the first one begins.
struct Later {
  sprig_rt_executor executor = {this, [](void *user, void (*task)(void *), void *argument) {
                                  static_cast<Later *>(user)->tasks.emplace_back(task, argument);
                                }};
  std::deque<std::pair<void (*)(void *), void *>> tasks;
  void begin() {
    for (; !tasks.empty(); tasks.pop_front()) tasks.front().first(tasks.front().second);
  }
};

void callAhead(const Package &package, Context &context, uint32_t entry, Later &later) {
  std::vector<TensorInfo> inputs = package.inputs(entry), outputs = package.outputs(entry);
  for (uint32_t call = 0; call < 2; ++call) {
    Arrays in(inputs, call), out(outputs, 0);
    context.invoke(in.views, out.views, int32_t(entry));
  }
  std::deque<Arrays> arrays;
  std::vector<Future> futures;
  for (uint32_t call = 0; call < 5; ++call) {
    Arrays &in = arrays.emplace_back(inputs, 2 + call), &out = arrays.emplace_back(outputs, 0);
    futures.push_back(context.submit(in.views, out.views, int32_t(entry)));
  }
  later.begin();
  for (const Future &future : futures) future.wait();
}

// Two of them through the host and back.
void moveState(const Package &package, const State &state) {
  for (uint32_t i = 0; i < std::min(package.info().state_count, 2u); ++i) {
    sprig_rt_tensor_info info;
    check(sprig_rt_package_state(package.raw(), i, &info));
    std::vector<uint8_t> bytes(info.bytes);
    state.read(i, bytes);
    state.write(i, bytes);
  }
}

// As a program of the driver's has streams and arrays.
class Streams {
public:
  using Address = unsigned long long;

  Streams() {
    void *context = nullptr;
    demand<int(void **, int)>("cuDevicePrimaryCtxRetain", &context, 0);
    demand<int(void *)>("cuCtxSetCurrent", context);
    for (void *&stream : streams) demand<int(void **, unsigned)>("cuStreamCreate", &stream, 1u);
  }
  // Where something went wrong, this does, too.
  ~Streams() {
    for (Address each : memory) call<int(Address)>("cuMemFree_v2", each);
    for (void *stream : streams) call<int(void *)>("cuStreamDestroy_v2", stream);
    call<int(int)>("cuDevicePrimaryCtxRelease_v2", 0);
  }
  // Where the arrays lie on the device; of inputs their values are on the way.
  std::vector<TensorView> place(const std::vector<TensorInfo> &infos, uint32_t call, const void *const stream) {
    std::vector<TensorView> views;
    Arrays values(infos, call);
    for (size_t i = 0; i < infos.size(); ++i) {
      Address address = 0;
      demand<int(Address *, size_t)>("cuMemAlloc_v2", &address, std::max<size_t>(infos[i].bytes, 64));
      memory.push_back(address);
      if (stream)
        demand<int(Address, const void *, size_t, const void *)>("cuMemcpyHtoDAsync_v2", address,
                                                                 values.arrays[i].data(), infos[i].bytes, stream);
      views.emplace_back(reinterpret_cast<void *>(address), infos[i].dtype, infos[i].shape);
    }
    return views;
  }
  void *streams[2] = {};

private:
  template <typename Function, typename... Arguments> int call(const char *name, Arguments... arguments) {
    auto *function = library ? reinterpret_cast<Function *>(dlsym(library, name)) : nullptr;
    return function ? function(arguments...) : -1;
  }
  template <typename Function, typename... Arguments> void demand(const char *name, Arguments... arguments) {
    if (int result = call<Function>(name, arguments...))
      throw std::runtime_error(std::string(name) + " answers with error " + std::to_string(result));
  }
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  std::vector<Address> memory;
};

void callInStreams(const Package &package, Context &context, uint32_t entry) {
  Streams own;
  std::vector<TensorView> in[2], out[2];
  for (uint32_t i = 0; i < 2; ++i) {
    in[i] = own.place(package.inputs(entry), 7 + i, own.streams[i]);
    out[i] = own.place(package.outputs(entry), 0, nullptr);
  }
  for (uint32_t i : {0, 1, 0, 1}) context.enqueue(in[i], out[i], "cuda:0", own.streams[i], int32_t(entry));
  context.wait();
}

void callAll(const Package &package, bool isOnOne) {
  Later later;
  Pool pool(1, &later.executor);
  State state(package);
  Context context(package, {&pool, &state, 0});
  for (uint32_t entry = 0; entry < package.entryCount(); ++entry) {
    callAhead(package, context, entry, later);
    moveState(package, state);
    if (isOnOne) callInStreams(package, context, entry);
    Arrays in(package.inputs(entry), 9), out(package.outputs(entry), 0);
    context.invoke(in.views, out.views, int32_t(entry));
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) return std::fputs("usage: cuda-calls PACKAGE DEVICES\n", stderr), 2;
  try {
    LoadOptions options;
    options.device = argv[2];
    callAll(Package::load(argv[1], options), options.device == "cuda:0");
  } catch (const std::exception &error) {
    return std::fprintf(stderr, "error: %s\n", error.what()), 5;
  }
  return 0;
}
