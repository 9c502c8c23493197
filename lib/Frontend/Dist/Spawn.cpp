// Threads as ranks.
#include "lib/Frontend/Base/Devices.h"
#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Engine/Trace.h"
#include "lib/Frontend/Record.h"
#include "runtime/comm/ThreadRanks.h"
#include <exception>
#include <thread>

namespace sprig::dist {
namespace {

using rt::comm::Status;
using rt::comm::ThreadRanks;

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
  auto runRank = [&](int rank) {
    Group::Impl impl(group.transport(rank));
    Group own(impl);
    Ended &result = ended[size_t(rank)];
    result = run(body, own, devices[size_t(rank)]);
    if (result.thrown) group.fail(rank, Status(SPRIG_RT_CANCELLED, result.text));
    group.leave(rank);
  };
  // The caller's thread is none of them: what it has set for itself (NoGrad, the default type) would be one rank's
  // alone.
  std::vector<std::thread> threads;
  try {
    threads.reserve(static_cast<size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(runRank, rank);
  } catch (const std::exception &error) {
    int rank = int(threads.size());
    Error failure(ErrorKind::runtime,
                  frontend::placeText(at) + "spawn: no thread for rank " + std::to_string(rank) + ": " + error.what());
    group.fail(rank, Status(SPRIG_RT_OUT_OF_MEMORY, failure.what()));
    for (std::thread &thread : threads) thread.join();
    throw failure;
  }
  for (std::thread &thread : threads) thread.join();
  // A collective's own failure was thrown by the rank that found it; others have been told.
  int first = group.failedRank();
  if (first >= 0 && ended[size_t(first)].thrown) std::rethrow_exception(ended[size_t(first)].thrown);
  for (const Ended &rank : ended)
    if (rank.thrown) std::rethrow_exception(rank.thrown);
}

} // namespace sprig::dist
