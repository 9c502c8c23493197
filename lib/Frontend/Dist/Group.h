// A rank's end of a group, as the public Group has it.
#pragma once
#include "lib/Frontend/Engine/RankEnd.h"
#include "sprig/dist.h"

namespace sprig::dist {

struct Group::Impl {
  explicit Impl(std::shared_ptr<rt::comm::RankGroup> group, std::shared_ptr<frontend::CollectiveOrder> order = nullptr)
      : end(frontend::RankEnd::open(std::move(group), std::move(order))) {}
  ~Impl() { end->close(); }
  Impl(const Impl &) = delete;

  rt::comm::RankGroup &group() const { return *end->group; }
  /// What the rank has asked for and not read ends before it does.
  rt::comm::Status settle() const {
    end->order->settle();
    return group().failure();
  }
  const std::shared_ptr<frontend::RankEnd> end;
  uint64_t number = 0; ///< of a part
  uint64_t splits = 0; ///< that there were
};

/// `spawn` where only the first ranks' devices are said; the others get the first that are no rank's.
void spawnFrom(int ranks, const std::function<void(Group &)> &body, const SpawnOptions &options, Source at);
/// `join` as often as one likes: the process stays in its group until it ends. Not beside `join`, which leaves it.
void joinAgain(const std::function<void(Group &)> &body, Source at);

/// The first rank of a group to which nobody else comes: for what is recorded there, and never run.
void asFirstOf(int ranks, const std::function<void(Group &)> &body);

/// The engine's part of it.
std::shared_ptr<frontend::RankEnd> endOf(const Group &group);

} // namespace sprig::dist
