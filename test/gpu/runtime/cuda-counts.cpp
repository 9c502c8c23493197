// cuda-counts PACKAGE [CALLS]: what a call of each of a package's entries asks of the stand-in driver once it is
// steady, a line each. LD_LIBRARY_PATH has to name the stand-in; SPRIG_STANDIN_EFFECTS=none makes it quick. Inputs and
// outputs are other arrays in every call. What is not the same in each call is shown as a fraction.
#include "sprig/rt/sprig_rt.hpp"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <nlohmann/json.hpp>

using namespace sprig::rt;
using Json = nlohmann::ordered_json;

namespace {

struct Arrays {
  std::vector<Array> arrays;
  std::vector<TensorView> views;

  explicit Arrays(const std::vector<TensorInfo> &infos) {
    for (const TensorInfo &info : infos) {
      Array &array = arrays.emplace_back(info.dtype, info.shape);
      std::memset(array.data(), 0, array.bytes());
      views.push_back(array.view());
    }
  }
};

Json report() {
  // The library that the runtime has loaded.
  static auto *ask = [] {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *function = library ? dlsym(library, "sprig_standin_report") : nullptr;
    if (!function) throw std::runtime_error("the driver that was loaded is not the stand-in");
    return reinterpret_cast<const char *(*)()>(function);
  }();
  return Json::parse(ask());
}

double difference(const Json &before, const Json &after, const char *what) {
  return after["counts"][what].get<double>() - before["counts"][what].get<double>();
}

uint64_t kernels(const Json &report) {
  uint64_t sum = 0;
  for (const auto &[name, times] : report["kernels"].items()) sum += times.get<uint64_t>();
  return sum;
}

void measure(const Package &package, uint32_t entry, int calls) {
  Context context(package);
  Json before;
  constexpr int warmUp = 3;
  for (int call = 0; call < warmUp + calls; ++call) {
    if (call == warmUp) before = report();
    Arrays in(package.inputs(entry)), out(package.outputs(entry));
    context.invoke(in.views, out.views, int32_t(entry));
  }
  Json after = report();
  std::string shape;
  std::vector<TensorInfo> inputs = package.inputs(entry);
  for (int64_t size : inputs.at(0).shape) shape += (shape.empty() ? "" : "x") + std::to_string(size);
  std::printf("%s %s: %g kernels", package.entry(entry).name, shape.c_str(),
              double(kernels(after) - kernels(before)) / calls);
  const std::pair<const char *, const char *> shown[] = {{"graph launches", "graph launches"},
                                                         {"launches", "launches beside graphs"},
                                                         {"graphs instantiated", "graphs made"},
                                                         {"allocations", "allocations"},
                                                         {"host synchronisations", "waits of the host"}};
  for (auto [what, name] : shown) std::printf(", %g %s", difference(before, after, what) / calls, name);
  std::printf("\n");
}

} // namespace

int main(int argc, char **argv) {
  int calls = argc == 3 ? std::atoi(argv[2]) : 10;
  if (argc < 2 || argc > 3 || calls < 1) return std::fputs("usage: cuda-counts PACKAGE [CALLS]\n", stderr), 2;
  try {
    LoadOptions options;
    options.device = "cuda:0";
    Package package = Package::load(argv[1], options);
    for (uint32_t entry = 0; entry < package.entryCount(); ++entry) measure(package, entry, calls);
  } catch (const std::exception &error) {
    return std::fprintf(stderr, "error: %s\n", error.what()), 5;
  }
  return 0;
}
