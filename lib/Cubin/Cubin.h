// What a cubin says of itself: the architecture and, of each kernel, the layout of its parameters and the resources
// that it takes. Read from the ELF sections .nv.info, .nv.shared and .nv.constant0 that ptxas writes. For reports on
// packages, and for the stand-in driver, which holds launches to it. No toolkit, no LLVM; any bytes may be given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sprig::gpu {

struct CubinParameter {
  uint32_t offset = 0, size = 0;
};

struct CubinKernel {
  std::string name;
  std::vector<CubinParameter> parameters; // by ordinal
  uint32_t parameterBytes = 0;
  uint32_t registers = 0;     // of a thread
  uint32_t staticShared = 0;  // bytes of a block, without what the system reserves
  uint32_t localBytes = 0;    // stack of a thread
  uint32_t constantBytes = 0; // the bank that parameters lie in
  uint32_t maxThreads = 0;    // of a block; 0: the device's
  uint32_t requiredThreads[3] = {0, 0, 0};
  uint32_t cluster[3] = {0, 0, 0};
};

struct Cubin {
  unsigned architecture = 0; // 90 for sm_90
  std::vector<CubinKernel> kernels;

  /// False, with `error` set, where the bytes are no whole cubin.
  static bool parse(std::string_view bytes, Cubin &cubin, std::string &error);
  /// How many bytes a cubin has, from its header (64 bytes); 0: it is none.
  static uint64_t size(std::string_view header);

  const CubinKernel *find(std::string_view name) const;
};

} // namespace sprig::gpu
