// The least time that a command of a package could take, from rates of a machine (lib/Machine).
// For sprig profile, which compares, and sprig simulate, which predicts.
#pragma once
#include "lib/Machine/DotRates.h"
#include "sprig/rt/sprig_rt.h"
#include "tools/sprig/run/Runner.h"
#include <cstdint>
#include <map>

namespace sprig::cli {

/// The larger of flops at the rates of the instructions for them and of bytes at read rates: products of bytes and of
/// bf16 are reckoned by those that add up several at once, all else by fused multiply-adds. Constants come from the
/// cache that holds all that the entry touches, as a call reads them once; what commands hand to each other comes from
/// the cache that holds the command's own operands. Of an operand in which data says where to look, the cache lines
/// that are looked at come from the cache that holds them, as when the next call looks at the same.
class CommandLimits {
public:
  CommandLimits(const Runner &runner, const machine::ProductRates &rates)
      : package(runner.package()), tables(runner.tables()), rates(rates) {}

  double commandNs(uint32_t entry, uint32_t lane, uint32_t command, int threads);
  /// What the command is expected to take, by the shares of the rate that kernels reach; never less than the limit's
  /// memory.
  double expectedNs(uint32_t entry, uint32_t lane, uint32_t command, int threads);
  /// Of a part of a command, which is one operation of the model; `factors` is what a product multiplies.
  double partNs(uint32_t entry, uint64_t flops, uint64_t bytes, const std::string &factors);
  /// Of all flops of an entry.
  double entryFlopsNs(uint32_t entry, int threads);
  /// What an entry's accesses to places that data names wait for, beyond what their bytes take.
  double entryAccessNs(uint32_t entry, int threads);

private:
  struct Traffic {
    uint64_t constants = 0, others = 0;
    std::vector<TouchedOperand> accessed = {}; ///< whose bytes are in neither
  };
  /// Each part's flops are weighed.
  double flopsNs(uint32_t entry, uint32_t lane, uint32_t command, double flops, int threads, bool areExpected) const;
  double memoryNs(uint32_t entry, uint32_t lane, uint32_t command, const sprig_rt_command_info &info, int threads);
  double seconds(uint64_t bytes, uint64_t workingSet, int threads) const;
  sprig_rt_buffer_info buffer(uint32_t entry, uint32_t index) const;
  Traffic trafficOf(uint32_t entry, uint32_t lane, uint32_t command, const sprig_rt_command_info &info) const;
  uint64_t workingSet(uint32_t entry);
  std::map<uint32_t, uint64_t> touchedBuffers(uint32_t entry) const;

  const sprig_rt_package *package;
  const PackageTables &tables;
  const machine::ProductRates &rates;
  std::map<uint32_t, uint64_t> workingSets;
};

} // namespace sprig::cli
