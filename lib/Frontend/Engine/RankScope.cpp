#include "lib/Frontend/Engine/RankScope.h"
#include "lib/Frontend/Record.h"
#include <mutex>
#include <utility>

namespace sprig::frontend {

namespace {

/// A thread as a rank, by a number that no other has or had; 0: nobody.
thread_local uint64_t self = 0;
thread_local std::optional<DeviceId> ownDevice;

struct Owner {
  std::atomic<uint64_t> thread{0};
  std::atomic<int> rank{0}; // for messages
};
struct Owners {
  std::mutex mutex; // of taking
  Owner lanes[kMostLanes];
};
Owners &owners() {
  static auto &all = *new Owners;
  return all;
}

} // namespace

RankDevices::RankDevices(std::vector<DeviceId> given) : devices(std::move(given)) {
  static std::atomic<uint64_t> last{0};
  for (size_t rank = 0; rank < devices.size(); ++rank) {
    uint64_t number = ++last;
    const Owner &owner = owners().lanes[computeLane(devices[rank])];
    before.push_back({owner.thread, owner.rank});
    for (LaneId lane : {computeLane(devices[rank]), copyLane(devices[rank])}) {
      owners().lanes[lane].rank = int(rank);
      owners().lanes[lane].thread = number;
    }
  }
}

RankDevices::~RankDevices() {
  for (size_t rank = 0; rank < devices.size(); ++rank)
    for (LaneId lane : {computeLane(devices[rank]), copyLane(devices[rank])}) {
      owners().lanes[lane].rank = before[rank].rank;
      owners().lanes[lane].thread = before[rank].thread;
    }
}

RankScope::RankScope(const RankDevices &all, size_t rank)
    : device(deviceOf(all.devices[rank]), Source::unguarded()),
      outer(std::exchange(self, owners().lanes[computeLane(all.devices[rank])].thread.load())),
      outerDevice(std::exchange(ownDevice, all.devices[rank])) {}
RankScope::~RankScope() {
  self = outer;
  ownDevice = outerDevice;
}

std::optional<DeviceId> deviceOfThisRank() { return ownDevice; }

bool isTaken(DeviceId device) {
  uint64_t owner = owners().lanes[computeLane(device)].thread;
  return owner && owner != self;
}

bool isOfOtherRank(LaneId lane) {
  if (!self) return false;
  uint64_t owner = owners().lanes[lane].thread.load(std::memory_order_relaxed);
  return owner && owner != self;
}

void requireOwn(DeviceId device, const OpName &op, Source at) {
  if (!isOfOtherRank(computeLane(device))) [[likely]]
    return;
  std::string name = deviceOf(device).name(), own = defaultDevice().name();
  fail(at, op.text,
       "is on " + name + ", which is the device of rank " + std::to_string(owners().lanes[computeLane(device)].rank) +
           "; this rank's is " + own + ": copy what it reads, as by .to(\"" + own + "\")");
}

LaneId takeRankLane() {
  Owners &all = owners();
  std::lock_guard lock(all.mutex);
  static uint64_t others = uint64_t(1) << 63; // threads that are no rank by RankScope
  for (LaneId lane = kFirstRankLane; lane < kMostLanes; ++lane)
    if (!all.lanes[lane].thread) {
      all.lanes[lane].thread = self ? self : ++others;
      return lane;
    }
  unsupported("more than " + std::to_string(kMostRankLanes) + " groups of ranks at once");
}

void giveBackRankLane(LaneId lane) { owners().lanes[lane].thread = 0; }

} // namespace sprig::frontend
