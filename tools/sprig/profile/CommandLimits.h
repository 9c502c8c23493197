// The least time that a command of a package could take, from rates of a machine (lib/Machine).
// For sprig profile, which compares, and sprig simulate, which predicts.
#pragma once
#include "lib/Machine/MachineModel.h"
#include "sprig/rt/sprig_rt.h"
#include <cstdint>
#include <map>

namespace sprig::cli {

/// The larger of flops at the rate of fused multiply-adds and of bytes at read rates. Constants come from the cache
/// that holds all that the entry touches, as a call reads them once; what commands hand to each other comes from the
/// cache that holds the command's own operands.
class CommandLimits {
public:
  CommandLimits(const sprig_rt_package *package, const machine::MachineModel &rates) : package(package), rates(rates) {}

  double commandNs(uint32_t entry, uint32_t lane, uint32_t command, int threads);
  /// What the command is expected to take, by the shares of the rate that kernels reach; never less than the limit's
  /// memory.
  double expectedNs(uint32_t entry, uint32_t lane, uint32_t command, int threads);
  /// Of a part of a command, which is one operation of the model.
  double partNs(uint32_t entry, uint64_t flops, uint64_t bytes);

private:
  struct Traffic {
    uint64_t constants = 0, others = 0;
  };
  double memoryNs(uint32_t entry, const sprig_rt_command_info &info, int threads);
  double seconds(uint64_t bytes, uint64_t workingSet, int threads) const;
  sprig_rt_buffer_info buffer(uint32_t entry, uint32_t index) const;
  Traffic trafficOf(uint32_t entry, const sprig_rt_command_info &info) const;
  uint64_t workingSet(uint32_t entry);

  const sprig_rt_package *package;
  const machine::MachineModel &rates;
  std::map<uint32_t, uint64_t> workingSets;
};

} // namespace sprig::cli
