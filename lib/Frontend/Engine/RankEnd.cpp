#include "lib/Frontend/Engine/RankEnd.h"
#include "lib/Frontend/Base/Meshes.h"
#include "lib/Frontend/Engine/RankScope.h"
#include "lib/Frontend/Record.h"
#include <map>

namespace sprig::frontend {

namespace {

struct Ends {
  std::mutex mutex;
  std::map<std::string_view, std::weak_ptr<RankEnd>> byMesh;
};
Ends &ends() {
  static auto &all = *new Ends;
  return all;
}

} // namespace

CollectiveOrder::CollectiveOrder() : lane(takeRankLane()) {}
CollectiveOrder::~CollectiveOrder() {
  (void)Engine::of(lane).takeFailure(); // the rank has been told; who takes the lane next has no part in it
  giveBackRankLane(lane);
}

void CollectiveOrder::Turn::await() const {
  if (before && !before->done.load(std::memory_order_acquire)) Engine::of(before->lane).waitFor(before->done);
}

CollectiveOrder::Turn CollectiveOrder::next(LaneId lane) {
  Turn turn{std::move(last), std::make_shared<Ticket>(lane)};
  last = turn.own;
  return turn;
}

void CollectiveOrder::settle() const { Turn{last, nullptr}.await(); }

RankEnd::RankEnd(std::shared_ptr<rt::comm::RankGroup> group, std::shared_ptr<CollectiveOrder> order, bool isPart)
    : group(std::move(group)), order(std::move(order)), mesh(newMesh({this->group->rank(), this->group->ranks()})),
      isPart(isPart), thread(std::this_thread::get_id()) {}

std::shared_ptr<RankEnd> RankEnd::open(std::shared_ptr<rt::comm::RankGroup> group,
                                       std::shared_ptr<CollectiveOrder> order) {
  const bool isPart = order != nullptr;
  if (!order) order = std::make_shared<CollectiveOrder>();
  std::shared_ptr<RankEnd> end(new RankEnd(std::move(group), std::move(order), isPart));
  Ends &all = ends();
  std::lock_guard lock(all.mutex);
  all.byMesh[end->mesh] = end;
  return end;
}

std::shared_ptr<RankEnd> RankEnd::of(const GraphNode &collective) {
  const Attr *mesh = find(collective.attrs, "mesh");
  std::shared_ptr<RankEnd> end;
  if (mesh) {
    Ends &all = ends();
    std::lock_guard lock(all.mutex);
    if (auto found = all.byMesh.find(mesh->text); found != all.byMesh.end()) end = found->second.lock();
  }
  if (!end || end->isClosed()) fail(collective.source, collective.op->text, "is of a group of ranks that has ended");
  if (!end->isHere())
    fail(collective.source, collective.op->text, "is of " + end->text() + ", which is another thread");
  return end;
}

void RankEnd::close() {
  if (!isOpen.exchange(false)) return;
  order->settle();
  if (!isPart) order->isOver = true;
  Ends &all = ends();
  std::lock_guard lock(all.mutex);
  all.byMesh.erase(mesh);
}

std::string RankEnd::text() const {
  return "rank " + std::to_string(group->rank()) + " of " + std::to_string(group->ranks());
}

} // namespace sprig::frontend
