// Threads as ranks.
#include "lib/Frontend/Base/Devices.h"
#include "lib/Frontend/Base/RandomSequence.h"
#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Engine/RankScope.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Engine/Trace.h"
#include "lib/Frontend/Record.h"
#include "runtime/comm/RankLimits.h"
#include "runtime/comm/ThreadRanks.h"
#include <algorithm>
#include <deque>
#include <exception>
#include <mutex>

namespace sprig::dist {
namespace {

using frontend::RandomSequence;
using rt::comm::RankGroup;
using rt::comm::Status;
using rt::comm::ThreadRanks;
using rt::comm::ThreadRanksOptions;
using rt::comm::Transport;

constexpr int kMostRanks = rt::comm::kMostThreadRanks;

std::string rankText(int rank) { return "rank " + std::to_string(rank) + ": "; }

/// What a rank ended with, and what the others are told.
struct Ended {
  std::exception_ptr thrown;
  std::string text;
};

Ended run(const std::function<void(Group &)> &body, Group &group) {
  Ended ended;
  try {
    body(group);
  } catch (const Error &error) {
    ended.text = rankText(group.rank()) + error.what();
    ended.thrown = std::make_exception_ptr(Error(error.kind(), ended.text));
  } catch (const std::exception &error) {
    ended.text = rankText(group.rank()) + error.what();
    ended.thrown = std::current_exception();
  } catch (...) {
    ended.text = rankText(group.rank()) + "threw what is no std::exception";
    ended.thrown = std::current_exception();
  }
  return ended;
}

/// Of each rank: those that were given, or the one of the rank that starts them; then the first processors' shares that
/// are no rank's already.
std::vector<frontend::DeviceId> devicesOf(int ranks, const std::vector<Device> &given, Source at) {
  std::vector<frontend::DeviceId> devices;
  auto isFree = [&](frontend::DeviceId id) {
    return std::find(devices.begin(), devices.end(), id) == devices.end() && !frontend::isTaken(id);
  };
  for (const Device &device : given) {
    frontend::DeviceId id = frontend::openDevice(device, "spawn", at);
    if (!isFree(id))
      frontend::fail(at, "spawn", device.name() + " is the device of two ranks; each needs one of its own");
    devices.push_back(id);
  }
  if (std::optional<frontend::DeviceId> own = frontend::deviceOfThisRank(); own && devices.empty())
    devices.push_back(*own);
  for (uint16_t number = 0; devices.size() < size_t(ranks); ++number) {
    frontend::DeviceId id = frontend::openDevice(Device(Device::Kind::cpu, number), "spawn", at);
    if (isFree(id)) devices.push_back(id);
  }
  return devices;
}

/// No two groups that begin at once get the same ones.
frontend::RankDevices takeDevices(int ranks, const std::vector<Device> &given, Source at) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  return frontend::RankDevices(devicesOf(ranks, given, at));
}

/// What a rank has thrown is the caller's; who synchronizes later has no part in it.
void forgetFailures(frontend::DeviceId device) {
  frontend::flushDevice(device, /*wake=*/false);
  frontend::Engine &engine = frontend::Engine::of(frontend::computeLane(device));
  engine.drain();
  (void)engine.takeFailure();
}

struct Closed {
  frontend::RankEnd &end;
  ~Closed() { end.close(); }
};

} // namespace

void spawn(int ranks, const std::function<void(Group &)> &body, const SpawnOptions &options, Source at) {
  if (!options.devices.empty() && int(options.devices.size()) != ranks)
    frontend::fail(at, "spawn",
                   "expected a device for each of " + std::to_string(ranks) + " ranks, found " +
                       std::to_string(options.devices.size()));
  spawnFrom(ranks, body, options, at);
}

void spawnFrom(int ranks, const std::function<void(Group &)> &body, const SpawnOptions &options, Source at) {
  auto refuse = [&](const std::string &text) { frontend::fail(at, "spawn", text); };
  if (ranks < 1 || ranks > kMostRanks)
    refuse("expected 1 to " + std::to_string(kMostRanks) + " ranks, found " + std::to_string(ranks));
  if (!body) refuse("there is nothing to run");
  if (options.timeout.count() < 0)
    refuse("expected a timeout of 0 or more, found " + std::to_string(options.timeout.count()) + " ms");
  if (frontend::Trace::current()) refuse("ranks cannot be started in a function that is being compiled");
  // What the caller has recorded is no rank's, as long as its device is its own. Besides, the engine's threads end with
  // the program's first thread, which may never have asked for anything else.
  frontend::flush(/*wake=*/false);
  frontend::Engine::drainAll();
  // A device that tensors cannot be on is the caller's mistake, not a rank's.
  frontend::RankDevices devices = takeDevices(ranks, options.devices, at);

  auto group = std::make_shared<ThreadRanks>(
      ThreadRanksOptions{.ranks = ranks, .timeout = rt::comm::boundedTimeout(options.timeout)});
  std::vector<Ended> ended(static_cast<size_t>(ranks));
  RandomSequence &random = RandomSequence::current();
  std::deque<RandomSequence> randoms; // all go on where the caller's is
  for (int rank = 0; rank < ranks; ++rank) randoms.emplace_back(random);
  // The caller's thread is none of them: what it has set for itself (NoGrad, the default type) would be one rank's
  // alone.
  std::vector<Status> statuses = group->run([&](Transport &transport) -> Status {
    auto rank = size_t(transport.rank());
    frontend::RandomScope draws(randoms[rank]);
    frontend::RankScope self(devices, rank);
    auto impl = std::make_shared<Group::Impl>(RankGroup::over(group, transport));
    Closed close{*impl->end}; // also where the body has kept its group
    Group own(impl);
    Ended &result = ended[rank];
    result = run(body, own);
    if (!result.thrown) return impl->settle();
    Status status(SPRIG_RT_CANCELLED, result.text);
    transport.fail(status); // what this rank has asked for and the others have not ends
    forgetFailures(*frontend::deviceOfThisRank());
    return status;
  });
  random.follow(randoms[0]);
  // A collective's own failure was thrown by the rank that found it; others have been told.
  int first = group->failedRank();
  if (first >= 0 && ended[size_t(first)].thrown) std::rethrow_exception(ended[size_t(first)].thrown);
  for (const Ended &rank : ended)
    if (rank.thrown) std::rethrow_exception(rank.thrown);
  for (const Status &status : statuses)
    if (!status.isOk()) runtimeError(frontend::placeText(at) + "spawn: " + std::string(status.message()));
}

void asFirstOf(int ranks, const std::function<void(Group &)> &body) {
  std::vector<std::shared_ptr<RankGroup>> groups = RankGroup::ofThreads({.ranks = ranks});
  Group group(std::make_shared<Group::Impl>(groups.front()));
  body(group);
}

} // namespace sprig::dist
