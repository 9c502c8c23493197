#include "test/gpu/emulator/Emulator.h"
#include <cstring>
#include <dlfcn.h>
#include <stdexcept>
#include <utility>

using namespace sprig::gpu;

LoadedImage::LoadedImage(const std::string &path) : handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!handle) throw std::runtime_error(std::string("cannot load the emulation image: ") + dlerror());
  auto function = reinterpret_cast<SprigGpuImageFunction *>(dlsym(handle, SPRIG_GPU_IMAGE_SYMBOL));
  std::string why = function ? "" : "it has no symbol '" SPRIG_GPU_IMAGE_SYMBOL "'";
  if (function) image = function();
  if (function && image->version != SPRIG_GPU_IMAGE_VERSION)
    why = "it has version " + std::to_string(image->version) + ", this emulator is for " +
          std::to_string(SPRIG_GPU_IMAGE_VERSION);
  if (why.empty()) return;
  dlclose(handle);
  throw std::runtime_error("'" + path + "' is no emulation image: " + why);
}
LoadedImage::~LoadedImage() {
  if (handle) dlclose(handle);
}
LoadedImage::LoadedImage(LoadedImage &&other) noexcept
    : handle(std::exchange(other.handle, nullptr)), image(other.image) {}

const SprigGpuKernel *LoadedImage::findKernel(const std::string &name) const {
  for (uint32_t i = 0; i < image->kernelCount; ++i)
    if (image->kernels[i].name == name) return &image->kernels[i];
  return nullptr;
}
const SprigGpuVariable *LoadedImage::findVariable(const std::string &name) const {
  for (uint32_t i = 0; i < image->variableCount; ++i)
    if (image->variables[i].name == name) return &image->variables[i];
  return nullptr;
}

void sprig::gpu::initialiseVariables(const SprigGpuImage &image, uint8_t *block) {
  if (image.variableBytes) std::memcpy(block, image.initialBytes, image.variableBytes);
  for (uint64_t i = 0; i < image.pointerCount; ++i) {
    uint64_t value;
    std::memcpy(&value, block + image.pointers[i], 8);
    value += reinterpret_cast<uint64_t>(block);
    std::memcpy(block + image.pointers[i], &value, 8);
  }
}
