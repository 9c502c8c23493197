// Runs kernels of PTX files or texts in tests: translates, loads, packs arguments, launches.
#ifndef SPRIG_TEST_GPU_UNIT_KERNELS_H
#define SPRIG_TEST_GPU_UNIT_KERNELS_H

#include "test/gpu/emulator/Emulator.h"
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace sprig::gpu {

// The text of a file in test/gpu/oracle.
std::string oracleText(const std::string &name);

class Kernels {
public:
  explicit Kernels(const std::string &ptxText, const std::string &name = "test.ptx");

  // Arguments by value, in the order and with the sizes of the kernel's parameters.
  template <class... Arguments>
  LaunchReport run(const std::string &kernel, Dim3 grid, Dim3 block, const LaunchOptions &options,
                   Arguments... arguments) const {
    return runShared(kernel, grid, block, 0, options, arguments...);
  }
  template <class... Arguments>
  LaunchReport runShared(const std::string &kernel, Dim3 grid, Dim3 block, uint32_t dynamicShared,
                         const LaunchOptions &options, Arguments... arguments) const {
    const SprigGpuKernel &found = find(kernel);
    std::vector<uint8_t> parameters(found.parameterBytes);
    unsigned index = 0;
    (put(found, parameters, index++, &arguments, sizeof arguments), ...);
    return launch(found, grid, block, dynamicShared, parameters.data(), variables, options);
  }
  const SprigGpuKernel &find(const std::string &kernel) const;
  const LoadedImage &image() const { return *loaded; }
  uint8_t *variable(const std::string &name) const;

private:
  static void put(const SprigGpuKernel &kernel, std::vector<uint8_t> &parameters, unsigned index, const void *value,
                  size_t size);
  std::unique_ptr<LoadedImage> loaded;
  std::vector<uint8_t> storage;
  uint8_t *variables = nullptr;
};

// Options of the checked version that knows these arrays as all of global memory.
template <class... Arrays> LaunchOptions checkedWith(const Arrays &...arrays) {
  LaunchOptions options;
  options.checked = options.knowsAllocations = true;
  auto add = [&](const void *data, size_t bytes) {
    uint64_t begin = reinterpret_cast<uint64_t>(data);
    auto at = options.allocations.begin();
    while (at != options.allocations.end() && at->begin < begin) ++at;
    options.allocations.insert(at, {begin, begin + bytes});
  };
  (add(arrays.data(), arrays.size() * sizeof(arrays[0])), ...);
  return options;
}

} // namespace sprig::gpu
#endif
