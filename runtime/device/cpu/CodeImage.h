// The kernels of a package as executable memory: picks the image that suits the processor, maps it, fills its import
// slots. Code ends up readable and executable, slots readable.
#ifndef SPRIG_RUNTIME_DEVICE_CPU_CODEIMAGE_H
#define SPRIG_RUNTIME_DEVICE_CPU_CODEIMAGE_H

#include "runtime/device/cpu/CpuFeatures.h"
#include "runtime/base/Status.h"
#include "runtime/device/cpu/CodeSymbols.h"
#include "runtime/load/Program.h"
#include "sprig/rt/kernel.h"

#include <span>

namespace sprig::rt::core {

// The best of the images that run on `cpu` and need no more than `limit` ("x86-64-v3"; empty: no limit), and none of
// the features that are `refused`.
Status chooseImage(const Program &program, const CpuFeatures &cpu, std::string_view limit, uint32_t &index,
                   std::span<const std::string_view> refused = {});

class CodeImage {
public:
  CodeImage() = default;
  CodeImage(CodeImage &&other) noexcept { *this = std::move(other); }
  CodeImage &operator=(CodeImage &&other) noexcept;
  ~CodeImage();

  static Status map(const Image &image, std::span<const uint8_t> bytes, CodeImage &code);
  // Gives the kernels names in perf and gdb, where the environment asks for that.
  void announce(const Image &image, const std::vector<Kernel> &list) { symbols.announce(image, list, address); }
  sprig_rt_kernel kernel(uint32_t index) const { return kernels[index]; }

private:
  void *address = nullptr;
  size_t length = 0;
  std::vector<sprig_rt_kernel> kernels;
  CodeSymbols symbols;
};

} // namespace sprig::rt::core

#endif
