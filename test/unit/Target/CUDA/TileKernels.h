// Dispatches as CUDA kernels in the emulator, for tests of their bits and of their memory traffic.
#pragma once
#include "lib/Target/Image.h"
#include "runtime/include/sprig/rt/kernel.h"
#include "test/gpu/unit/Kernels.h"
#include <map>

namespace sprig {

/// What one dispatch of f32 buffers is, as text.
struct TileCase {
  std::string name;
  std::vector<std::string> operands; // shapes with types: "4x8xf32", called %a0, %a1, ...
  std::string body, result, type;    // operations, and the value of this type that is yielded
  bool tf32 = false;
};

class TileKernels {
public:
  /// Emits all of them for sm_80.
  explicit TileKernels(const std::vector<TileCase> &cases);

  struct Kernel {
    LaunchShape launch;
    int64_t tiles;
  };
  const Kernel &kernel(const std::string &name) const { return kernels.at(name); }
  /// Runs some blocks from a tile on with all checks and counters, and expects no complaint. Buffers are aligned.
  gpu::LaunchReport run(const std::string &name, std::vector<std::vector<float>> &buffers, uint32_t first,
                        uint32_t count) const;

private:
  std::map<std::string, Kernel> kernels;
  std::unique_ptr<gpu::Kernels> image;
};

/// What was taken over the fewest: sectors of global memory, passes over the banks of shared memory.
struct TrafficRatios {
  double global, shared;
};
TrafficRatios ratiosOf(const gpu::LaunchReport &report);

} // namespace sprig
