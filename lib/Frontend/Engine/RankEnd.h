// One rank's end of a group, as the engine has it: its collectives happen in the order in which the rank asks for them,
// whatever lane they are in. So all ranks have one order, and messages of two collectives never meet.
// For sprig/dist.h, compiled functions and gradients. Used by the rank's thread, but for what says otherwise.
#pragma once
#include "lib/Frontend/Engine/Engine.h"
#include "lib/Frontend/Engine/Hash.h"
#include "lib/Machine/ExpectedLink.h"
#include "runtime/comm/RankGroup.h"
#include <optional>
#include <unordered_map>

namespace sprig::frontend {

/// The order of a rank's collectives, of all its groups together.
class CollectiveOrder {
public:
  CollectiveOrder();
  ~CollectiveOrder();
  CollectiveOrder(const CollectiveOrder &) = delete;

  /// Of what is in a lane: done when its collectives have happened, or never will.
  struct Ticket {
    explicit Ticket(LaneId lane) : lane(lane) {}
    const LaneId lane;
    std::atomic<bool> done = false;
  };
  /// A place in the order. Of the task that has it.
  struct Turn {
    std::shared_ptr<Ticket> before, own;
    /// Returns when it is this one's turn.
    void await() const;
    void end() const { own->done.store(true, std::memory_order_release); }
  };
  Turn next(LaneId lane);
  /// Returns when everything that was asked for has happened.
  void settle() const;

  const LaneId lane;                ///< for collectives that are no part of a program
  std::atomic<bool> isOver = false; ///< the group is closed, with all its parts

private:
  std::shared_ptr<Ticket> last;
};

class RankEnd {
public:
  /// An end of this thread. `order`: that of the group it is a part of; null: one of its own.
  static std::shared_ptr<RankEnd> open(std::shared_ptr<rt::comm::RankGroup> group,
                                       std::shared_ptr<CollectiveOrder> order = nullptr);
  /// The one that a collective is of. Throws Error (usage) where it is closed, or another thread's.
  static std::shared_ptr<RankEnd> of(const GraphNode &collective);

  /// Nothing is asked for any more; waits for what was.
  void close();
  /// From any thread.
  bool isClosed() const { return !isOpen || order->isOver; }
  /// Whether it is open, and this thread's.
  bool isHere() const { return !isClosed() && thread == std::this_thread::get_id(); }
  /// "rank 1 of 4"
  std::string text() const;

  const std::shared_ptr<rt::comm::RankGroup> group;
  const std::shared_ptr<CollectiveOrder> order;
  const char *const mesh;                    ///< what graphs call it
  std::optional<machine::ExpectedLink> link; ///< what all-reduces take, from when it was asked for (BucketChoices.h)
  /// This rank's parts of what looks at all samples, by its structure (BatchScope.h).
  std::unordered_map<Hash, std::shared_ptr<const Graph>> parts;

private:
  RankEnd(std::shared_ptr<rt::comm::RankGroup> group, std::shared_ptr<CollectiveOrder> order, bool isPart);
  const bool isPart;
  const std::thread::id thread;
  std::atomic<bool> isOpen = true;
};

} // namespace sprig::frontend
