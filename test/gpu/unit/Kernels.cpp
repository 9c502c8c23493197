#include "test/gpu/unit/Kernels.h"
#include "test/gpu/image/ImageBuilder.h"
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <unistd.h>

using namespace sprig::gpu;

std::string sprig::gpu::oracleText(const std::string &name) {
  std::ifstream file(std::string(SPRIG_SOURCE_DIR "/test/gpu/oracle/") + name, std::ios::binary);
  if (!file) throw std::runtime_error("there is no oracle '" + name + "'");
  return {std::istreambuf_iterator<char>(file), {}};
}

Kernels::Kernels(const std::string &ptxText, const std::string &name) {
  static int count = 0;
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("sprig-gpu-" + std::to_string(getpid()) + "-" + std::to_string(count++) + ".so");
  makeImage(ptxText, name, path.string());
  loaded = std::make_unique<LoadedImage>(path.string());
  std::filesystem::remove(path); // it stays mapped
  storage.resize((*loaded)->variableBytes + 256);
  variables = storage.data() + (256 - reinterpret_cast<uintptr_t>(storage.data()) % 256) % 256;
  initialiseVariables(**loaded, variables);
}

const SprigGpuKernel &Kernels::find(const std::string &kernel) const {
  if (const SprigGpuKernel *found = loaded->findKernel(kernel)) return *found;
  throw std::runtime_error("there is no kernel '" + kernel + "'");
}
uint8_t *Kernels::variable(const std::string &name) const {
  if (const SprigGpuVariable *found = loaded->findVariable(name)) return variables + found->offset;
  throw std::runtime_error("there is no variable '" + name + "'");
}

void Kernels::put(const SprigGpuKernel &kernel, std::vector<uint8_t> &parameters, unsigned index, const void *value,
                  size_t size) {
  if (index >= kernel.parameterCount || kernel.parameters[index].size != size)
    throw std::runtime_error("parameter " + std::to_string(index) + " of '" + kernel.name + "' is given " +
                             std::to_string(size) + " bytes");
  std::memcpy(parameters.data() + kernel.parameters[index].offset, value, size);
}
