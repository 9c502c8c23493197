// A package's file and program with its code for GPUs, for tools that make and run emulation images of it.
#ifndef SPRIG_TEST_GPU_RUNTIME_GPUPACKAGE_H
#define SPRIG_TEST_GPU_RUNTIME_GPUPACKAGE_H

#include "runtime/base/Memory.h"
#include "runtime/load/Program.h"

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace sprig::gpu {

/// What the file itself is wrong about, as opposed to what a tool meets later.
struct BadPackage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class GpuPackage {
public:
  /// Throws BadPackage.
  explicit GpuPackage(const std::string &path);

  struct Image {
    const rt::core::Image *image;
    std::span<const uint8_t> code; // of PTX without the final zero
    bool isText;
  };
  std::vector<Image> images; // those for CUDA devices
  rt::core::Program program;

private:
  rt::core::MappedFile file;
};

} // namespace sprig::gpu

#endif
