// How far a calibration is to be trusted: how near its best measurements were to each other, and what others took of
// the processors meanwhile. For `sprig devices --calibrate`, on machines that others use.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sprig::machine {

struct Steadiness {
  int sweeps = 0;         ///< times that everything was measured; each figure is the best of these
  double seconds = 0;     ///< that it took
  double othersShare = 0; ///< of the processors' time, that other programs had
  double stolenShare = 0; ///< that the processors were taken away for, by other virtual machines
  std::string furthest;   ///< the figure whose best two measurements are furthest apart; empty with one sweep
  double spread = 0;      ///< how far: the second best is worse by this share

  bool isDisturbed() const { return othersShare + stolenShare > kMostOthers; }
  bool isSteady() const { return spread <= kMostSpread && !isDisturbed(); }
  /// Compares the larger of spread and disturbance, each relative to its limit. A single sweep counts as less steady
  /// than several, since its spread is unknown.
  bool isSteadierThan(const Steadiness &other) const;
  static constexpr double kMostSpread = 0.05, kMostOthers = 0.1;
  /// "the best two of 3 sweeps agree within 2 % (read L3); other programs had 0 % of the processors, ..."
  std::string describe() const;
};

/// What this process has taken of the processors, in seconds; 0 where the system does not say.
double processSeconds();

/// Of all processors together, in ticks, since the machine was started.
struct ProcessorTicks {
  uint64_t busy = 0, stolen = 0, all = 0;
};
/// Of /proc/stat; nothing where it says no such thing.
std::optional<ProcessorTicks> processorTicks(std::string_view procStat);

/// From its making on: what the processors did beside this process.
class ProcessorWatch {
public:
  ProcessorWatch();
  /// Sets the shares and the seconds so far.
  void read(Steadiness &steadiness) const;

private:
  std::optional<ProcessorTicks> ticks;
  double ownSeconds, began;
};

} // namespace sprig::machine
