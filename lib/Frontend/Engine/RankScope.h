// Threads that are ranks, and the lanes that are theirs: a rank's collectives wait for other ranks, so what is queued
// behind them in one lane must be its own.
// For those who start ranks, the recorder and the engine.
#pragma once
#include "lib/Frontend/Engine/Value.h"
#include <optional>
#include <vector>

namespace sprig::frontend {

/// While it lives, each of these devices is a rank's: other ranks record nothing on it. Then it is whose it was.
class RankDevices {
public:
  /// No two are the same, and none is another rank's than this thread's, which does nothing meanwhile.
  explicit RankDevices(std::vector<DeviceId> devices);
  ~RankDevices();
  RankDevices(const RankDevices &) = delete;
  RankDevices &operator=(const RankDevices &) = delete;

private:
  friend class RankScope;
  const std::vector<DeviceId> devices;
  struct Before {
    uint64_t thread;
    int rank;
  };
  std::vector<Before> before;
};

/// While it lives, this thread is that rank, and new tensors are on its device.
class RankScope {
public:
  RankScope(const RankDevices &devices, size_t rank);
  ~RankScope();
  RankScope(const RankScope &) = delete;
  RankScope &operator=(const RankScope &) = delete;

private:
  DeviceScope device;
  uint64_t outer;
  std::optional<DeviceId> outerDevice;
};

/// The device that this thread has as a rank, whatever DeviceScope says since; none where it is no rank.
std::optional<DeviceId> deviceOfThisRank();
/// Whether a device is some rank's now, and not this thread's.
bool isTaken(DeviceId device);
/// Whether this thread is a rank, and the lane, a device's or of collectives, another one's.
bool isOfOtherRank(LaneId lane);
/// Throws Error (usage) in the name of `op` where this thread is a rank and the device another one's.
void requireOwn(DeviceId device, const OpName &op, Source at);

/// A lane for this thread's collectives, which nobody else has until it is given back.
LaneId takeRankLane();
void giveBackRankLane(LaneId lane);

} // namespace sprig::frontend
