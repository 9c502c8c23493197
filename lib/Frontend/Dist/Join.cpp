// This process as a rank.
#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Engine/Collective.h"
#include "lib/Frontend/Engine/Trace.h"
#include "lib/Frontend/Record.h"
#include "runtime/comm/ProcessRanks.h"
#include <atomic>

namespace sprig::dist {

using rt::comm::ProcessRanksOptions;
using rt::comm::RankGroup;
using rt::comm::Status;

bool isLaunched() { return rt::comm::isRankProcess(); }

void join(const std::function<void(Group &)> &body, const JoinOptions &options, Source at) {
  static std::atomic<bool> hasJoined = false;
  auto refuse = [&](const std::string &text) { frontend::fail(at, "join", text); };
  auto raise = [&](const Status &status) { throw frontend::errorOf(status, "join", at); };
  if (!body) refuse("there is nothing to run");
  if (options.timeout.count() < 0)
    refuse("expected a timeout of 0 or more, found " + std::to_string(options.timeout.count()) + " ms");
  if (frontend::Trace::current()) refuse("ranks cannot meet in a function that is being compiled");
  ProcessRanksOptions given;
  given.timeout = rt::comm::boundedTimeout(options.timeout);
  if (Status status = rt::comm::readEnvironment(given); !status.isOk()) raise(status);
  if (hasJoined.exchange(true)) refuse("this process has joined its group already");
  std::shared_ptr<RankGroup> joined;
  if (Status status = RankGroup::ofProcess(given, joined); !status.isOk()) raise(status);
  auto own = std::make_shared<Group::Impl>(std::move(joined));
  Group::Impl &impl = *own;
  Group group(own);
  // Nothing where the group has failed already, of which this rank was told.
  auto tell = [&](const std::string &text) {
    impl.group().fail(Status(SPRIG_RT_CANCELLED, "rank " + std::to_string(given.rank) + ": " + text));
  };
  try {
    body(group);
    if (Status status = impl.settle(); !status.isOk()) raise(status);
  } catch (const std::exception &error) {
    tell(error.what());
    throw;
  } catch (...) {
    tell("threw what is no std::exception");
    throw;
  }
}

void run(int threads, const std::function<void(Group &)> &body, Source at) {
  if (isLaunched())
    join(body, {}, at);
  else
    spawn(threads, body, {}, at);
}

} // namespace sprig::dist
