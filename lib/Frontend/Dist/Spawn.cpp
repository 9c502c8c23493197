// Threads as ranks.
#include "lib/Frontend/Base/Devices.h"
#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Engine/Trace.h"
#include "lib/Frontend/Record.h"
#include "runtime/comm/ThreadRanks.h"
#include <exception>

namespace sprig::dist {
namespace {

using rt::comm::Status;
using rt::comm::ThreadRanks;
using rt::comm::Transport;

constexpr int kMostRanks = 256; // each has a thread, and a queue to each other

std::string rankText(int rank) { return "rank " + std::to_string(rank) + ": "; }

/// What a rank ended with, and what the others are told.
struct Ended {
  std::exception_ptr thrown;
  std::string text;
};

Ended run(const std::function<void(Group &)> &body, Group &group, const Device &device) {
  Ended ended;
  try {
    DeviceScope scope(device, Source::unguarded());
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

} // namespace

void spawn(int ranks, const std::function<void(Group &)> &body, const SpawnOptions &options, Source at) {
  auto refuse = [&](const std::string &text) { frontend::fail(at, "spawn", text); };
  if (ranks < 1 || ranks > kMostRanks)
    refuse("expected 1 to " + std::to_string(kMostRanks) + " ranks, found " + std::to_string(ranks));
  if (!body) refuse("there is nothing to run");
  if (!options.devices.empty() && int(options.devices.size()) != ranks)
    refuse("expected a device for each of " + std::to_string(ranks) + " ranks, found " +
           std::to_string(options.devices.size()));
  if (options.timeout.count() < 0)
    refuse("expected a timeout of 0 or more, found " + std::to_string(options.timeout.count()) + " ms");
  if (frontend::Trace::current()) refuse("ranks cannot be started in a function that is being compiled");
  std::vector<Device> devices = options.devices;
  int shares = std::max(1, frontend::threadsOf({}));
  for (int rank = 0; devices.size() < size_t(ranks); ++rank)
    devices.emplace_back(Device::Kind::cpu, uint16_t(rank % shares));
  // A device that tensors cannot be on is the caller's mistake, not a rank's.
  for (const Device &device : devices) DeviceScope(device, at);

  ThreadRanks group({.ranks = ranks, .timeout = frontend::boundedTimeout(options.timeout)});
  std::vector<Ended> ended(static_cast<size_t>(ranks));
  // The caller's thread is none of them: what it has set for itself (NoGrad, the default type) would be one rank's
  // alone.
  std::vector<Status> statuses = group.run([&](Transport &transport) -> Status {
    int rank = transport.rank();
    Group::Impl impl(transport);
    Group own(impl);
    Ended &result = ended[size_t(rank)];
    result = run(body, own, devices[size_t(rank)]);
    return result.thrown ? Status(SPRIG_RT_CANCELLED, result.text) : Status();
  });
  // A collective's own failure was thrown by the rank that found it; others have been told.
  int first = group.failedRank();
  if (first >= 0 && ended[size_t(first)].thrown) std::rethrow_exception(ended[size_t(first)].thrown);
  for (const Ended &rank : ended)
    if (rank.thrown) std::rethrow_exception(rank.thrown);
  for (const Status &status : statuses)
    if (!status.isOk())
      throw Error(ErrorKind::runtime, frontend::placeText(at) + "spawn: " + std::string(status.message()));
}

} // namespace sprig::dist
