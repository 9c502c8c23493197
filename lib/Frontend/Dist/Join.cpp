// This process as a rank.
#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Engine/Collective.h"
#include "lib/Frontend/Engine/Trace.h"
#include "lib/Frontend/Record.h"
#include "runtime/comm/ProcessRanks.h"
#include <atomic>
#include <mutex>

namespace sprig::dist {

using rt::comm::ProcessRanksOptions;
using rt::comm::RankGroup;
using rt::comm::Status;

bool isLaunched() { return rt::comm::isRankProcess(); }

namespace {

/// Joins the group that the environment says, once in a process.
std::shared_ptr<RankGroup> groupOfProcess(std::chrono::milliseconds timeout, Source at) {
  static std::atomic<bool> hasJoined = false;
  auto raise = [&](const Status &status) { throw frontend::errorOf(status, "join", at); };
  ProcessRanksOptions given;
  given.timeout = rt::comm::boundedTimeout(timeout);
  if (Status status = rt::comm::readEnvironment(given); !status.isOk()) raise(status);
  if (hasJoined.exchange(true)) frontend::fail(at, "join", "this process has joined its group already");
  std::shared_ptr<RankGroup> joined;
  if (Status status = RankGroup::ofProcess(given, joined); !status.isOk()) raise(status);
  return joined;
}

void requireNoTrace(Source at) {
  if (frontend::Trace::current()) frontend::fail(at, "join", "ranks cannot meet in a function that is being compiled");
}

void runIn(std::shared_ptr<RankGroup> joined, const std::function<void(Group &)> &body, Source at) {
  auto own = std::make_shared<Group::Impl>(std::move(joined));
  Group::Impl &impl = *own;
  Group group(own);
  // Nothing where the group has failed already, of which this rank was told.
  auto tell = [&](const std::string &text) {
    impl.group().fail(Status(SPRIG_RT_CANCELLED, "rank " + std::to_string(group.rank()) + ": " + text));
  };
  try {
    body(group);
    if (Status status = impl.settle(); !status.isOk()) throw frontend::errorOf(status, "join", at);
  } catch (const std::exception &error) {
    tell(error.what());
    throw;
  } catch (...) {
    tell("threw what is no std::exception");
    throw;
  }
}

} // namespace

void join(const std::function<void(Group &)> &body, const JoinOptions &options, Source at) {
  if (!body) frontend::fail(at, "join", "there is nothing to run");
  if (options.timeout.count() < 0)
    frontend::fail(at, "join",
                   "expected a timeout of 0 or more, found " + std::to_string(options.timeout.count()) + " ms");
  requireNoTrace(at);
  runIn(groupOfProcess(options.timeout, at), body, at);
}

void joinAgain(const std::function<void(Group &)> &body, Source at) {
  requireNoTrace(at);
  // Left when the program ends. The lock is held by who runs in it: ranks have one thread.
  static std::mutex mutex;
  static constinit bool hasLeft = false;
  struct Kept {
    std::shared_ptr<RankGroup> group;
    ~Kept() { hasLeft = true; }
  };
  static Kept kept;
  std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock) frontend::fail(at, "join", "another thread of this process is its rank now");
  if (hasLeft) frontend::fail(at, "join", "the process is ending, and its rank has left the group");
  if (!kept.group) kept.group = groupOfProcess(JoinOptions().timeout, at);
  runIn(kept.group, body, at);
}

void run(int threads, const std::function<void(Group &)> &body, Source at) {
  if (isLaunched())
    join(body, {}, at);
  else
    spawn(threads, body, {}, at);
}

} // namespace sprig::dist
