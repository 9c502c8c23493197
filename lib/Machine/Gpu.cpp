#include "lib/Machine/Gpu.h"
#include <algorithm>
#include <cctype>
#include <dlfcn.h>
#include <filesystem>

namespace sprig::machine {
namespace {

/// The few functions of the driver's interface that describe devices. All return 0 for success.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*version)(int *) = nullptr;
  int (*count)(int *) = nullptr;
  int (*name)(char *, int, int) = nullptr;
  int (*memory)(size_t *, int) = nullptr;
  int (*attribute)(int *, int, int) = nullptr;
  bool isWhole() const { return init && version && count && name && memory && attribute; }
};
constexpr int kComputeMajor = 75, kComputeMinor = 76;

template <typename F> void look(void *library, const char *symbol, F &function) {
  function = reinterpret_cast<F>(dlsym(library, symbol));
}

int countDeviceFiles(const std::string &folder) {
  std::error_code ignored;
  int count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder, ignored)) {
    std::string name = entry.path().filename();
    count += name.starts_with("nvidia") && name.size() > 6 &&
             std::all_of(name.begin() + 6, name.end(), [](unsigned char c) { return std::isdigit(c); });
  }
  return count;
}

Gpu describeGpu(const Driver &driver, int index) {
  Gpu gpu;
  char name[256] = "";
  size_t bytes = 0;
  if (driver.name(name, sizeof name, index) == 0) gpu.name = name;
  if (driver.memory(&bytes, index) == 0) gpu.memoryBytes = int64_t(bytes);
  driver.attribute(&gpu.major, kComputeMajor, index);
  driver.attribute(&gpu.minor, kComputeMinor, index);
  return gpu;
}

/// Fills in what the driver says; returns what is the matter with it, or how it is.
std::string askDriver(const std::string &path, GpuSearch &search) {
  // Not closed again: a driver that has been started does not like to be unloaded.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return path + " does not load";
  Driver driver;
  look(library, "cuInit", driver.init);
  look(library, "cuDriverGetVersion", driver.version);
  look(library, "cuDeviceGetCount", driver.count);
  look(library, "cuDeviceGetName", driver.name);
  look(library, "cuDeviceTotalMem_v2", driver.memory);
  look(library, "cuDeviceGetAttribute", driver.attribute);
  if (!driver.isWhole()) return path + " lacks functions of the driver";
  int count = 0;
  if (int error = driver.init(0)) return path + " does not start (error " + std::to_string(error) + ")";
  if (int error = driver.count(&count)) return path + " counts no devices (error " + std::to_string(error) + ")";
  driver.version(&search.driverVersion);
  for (int i = 0; i < count; ++i) search.gpus.push_back(describeGpu(driver, i));
  return path + " counts " + std::to_string(count) + (count == 1 ? " device" : " devices");
}

} // namespace

GpuSearch findGpus(const GpuPlaces &places) {
  GpuSearch search;
  search.deviceFiles = countDeviceFiles(places.devices);
  search.found = askDriver(places.library, search) + ", " + places.devices + " has " +
                 (search.deviceFiles ? std::to_string(search.deviceFiles) + " of nvidia0, nvidia1, ..." : "no nvidia0");
  return search;
}

std::string GpuSearch::describe() const {
  if (gpus.empty()) return "no GPU: " + found + " (looked for NVIDIA's driver and devices); everything runs on the CPU";
  std::string names;
  for (const Gpu &gpu : gpus) names += (names.empty() ? "" : ", ") + gpu.name;
  return "this version has no code for GPUs (" + names + "); everything runs on the CPU";
}

} // namespace sprig::machine
