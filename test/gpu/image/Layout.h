// Where the variables of a PTX module lie in the memory that its emulation image is given: global and constant ones in
// the module's block, shared and local ones of a kernel (and of all functions that it calls) in its block's and
// thread's memory.
#ifndef SPRIG_TEST_GPU_IMAGE_LAYOUT_H
#define SPRIG_TEST_GPU_IMAGE_LAYOUT_H

#include "test/gpu/ptx/Module.h"
#include <map>

namespace sprig::gpu {

struct ModuleLayout {
  explicit ModuleLayout(const ptx::Module &module);
  std::map<std::string, uint64_t> offsets;
  uint64_t bytes = 0;
  std::vector<uint8_t> initial;
  std::vector<uint64_t> pointers; // offsets of words that hold an offset in this block
};

struct KernelLayout {
  KernelLayout(const ptx::Module &module, const ptx::Function &kernel);
  struct Place {
    ptx::Space space;
    uint64_t offset;
  };
  // By function name and variable name; variables of the module have an empty function name.
  std::map<std::pair<std::string, std::string>, Place> places;
  std::vector<const ptx::Function *> functions; // the kernel first, then what it calls
  uint32_t staticSharedBytes = 0, localBytes = 0;
  std::vector<uint32_t> parameterOffsets;
  uint32_t parameterBytes = 0;
};

} // namespace sprig::gpu
#endif
