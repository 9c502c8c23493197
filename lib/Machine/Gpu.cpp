#include "lib/Machine/Gpu.h"
#include "runtime/machine/CudaDriver.h"
#include <algorithm>
#include <cctype>
#include <filesystem>

namespace sprig::machine {
namespace {

using rt::cuda::CudaDriver;

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

Gpu describeGpu(const CudaDriver &driver, int index) {
  Gpu gpu;
  char name[256] = "";
  size_t bytes = 0;
  if (driver.cuDeviceGetName(name, sizeof name, index) == 0) gpu.name = name;
  if (driver.cuDeviceTotalMem_v2(&bytes, index) == 0) gpu.memoryBytes = int64_t(bytes);
  auto attribute = [&](unsigned which) {
    int value = 0;
    driver.cuDeviceGetAttribute(&value, which, index);
    return value;
  };
  gpu.major = attribute(rt::cuda::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  gpu.minor = attribute(rt::cuda::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  gpu.multiprocessors = attribute(rt::cuda::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  gpu.threadsPerMultiprocessor = attribute(rt::cuda::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  gpu.sharedBytesPerBlock = attribute(rt::cuda::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  return gpu;
}

/// Fills in what the driver says; returns what is the matter with it, or how it is.
std::string askDriver(const std::string &path, GpuSearch &search) {
  CudaDriver driver = path == CudaDriver::kLibrary ? CudaDriver::system() : CudaDriver::open(path);
  CudaDriver::Answer answer = driver.start();
  search.driverVersion = answer.version;
  if (!answer.problem.empty()) return answer.problem;
  for (int i = 0; i < answer.devices; ++i) search.gpus.push_back(describeGpu(driver, i));
  return path + " counts " + std::to_string(answer.devices) + (answer.devices == 1 ? " device" : " devices");
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
  std::string counted = std::to_string(gpus.size()) + (gpus.size() == 1 ? " GPU (" : " GPUs (") + names + "); ";
  if (driverVersion < CudaDriver::kLeastVersion)
    return counted + "nothing runs there, as the driver is that of CUDA " + CudaDriver::versionText(driverVersion) +
           ", expected " + CudaDriver::versionText(CudaDriver::kLeastVersion) + " or newer";
  return counted + "--devices cuda:0 runs on the first";
}

} // namespace sprig::machine
